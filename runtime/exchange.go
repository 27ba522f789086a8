package echomq

import (
	"slices"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// exchangerState is what the exchanger alone knows.
type exchangerState struct {
	picks    uint64
	started  uint64              // how many jobs
	hungry   bool                // the last pick may have left something
	ready    time.Time           // when to look for the next token; zero for not at all
	waiting  bool                // the waker was asked to wait
	final    bool                // the last pick of a stopping runner was sent
	reserved []script.PickItem   // held for us, to be declared
	window   []string            // what comes next, as last seen
	pick     *script.Pick        // sent, and its answer lost
	late     *script.Pick        // sent again and answered: to be asked what came of it
	settle   []result            // sent, and its answer lost or refused
	refusals int                 // in a row, of settle
	known    map[string]settings // of opts seen before
	failures int                 // in a row
}

// exchangeLoop settles what has ended and fills the free slots, both in one
// round trip. What ends while a call is out is settled by the next one, so
// batches grow with the load and nothing waits for a timer.
func (r *runner) exchangeLoop() {
	defer close(r.exchanged)
	x := &r.exchanger
	x.known = make(map[string]settings)
	for r.store.Err() == nil {
		settle, pick, over := r.plan()
		if over {
			return
		}
		if len(settle) == 0 && pick == nil {
			r.pause()
			continue
		}
		r.trade(settle, pick)
	}
}

// plan decides what to send next. over says that the runner has stopped.
func (r *runner) plan() (settle []result, pick *script.Pick, over bool) {
	x := &r.exchanger
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(x.settle) == 0 {
		x.settle, r.results = cutResults(r.results)
	}
	if len(x.settle) == 0 && r.running == 0 && x.pick == nil && len(x.reserved) == 0 {
		x.settle, r.returned = cutReturned(r.returned)
	}
	settle = x.settle
	free := r.config.concurrency - r.running
	switch {
	case x.pick != nil:
		x.pick.Again = true
		pick = x.pick
	case x.late != nil:
		pick, x.late = x.late, nil
	case r.stopping && len(x.reserved) > 0, r.stopping && !x.waiting && !x.final:
		// What is reserved is started, to be given back; and the marker is left
		// as it should be, in case the waker has taken it away.
		x.final = true
		pick = r.newPick(0)
	case !r.stopping && x.tokenReady():
		// Who has nothing else to do takes a job. Who has lets the pick wake the
		// worker that has waited longest, which may be this one.
		x.ready = time.Time{}
		slots := len(x.reserved)
		if r.running == 0 {
			slots += r.share.grant(max(min(free, maxBatch)-slots, 0))
		}
		pick = r.newPick(slots)
	case !r.stopping && free > 0 && (len(x.reserved) > 0 || x.hungry && !x.waiting):
		// Those that are reserved have their slots already.
		slots := min(free, maxBatch)
		if slots = min(slots, len(x.reserved)) + r.share.grant(max(slots-len(x.reserved), 0)); slots > 0 {
			pick = r.newPick(slots)
		} else if x.failures == 0 {
			// The worker's other queues have all slots; it takes the first that comes.
			r.ready.Store(true)
		}
	}
	x.pick = pick
	over = r.stopping && r.running == 0 && len(settle) == 0 && pick == nil && !x.waiting
	return settle, pick, over
}

// tokenReady reports whether the time for which the exchanger was asked to look
// for the next token has come.
func (x *exchangerState) tokenReady() bool { return !x.ready.IsZero() && !time.Now().Before(x.ready) }

// newPick returns a pick that fills the given number of slots: first with what
// is reserved, then with the heads, of which those in the window are declared.
func (r *runner) newPick(slots int) *script.Pick {
	x := &r.exchanger
	items := x.reserved[:len(x.reserved):len(x.reserved)]
	want := max(slots-len(items), 0)
	declared := make(map[string]bool, len(items))
	for _, item := range items {
		declared[item.ID.String()] = true
	}
	for _, id := range x.window[:min(want, len(x.window))] {
		if job, err := wire.ParseStoredJobID(id); err == nil && !declared[id] {
			declared[id] = true
			items = append(items, script.PickItem{ID: job})
		}
	}
	bounds := r.config.limits
	return &script.Pick{
		Cap:       int64(bounds.limit),
		CapFixed:  bounds.limitFixed,
		Tokens:    int64(bounds.rate.Jobs),
		Interval:  bounds.rate.Per.Milliseconds(),
		RateFixed: bounds.rateFixed,

		PerGroup:      int64(bounds.group),
		PerGroupFixed: bounds.groupFixed,

		Events:  script.PickEvents(r.config.events.word()),
		History: DefaultEventHistory,
		Token:   r.token(),
		Worker:  r.worker,
		Lease:   r.config.lease.Milliseconds(),
		Want:    int64(want),
		Window:  int64(min(r.config.concurrency, maxBatch, max(minWindow, 2*want))),
		Limit:   maxReplyBytes,
		Payload: min(int64(r.config.payloadLimit), maxCount),
		Items:   items,
	}
}

// pause waits until there is something to do, and asks the waker to watch the
// marker if what is missing is jobs.
func (r *runner) pause() {
	x := &r.exchanger
	r.mu.Lock()
	watch := !r.stopping && !x.waiting && !x.hungry && r.running < r.config.concurrency
	r.mu.Unlock()
	if watch {
		x.waiting = true
		r.requests <- struct{}{}
	}
	var token <-chan time.Time
	if !x.ready.IsZero() {
		timer := time.NewTimer(max(time.Until(x.ready), 0))
		defer timer.Stop()
		token = timer.C
	}
	select {
	case <-r.nudge:
	case <-token:
	case id := <-r.wakeups:
		x.waiting, x.hungry = false, true
		if id != "" {
			x.window = []string{id}
		}
	case <-r.store.Done():
	}
}

// trade makes the round trip and deals with its answers.
func (r *runner) trade(settle []result, pick *script.Pick) {
	x := &r.exchanger
	var calls []script.Call
	if len(settle) > 0 {
		calls = append(calls, settleCall(r.config.events, settle).Call(r.queue))
	}
	if pick != nil {
		calls = append(calls, pick.Call(r.queue))
	}
	answers := r.exchange(calls...)
	failed := false
	if len(settle) > 0 {
		failed = !r.settled(settle, answers[0])
		answers = answers[1:]
	}
	if pick != nil {
		failed = !r.picked(*pick, answers[0]) || failed
		r.shareOut(failed)
	}
	if !failed {
		x.failures = 0
		r.ready.Store(true)
		return
	}
	r.ready.Store(false)
	x.failures++
	_ = sleep(r.store, r.retryPause(x.failures))
	// After a reconnect the leases go first: they may be about to end.
	r.renewNow()
}

// shareOut tells the worker's other queues what a pick left of the slots that it
// was granted.
func (r *runner) shareOut(failed bool) {
	x := &r.exchanger
	r.mu.Lock()
	defer r.mu.Unlock()
	if x.pick != nil {
		r.share.rest() // what it took is not known
		return
	}
	r.share.hold(r.running+len(x.reserved), x.hungry && !failed && !r.stopping && r.running < r.config.concurrency)
}

// picked deals with the answer to a pick and reports whether there was one.
func (r *runner) picked(pick script.Pick, a answer) bool {
	x := &r.exchanger
	reply, err := script.PickReply{}, a.err
	if err == nil {
		reply, err = script.DecodePick(a.reply)
	}
	if err != nil {
		if a.fate == refused || a.fate == notExecuted && !pick.Again {
			// Nothing was taken under this token: the next pick is a new one.
			x.pick = nil
		}
		r.log.Warn("pick failed; trying again", "error", err, "failures", x.failures)
		return false
	}
	x.pick = nil
	if pick.Again && pick.Want > 0 {
		// The first one may have come after the second, over a slower way, and
		// have taken jobs of which its answer is lost.
		pick.Want = 0
		x.late = &pick
	}
	x.window = reply.Window
	x.reserved = x.reserved[:0:0]
	for _, id := range reply.Reserved {
		job, err := wire.ParseStoredJobID(id)
		if err != nil {
			r.log.Error("the queue holds an id that no job can have", "id", id, "error", err)
			continue
		}
		x.reserved = append(x.reserved, script.PickItem{ID: job, Reservation: pick.Token})
	}
	x.hungry = len(reply.Window) > 0 && !reply.Blocked || len(x.reserved) > 0
	if reply.Ready > 0 {
		// Rounded up, as the server's clock shows whole milliseconds only.
		x.ready = time.Now().Add(milliseconds(reply.Ready-reply.Now) + time.Millisecond)
	}
	told := times{now: reply.Now, due: reply.Due, expiry: reply.Expiry, slot: reply.Slot, at: time.Now()}
	r.tell(told)
	r.tellSlot(told)
	if len(reply.Started) == 0 && declares(pick.Items, reply.Reserved) {
		// They were declared, and the script could not start them all the same.
		r.log.Warn("jobs cannot be read; trying again", "jobs", len(reply.Reserved))
		return false
	}
	for _, started := range reply.Started {
		if !r.holds(started.ID, pick.Token) {
			r.begin(started, pick.Token, reply.Now)
		}
	}
	return true
}

// declares reports whether one of the ids was declared.
func declares(items []script.PickItem, ids []string) bool {
	return slices.ContainsFunc(items, func(item script.PickItem) bool { return slices.Contains(ids, item.ID.String()) })
}

// settled deals with the answer to a settle and reports whether there was one.
func (r *runner) settled(sent []result, a answer) bool {
	x := &r.exchanger
	reply, err := script.SettleReply{}, a.err
	if a.fate == unreplicated && x.refusals >= ackTries {
		r.log.Warn("what jobs did was settled; a fail-over may make them run again", "jobs", len(sent), "error", err)
		err = nil
	}
	if err == nil {
		reply, err = script.DecodeSettle(a.reply)
	}
	if err == nil {
		for i, verdict := range reply.Results {
			if sent[i].report != "" {
				r.runErrands()
			}
			r.release(sent[i].id.String(), sent[i].token)
			if verdict.Verdict == script.SettleVerdictLost || verdict.Verdict == script.SettleVerdictGone {
				r.log.Warn("what a job did came too late: it was given to another worker, or is gone",
					"job", sent[i].id.String(), "outcome", sent[i].outcome, "verdict", verdict.Verdict)
			}
		}
		x.settle, x.refusals = nil, 0
		r.tell(times{now: reply.Now, due: reply.Due, at: time.Now()})
		return true
	}
	if a.fate == refused && len(sent) > 1 {
		// One of them may be the reason: each half is tried by itself.
		r.mu.Lock()
		half := len(sent) / 2
		x.settle, r.results = sent[:half:half], slices.Concat(sent[half:], r.results)
		r.mu.Unlock()
		r.log.Warn("settle was refused; trying in parts", "jobs", len(sent), "error", err)
		return false
	}
	if a.fate == refused || a.fate == unreplicated {
		x.refusals++
	}
	if x.refusals > maxRefusals {
		r.log.Error("what jobs did cannot be settled; they run again when their leases end", "jobs", len(sent), "error", err)
		for _, res := range sent {
			r.release(res.id.String(), res.token)
		}
		x.settle, x.refusals = nil, 0
		return false
	}
	r.log.Warn("settle failed; trying again", "jobs", len(sent), "error", err)
	return false
}

// minWindow is how many of the next ids a small pick asks for.
const minWindow = 8

// maxRefusals is how often a settle may be refused, as opposed to lost, before
// its jobs are left to their leases.
const maxRefusals = 8

// ackTries is how often a settle is sent again that too few replicas have
// acknowledged, before it is left at that.
const ackTries = 3
