package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// addresses are the addresses of connections, as the server knows them. A
// server tells a connection its own address, which holds behind a NAT too.
type addresses struct {
	mu    sync.Mutex
	known map[string]bool
}

// note asks the server for the address of a new connection. Not every engine
// can tell.
func (a *addresses) note(ctx context.Context, conn *redis.Conn) error {
	cmd := redis.NewCmd(ctx, "client", "info")
	_ = conn.Process(ctx, cmd)
	info, err := cmd.Text()
	var refused redis.Error
	if errors.As(err, &refused) {
		return nil
	}
	for field := range strings.FieldsSeq(info) {
		if address, ok := strings.CutPrefix(field, "addr="); ok {
			a.add(address)
		}
	}
	return err
}

func (a *addresses) add(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[address] = true
}

// dialer returns a dialer that adds the addresses that connections have on this
// side, for an engine that does not tell.
func (a *addresses) dialer(options *redis.Options) func(context.Context, string, string) (net.Conn, error) {
	dial := options.Dialer
	if dial == nil {
		dial = redis.NewDialer(options)
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err == nil {
			a.add(conn.LocalAddr().String())
		}
		return conn, err
	}
}

// noting returns options for connections whose addresses are noted.
func (a *addresses) noting(options *redis.Options) *redis.Options {
	noting := *options
	noting.OnConnect = a.note
	noting.Dialer = a.dialer(options)
	return &noting
}

func (a *addresses) has(address string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.known[address]
}

// clients are the ways to a deployment, standalone or cluster.
type clients struct {
	options *redis.Options // of the address that was given
	cluster bool
	engine  string

	tool *addresses // of the connections that look and clean up
	own  *addresses // of the connections that the runtime under test uses

	// admin looks and cleans up.
	admin redis.UniversalClient
}

// connect looks at what answers at the options' address.
func connect(ctx context.Context, options *redis.Options) (_ *clients, err error) {
	options = quietly(options)
	c := &clients{
		options: options,
		tool:    &addresses{known: map[string]bool{}},
		own:     &addresses{known: map[string]bool{}},
	}
	single := c.tool.noting(options)
	admin := redis.NewClient(single)
	c.admin = admin
	if err := admin.Ping(ctx).Err(); err != nil {
		_ = admin.Close()
		return nil, fmt.Errorf("no contact with %s: %w", options.Addr, err)
	}
	c.engine = describeEngine(admin.Info(ctx, "server").Val())
	if strings.Contains(admin.Info(ctx, "cluster").Val(), "cluster_enabled:1") {
		_ = admin.Close()
		c.cluster = true
		c.admin = redis.NewClusterClient(clusterOptions(single, nil))
	}
	return c, nil
}

// quietly returns options whose connections say nothing about the client in
// their handshake: an observer must not even set a name.
func quietly(options *redis.Options) *redis.Options {
	quiet := *options
	quiet.DisableIdentity = true
	quiet.ClientName = ""
	quiet.DialerRetries = 1
	quiet.ContextTimeoutEnabled = true
	quiet.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &quiet
}

// runtimeStore returns the store for the runtime under test, whose every call
// goes through the ledger.
func (c *clients) runtimeStore(book *ledger) redis.UniversalClient {
	options := c.own.noting(c.options)
	if c.cluster {
		// The hook is on the nodes' clients, where a redirected call is seen
		// each time that it is sent.
		return redis.NewClusterClient(clusterOptions(options, book))
	}
	client := redis.NewClient(options)
	client.AddHook(book)
	return client
}

func clusterOptions(options *redis.Options, book *ledger) *redis.ClusterOptions {
	return &redis.ClusterOptions{
		Addrs:                    []string{options.Addr},
		Username:                 options.Username,
		Password:                 options.Password,
		TLSConfig:                options.TLSConfig,
		OnConnect:                options.OnConnect,
		Dialer:                   options.Dialer,
		DialTimeout:              options.DialTimeout,
		ReadTimeout:              options.ReadTimeout,
		WriteTimeout:             options.WriteTimeout,
		PoolSize:                 options.PoolSize,
		DisableIdentity:          true,
		DialerRetries:            1,
		ContextTimeoutEnabled:    true,
		MaintNotificationsConfig: options.MaintNotificationsConfig,
		NewClient: func(node *redis.Options) *redis.Client {
			client := redis.NewClient(node)
			if book != nil {
				client.AddHook(book)
			}
			return client
		},
	}
}

// nodes returns the options of the servers that own the given keys, each once.
func (c *clients) nodes(ctx context.Context, keys ...string) ([]*redis.Options, error) {
	cluster, ok := c.admin.(*redis.ClusterClient)
	if !ok {
		return []*redis.Options{c.options}, nil
	}
	var nodes []*redis.Options
	seen := map[string]bool{}
	for _, key := range keys {
		master, err := cluster.MasterForKey(ctx, key)
		if err != nil {
			return nil, fmt.Errorf("find the node that owns key %q: %w", key, err)
		}
		if options := master.Options(); !seen[options.Addr] {
			seen[options.Addr] = true
			nodes = append(nodes, options)
		}
	}
	return nodes, nil
}

// unix reports whether a server is reached by a unix socket, on which all
// clients have one address.
func unix(options *redis.Options) bool {
	return options.Network == "unix" || strings.HasPrefix(options.Addr, "/")
}

// describeEngine reads a server's name and version from INFO server.
func describeEngine(info string) string {
	fields := map[string]string{}
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	switch {
	case fields["valkey_version"] != "":
		return "valkey " + fields["valkey_version"]
	case fields["dragonfly_version"] != "":
		return "dragonfly " + fields["dragonfly_version"]
	case fields["redis_version"] != "":
		return "redis " + fields["redis_version"]
	}
	return "an engine of unknown kind"
}
