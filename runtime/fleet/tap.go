package fleet

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// errLost is what a client sees whose connection ended before the answer came.
var errLost = fmt.Errorf("the answer was lost on purpose: %w", io.ErrUnexpectedEOF)

// tap stands between the Go runtime and its connections. It throws away answers,
// so that the runtime has to replay its calls, and sees those that are delivered.
type tap struct {
	settled chan struct{} // a settle that ended an attempt was answered
	idle    chan struct{} // a pick found nothing to take

	mu   sync.Mutex
	lose string
	odd  bool // the last pick's answer was lost, so the next is its replay
	lost int
	last *script.SettleResult
}

var _ redis.Hook = (*tap)(nil)

func newTap() *tap { return &tap{settled: make(chan struct{}, 1), idle: make(chan struct{}, 1)} }

// begin prepares for a request.
func (t *tap) begin(lose string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lose, t.odd, t.lost, t.last = lose, false, 0, nil
	for _, signal := range []chan struct{}{t.settled, t.idle} {
		select {
		case <-signal:
		default:
		}
	}
}

func (t *tap) lostAnswers() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lost
}

// lastSettle returns the answer to the settle that ended an attempt, or nil.
func (t *tap) lastSettle() *script.SettleResult {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last
}

// DialHook is part of [redis.Hook].
func (t *tap) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

// ProcessHook is part of [redis.Hook].
func (t *tap) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if err := next(ctx, cmd); err != nil {
			return err
		}
		return t.pass(cmd)
	}
}

// ProcessPipelineHook is part of [redis.Hook].
func (t *tap) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if err := next(ctx, cmds); err != nil {
			return err
		}
		return t.pass(cmds...)
	}
}

// pass lets the answers of one round trip through, or loses them all.
func (t *tap) pass(cmds ...redis.Cmder) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost := false
	for _, cmd := range cmds {
		lost = t.drops(scriptOf(cmd)) || lost
	}
	if lost {
		t.lost++
		for _, cmd := range cmds {
			cmd.SetErr(errLost)
		}
		return errLost
	}
	for _, cmd := range cmds {
		t.see(scriptOf(cmd), cmd)
	}
	return nil
}

// drops reports whether the answer to a call of the script is to be lost: the
// first of an add or settle, every other of a pick, whose replays get through.
func (t *tap) drops(name string) bool {
	switch {
	case name == "" || name != t.lose:
		return false
	case name == losePick:
		t.odd = !t.odd
		return t.odd
	default:
		t.lose = ""
		return true
	}
}

func (t *tap) see(name string, cmd redis.Cmder) {
	answered, ok := cmd.(interface{ Val() any })
	if !ok {
		return
	}
	switch name {
	case loseSettle:
		reply, err := script.DecodeSettle(answered.Val())
		if err == nil && t.last == nil && ends(reply.Results[0]) {
			t.last = &reply.Results[0]
			signal(t.settled)
		}
	case losePick:
		reply, err := script.DecodePick(answered.Val())
		if err == nil && len(reply.Started)+len(reply.Reserved)+len(reply.Window) == 0 {
			signal(t.idle)
		}
	}
}

// ends reports whether a settle ended an attempt, rather than gave a job back.
func ends(result script.SettleResult) bool {
	return result.Outcome != string(script.SettleOutcomeRelease) && result.Outcome != string(script.SettleOutcomeSnooze)
}

func signal(channel chan struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}

// scriptOf returns the name of the script that a command calls, or of that from
// which it is derived; or "".
func scriptOf(cmd redis.Cmder) string {
	args := cmd.Args()
	if len(args) < 2 || args[0] != "evalsha" {
		return ""
	}
	for _, one := range lua.All() {
		if args[1] == one.SHA1 {
			return one.Base()
		}
	}
	return ""
}
