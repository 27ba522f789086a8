package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/monitor"
)

// capture reads the stream of one node and sorts what it shows.
type capture struct {
	node   string
	unix   bool
	client *redis.Client // asks the node about commands
	stream *monitor.Stream
	keys   *monitor.Keys
	// substitute is asked about commands instead of the node; usually nil.
	substitute *substitute
	sorter

	cancel context.CancelFunc
	ended  chan struct{} // closed when watch has returned

	call *pendingCall // that the next lines of scripts belong to; watch's own

	mu      sync.Mutex
	found   Step // since the last take
	ignored int
	foreign string // the first use of the queue by somebody else
	err     error
	marks   map[string]chan struct{}
}

// sorter is what a capture goes by to tell whose a line is.
type sorter struct {
	tag       string   // {queue}
	outside   []string // what else the runtime's plain commands mention
	names     map[string]string
	book      *ledger // nil for an observer, to whom everybody's calls count
	tool, own *addresses
}

// pendingCall is the call of a script whose lines are being read.
type pendingCall struct {
	monitor.Call
	line     monitor.Line
	ours     bool
	mentions bool // the queue, in the call or in a command
	lines    []monitor.Line
}

// openCapture begins to watch a node.
func openCapture(ctx context.Context, options *redis.Options, s sorter) (*capture, error) {
	asking := s.tool.noting(options)
	asking.Protocol = 2
	asking.PoolSize = 2
	client := redis.NewClient(asking)
	c := &capture{
		node: options.Addr, unix: unix(options), client: client, sorter: s,
		ended: make(chan struct{}), marks: map[string]chan struct{}{},
	}
	if err := client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("no contact with %s: %w", options.Addr, err), client.Close())
	}
	stream, err := monitor.Open(ctx, options)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	if err := c.learn(ctx); err != nil {
		return nil, errors.Join(err, stream.Close(), client.Close())
	}
	c.stream = stream
	watching, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go c.watch(watching)
	return c, nil
}

// close ends the capture.
func (c *capture) close() {
	c.cancel()
	_ = c.stream.Close()
	<-c.ended
	_ = c.client.Close()
	c.substitute.close()
}

func (c *capture) watch(ctx context.Context) {
	defer close(c.ended)
	for {
		text, err := c.stream.Next()
		if err == nil {
			err = c.line(ctx, text)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) {
			err = errors.New("the engine closed the connection that MONITOR wrote to")
		}
		c.mu.Lock()
		c.err = fmt.Errorf("watch %s: %w", c.node, err)
		c.mu.Unlock()
		return
	}
}

// line sorts one line.
func (c *capture) line(ctx context.Context, text []byte) error {
	line, err := monitor.ParseLine(text)
	if err != nil {
		return err
	}
	if line.Lua {
		return c.scriptLine(line)
	}
	if err := c.finish(ctx); err != nil {
		return err
	}
	call, isCall, err := monitor.ParseCall(line)
	switch {
	case err != nil:
		return err
	case isCall:
		return c.begin(call, line)
	}
	return c.plain(ctx, line)
}

// begin makes a call the one that the next lines of a script belong to.
func (c *capture) begin(call monitor.Call, line monitor.Line) error {
	c.call = &pendingCall{Call: call, line: line.Clone(), ours: c.book == nil, mentions: line.Mentions(c.tag)}
	if c.book == nil || !c.unix && !c.own.has(line.Client) {
		return nil
	}
	args, err := line.Arguments(-1)
	c.call.ours = err == nil && c.book.seen(args)
	return err
}

// scriptLine adds a command to the call that ran it. What another's script did
// on other queues is not kept.
func (c *capture) scriptLine(line monitor.Line) error {
	mentions := line.Mentions(c.tag)
	if c.call == nil {
		if mentions {
			return fmt.Errorf("the call that ran this command was not seen: %s", line)
		}
		return nil
	}
	c.call.mentions = c.call.mentions || mentions
	if c.call.ours {
		c.call.lines = append(c.call.lines, line.Clone())
	}
	return nil
}

// finish takes in the call whose lines have been read.
func (c *capture) finish(ctx context.Context) error {
	call := c.call
	c.call = nil
	switch {
	case call == nil:
		return nil
	case !call.ours && call.mentions:
		c.intrusion(call.line)
		return nil
	case !call.ours, c.book == nil && !call.mentions:
		c.ignore()
		return nil
	}
	transition := Transition{
		Script: c.names[call.Script], SHA1: call.Script, Client: call.line.Client, Node: c.node, Keys: call.Keys,
	}
	if call.Command == "eval" || call.Command == "eval_ro" {
		transition.SHA1 = digestOfScript(call.Script)
		transition.Script = c.names[transition.SHA1]
	}
	for _, line := range call.lines {
		command, err := c.command(ctx, line, &call.Call)
		if err != nil {
			return err
		}
		transition.Commands = append(transition.Commands, command)
	}
	transition.summarise()
	c.mu.Lock()
	c.found.Transitions = append(c.found.Transitions, transition)
	c.mu.Unlock()
	return nil
}

// command asks for the keys of a command. Those of one that a script ran are
// held against the KEYS of its call.
func (c *capture) command(ctx context.Context, line monitor.Line, call *monitor.Call) (Command, error) {
	args, err := line.Arguments(-1)
	if err != nil {
		return Command{}, err
	}
	command := Command{Args: cut(args), whole: args}
	var keys []monitor.Key
	if call != nil {
		keys, command.Undeclared, err = call.Operands(ctx, c.keys, line)
	} else {
		keys, err = c.keys.Of(ctx, line)
	}
	if err != nil {
		return Command{}, fmt.Errorf("the keys of a command cannot be told: %w", err)
	}
	for _, key := range keys {
		if key.Write {
			command.Wrote = append(command.Wrote, key.Name)
		} else {
			command.Read = append(command.Read, key.Name)
		}
	}
	return command, nil
}

// silent are commands that have no keys of their own, whatever they mention.
var silent = map[string]bool{"command": true, "echo": true, "script": true, "client": true, "hello": true}

// plain sorts a command that no script ran.
func (c *capture) plain(ctx context.Context, line monitor.Line) error {
	name, err := line.Arguments(2)
	if err != nil {
		return err
	}
	if strings.EqualFold(name[0], "echo") && len(name) == 2 {
		c.mark(name[1])
	}
	ours := c.book != nil && (c.own.has(line.Client) || c.unix && (line.Mentions(c.tag) || slices.ContainsFunc(c.outside, line.Mentions)))
	switch {
	case silent[strings.ToLower(name[0])], c.tool.has(line.Client):
		return nil
	case !ours && c.book != nil && line.Mentions(c.tag):
		c.intrusion(line)
		return nil
	case !ours:
		c.ignore()
		return nil
	}
	command, err := c.command(ctx, line, nil)
	if err != nil || len(command.Wrote)+len(command.Read) == 0 {
		return err
	}
	c.mu.Lock()
	c.found.Plain = append(c.found.Plain, command)
	c.mu.Unlock()
	return nil
}

// ignore counts a command of somebody else. On a unix socket it may be ours.
func (c *capture) ignore() {
	if c.unix {
		return
	}
	c.mu.Lock()
	c.ignored++
	c.mu.Unlock()
}

// intrusion notes that somebody else used the queue.
func (c *capture) intrusion(line monitor.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.foreign == "" {
		c.foreign = fmt.Sprintf("%s sent %s", line.Client, line)
	}
}

func (c *capture) mark(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.marks[text]; ch != nil {
		close(ch)
		delete(c.marks, text)
	}
}

// take waits until everything that the node has run so far is sorted, and
// returns what was found since the last time.
func (c *capture) take(ctx context.Context) (Step, error) {
	text := "emq-mark-" + rand.Text()
	seen := make(chan struct{})
	c.mu.Lock()
	c.marks[text] = seen
	c.mu.Unlock()
	if err := c.client.Echo(ctx, text).Err(); err != nil {
		return Step{}, fmt.Errorf("watch %s: %w", c.node, err)
	}
	select {
	case <-seen:
	case <-c.ended:
	case <-ctx.Done():
		return Step{}, context.Cause(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.found
	c.found = Step{}
	switch {
	case c.err != nil:
		return found, c.err
	case c.foreign != "":
		return found, fmt.Errorf("somebody else uses the queue: %s", c.foreign)
	}
	return found, nil
}

// ignoredSoFar counts the commands of others, on other queues.
func (c *capture) ignoredSoFar() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ignored
}

// broken returns why the node can be watched no longer, or nil.
func (c *capture) broken() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}
