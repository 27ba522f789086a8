package echomq

import (
	goruntime "runtime"
	"slices"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// exchangeLoop settles what has ended and fills the free slots, both in one
// round trip. What ends while a call is out is settled by the next one, so
// batches grow with the load and nothing waits for a timer.
func (r *runner) exchangeLoop() {
	defer close(r.exchanged)
	x := &r.exchanger.main
	for r.store.Err() == nil {
		r.yield()
		settle, pick, over := r.plan()
		if over {
			return
		}
		if len(settle) == 0 && pick == nil {
			r.pause()
			continue
		}
		r.trade(x, settle, pick)
	}
}

// yield lets handlers that are short end before the next round trip, and share it:
// for as long as more of them do, up to a full trip and for no longer than a round
// trip takes nearby. It waits for nothing, and returns at once if nothing else can run.
func (r *runner) yield() {
	begun := time.Now()
	for ended := -1; ; {
		goruntime.Gosched()
		r.mu.Lock()
		more := len(r.results) > ended && len(r.results) < fullTrip && r.running > 0
		ended = len(r.results)
		r.mu.Unlock()
		if !more || time.Since(begun) > yieldLimit {
			return
		}
	}
}

// plan decides what the main lane sends next. over says that the runner has
// stopped.
func (r *runner) plan() (settle []result, pick *script.Pick, over bool) {
	x, l := &r.exchanger, &r.exchanger.main
	r.mu.Lock()
	defer r.mu.Unlock()
	alone := x.second.idle()
	overdue := r.overdue()
	if overdue {
		r.pace.slow()
	}
	// What goes back to the front goes after what was taken later.
	latest := alone && l.idle() && len(x.reserved) == 0
	if latest && (overdue || r.stopping) {
		l.settle = r.disperse()
	}
	if len(l.settle) == 0 {
		l.settle, r.results = cutResults(r.results)
	}
	if len(l.settle) == 0 && latest && r.running == 0 {
		l.settle, r.returned = cutReturned(r.returned)
	}
	settle = l.settle
	free := r.room() - r.taken() - x.second.wants()
	pick = l.again()
	switch {
	case pick != nil:
	case r.stopping && len(x.reserved) > 0, r.stopping && !x.waiting && !x.final:
		// What is reserved is started, to be given back; and the marker is left
		// as it should be, in case the waker has taken it away.
		x.final = true
		pick = r.newPick(l, 0)
	case overdue && len(x.reserved) > 0:
		pick = r.newPick(l, 0) // to be given back, before the line
	case !r.stopping && x.tokenReady():
		// Who has nothing else to do takes a job. Who has lets the pick wake the
		// worker that has waited longest, which may be this one.
		x.ready = time.Time{}
		slots := len(x.reserved)
		if r.running == 0 {
			slots += r.share.grant(max(min(free, maxBatch)-slots, 0))
		}
		pick = r.newPick(l, slots)
	case !r.stopping && free > 0 && (len(x.reserved) > 0 || x.hungry && !x.waiting):
		// Those that are reserved have their slots already.
		slots := min(free, maxBatch)
		if slots = min(slots, len(x.reserved)) + r.share.grant(max(slots-len(x.reserved), 0)); slots > 0 {
			pick = r.newPick(l, slots)
		} else if l.failures == 0 {
			// The worker's other queues have all slots; it takes the first that comes.
			r.ready.Store(true)
		}
	}
	l.pick = pick
	over = r.stopping && r.running == 0 && len(settle) == 0 && pick == nil && !x.waiting && alone
	if r.left = (time.Time{}); len(settle) > 0 || pick != nil {
		r.left = time.Now()
	}
	return settle, pick, over
}

// newPick returns a pick that fills the given number of slots: first with what
// is reserved, unless the lane leaves that to the other, then with the heads, of
// which those in the window are declared. The caller holds the lock.
func (r *runner) newPick(l *lane, slots int) *script.Pick {
	x := &r.exchanger
	var items []script.PickItem
	clear(l.begun)
	if l.claimed = 0; l == &x.main {
		l.claimed = len(x.reserved)
		items = x.reserved[:l.claimed:l.claimed]
	}
	want := max(slots-len(items), 0)
	declared := make(map[string]bool, len(items))
	for _, item := range items {
		declared[item.ID.String()] = true
	}
	next := min(want, len(x.window))
	for _, id := range x.window[:next] {
		if job, err := wire.ParseStoredJobID(id); err == nil && !declared[id] {
			declared[id] = true
			items = append(items, script.PickItem{ID: job})
		}
	}
	x.window = x.window[next:] // the other lane declares what comes after
	// What is known of the next ids lasts for a while: it is asked for rarely, and
	// then for enough. Where others take them first it is of no use.
	window := minWindow
	if slots := min(r.room(), maxBatch); x.misses >= maxMisses {
		window = 1
	} else if len(x.window) < slots {
		window = min(2*slots, maxBatch)
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
		Window:  int64(window),
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
	// Only what is known to be there is taken in advance: others may have slots.
	watch := !r.stopping && !x.waiting && !x.hungry && r.running < r.config.concurrency
	x.waiting = x.waiting || watch
	until := r.waited()
	if !r.stopping && !x.ready.IsZero() && (until.IsZero() || x.ready.Before(until)) {
		until = x.ready
	}
	r.mu.Unlock()
	if watch {
		r.requests <- struct{}{}
	}
	var due <-chan time.Time
	if !until.IsZero() {
		timer := time.NewTimer(max(time.Until(until), 0))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-r.nudge:
	case <-due:
	case id := <-r.wakeups:
		r.mu.Lock()
		x.waiting, x.hungry = false, true
		if id != "" {
			x.window = []string{id}
		}
		r.mu.Unlock()
	case <-r.store.Done():
	}
}

// trade makes the round trip and deals with its answers.
func (r *runner) trade(x *lane, settle []result, pick *script.Pick) {
	var calls []script.Call
	if len(settle) > 0 {
		calls = append(calls, settleCall(r.config.events, settle).Call(r.queue))
	}
	if pick != nil {
		calls = append(calls, pick.Call(r.queue))
	}
	sent := time.Now()
	answers := r.exchange(calls...)
	took := time.Since(sent)
	failed := false
	if len(settle) > 0 {
		failed = !r.settled(x, settle, answers[0])
		answers = answers[1:]
	}
	if pick != nil {
		failed = !r.picked(x, *pick, answers[0]) || failed
		r.shareOut(x, failed)
	}
	if !failed {
		r.mu.Lock()
		r.pace.wentRound(took)
		r.mu.Unlock()
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

// shareOut tells the worker's other queues what a lane's pick left of the slots that
// it was granted.
func (r *runner) shareOut(l *lane, failed bool) {
	x := &r.exchanger
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.pick != nil {
		r.share.rest() // what it took is not known
		return
	}
	taken := r.running + len(x.reserved) + x.main.wants() + x.second.wants() // the line has none
	r.share.hold(taken, x.hungry && !failed && !r.stopping && r.running < r.config.concurrency)
}

// picked deals with the answer to a pick and reports whether there was one.
func (r *runner) picked(x *lane, pick script.Pick, a answer) bool {
	reply, err := script.PickReply{}, a.err
	if err == nil {
		reply, err = script.DecodePick(a.reply)
	}
	if err != nil {
		if a.fate == refused || a.fate == notExecuted && !pick.Again {
			// Nothing was taken under this token: the next pick is a new one.
			r.mu.Lock()
			x.pick = nil
			r.mu.Unlock()
		}
		r.log.Warn("pick failed; trying again", "error", err, "failures", x.failures)
		return false
	}
	r.look(x, pick, reply)
	r.inform(times{now: reply.Now, due: reply.Due, expiry: reply.Expiry, slot: reply.Slot, at: time.Now()})
	for _, started := range reply.Started {
		if pick.Again {
			// What is asked for once more is told once more, and may have ended.
			if x.begun[started.ID] {
				continue
			}
			x.begun[started.ID] = true
		}
		r.begin(x, started, pick.Token, reply.Now)
	}
	r.mu.Lock()
	x.starting = 0
	r.mu.Unlock()
	if len(reply.Started) == 0 && declares(pick.Items, reply.Reserved) {
		// They were declared, and the script could not start them all the same.
		r.log.Warn("jobs cannot be read; trying again", "jobs", len(reply.Reserved))
		return false
	}
	return true
}

// look takes from the answer to a pick what is left in the queue.
func (r *runner) look(l *lane, pick script.Pick, reply script.PickReply) {
	var reserved []script.PickItem
	for _, id := range reply.Reserved {
		job, err := wire.ParseStoredJobID(id)
		if err != nil {
			r.log.Error("the queue holds an id that no job can have", "id", id, "error", err)
			continue
		}
		reserved = append(reserved, script.PickItem{ID: job, Reservation: pick.Token})
	}
	x := &r.exchanger
	r.mu.Lock()
	defer r.mu.Unlock()
	l.pick, l.starting = nil, len(reply.Started)
	if pick.Again && pick.Want > 0 {
		// The first one may have come after the second, over a slower way, and
		// have taken jobs of which its answer is lost.
		pick.Want = 0
		l.late = &pick
	}
	// What the main lane claims stands in front, whatever the other one adds meanwhile.
	// A pick that was sent again tells once more of what it has reserved.
	if x.reserved = slices.Clone(x.reserved[l.claimed:]); len(x.reserved) == 0 {
		x.since = time.Now()
	}
	for _, item := range reserved {
		if !slices.ContainsFunc(x.reserved, func(known script.PickItem) bool { return known.ID == item.ID }) {
			x.reserved = append(x.reserved, item)
		}
	}
	l.claimed = 0
	x.judge(pick, reply)
	more := len(reply.Window) > 0 && !reply.Blocked
	if x.by == l || reply.Now > x.seen {
		x.hungry, x.seen, x.by = more, reply.Now, l
		r.pace.bounded = reply.Bounded
		// A view of a part that agrees with what was seen before does not replace it.
		whole := len(reply.Window) < int(pick.Window)
		if next := r.unclaimed(reply.Window); whole || len(next) > len(x.window) || !slices.Equal(next, x.window[:len(next)]) {
			x.window = next
		}
	} else if more {
		x.hungry = true // the other lane has looked later, or at the same time
	}
	if x.misses >= maxMisses {
		x.window = x.window[:min(1, len(x.window))]
	}
	x.hungry = x.hungry || len(x.reserved) > 0
	if reply.Ready > 0 {
		// Rounded up, as the server's clock shows whole milliseconds only.
		x.ready = time.Now().Add(milliseconds(reply.Ready-reply.Now) + time.Millisecond)
	}
}

// judge counts picks in a row that took jobs of which none had been believed to come
// next. With many others that pick it is nearly all of them; a belief costs the store
// and this process as much as a fiftieth of a round trip, so that one is declared then
// and not as many as there are slots, until it is right again. The caller holds the
// lock.
func (x *exchangerState) judge(pick script.Pick, reply script.PickReply) {
	first := slices.IndexFunc(pick.Items, func(item script.PickItem) bool { return item.Reservation == "" })
	if pick.Again || first < 0 {
		return
	}
	// What is redeemed is started first, and a belief that is no more than reserved
	// stands in front of what was not declared.
	beliefs := pick.Items[first:]
	started, reserved := reply.Started, reply.Reserved
	switch {
	case len(started) > 0 && declares(beliefs, []string{started[len(started)-1].ID}), declares(beliefs, reserved[:min(1, len(reserved))]):
		x.misses = 0
	case len(reserved) > 0:
		x.misses++
	}
}

// declares reports whether one of the ids was declared.
func declares(items []script.PickItem, ids []string) bool {
	return slices.ContainsFunc(items, func(item script.PickItem) bool { return slices.Contains(ids, item.ID.String()) })
}

// settled deals with the answer to a settle and reports whether there was one.
func (r *runner) settled(x *lane, sent []result, a answer) bool {
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
		r.mu.Lock()
		x.settle, x.refusals = nil, 0
		r.mu.Unlock()
		r.inform(times{now: reply.Now, due: reply.Due, at: time.Now()})
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
		r.mu.Lock()
		x.settle, x.refusals = nil, 0
		r.mu.Unlock()
		return false
	}
	r.log.Warn("settle failed; trying again", "jobs", len(sent), "error", err)
	return false
}

// minWindow is how many of the next ids a small pick asks for.
const minWindow = 8

// yieldLimit bounds for how long a lane that could go lets handlers run.
const yieldLimit = 200 * time.Microsecond

// maxMisses is how many picks in a row may be wrong about all of what comes next,
// before no more than one id is asked for.
const maxMisses = 2

// maxRefusals is how often a settle may be refused, as opposed to lost, before
// its jobs are left to their leases.
const maxRefusals = 8

// ackTries is how often a settle is sent again that too few replicas have
// acknowledged, before it is left at that.
const ackTries = 3
