package enginetest

import (
	"crypto/rand"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Engine is a server that a test may use.
type Engine struct {
	// Kind says what it is.
	Kind Kind

	version string
	options redis.Options
	private *private // nil for a shared engine, for miniredis and for a cluster
	cluster *Cluster // nil for a single server
	close   func() error
}

// String describes the engine with its version.
func (e *Engine) String() string { return e.version }

// Embedded reports whether the engine is miniredis, so that a test can state
// the exceptions listed for it.
func (e *Engine) Embedded() bool { return e.Kind == Miniredis }

// Options returns new options for a client of the engine, without noise in the
// handshake: a connection begins with HELLO and nothing else. It panics for a
// cluster, which is no single server: see [Engine.Store] and [Engine.Node].
func (e *Engine) Options() *redis.Options {
	if e.cluster != nil {
		panic("enginetest: a cluster is no single server; use Engine.Store, or Engine.Node for the server that has a key")
	}
	options := e.options
	return &options
}

// Client returns a new client of the engine, closed when the test ends. Like
// [Engine.Options] it is not for a cluster.
func (e *Engine) Client(t testing.TB) *redis.Client {
	t.Helper()
	client := redis.NewClient(e.Options())
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// optionsFor returns the options for clients of a server at the address.
func optionsFor(network, addr string) redis.Options {
	return redis.Options{
		Network:                  network,
		Addr:                     addr,
		DialerRetries:            1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

var (
	queueCounter atomic.Int64
	// runID keeps queues of two runs apart on a server that outlives them.
	runID = strings.ToLower(rand.Text()[:6])
)

// QueueName returns a valid name of a queue that no other test, no other call
// and no other run uses. It tells which test it belongs to.
func (e *Engine) QueueName(t testing.TB) string {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r == '/':
			return '.'
		default:
			return '-'
		}
	}, t.Name())
	if len(name) > 96 {
		name = name[:96]
	}
	name = fmt.Sprintf("%s-%s-%d", name, runID, queueCounter.Add(1))
	if _, err := wire.ParseQueue(name); err != nil {
		t.Fatalf("enginetest: %v", err)
	}
	return name
}
