package enginetest

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/embedded"
)

// StartOption is a setting of a private engine.
type StartOption func(*startConfig)

type startConfig struct {
	file     string // a configuration file, or ""
	args     []string
	tcp      bool
	bus      bool // a second port, for the bus of a cluster
	password string
}

// AOF makes the engine write each change to disk before it answers, so that
// nothing acknowledged is lost by [Engine.Kill] and [Engine.Restart].
func AOF() StartOption {
	return func(c *startConfig) {
		c.args = append(c.args, "--appendonly", "yes", "--appendfsync", "always")
	}
}

// MaxMemory limits the engine's memory, in bytes. With the limit reached it
// refuses what needs memory and evicts nothing.
func MaxMemory(bytes int64) StartOption {
	return func(c *startConfig) {
		c.args = append(c.args, "--maxmemory", strconv.FormatInt(bytes, 10), "--maxmemory-policy", "noeviction")
	}
}

// TCP makes the engine listen on a loopback port instead of a unix socket.
func TCP() StartOption { return func(c *startConfig) { c.tcp = true } }

// RequirePass makes the engine ask for a password, which [Engine.Options] has.
func RequirePass(password string) StartOption {
	return func(c *startConfig) {
		c.password = password
		c.args = append(c.args, "--requirepass", password)
	}
}

// Start starts an engine that belongs to this test alone, and ends it with the
// test. It skips the test if EMQ_ENGINES leaves kind out; an engine that is not
// installed fails it.
func Start(t testing.TB, kind Kind, opts ...StartOption) *Engine {
	t.Helper()
	requireKind(t, kind)
	engine, err := start(t.Context(), kind, opts...)
	if err != nil {
		t.Fatal(err)
	}
	if engine.private != nil {
		engine.private.t = t
	}
	if engine.cluster != nil {
		engine.cluster.own(t)
	}
	t.Cleanup(func() {
		if err := engine.close(); err != nil {
			t.Errorf("close %s: %v", engine, err)
		}
	})
	return engine
}

// requireKind skips the test if EMQ_ENGINES leaves out kind.
func requireKind(t testing.TB, kind Kind) {
	t.Helper()
	choice, err := selected()
	if err != nil {
		t.Fatal(err)
	}
	if !choice.has(kind) {
		t.Skipf("%s leaves out %s, which this test needs", enginesVariable, kind)
	}
}

// start starts an engine.
func start(ctx context.Context, kind Kind, opts ...StartOption) (*Engine, error) {
	switch {
	case kind != Miniredis && kind != ValkeyCluster:
	case len(opts) > 0:
		return nil, fmt.Errorf("enginetest: %s has no options; start %s or %s", kind, Valkey, Redis)
	case kind == Miniredis:
		return startMiniredis(ctx)
	default:
		cluster, err := startCluster(ctx, sharedNodeTimeout)
		if err != nil {
			return nil, err
		}
		return cluster.engine(), nil
	}
	config := &startConfig{}
	for _, opt := range opts {
		opt(config)
	}
	return startProcess(ctx, kind, config)
}

// startMiniredis starts the in-memory server of package embedded, so that the
// suite tests what users get. It lives until it is closed, whatever ctx.
func startMiniredis(ctx context.Context) (*Engine, error) {
	server, err := embedded.Start(context.WithoutCancel(ctx), embedded.InMemory(), embedded.Logger(nil))
	if err != nil {
		return nil, err
	}
	options := server.Options()
	return &Engine{
		Kind:    Miniredis,
		version: server.Engine(),
		options: optionsFor(options.Network, options.Addr),
		close:   server.Close,
	}, nil
}

// connectRunning returns the server that EMQ_ENGINES gives an address for.
func connectRunning(ctx context.Context, kind Kind, url string) (*Engine, error) {
	parsed, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	options := optionsFor(parsed.Network, parsed.Addr)
	options.Username, options.Password = parsed.Username, parsed.Password
	options.DB, options.TLSConfig = parsed.DB, parsed.TLSConfig

	engine := &Engine{Kind: kind, version: fmt.Sprintf("%s at %s", kind, parsed.Addr), options: options}
	engine.close = func() error { return nil }
	client := redis.NewClient(engine.Options())
	defer client.Close()
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, fmt.Errorf("%s=%s: %w", kind, url, err)
	}
	return engine, nil
}
