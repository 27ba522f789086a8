package echomq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// firstReturn is how long a job that no handler knows stays away the first
	// time; it doubles up to lastReturn.
	firstReturn = time.Second
	lastReturn  = 5 * time.Minute
	// maxKnownOpts bounds the memory of settings that were read before.
	maxKnownOpts = 256
)

// begin takes a job that a pick started, and runs its handler or settles it
// without running it.
func (r *runner) begin(l *lane, started script.PickStarted, token string, now int64) {
	id, err := wire.ParseStoredJobID(started.ID)
	if err != nil {
		r.log.Error("the store started an id that no job can have", "id", started.ID, "error", err)
		return
	}
	a := &attempt{runner: r, id: id, token: token}
	a.envelope, err = wire.DecodeEnvelope(started.ID, started.Job)
	envelope := &a.envelope
	err = errors.Join(err, confine(envelope))
	a.damaged = err != nil
	envelope.AttemptsStarted = int(started.Starts)
	envelope.ProcessedOn = wire.Timestamp(now)
	envelope.ProcessedBy = r.worker
	a.settings = r.settingsOf(l, envelope)
	route, known := r.routes[envelope.Name]
	if a.route = route; !known {
		a.route = &Route{}
	}
	switch {
	case err != nil:
		r.settleUnrun(a.fail(fmt.Errorf("the job's record cannot be read: %w", err)))
	case envelope.DeferredFailure != "":
		r.settleUnrun(a.fail(errors.New(envelope.DeferredFailure)))
	case !known, envelope.PayloadVersion > route.version, !route.retired && !r.reads(route, envelope.Codec):
		r.settleUnrun(a.handOn(known))
	default:
		a.held = holding{id: id, token: token, name: envelope.Name}
		switch slot, held := r.hold(a); {
		case !held:
			r.settleUnrun(a.giveBack())
		case slot:
			a.start()
		}
	}
}

// start runs the handler of a job that has a slot.
func (a *attempt) start() {
	r := a.runner
	a.begun = time.Now()
	a.deadline = r.together.after(a.begun, a.settings.timeout)
	ctx, cancel := context.WithCancelCause(a.deadline.ctx)
	a.ctx = ctx
	r.mu.Lock()
	a.held.cancel, a.held.limit = cancel, a.deadline.limit
	why := a.held.why
	r.mu.Unlock()
	if why != nil { // since it left the line
		cancel(why)
	}
	r.client.goroutines.start(a)
}

// maxCount bounds the numbers of a job's record and of its settings, well within
// what the scripts take.
const maxCount = 1<<31 - 1

// confine brings the numbers of a record into the ranges that the scripts take,
// so that a job whose record was damaged can be settled, and says which were not.
func confine(e *Envelope) error {
	var err error
	for _, n := range []struct {
		name  string
		value *int
		limit int
	}{
		{wire.FieldPriority, &e.Priority, MaxPriority},
		{wire.FieldAttemptsMade, &e.AttemptsMade, maxCount},
		{wire.FieldAttemptsStarted, &e.AttemptsStarted, maxCount},
		{wire.FieldUnknownCount, &e.UnknownCount, maxCount},
		{wire.FieldLogCount, &e.LogCount, maxCount},
		{wire.FieldChildren, &e.Children, maxCount},
	} {
		if confined := min(max(*n.value, 0), n.limit); confined != *n.value {
			err = errors.Join(err, fmt.Errorf("%s is %d", n.name, *n.value))
			*n.value = confined
		}
	}
	return err
}

func (r *runner) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}

// settleUnrun settles a job whose handler was not run. It is held until then.
func (r *runner) settleUnrun(res result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held[res.id.String()] = &holding{id: res.id, token: res.token, ended: true}
	r.results = append(r.results, res)
	r.wake()
}

// settingsOf reads a job's opts, of which a queue's jobs have few different
// ones.
func (r *runner) settingsOf(l *lane, envelope *Envelope) settings {
	known := l.known
	if set, ok := known[envelope.Opts]; ok {
		return set
	}
	set, err := decodeSettings(envelope.Opts)
	if err != nil {
		r.log.Warn("a job's settings cannot be read; the defaults hold", "job", envelope.ID, "error", err)
	}
	if set.trace != nil {
		return set // no other job has the same
	}
	if len(known) >= maxKnownOpts {
		clear(known)
	}
	known[envelope.Opts] = set
	return set
}

// attempt is one run of one job. It is large, so it is allocated once, and passed on
// as a pointer: copies would make the stacks of the handlers' goroutines grow.
type attempt struct {
	runner   *runner
	route    *Route
	order    uint64
	id       wire.JobID
	token    string
	envelope Envelope
	settings settings
	damaged  bool            // its record cannot be read
	ctx      context.Context // of its handler, without what the program adds
	deadline *deadline       // of ctx; both are made when it has a slot
	held     holding
	taken    time.Time // when it began to wait for a slot
	begun    time.Time // when it got one
	finished bool      // what came of it was handed in
}

// reads reports whether this worker can decode a payload of the given codec.
func (r *runner) reads(route *Route, codec string) bool {
	encoding, transform := splitCodec(codec)
	return route.knows(encoding) && (transform == "" || r.client.transforms.find(transform) != nil)
}

// do runs the handler.
func (a *attempt) do() {
	defer a.deadline.release()
	defer a.held.cancel(nil)
	value, err := a.handle()
	if limit := a.runner.config.payloadLimit; err == nil && len(value) > limit {
		// As with one that cannot be encoded, the effect has happened.
		err = Fail(fmt.Errorf("result has %d bytes and the limit is %d; store large data elsewhere and return a reference, or set PayloadLimit", len(value), limit))
	}
	a.finish(a.verdict(value, err))
}

// finish hands in what came of the attempt. What comes after the first is of code that
// went on when it was believed to have ended its goroutine.
func (a *attempt) finish(res result) {
	if !a.finished {
		a.finished = true
		a.runner.finish(a, res)
	}
}

// guarded runs the program's own code. If that does not return, broke gets what it
// panicked with, or nil, where the goroutine is exiting.
func guarded(run func(), broke func(reason any)) {
	returned := false
	defer func() {
		if !returned {
			broke(recover())
		}
	}()
	run()
	returned = true
}

// verdict is judge for an error whose methods are the program's own: what they
// panic with is a failure, as in the handler.
func (a *attempt) verdict(value []byte, err error) (res result) {
	guarded(func() { res = a.judge(value, err) }, func(reason any) {
		if reason == nil {
			a.finish(a.judge(nil, errors.New("handler failed, and its error's own methods called runtime.Goexit")))
			return
		}
		res = a.judge(nil, fmt.Errorf("handler failed, and its error's own methods panicked: %v", reason))
	})
	return res
}

// panicError is a panic of a handler.
type panicError struct {
	reason any
	stack  []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("handler panicked: %v", e.reason) }

// handle calls the handler with all that lies around it. What that panics with is its
// error.
func (a *attempt) handle() (value []byte, err error) {
	guarded(func() {
		ctx := a.runner.client.enter(a.ctx, a.settings.trace)
		if a.envelope.Children > 0 || a.route.gather != nil {
			ctx = withFamily(ctx, family{client: a.runner.client, queue: a.runner.queue})
		}
		value, err = a.route.through(a.reporting(ctx), &a.envelope)
	}, func(reason any) {
		if reason == nil {
			a.finish(a.judge(nil, errors.New("handler called runtime.Goexit")))
			return
		}
		err = &panicError{reason: reason, stack: debug.Stack()}
	})
	return value, err
}

// judge says what is to become of the job.
func (a *attempt) judge(value []byte, err error) result {
	var snooze *snoozeError
	var fail *failError
	var retry *retryError
	cause := context.Cause(a.ctx)
	switch {
	case err == nil:
		res := a.result(script.SettleOutcomeCompleted)
		res.value = value
		res.attempts++
		res.keep = a.keeps(a.settings.keepCompleted)
		return res
	case errors.Is(err, errDiscarded):
		res := a.result(script.SettleOutcomeCompleted)
		res.attempts++
		res.keep = a.keeps(wire.KeepOpts{None: true})
		return res
	case errors.Is(cause, ErrCancelled):
		return a.fail(because(cause, cause, err))
	case errors.As(err, &snooze):
		res := a.result(script.SettleOutcomeSnooze)
		res.delay = snooze.after
		return res
	case errors.As(err, &fail) && !errors.Is(err, context.Canceled):
		return a.fail(err)
	case errors.Is(cause, ErrShutdown):
		return a.giveBack()
	case errors.As(err, &fail):
		return a.fail(err)
	case errors.Is(cause, ErrTimeout):
		err = because(fmt.Errorf("%w after %v", ErrTimeout, a.settings.timeout), cause, err)
	}
	if a.envelope.AttemptsMade+1 >= a.settings.attempts {
		return a.fail(err)
	}
	res := a.result(script.SettleOutcomeRetry)
	res.attempts++
	res.value = reason(err)
	res.trace = addTrace(a.envelope.Stacktrace, err)
	if errors.As(err, &retry) {
		res.delay = retry.after
	} else {
		res.delay = a.retryWait(err)
	}
	return res
}

// because returns why a context ended together with what the handler made of it, if
// that is more than its cause.
func because(why, cause, err error) error {
	if err == cause {
		return why
	}
	return fmt.Errorf("%w: %w", why, err)
}

// keeps reports whether the ended job is kept. One that had children is always
// kept, if only until the janitor comes: it has keys that settle does not know.
func (a *attempt) keeps(keep wire.KeepOpts) bool { return !keep.None || a.envelope.Children > 0 }

func (a *attempt) result(outcome script.SettleOutcome) result {
	return result{
		report: a.report(outcome),
		order:  a.order, id: a.id, name: a.envelope.Name, token: a.token, outcome: outcome,
		attempts: a.envelope.AttemptsMade,
		starts:   a.envelope.AttemptsStarted,
		unknown:  a.envelope.UnknownCount,
		priority: a.envelope.Priority,
		unique:   a.envelope.DeduplicationID,
		until:    a.envelope.DeduplicationUntil,
		keep:     true,
		lone:     !a.damaged && a.envelope.Group == "" && a.envelope.GroupPlace == "",
		announce: a.route.result && (outcome == script.SettleOutcomeCompleted || outcome == script.SettleOutcomeFailed),
	}
}

// report returns the head of the report to the job's parent, if it has one and
// this is its end. One whose place is damaged reports nothing: its parent's
// workers find out.
func (a *attempt) report(outcome script.SettleOutcome) string {
	ended := outcome == script.SettleOutcomeCompleted || outcome == script.SettleOutcomeFailed
	if !ended || a.envelope.ParentKey == "" {
		return ""
	}
	_, err := parentOf(a.envelope.ParentKey)
	if err == nil {
		_, err = wire.ParseEdge(a.envelope.Parent)
	}
	if err != nil {
		a.runner.log.Warn("a job's parent cannot be told how it ended", "job", a.envelope.ID, "error", err)
		return ""
	}
	return wire.Report{Parent: a.envelope.ParentKey, Outcome: wire.Outcome(outcome), Edge: a.envelope.Parent}.Head()
}

// fail is the end of a job that is not tried again.
func (a *attempt) fail(err error) result {
	res := a.result(script.SettleOutcomeFailed)
	if a.envelope.DeferredFailure == "" {
		res.attempts++
	}
	res.value = reason(err)
	res.trace = addTrace(a.envelope.Stacktrace, err)
	res.keep = a.keeps(a.settings.keepFailed)
	return res
}

// giveBack returns the job as it was, to the front of the queue.
func (a *attempt) giveBack() result {
	res := a.result(script.SettleOutcomeRelease)
	res.starts--
	return res
}

// handOn gives back a job that this worker does not know how to handle, for one
// that does: a newer program, most often.
func (a *attempt) handOn(known bool) result {
	res := a.giveBack()
	res.unknown++
	res.delay = lastReturn
	if a.envelope.UnknownCount < 10 {
		res.delay = min(firstReturn<<a.envelope.UnknownCount, lastReturn)
	}
	// One word about it at first, and then about one an hour.
	res.announce = a.envelope.UnknownCount == 0 || res.delay == lastReturn && res.unknown%12 == 0
	if !res.announce {
		return res
	}
	why := "no handler for its name"
	if known {
		why = fmt.Sprintf("payload version %d, codec %q; this worker knows version %d, codecs %s, and the transforms of its client",
			a.envelope.PayloadVersion, a.envelope.Codec, a.route.version, strings.Join(append([]string{codecJSON}, a.route.codecs...), ", "))
	}
	a.runner.log.Warn("a job was given back: this worker does not know it",
		"job", a.envelope.ID, "name", a.envelope.Name, "why", why, "times", res.unknown, "back", res.delay)
	return res
}
