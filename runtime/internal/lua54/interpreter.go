package lua54

import (
	"bufio"
	_ "embed" // for the sandbox
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

//go:embed host.lua
var host string

// ErrNotInstalled is the error of [Start] where there is no interpreter.
var ErrNotInstalled = errors.New(`lua5.4 is not on PATH, and these tests run the scripts in it. On Debian, as root: apt-get install -y lua5.4.
To run on the embedded server only, which needs nothing installed, set EMQ_ENGINES=embedded`)

// Interpreter is a sandbox in a process of its own. It is for one goroutine.
type Interpreter struct {
	process *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	errs    strings.Builder
}

// Start starts a sandbox. Close ends it.
func Start() (*Interpreter, error) {
	path, err := exec.LookPath("lua5.4")
	if err != nil {
		return nil, ErrNotInstalled
	}
	// Its argument must not begin with a dash, as a comment does.
	i := &Interpreter{process: exec.Command(path, "-e", "\n"+host)}
	i.process.Stderr = &i.errs
	if i.in, err = i.process.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := i.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	i.out = bufio.NewReader(out)
	return i, i.process.Start()
}

// Close ends the sandbox.
func (i *Interpreter) Close() error {
	return errors.Join(i.in.Close(), i.process.Wait())
}

// Site is where a script calls a command.
type Site struct {
	// Line is the line in the script, from 1.
	Line int
	// Command is the command's name.
	Command string
}

// Raised is the error of a script that did not return.
type Raised string

func (r Raised) Error() string { return string(r) }

// run runs a script. Each command goes to bridge, with the place from which it
// was sent. What the script returns is a value of package lua54's encoding.
func (i *Interpreter) run(source string, keys, args []string, bridge func(site Site, command []string) any) (any, error) {
	frame := appendValue(nil, source)
	frame = appendValue(frame, anys(keys))
	frame = appendValue(frame, anys(args))
	if _, err := i.in.Write(frame); err != nil {
		return nil, i.broken(err)
	}
	for {
		head, err := i.out.ReadString('\n')
		if err != nil {
			return nil, i.broken(err)
		}
		value, err := readValue(i.out)
		if err != nil {
			return nil, i.broken(err)
		}
		switch head[0] {
		case 'd':
			return value, nil
		case 'x':
			return nil, Raised(fmt.Sprint(value))
		case 'c':
			command, err := texts(value)
			if err != nil {
				return nil, i.broken(err)
			}
			site := Site{Command: strings.ToUpper(command[0])}
			if _, err := fmt.Sscan(head[1:], &site.Line); err != nil {
				return nil, i.broken(err)
			}
			if _, err := i.in.Write(appendValue(nil, bridge(site, command))); err != nil {
				return nil, i.broken(err)
			}
		default:
			return nil, i.broken(fmt.Errorf("the sandbox sent %q", head))
		}
	}
}

func (i *Interpreter) broken(err error) error {
	return fmt.Errorf("the sandbox of lua5.4 failed: %w %s", err, i.errs.String())
}

func anys(list []string) []any {
	values := make([]any, len(list))
	for n, text := range list {
		values[n] = text
	}
	return values
}

func texts(value any) ([]string, error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("the sandbox sent the command %v", value)
	}
	command := make([]string, len(list))
	for n, word := range list {
		command[n], ok = word.(string)
		if !ok {
			return nil, fmt.Errorf("the sandbox sent the command %v", value)
		}
	}
	return command, nil
}
