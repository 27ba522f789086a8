package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

// tick is how often time passes for keys with a time to live. Each tick costs
// about 3 ms for 10,000 keys, under the lock of the whole server.
const tick = 100 * time.Millisecond

// memory is miniredis in this process. It listens on a unix socket in a private
// directory, as a child process does: no port that others could connect to, and
// buffers between client and server, which an in-memory pipe has not.
type memory struct {
	server   *miniredis.Miniredis
	listener net.Listener
	dir      string
	stop     chan struct{}
	accepted chan struct{} // closed when accept has returned
	ticked   chan struct{} // closed when passTime has returned

	mu  sync.Mutex
	now time.Time // of a clock that stands; zero for one that goes
}

// startMemory starts miniredis; with a clock that begins there and stands, unless
// it is zero.
func startMemory(clock time.Time) (*memory, error) {
	dir, err := childserver.TempDir()
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", childserver.SocketPath(dir))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start miniredis: %w", err), os.RemoveAll(dir))
	}
	m := &memory{
		server:   miniredis.NewMiniRedis(),
		listener: listener,
		dir:      dir,
		stop:     make(chan struct{}),
		accepted: make(chan struct{}),
		ticked:   make(chan struct{}),
		now:      clock,
	}
	if err := m.listenNowhere(); err != nil {
		return nil, errors.Join(err, listener.Close(), os.RemoveAll(dir))
	}
	go m.accept()
	if clock.IsZero() {
		go m.passTime()
	} else {
		m.server.SetTime(clock)
		close(m.ticked)
	}
	return m, nil
}

// listenNowhere starts miniredis without a port: it does so at the first
// in-memory connection.
func (m *memory) listenNowhere() error {
	conn, err := m.server.Dial()
	if err != nil {
		return fmt.Errorf("start miniredis: %w", err)
	}
	return conn.Close()
}

// accept hands connections to miniredis until the listener is closed.
func (m *memory) accept() {
	defer close(m.accepted)
	server := m.server.Server()
	for {
		conn, err := m.listener.Accept()
		switch {
		case err == nil:
			server.ServeConn(conn)
		case errors.Is(err, net.ErrClosed):
			return
		default: // the process has no file descriptor left, for now
			select {
			case <-m.stop:
				return
			case <-time.After(tick):
			}
		}
	}
}

// passTime lets keys expire: by itself miniredis stands still.
func (m *memory) passTime() {
	defer close(m.ticked)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last := time.Now(); ; {
		select {
		case <-m.stop:
			return
		case now := <-ticker.C:
			m.server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// advance moves a clock that stands, and returns what it then shows.
func (m *memory) advance(d time.Duration) (now time.Time, stands bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.now.IsZero() {
		return time.Time{}, false
	}
	if d > 0 {
		m.now = m.now.Add(d)
		m.server.SetTime(m.now)
		m.server.FastForward(d)
	}
	return m.now, true
}

func (m *memory) String() string {
	return strings.TrimSpace("miniredis "+miniredisVersion()) + " (in process)"
}

func (m *memory) address() (network, addr string) {
	return "unix", childserver.SocketPath(m.dir)
}

func (m *memory) announce(logger *slog.Logger) {
	logger.Warn("embedded server: in memory, inside this program, for development only; nothing is kept; install valkey-server for a real engine",
		"engine", m.String(), "socket", childserver.SocketPath(m.dir))
}

// ended returns a channel that is never closed: miniredis ends with the program.
func (m *memory) ended() <-chan struct{} { return nil }

func (m *memory) output() string { return "" }

func (m *memory) close() error {
	close(m.stop)
	err := m.listener.Close()
	<-m.accepted
	<-m.ticked
	m.server.Close()
	return errors.Join(err, os.RemoveAll(m.dir))
}

// miniredisVersion returns the version that is linked into this program, or ""
// where the build did not record it.
func miniredisVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/alicebob/miniredis/v2" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return ""
}
