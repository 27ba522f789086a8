package enginetest

import (
	"errors"
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
	engine  *Engine
	options redis.Options
	delay   atomic.Int64 // nanoseconds

	mu         sync.Mutex
	listener   net.Listener // nil while it refuses connections
	links      map[*link]struct{}
	rules      []*Rule
	counts     map[string]int
	roundTrips int
	closed     bool

	running sync.WaitGroup
}

// NewProxy starts a proxy in front of e, on a unix socket, and ends it with the
// test.
func NewProxy(t testing.TB, e *Engine) *Proxy {
	t.Helper()
	dir, err := childserver.TempDir()
	if err != nil {
		t.Fatal(err)
	}
	proxy := &Proxy{
		engine:  e,
		options: e.options,
		links:   map[*link]struct{}{},
		counts:  map[string]int{},
	}
	proxy.options.Network, proxy.options.Addr = "unix", childserver.SocketPath(dir)
	t.Cleanup(func() {
		proxy.close()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := proxy.listen(); err != nil {
		t.Fatal(err)
	}
	return proxy
}

// Options returns new options for a client that goes through the proxy.
func (p *Proxy) Options() *redis.Options {
	options := p.options
	return &options
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
	listening := p.listener != nil
	if refuse && listening {
		_ = p.listener.Close()
		p.listener = nil
	}
	p.mu.Unlock()
	if !refuse && !listening {
		if err := p.listen(); err != nil {
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

// listen begins to accept connections.
func (p *Proxy) listen() error {
	if err := os.Remove(p.options.Addr); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", p.options.Addr)
	if err != nil {
		return err
	}
	// The path stays when the listener is closed, so that a client is refused
	// and does not find the path missing.
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	p.mu.Lock()
	p.listener = listener
	p.mu.Unlock()
	p.running.Go(func() { p.accept(listener) })
	return nil
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.engine.options.Network, p.engine.options.Addr)
		if err != nil {
			_ = client.Close()
			continue
		}
		p.connect(client, server)
	}
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
