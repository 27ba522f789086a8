package echomq

import (
	"errors"
	"slices"
	"time"
)

// DefaultPrefetch is the default of [Prefetch].
const DefaultPrefetch = 48

// maxPrefetch bounds it: while the runner goes on, its line is given back in one call.
const maxPrefetch = maxBatch

// Prefetch is how many jobs of a queue the worker holds at most, those that run
// included; default 48. It takes as many in advance as its slots get through during
// one round trip to the store, by what handlers and round trips took lately, so that its
// slots are not empty meanwhile: many where handlers are short, none where they take long.
// It reckons with the shortest round trip, up to 20 ms, or with the mean one, up to 2 ms,
// whichever is more: what the mean is beyond that a busy store takes. [Concurrency] still bounds how many run at once. Up to
// that number Prefetch does nothing, so 0 takes none in advance.
//
// When one has waited for a slot for 50 ms, all that have none are given back, for
// others to run. Such a job is active from when it was taken, its timeout begins when
// its handler does, and should the process die it counts as lost, as those that run do.
// So none is taken in advance until several hundred handlers were short, since the
// worker began or last got a job that was lost before or may not be; none of a queue
// with a limit, a rate or a group limit, nor with [TotalConcurrency]; and none any more
// once it got a job that is [UntilStarted].
func Prefetch(jobs int) QueueWorkerOption {
	return func(c *queueConfig) { c.prefetch = jobs }
}

const (
	// Jobs are taken in advance for farTrip of the shortest round trip, which is how far
	// the store is, and for busyTrip of the mean: where it takes longer many take jobs, and
	// whoever takes more then keeps others from their share.
	farTrip  = 20 * time.Millisecond
	busyTrip = 2 * time.Millisecond
	// lineWait is for how long a job that was taken waits for a slot.
	lineWait = 50 * time.Millisecond
	// unproven is what handlers are taken to need of which nothing is known, and
	// longestHandler what they may need if jobs are taken in advance.
	unproven       = time.Second
	longestHandler = 100 * time.Millisecond
	// So many round trips and handlers make an average, and of so many the shortest counts.
	tripsAveraged    = 16
	tripsCompared    = 32
	handlersAveraged = 64
)

// pace is how fast a runner gets through jobs, and so decides how many it takes in
// advance. The runner's lock guards it.
//
// Jobs in advance are locked and leased and stand in the runner's line. Each leaves it
//
//   - for the slot of one that has ended;
//   - when its lease is lost or it is cancelled, without being run;
//   - with all others, given back, when the first has waited for too long or the runner
//     stops. What is reserved comes after them in the queue, so it is given back before.
//
// Whatever is in the line or reserved when the process dies, or the store is away for
// longer than a lease, is recovered by others like the jobs that ran.
type pace struct {
	bound   int           // of the jobs that run and those in the line; 0 for no line
	trip    time.Duration // that a round trip takes on average
	least   time.Duration // that the shortest of late took
	fresh   time.Duration // the shortest of the last ones, which are not enough to compare
	trips   int           // how many these are
	handler time.Duration // that a handler takes on average
	bounded bool          // the queue has a limit, which the line would use up
}

// quick reports whether jobs may wait in the line of a runner with so many slots.
func (p *pace) quick(slots int) bool {
	return p.bound > slots && !p.bounded && p.handler <= longestHandler
}

// room returns how many jobs a runner with so many slots is to have: as many more as
// end while it is on a round trip, of which an eighth counts as one.
func (p *pace) room(slots int) int {
	if !p.quick(slots) {
		return slots
	}
	handler := max(int64(p.handler), 1)
	trip := max(min(p.trip, busyTrip), min(p.least, farTrip))
	ended := (int64(slots)*int64(trip) + handler - (handler+7)/8) / handler
	return int(min(int64(slots)+ended, int64(p.bound)))
}

// more reports whether one more job may stand in the line, with so many slots and jobs.
func (p *pace) more(slots, jobs int) bool { return p.quick(slots) && jobs < p.bound }

// wentRound takes in what a round trip took.
func (p *pace) wentRound(took time.Duration) {
	p.trip += (took - p.trip) / tripsAveraged
	if p.trips == 0 || took < p.fresh {
		p.fresh = took
	}
	if p.trips++; p.trips == tripsCompared {
		p.least, p.trips = p.fresh, 0
	}
	p.least = min(p.least, p.fresh)
}

// handled takes in what a handler took.
func (p *pace) handled(took time.Duration) { p.handler += (took - p.handler) / handlersAveraged }

// slow has no job taken in advance until enough handlers were short again.
func (p *pace) slow() { p.handler = max(p.handler, unproven) }

// room returns how many jobs the runner is to have, and taken how many it has: those
// that run and those in the line. The caller holds the lock.
func (r *runner) room() int  { return r.pace.room(r.config.concurrency) }
func (r *runner) taken() int { return r.running + len(r.line) }

// waited returns when the job that has waited longest for a slot has waited for too
// long; zero if none waits, or the second lane is to return first. The caller holds the
// lock.
func (r *runner) waited() time.Time {
	x := &r.exchanger
	var since time.Time
	if !x.second.idle() {
		return since
	}
	if len(r.line) > 0 {
		since = r.line[0].taken
	}
	if len(x.reserved) > 0 && r.running >= r.config.concurrency && (since.IsZero() || x.since.Before(since)) {
		since = x.since
	}
	if since.IsZero() {
		return since
	}
	return since.Add(r.lineWait)
}

// overdue reports whether a job has waited for a slot for too long. The caller holds the
// lock.
func (r *runner) overdue() bool {
	until := r.waited()
	return !until.IsZero() && !time.Now().Before(until)
}

// disperse takes the jobs out of the line that are to be given back by one call, which
// puts them at the front of the queue in their order: after those that came later, and so
// the last ones first. The caller holds the lock.
func (r *runner) disperse() []result {
	if len(r.line) == 0 || slices.ContainsFunc(r.results, result.givenBack) {
		return nil
	}
	r.log.Debug("jobs that have no slot are given back", "jobs", len(r.line), "running", r.running)
	rest := max(len(r.line)-maxBatch, 0) // of one that stops
	var batch []result
	for _, a := range r.line[rest:] {
		a.held.ended = true
		batch = append(batch, a.giveBack())
	}
	r.line = slices.Delete(r.line, rest, len(r.line))
	r.exchanger.window, r.exchanger.hungry = nil, true
	return batch
}

// leaveLine takes a job that has ended out of the line, if it is there, and settles it
// if that was a cancellation. The caller holds the lock.
func (r *runner) leaveLine(h *holding) {
	i := slices.IndexFunc(r.line, func(a *attempt) bool { return &a.held == h })
	if i < 0 {
		return
	}
	h.ended = true
	if errors.Is(h.why, ErrCancelled) {
		r.results = append(r.results, r.line[i].fail(h.why))
		r.wake()
	}
	r.line = slices.Delete(r.line, i, i+1)
}
