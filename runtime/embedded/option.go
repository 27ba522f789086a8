package embedded

import (
	"log/slog"
	"os/exec"
)

// Option is a setting of [Start].
type Option func(*config)

type config struct {
	process  bool
	inMemory bool
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
