package childserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Config says what to start.
type Config struct {
	// Binary is the path of the server's program.
	Binary string
	// Args are its arguments; they must make it listen on Addr and keep it in
	// the foreground, which is the default of both servers.
	Args []string
	// Dir is the working directory.
	Dir string
	// Network and Addr are where it will answer: "unix" and a path, or "tcp"
	// and host:port.
	Network, Addr string
	// Password is what the server asks for; empty for none.
	Password string
	// ReadyTimeout is how long it may take until the server answers; 0 means
	// 10 s.
	ReadyTimeout time.Duration
}

// Process is a running server.
type Process struct {
	command *exec.Cmd
	output  *tail
	info    Info
	done    chan struct{} // closed when the process has ended and was reaped
	exit    error         // what Wait said; read after done
}

// Start starts a server and returns when it answers. It ends the attempt when
// ctx does; the life of the process does not depend on ctx. The error is an
// [*Error]; no process is left behind then.
func Start(ctx context.Context, config Config) (*Process, error) {
	output := &tail{limit: 4 << 10}
	command := exec.Command(config.Binary, config.Args...)
	command.Dir = config.Dir
	command.Stdout, command.Stderr = output, output
	// The servers refuse to start under a locale that is not installed.
	command.Env = append(os.Environ(), "LC_ALL=C")
	// A child that the server forked may hold the output open after it.
	command.WaitDelay = time.Second
	detach(command)

	process := &Process{command: command, output: output, done: make(chan struct{})}
	if err := process.launch(); err != nil {
		return nil, &Error{Binary: config.Binary, Err: err}
	}
	timeout := config.ReadyTimeout
	if timeout == 0 {
		timeout = 10 * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("it did not answer within %s", timeout))
	defer cancel()
	info, err := process.ready(ctx, config)
	if err != nil {
		process.Kill()
		return nil, &Error{Binary: config.Binary, Output: output.String(), Err: err}
	}
	process.info = info
	return process, nil
}

// launch starts the process and waits for its end on a thread of their own:
// Linux sends a parent-death signal when the thread that forked ends, which for
// an ordinary goroutine can be long before the program does.
func (p *Process) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.command.Start()
		started <- err
		if err != nil {
			return
		}
		p.exit = p.command.Wait()
		close(p.done)
	}()
	return <-started
}

// Info returns what the server said about itself when it started.
func (p *Process) Info() Info { return p.info }

// Pid returns the id of the process.
func (p *Process) Pid() int { return p.command.Process.Pid }

// Done returns a channel that is closed once the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Output returns the end of what the server has written to its log.
func (p *Process) Output() string { return p.output.String() }

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) error { return p.command.Process.Signal(signal) }

// Kill ends the process at once and returns when it is gone. Nothing that the
// server held in memory is kept. It does nothing to a process that has ended.
func (p *Process) Kill() {
	// The only failure is that the process has ended already.
	_ = p.command.Process.Kill()
	<-p.done
}

// exited describes the end of a process that should be running.
func (p *Process) exited() error {
	if p.exit == nil {
		return errors.New("it ended at once, without an error")
	}
	return fmt.Errorf("it ended at once: %w", p.exit)
}

// Error tells why a server could not be started.
type Error struct {
	// Binary is the program.
	Binary string
	// Output is the end of what it wrote, without a final newline.
	Output string
	// Err is the cause.
	Err error
}

func (e *Error) Error() string {
	message := fmt.Sprintf("start %s: %v", e.Binary, e.Err)
	if e.Output != "" {
		message += "; it wrote:\n\t" + strings.ReplaceAll(e.Output, "\n", "\n\t")
	}
	return message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
