package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

// binaries are the servers that are looked for on PATH, in order of preference.
var binaries = []string{"valkey-server", "redis-server"}

// process is a server in a child process.
type process struct {
	child *childserver.Process
	dir   string
}

// startProcess starts the first server that is installed and works.
func startProcess(ctx context.Context, lookPath func(string) (string, error)) (*process, error) {
	var failures []error
	for _, name := range binaries {
		path, err := lookPath(name)
		if err != nil {
			continue
		}
		process, err := startBinary(ctx, path)
		if err == nil {
			return process, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		failures = append(failures, err)
	}
	if len(failures) == 0 {
		return nil, ErrNotInstalled
	}
	return nil, errors.Join(failures...)
}

func startBinary(ctx context.Context, path string) (_ *process, err error) {
	dir, err := childserver.TempDir()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	child, err := childserver.Start(ctx, childserver.Config{
		Binary: path,
		Args: []string{
			"--port", "0",
			"--unixsocket", childserver.SocketPath(dir),
			"--unixsocketperm", "700",
			"--dir", dir,
			"--save", "",
			"--appendonly", "no",
			"--loglevel", "warning",
		},
		Dir:     dir,
		Network: "unix",
		Addr:    childserver.SocketPath(dir),
	})
	if err != nil {
		var failure *childserver.Error
		if errors.As(err, &failure) {
			err = (*StartError)(failure)
		}
		return nil, err
	}
	if info := child.Info(); !info.AtLeast(7, 0) {
		child.Kill()
		return nil, &StartError{Binary: path, Err: fmt.Errorf("it is %s, which is too old; install Valkey 8 or Redis 7.0, or later", info)}
	}
	return &process{child: child, dir: dir}, nil
}

func (p *process) String() string { return p.child.Info().String() + " (private process)" }

func (p *process) address() (network, addr string) {
	return "unix", childserver.SocketPath(p.dir)
}

func (p *process) announce(logger *slog.Logger) {
	logger.Info("embedded server: started a private process for development; nothing is kept when it ends",
		"engine", p.String(), "socket", childserver.SocketPath(p.dir), "pid", p.child.Pid())
}

func (p *process) ended() <-chan struct{} { return p.child.Done() }

func (p *process) output() string { return p.child.Output() }

func (p *process) close() error {
	p.child.Kill()
	return os.RemoveAll(p.dir)
}
