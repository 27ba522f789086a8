package enginetest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

// Proxy stands between clients and an engine. Without further calls it passes
// everything on and counts it.
//
// It reads whole commands and replies, in RESP2 and RESP3, so that it can act
// between a command and its answer. Push messages answer no command; on a
// connection that subscribes under RESP2, replies are not told from messages, so
// use RESP3 there, which is the client's default.
type Proxy struct {
	engine *Engine
	dir    string       // of the sockets
	delay  atomic.Int64 // nanoseconds

	mu         sync.Mutex
	fronts     map[string]*front // by the address of their server
	refusing   bool
	links      map[*link]struct{}
	rules      []*Rule
	counts     map[string]int
	roundTrips int
	closed     bool

	running sync.WaitGroup
}

// NewProxy starts a proxy in front of e, on a unix socket for each of its servers,
// and ends it with the test.
func NewProxy(t testing.TB, e *Engine) *Proxy {
	t.Helper()
	dir, err := childserver.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	proxy := &Proxy{
		engine: e,
		dir:    dir,
		fronts: map[string]*front{},
		links:  map[*link]struct{}{},
		counts: map[string]int{},
	}
	t.Cleanup(func() {
		proxy.close()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if e.cluster == nil {
		if _, err := proxy.front(e.options.Network, e.options.Addr); err != nil {
			t.Fatal(err)
		}
	}
	return proxy
}

// Options returns new options for a client that goes through the proxy, which is
// not in front of a cluster.
func (p *Proxy) Options() *redis.Options {
	options := p.engine.Options()
	p.mu.Lock()
	defer p.mu.Unlock()
	options.Network, options.Addr = "unix", p.fronts[options.Addr].path
	return options
}

// Store returns a client as [Engine.Store] does, all of whose connections go
// through the proxy.
func (p *Proxy) Store(t testing.TB, opts ...StoreOption) redis.UniversalClient {
	t.Helper()
	return p.engine.Store(t, append(opts, dialer(p.dial))...)
}

// dial connects a client to a server through the proxy.
func (p *Proxy) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	front, err := p.front(network, addr)
	if err != nil {
		return nil, err
	}
	return (&net.Dialer{}).DialContext(ctx, "unix", front.path)
}

// Client returns a new client that goes through the proxy, closed when the test
// ends.
func (p *Proxy) Client(t testing.TB) *redis.Client {
	t.Helper()
	client := redis.NewClient(p.Options())
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Delay sets how long each command and each reply is under way, so a round trip
// takes twice as long. Order is kept and the number of bytes does not matter. It
// holds for what is sent from now on.
func (p *Proxy) Delay(oneWay time.Duration) { p.delay.Store(int64(oneWay)) }

// Refuse makes the proxy refuse new connections, or accept them again.
// Connections that exist are not touched; see [Proxy.CutAll].
func (p *Proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refusing == refuse {
		return
	}
	p.refusing = refuse
	for _, front := range p.fronts {
		if refuse {
			front.refuse()
		} else if err := front.listen(p); err != nil {
			panic(fmt.Sprintf("enginetest: accept connections again: %v", err))
		}
	}
}

// CutAll closes every connection at once. What was under way is lost.
func (p *Proxy) CutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for link := range p.links {
		link.cut()
	}
}

// Connections returns how many connections are open.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Count returns how often the command called name (in any case) has arrived,
// commands that a rule cut off included.
func (p *Proxy) Count(name string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.counts[strings.ToLower(name)]
}

// Counts returns how often each command has arrived, by its name in lower case.
func (p *Proxy) Counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// RoundTrips returns how often a command arrived on a connection that waited for
// no reply: a pipeline is one round trip. The HELLO of a new connection is one
// as well.
func (p *Proxy) RoundTrips() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.roundTrips
}

// ResetCounts sets all counts to zero.
func (p *Proxy) ResetCounts() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.counts)
	p.roundTrips = 0
}

// observe counts a command and returns the rule that it falls under, if any.
func (p *Proxy) observe(command []string, waiting bool) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[strings.ToLower(command[0])]++
	if !waiting {
		p.roundTrips++
	}
	for _, rule := range p.rules {
		if rule.match(command) {
			return rule
		}
	}
	return nil
}

// connect passes on what the two ends of a connection send.
func (p *Proxy) connect(client, server net.Conn) {
	link := newLink(p, client, server)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		link.cut()
		return
	}
	p.links[link] = struct{}{}
	p.running.Go(func() {
		link.run()
		p.mu.Lock()
		delete(p.links, link)
		p.mu.Unlock()
	})
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.Refuse(true)
	p.CutAll()
	p.running.Wait()
}
