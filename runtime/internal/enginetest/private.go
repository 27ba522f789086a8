package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/runtime/internal/childserver"
)

// private is a server in a child process.
type private struct {
	t      testing.TB // nil while the engine is shared
	config childserver.Config
	child  *childserver.Process
}

// portAttempts is how often another port is tried: between the kernel's choice
// of a free one and the server's start somebody else may take it.
const portAttempts = 10

// startProcess starts a server of kind in a child process.
func startProcess(ctx context.Context, kind Kind, config *startConfig) (_ *Engine, err error) {
	binary, err := binaryOf(kind)
	if err != nil {
		return nil, err
	}
	dir, err := childserver.TempDir()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	server := &private{config: childserver.Config{Binary: binary, Dir: dir, Password: config.password}}
	if err := server.launch(ctx, config); err != nil {
		return nil, err
	}
	if err := checkVersion(kind, server.child.Info()); err != nil {
		server.child.Kill()
		return nil, err
	}
	engine := &Engine{
		Kind:    kind,
		version: server.child.Info().String(),
		options: optionsFor(server.config.Network, server.config.Addr),
		private: server,
		close: func() error {
			server.child.Kill()
			return os.RemoveAll(dir)
		},
	}
	engine.options.Password = config.password
	return engine, nil
}

// launch starts the process at a unix socket or at a port that is free.
func (p *private) launch(ctx context.Context, config *startConfig) error {
	for attempt := 1; ; attempt++ {
		where, err := p.place(config)
		if err != nil {
			return err
		}
		p.config.Args = nil
		if config.file != "" {
			p.config.Args = []string{config.file}
		}
		p.config.Args = append(p.config.Args, where...)
		p.config.Args = append(p.config.Args, "--dir", p.config.Dir, "--save", "", "--loglevel", "warning",
			"--client-output-buffer-limit", "normal", "0", "0", "0")
		p.config.Args = append(p.config.Args, config.args...)
		p.child, err = childserver.Start(ctx, p.config)
		if err == nil {
			return nil
		}
		taken := strings.Contains(err.Error(), "Address already in use")
		if !config.tcp || !taken || attempt == portAttempts {
			return err
		}
	}
}

// place decides where the server listens and returns the arguments for it.
func (p *private) place(config *startConfig) ([]string, error) {
	if !config.tcp {
		p.config.Network, p.config.Addr = "unix", childserver.SocketPath(p.config.Dir)
		return []string{"--port", "0", "--unixsocket", p.config.Addr, "--unixsocketperm", "700"}, nil
	}
	ports, err := freePorts(2)
	if err != nil {
		return nil, fmt.Errorf("find free ports: %w", err)
	}
	p.config.Network, p.config.Addr = "tcp", net.JoinHostPort(loopback, ports[0])
	where := []string{"--port", ports[0], "--bind", loopback}
	if config.bus {
		where = append(where, "--cluster-port", ports[1])
	}
	return where, nil
}

const loopback = "127.0.0.1"

// freePorts returns different ports that nobody listens at.
func freePorts(n int) (ports []string, err error) {
	for range n {
		listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
		if err != nil {
			return nil, err
		}
		defer listener.Close()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// own returns the process of the engine. It panics for a shared engine, which
// no test may pause or kill under the others, and for miniredis, which has none.
func (e *Engine) own() *private {
	if e.private == nil || e.private.t == nil {
		panic("enginetest: only an engine of Start or EachPrivate, not miniredis, can be paused, killed and restarted")
	}
	e.private.t.Helper()
	return e.private
}

// Kill ends the engine at once, as a crash does (SIGKILL), and returns when it
// is gone.
func (e *Engine) Kill() { e.own().child.Kill() }

// Restart starts the engine again on the same directory and address, after
// killing it if it runs, and returns when it answers. Without [AOF] it is empty.
func (e *Engine) Restart() {
	p := e.own()
	p.t.Helper()
	p.child.Kill()
	child, err := childserver.Start(p.t.Context(), p.config)
	if err != nil {
		p.t.Fatalf("restart %s: %v", e, err)
	}
	p.child = child
}

// Pid returns the id of the engine's process.
func (e *Engine) Pid() int { return e.own().child.Pid() }
