package embedded

import (
	"log/slog"
	"os/exec"
	"time"
)

// Option is a setting of [Start].
type Option func(*config)

type config struct {
	process  bool
	inMemory bool
	clock    time.Time // where a clock that stands begins; zero for one that goes
	logger   *slog.Logger
	lookPath func(name string) (string, error)
}

func newConfig(opts []Option) *config {
	config := &config{logger: slog.Default(), lookPath: exec.LookPath}
	for _, opt := range opts {
		opt(config)
	}
	return config
}

// Process asks for a child process and nothing else: without valkey-server or
// redis-server on PATH, [Start] fails with [ErrNotInstalled]. Choose it where
// miniredis would be too slow or not faithful enough.
func Process() Option { return func(c *config) { c.process = true } }

// InMemory asks for miniredis in this process, even if a server is installed.
// It starts in less than a millisecond and is the same on every machine.
func InMemory() Option { return func(c *config) { c.inMemory = true } }

// Logger sets where the server announces itself; the default is
// [slog.Default]. Nil logs nothing.
func Logger(logger *slog.Logger) Option {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return func(c *config) { c.logger = logger }
}

// StandingClock asks for miniredis in this process, as [InMemory] does, with a
// clock that begins at start and stands until [Server.Advance] moves it. Due
// times, deadlines and expiry follow it, since the server's clock is the one that
// counts; what waits in the program itself, such as a reader that blocks, does
// not. It is for tests. A start before 1970 is taken as the present.
func StandingClock(start time.Time) Option {
	return func(c *config) {
		c.inMemory = true
		c.clock = start
		if start.Before(time.Unix(0, 0)) {
			c.clock = time.Now()
		}
	}
}
