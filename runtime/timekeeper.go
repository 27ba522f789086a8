package echomq

import (
	"slices"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// dueLimit is how many jobs are promoted or recovered in one call.
const dueLimit = 200

// times is what an answer said about when something is next to be done, by the
// server's clock, and when it came, by ours.
type times struct {
	now, due, expiry int64
	slot             int64 // of schedulers
	at               time.Time
}

// local returns the moment of ours that a moment of the server's stands for.
func (t times) local(server int64) time.Time {
	return t.at.Add(milliseconds(server - t.now))
}

// inform passes on what an answer said. One that comes after a later one's says
// nothing, and of two at the same time nobody knows which was the later.
func (r *runner) inform(t times) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.now < r.told.now {
		return
	}
	if last := r.told.due; t.now == r.told.now && last > 0 && (t.due == 0 || t.due > last) {
		t.due = last
	}
	r.told = t
	r.tell(t)
	r.tellSlot(t)
}

// tell hands the times of an answer to the timekeeper. Only the latest matter.
func (r *runner) tell(t times) {
	for {
		select {
		case r.times <- t:
			return
		default:
		}
		select {
		case old := <-r.times:
			if t.expiry == 0 {
				t.expiry = old.expiry // a settle does not say
			}
		default:
		}
	}
}

// timekeeper promotes delayed jobs at their time and recovers jobs whose worker
// was lost. Every worker has one, armed for the moments that answers tell.
type timekeeper struct {
	*runner
	next     time.Time // when to look; zero for not at all
	seen     sightings
	settled  time.Time // when all workers are back after the store was away
	failures int
}

// reconnectTime is how long it may take until a worker notices that the store is
// back: the client library, once it has failed to connect often enough, tries
// only every second.
const reconnectTime = 1500 * time.Millisecond

// stuckPause is how long to leave due jobs alone of which none can be promoted.
const stuckPause = 5 * time.Second

func (r *runner) timeLoop() {
	k := &timekeeper{runner: r, seen: sightings{wait: r.renewEvery()}}
	// The first pick tells when to look first.
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case t := <-r.times:
			k.arm(t)
		case <-timer.C:
			k.next = time.Time{}
			k.look()
		case <-r.store.Done():
			return
		}
		timer.Stop()
		if !k.next.IsZero() {
			timer.Reset(max(time.Until(k.next), 0))
		}
	}
}

// arm moves the next look forward if an answer says so.
func (k *timekeeper) arm(t times) {
	if t.due > 0 {
		k.at(t.local(t.due))
	}
	// A lease that has been seen to have ended has its look set already.
	if t.expiry > 0 && !k.seen.covers(t.expiry) {
		moment := t.local(t.expiry)
		if rest := k.rest(); moment.Before(rest) {
			moment = rest
		}
		k.at(moment)
	}
}

func (k *timekeeper) at(moment time.Time) {
	if k.next.IsZero() || moment.Before(k.next) {
		k.next = moment
	}
}

// look asks what is due, promotes that, and recovers what has been expired for
// long enough.
func (k *timekeeper) look() {
	sent := time.Now()
	a := k.exchange(script.Due{Limit: dueLimit}.Call(k.queue))[0]
	reply, err := script.DueReply{}, a.err
	if err == nil {
		reply, err = script.DecodeDue(a.reply)
	}
	if err != nil {
		k.retry("looking for due jobs failed; trying again", err)
		return
	}
	if k.failures > 0 {
		// The others may connect later than we did, and are given their
		// renewal interval from then on.
		k.settled = time.Now().Add(max(reconnectTime-k.renewEvery(), 0))
	}
	k.failures = 0
	t := times{now: reply.Now, due: reply.NextDue, expiry: reply.NextExpiry, at: time.Now()}
	if k.stalled(sent) {
		// The store, or the way to it, stood still: the live have had no chance
		// to renew, so what looks expired is looked at afresh.
		k.seen.forget()
	}
	if len(reply.Due) > 0 {
		promoted := k.promote(reply.Due)
		switch {
		case len(reply.Due) < dueLimit:
		case promoted:
			k.at(time.Now())
		default:
			// None of the first ones can be promoted, so looking again at once
			// would find the same.
			t.due = 0
			k.at(time.Now().Add(stuckPause))
		}
	}
	ripe := k.sight(reply)
	k.arm(t)
	k.recover(ripe)
}

// stalled reports whether a call that was sent then has taken so long that the
// leases of live workers may have suffered too.
func (k *timekeeper) stalled(sent time.Time) bool { return time.Since(sent) > k.renewEvery()/2 }

func (k *timekeeper) retry(message string, err error) {
	if k.store.Err() == nil {
		k.log.Warn(message, "error", err)
	}
	k.seen.forget()
	k.failures++
	k.at(time.Now().Add(retryPause(k.failures)))
}

func (k *timekeeper) promote(ids []string) bool {
	call := script.Promote{
		Events:  script.PromoteEvents(k.config.events.word()),
		History: DefaultEventHistory,
	}
	var odd []string
	for _, id := range ids {
		job, err := wire.ParseStoredJobID(id)
		if err != nil {
			odd = append(odd, id)
			continue
		}
		call.Items = append(call.Items, script.PromoteItem{ID: job})
	}
	expelled := k.expelled(odd)
	if len(call.Items) == 0 {
		return expelled
	}
	a := k.exchange(call.Call(k.queue))[0]
	if a.err != nil {
		k.retry("promoting due jobs failed; trying again", a.err)
		return false
	}
	reply, err := script.DecodePromote(a.reply)
	if err != nil {
		k.retry("promoting due jobs failed; trying again", err)
		return false
	}
	k.arm(times{now: reply.Now, due: reply.Due, at: time.Now()})
	return true
}

// sight returns the leases that have been seen expired for a renewal interval,
// by our own clock: time enough for a live worker to renew. The next look is set
// for when the others will have been.
func (k *timekeeper) sight(reply script.DueReply) []script.RecoverItem {
	now := time.Now()
	if rest := k.rest(); now.Before(rest) {
		k.seen.forget()
		if len(reply.Expired) > 0 {
			k.at(rest)
		}
		return nil
	}
	if len(reply.Expired) > 0 {
		since := now
		if since.Before(k.settled) {
			since = k.settled
		}
		k.seen.add(sighting{server: reply.Now, local: since})
	} else {
		k.seen.forget()
	}
	ended := k.seen.ripe(now)
	var ripe []script.RecoverItem
	var odd []string
	for _, expired := range reply.Expired {
		if expired.Deadline > ended {
			k.at(k.seen.ripens(expired.Deadline, now))
			break // the later ones ripen later
		}
		job, err := wire.ParseStoredJobID(expired.ID)
		if err != nil {
			odd = append(odd, expired.ID)
			continue
		}
		ripe = append(ripe, script.RecoverItem{ID: job, Deadline: expired.Deadline})
	}
	k.expelled(odd)
	return ripe
}

// expelled puts ids that no job can have into quarantine, and reports whether
// there were any.
func (k *timekeeper) expelled(odd []string) bool {
	if len(odd) == 0 {
		return false
	}
	expelled, err := k.expel(odd)
	if err != nil {
		k.retry("putting ids into quarantine failed; trying again", err)
	}
	return expelled > 0
}

func (k *timekeeper) recover(items []script.RecoverItem) {
	if len(items) == 0 {
		return
	}
	sent := time.Now()
	keys := make([]string, len(items))
	for i, item := range items {
		keys[i] = k.queue.Job(item.ID)
	}
	read, err := k.readSettings(keys)
	if err != nil {
		k.retry("reading lost jobs failed; trying again", err)
		return
	}
	for i, set := range read {
		items[i].Stalls = int64(set.stalls)
	}
	if k.stalled(sent) {
		k.seen.forget()
		k.at(time.Now())
		return
	}
	chunks := slices.Collect(slices.Chunk(items, k.callSize(len(items))))
	calls := make([]script.Call, len(chunks))
	for n, chunk := range chunks {
		calls[n] = script.Recover{
			Events:  script.RecoverEvents(k.config.events.word()),
			History: DefaultEventHistory,
			Items:   chunk,
		}.Call(k.queue)
	}
	var failure error
	for n, a := range k.exchange(calls...) {
		reply, err := script.RecoverReply{}, a.err
		if err == nil {
			reply, err = script.DecodeRecover(a.reply)
		}
		if err != nil {
			failure = err
			continue
		}
		for i, verdict := range reply.Results {
			if verdict.Verdict == script.RecoverVerdictStalled || verdict.Verdict == script.RecoverVerdictReturned {
				k.log.Warn("took back a job whose worker was lost", "job", chunks[n][i].ID.String(), "verdict", verdict.Verdict)
			}
		}
	}
	if failure != nil {
		k.retry("recovering lost jobs failed; trying again", failure)
		return
	}
	if len(items) == dueLimit {
		k.at(time.Now())
	}
}
