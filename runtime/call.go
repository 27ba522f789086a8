package echomq

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// replayWindow is for how long a call whose answer was lost may be sent again.
// The protocol keeps the stub of an ended job for twice as long.
const replayWindow = wire.ReplayWindow

// briefWindow is the same where the caller's context has no deadline and nobody
// answers: such a call is to fail soon rather than to wait for the store.
const briefWindow = 3 * time.Second

// fate says what an error tells about the call that it answers.
type fate int

const (
	done         fate = iota // executed, and answered
	refused                  // not executed; sending it again gives the same answer
	notExecuted              // not executed; sending it again may succeed
	unknown                  // executed or not: the answer was lost
	unreplicated             // executed, and answered; too few replicas have acknowledged
)

// once is a command that the client library never sends twice by itself: it
// would repeat one whose answer was lost without telling.
type once struct{ *redis.Cmd }

func (once) NoRetry() bool { return true }

func evalsha(ctx context.Context, call script.Call) once {
	args := make([]any, 0, 3+len(call.Keys)+len(call.Args))
	args = append(args, "evalsha", call.Script.SHA1, len(call.Keys))
	for _, key := range call.Keys {
		args = append(args, key)
	}
	args = append(args, call.Args...)
	cmd := once{redis.NewCmd(ctx, args...)}
	cmd.SetFirstKeyPos(3)
	return cmd
}

// answer is what came back for one call.
type answer struct {
	reply any
	err   error
	fate  fate
}

// exchange sends calls to the store in one round trip and returns an answer
// for each. Calls of a script that the server has not loaded are sent once
// more after loading it: they were not executed. In a cluster it is loaded on
// all nodes, of which one that is away need not be the queue's.
func (c *Client) exchange(ctx context.Context, calls ...script.Call) []answer {
	answers := c.send(ctx, calls)
	var missing []int
	for i, a := range answers {
		if a.err != nil && redis.HasErrorPrefix(a.err, "NOSCRIPT") {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return answers
	}
	again := make([]script.Call, len(missing))
	loaded := make(map[string]bool)
	for n, i := range missing {
		again[n] = calls[i]
		if loaded[calls[i].Script.SHA1] {
			continue
		}
		loaded[calls[i].Script.SHA1] = true
		if err := c.store.ScriptLoad(ctx, calls[i].Script.Source).Err(); classify(err) == refused {
			answers[i] = answer{err: notPermitted(calls[i], err), fate: refused}
			return answers
		}
	}
	for n, a := range c.send(ctx, again) {
		answers[missing[n]] = a
	}
	return answers
}

func (c *Client) send(ctx context.Context, calls []script.Call) []answer {
	cmds := make([]once, len(calls))
	for i, call := range calls {
		cmds[i] = evalsha(ctx, call)
	}
	var short error
	switch {
	case slices.ContainsFunc(calls, c.acknowledged):
		short = c.sendReplicated(ctx, calls[0].Keys[0], cmds)
	case len(cmds) == 1:
		_ = c.store.Process(ctx, cmds[0])
	default:
		pipe := c.store.Pipeline()
		for _, cmd := range cmds {
			_ = pipe.Process(ctx, cmd)
		}
		_, _ = pipe.Exec(ctx)
	}
	answers := make([]answer, len(cmds))
	for i, cmd := range cmds {
		reply, err := cmd.Result()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		answers[i] = answer{reply: reply, err: notPermitted(calls[i], err), fate: classify(err)}
		if err == nil && short != nil && c.acknowledged(calls[i]) {
			answers[i].err, answers[i].fate = short, unreplicated
		}
		refresh(c.store, err)
	}
	return answers
}

// transient are the first words of errors that a server or cluster gives
// instead of executing a call, and that pass.
var transient = []string{
	"NOSCRIPT", "TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "BUSY",
	"ASK", "MOVED", "FAILOVER", "NOREPLICAS", "MISCONF",
}

// classify tells an error's fate.
func classify(err error) fate {
	if err == nil {
		return done
	}
	var reply redis.Error
	if errors.As(err, &reply) {
		for _, word := range transient {
			if redis.HasErrorPrefix(err, word) {
				return notExecuted
			}
		}
		if strings.HasPrefix(err.Error(), "ERR max number of clients") {
			return notExecuted
		}
		return refused
	}
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "dial" || errors.Is(err, redis.ErrPoolTimeout) || errors.Is(err, redis.ErrPoolExhausted) {
		return notExecuted
	}
	if isNotRedis(err) || errors.Is(err, redis.ErrClosed) || errors.Is(err, ErrOption) {
		return refused
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return notExecuted
	}
	return unknown
}

// isNotRedis reports whether err says that what answered is no RESP server.
func isNotRedis(err error) bool {
	text := err.Error()
	return strings.Contains(text, "invalid reply") || strings.Contains(text, "can't parse") ||
		strings.Contains(text, "unexpected reply")
}

// call makes one call and sees it through: what was not executed is sent again
// while ctx allows, or once where ctx has no deadline; what may have been
// executed, or has not been acknowledged by replicas, is sent again within the
// replay window. Every script bears that.
func (c *Client) call(ctx context.Context, op string, call script.Call) (any, error) {
	return persist(ctx, op, func() (answer, error) { return c.attempt(ctx, call) })
}

// add adds jobs as call makes calls, in one round trip with what others add to the
// queue at the same time.
func (c *Client) add(ctx context.Context, queue wire.Queue, add addition) (script.AddReply, error) {
	joint := c.joints.of(c, queue, add.Events)
	raw, err := persist(ctx, joint.op, func() (answer, error) { return joint.attempt(ctx, add) })
	if err != nil {
		return script.AddReply{}, err
	}
	reply, err := script.DecodeAdd(raw)
	if n := len(reply.Results); err == nil && n > 0 && n != len(add.Items) {
		err = fmt.Errorf("add of %d jobs answered for %d", len(add.Items), n)
	}
	if err != nil {
		return script.AddReply{}, &StoreError{Kind: ErrOutcomeUnknown, Op: joint.op, Err: err}
	}
	return reply, nil
}

func persist(ctx context.Context, op string, attempt func() (answer, error)) (any, error) {
	if ctx.Err() != nil {
		return nil, &StoreError{Kind: ErrNotSent, Op: op, Err: context.Cause(ctx)}
	}
	first := time.Now()
	_, patient := ctx.Deadline()
	var lost error // what the last call that was or may have been executed came to
	kind := ErrOutcomeUnknown
	for try := 0; ; try++ {
		a, err := attempt()
		if err != nil {
			// The caller's context ended while the call was out, or before it was.
			if lost == nil && a.fate == notExecuted {
				kind = ErrNotSent
			}
			return nil, &StoreError{Kind: kind, Op: op, Err: err}
		}
		switch a.fate {
		case done:
			return a.reply, nil
		case refused:
			if lost != nil {
				return nil, &StoreError{Kind: kind, Op: op, Err: fmt.Errorf("%w; and then: %w", lost, a.err)}
			}
			return nil, refusal(op, a.err)
		case unknown:
			lost, kind = whyEnded(ctx, a.err), ErrOutcomeUnknown
		case unreplicated:
			lost, kind = a.err, ErrNotReplicated
		case notExecuted:
			if lost == nil && !patient && !isReply(a.err) {
				return nil, unreachable(op, a.err)
			}
		}
		window := replayWindow
		if !patient && !isReply(a.err) {
			window = briefWindow
		}
		if time.Since(first) > window || sleep(ctx, pauseAfter(a.err, try)) != nil {
			if lost != nil {
				return nil, &StoreError{Kind: kind, Op: op, Err: lost}
			}
			return nil, unreachable(op, a.err)
		}
	}
}

// attempt makes the call once.
func (c *Client) attempt(ctx context.Context, call script.Call) (answer, error) {
	return within(ctx, &c.goroutines, func() answer { return c.exchange(ctx, call)[0] })
}

// whyEnded returns an error of the client library; or, where it says no more than
// that ctx has ended, why that is.
func whyEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return context.Cause(ctx)
	}
	return err
}

// retryPause is how long to wait before trying again, the try-th time.
func retryPause(try int) time.Duration {
	pause := min(20*time.Millisecond<<min(try, 6), time.Second)
	return pause/2 + rand.N(pause/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func isReply(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply)
}

func unreachable(op string, err error) error {
	if kind := kindOf(err); kind != nil {
		return &StoreError{Kind: kind, Op: op, Err: err, Advice: adviceFor(kind)}
	}
	return &StoreError{Kind: ErrUnreachable, Op: op, Err: err, Advice: "nothing was written"}
}

// refusal turns the error of a call that was refused into one of ours.
func refusal(op string, err error) error {
	if told := explained(op, err); told != nil {
		return told
	}
	kind := kindOf(err)
	if kind == nil {
		return &StoreError{Kind: errRefused, Op: op, Err: err}
	}
	return &StoreError{Kind: kind, Op: op, Err: err, Advice: adviceFor(kind)}
}

var errRefused = errors.New("store refused the call")

// kindOf returns what kind of error err is, or nil.
func kindOf(err error) error {
	switch {
	case err == nil:
		return nil
	case hasWord(err, "EMQFULL"), hasWord(err, "OOM"):
		return ErrFull
	case hasWord(err, "EMQVERSION"):
		return ErrVersion
	case hasWord(err, "NOAUTH"), hasWord(err, "WRONGPASS"), strings.Contains(err.Error(), "AUTH <password> called without"):
		return ErrAuth
	case isPermission(err):
		return ErrPermission
	case errors.Is(err, redis.ErrClosed):
		return ErrClosed
	case isNotRedis(err):
		return ErrNotRedis
	}
	return nil
}

func hasWord(err error, word string) bool { return redis.HasErrorPrefix(err, word) }

func adviceFor(kind error) string {
	switch kind {
	case ErrFull:
		return "nothing was written; raise maxmemory or let workers drain the queues"
	case ErrVersion:
		return "use a library that speaks the queue's version, or another queue name"
	case ErrAuth:
		return "set Username and Password in the client's options"
	case ErrPermission:
		return "`emq acl producer --queue NAME`, or worker, prints the rule that a user needs"
	case ErrNotRedis:
		return "check the address and TLS settings"
	case ErrClosed:
		return "the go-redis client was closed"
	}
	return ""
}
