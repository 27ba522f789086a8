package embedded

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// Server is a private server and a client connected to it.
type Server struct {
	engine engine
	client *redis.Client
	logger *slog.Logger

	closeOnce sync.Once
	closing   chan struct{}
	watched   chan struct{} // closed when watch has returned
	unhook    func() bool
	closeErr  error
}

// engine is what answers: a child process or miniredis.
type engine interface {
	// String describes the engine with its version.
	String() string
	// address returns the network and address at which it listens.
	address() (network, addr string)
	// announce logs what was started and what it is not.
	announce(*slog.Logger)
	// ended is closed if the engine ends by itself.
	ended() <-chan struct{}
	// output returns the end of what the engine has logged.
	output() string
	// close ends the engine and removes what it left on disk.
	close() error
}

// Start starts a private server and returns when it answers. The server lives
// until [Server.Close] is called or ctx ends, whichever is first; then it is
// killed, what it held is gone, and its directory is removed.
//
// Without options it runs valkey-server or redis-server if one is on PATH and
// starts, otherwise miniredis in this process. It logs which one it is.
//
// The error is [ErrOptions] for options that exclude each other,
// [ErrNotInstalled] or a [*StartError] where [Process] was asked for, or the
// cause of ctx.
func Start(ctx context.Context, opts ...Option) (*Server, error) {
	config := newConfig(opts)
	if config.process && config.inMemory {
		return nil, ErrOptions
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	engine, err := config.start(ctx)
	if err != nil {
		return nil, err
	}
	server := &Server{
		engine:  engine,
		logger:  config.logger,
		closing: make(chan struct{}),
		watched: make(chan struct{}),
	}
	server.client = redis.NewClient(server.Options())
	engine.announce(server.logger)
	go server.watch()
	server.unhook = context.AfterFunc(ctx, func() { server.close() })
	return server, nil
}

// start starts the engine that the options ask for.
func (c *config) start(ctx context.Context) (engine, error) {
	if c.inMemory {
		return startMemory(c.clock)
	}
	process, err := startProcess(ctx, c.lookPath)
	switch {
	case err == nil:
		return process, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case c.process:
		return nil, err
	case !errors.Is(err, ErrNotInstalled):
		c.logger.WarnContext(ctx, "embedded server: a server is installed but does not start; using miniredis", "error", err)
	}
	return startMemory(c.clock)
}

// Redis returns a client of the server. It belongs to the server, which closes
// it; do not close it yourself.
func (s *Server) Redis() redis.UniversalClient { return s.client }

// Options returns new options for a client of your own, which you then close
// before the server. The address is a unix socket that any process of the same
// user can connect to.
func (s *Server) Options() *redis.Options {
	network, addr := s.engine.address()
	return &redis.Options{
		Network: network,
		Addr:    addr,
		// Each reader that blocks holds a connection, and on a unix socket a
		// connection costs little; they are dialled when needed.
		PoolSize:              max(64, 10*runtime.GOMAXPROCS(0)),
		ContextTimeoutEnabled: true,
		DialerRetries:         1,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}
}

// Engine describes what answers, for example "valkey 8.0.1 (private process)"
// or "miniredis 2.40.0 (in process)".
func (s *Server) Engine() string { return s.engine.String() }

// Advance moves the clock of a server with a [StandingClock] forward and returns
// what it then shows; a time that is not positive only returns it. The error is
// [ErrClock] for a server whose clock goes by itself.
func (s *Server) Advance(d time.Duration) (time.Time, error) {
	if m, ok := s.engine.(*memory); ok {
		if now, stands := m.advance(d); stands {
			return now, nil
		}
	}
	return time.Time{}, ErrClock
}

// Close ends the server, closes the client of [Server.Redis] and removes the
// server's directory. Everything that was stored is gone. It may be called more
// than once, by several goroutines; each call returns when the server is gone,
// with the same error.
func (s *Server) Close() error {
	s.unhook()
	return s.close()
}

func (s *Server) close() error {
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.watched
		s.closeErr = errors.Join(s.client.Close(), s.engine.close())
	})
	return s.closeErr
}

// watch tells when the engine ends although nobody closed it.
func (s *Server) watch() {
	defer close(s.watched)
	select {
	case <-s.closing:
	case <-s.engine.ended():
		s.logger.Error("embedded server: it has ended by itself, and what it held is gone",
			"engine", s.engine.String(), "output", s.engine.output())
	}
}
