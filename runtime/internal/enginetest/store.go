package enginetest

import (
	"context"
	"net"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// StoreOption is a setting of a client of [Engine.Store].
type StoreOption func(*redis.Options)

// ClientName gives the client's connections a name.
func ClientName(name string) StoreOption {
	return func(options *redis.Options) { options.ClientName = name }
}

// User makes the client's connections those of a user.
func User(name, password string) StoreOption {
	return func(options *redis.Options) { options.Username, options.Password = name, password }
}

// dialer makes a client's connections.
func dialer(dial func(ctx context.Context, network, addr string) (net.Conn, error)) StoreOption {
	return func(options *redis.Options) { options.Dialer = dial }
}

// Store returns a new client of the engine as a program has it, of all servers of
// a cluster. The caller closes it, or the end of the test does.
func (e *Engine) Store(t testing.TB, opts ...StoreOption) redis.UniversalClient {
	t.Helper()
	options := e.options
	for _, opt := range opts {
		opt(&options)
	}
	var store redis.UniversalClient
	if e.cluster == nil {
		store = redis.NewClient(&options)
	} else {
		all := e.cluster.Options()
		all.ClientName, all.Username, all.Password, all.Dialer = options.ClientName, options.Username, options.Password, options.Dialer
		store = redis.NewClusterClient(all)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// primaries returns the servers that take writes: the engine itself, or those
// primaries that a cluster began with.
func (e *Engine) primaries() []*Engine {
	if e.cluster == nil {
		return []*Engine{e}
	}
	return e.cluster.Primaries()
}

// Node returns a client of the server that has a key, closed when the test ends.
func (e *Engine) Node(t testing.TB, key string) *redis.Client {
	t.Helper()
	if e.cluster == nil {
		return e.Client(t)
	}
	return e.cluster.Owner(t, wire.Slot(key)).Client(t)
}

// Servers returns a client of each server that a program may come to call: of
// the engine, or of all nodes of a cluster. They are closed when the test ends.
func (e *Engine) Servers(t testing.TB) []*redis.Client {
	t.Helper()
	servers := []*Engine{e}
	if e.cluster != nil {
		servers = e.cluster.all()
	}
	var clients []*redis.Client
	for _, server := range servers {
		clients = append(clients, server.Client(t))
	}
	return clients
}

// Keys returns the keys of the engine that match a pattern, sorted.
func (e *Engine) Keys(t testing.TB, pattern string) []string {
	t.Helper()
	var found []string
	for _, server := range e.primaries() {
		err := server.ask(func(client *redis.Client) error {
			keys, err := client.Keys(t.Context(), pattern).Result()
			found = append(found, keys...)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(found)
	return found
}

// engine returns the cluster as an engine.
func (c *Cluster) engine() *Engine {
	return &Engine{
		Kind:    ValkeyCluster,
		version: "cluster of " + c.all()[0].version,
		options: optionsFor("tcp", ""),
		cluster: c,
		close:   c.close,
	}
}

// own makes the nodes belong to a test, which may kill them.
func (c *Cluster) own(t testing.TB) {
	for _, node := range c.all() {
		node.private.t = t
	}
}
