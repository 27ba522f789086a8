package fleet

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Command starts a peer.
type Command struct {
	// Name is how the report calls the peer: letters, digits and '-'.
	Name string
	// Args are the program and its arguments; the directory of the bundle is
	// added as the last one.
	Args []string
	// Env is added to the environment.
	Env []string
	// Err, where set, says why the peer cannot be started.
	Err error
}

// child is a peer in a process of its own.
type child struct {
	command *exec.Cmd
	stderr  *tail
	stdout  io.ReadCloser
	exit    error // read after waited
	waited  sync.Once
}

// start starts the process of a peer.
func (c Command) start(dir string) (*child, io.WriteCloser, error) {
	if c.Err != nil {
		return nil, nil, c.Err
	}
	if len(c.Args) == 0 {
		return nil, nil, fmt.Errorf("peer %s has no command", c.Name)
	}
	command := exec.Command(c.Args[0], append(c.Args[1:len(c.Args):len(c.Args)], dir)...)
	command.Env = append(os.Environ(), c.Env...)
	stderr := &tail{limit: 2 << 10}
	command.Stderr = stderr
	// A descendant that left the group may hold the output open.
	command.WaitDelay = time.Second
	ownGroup(command)
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := command.Start(); err != nil {
		return nil, nil, err
	}
	return &child{command: command, stderr: stderr, stdout: stdout}, stdin, nil
}

// kill ends the process and its children.
func (c *child) kill() {
	killGroup(c.command)
	_ = c.stdout.Close() // a descendant that left the group may hold the other end
}

// wait waits for the end of the process and describes it.
func (c *child) wait() string {
	c.waited.Do(func() { c.exit = c.command.Wait() })
	text := "exit status 0"
	if c.exit != nil {
		text = c.exit.Error()
	}
	if said := c.stderr.String(); said != "" {
		text += "; it wrote: " + brief(said)
	}
	return text
}

// tail is a writer that keeps the last bytes.
type tail struct {
	limit int
	mu    sync.Mutex
	kept  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	if excess := len(t.kept) - t.limit; excess > 0 {
		t.kept = append(t.kept[:0], t.kept[excess:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.kept))
}
