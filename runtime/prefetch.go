package echomq

import (
	"cmp"
	"slices"
	"time"
)

// DefaultPrefetch is the default of [Prefetch].
const DefaultPrefetch = 48

// maxPrefetch bounds it: what waits for a slot is given back in one call.
const maxPrefetch = maxBatch

// Prefetch is how many jobs of a queue the worker holds at most, those that run
// included; default 48. It takes as many in advance as its slots get through during
// one round trip to the store, by what handlers and round trips took lately, so that
// its slots are not empty meanwhile: many where handlers are short or the store is far,
// none where they take long. [Concurrency] still bounds how many run at once. Up to
// that number Prefetch does nothing, so 0 takes none in advance.
//
// A job that was taken in advance and has waited for 50 ms is given back, for others
// to run. It is active from when it was taken, its timeout begins when its handler
// does, and should the process die it counts as lost, as those that run do. So none
// is taken in advance by a worker that has just started, or has got a job that was
// lost before or may not be; nor of a queue with a limit, a rate or a group limit;
// nor with [TotalConcurrency].
func Prefetch(jobs int) QueueWorkerOption {
	return func(c *queueConfig) { c.prefetch = jobs }
}

const (
	// longestTrip is the longest round trip that jobs are taken in advance for.
	longestTrip = 20 * time.Millisecond
	// longestWait is for how long a job that was taken may wait for a slot.
	longestWait = 50 * time.Millisecond
	// unproven is what handlers are taken to last of which nothing is known.
	unproven = time.Second
	// As many round trips and handlers count in an average.
	tripsAveraged    = 16
	handlersAveraged = 64
)

// pace is what a runner knows of how fast it gets through jobs, and so decides how
// many it takes in advance. The runner's lock guards it.
//
// Jobs that are held and have no slot stand in the runner's line. Each leaves it for
// the slot of one that has ended; or, when the first has waited for too long or the
// runner stops, all of them are given back, unrun. What is reserved comes after
// them in the queue and is given back before, so that their order stays.
type pace struct {
	bound   int           // of the jobs that are held; up to the concurrency for none in advance
	patient time.Duration // for how long one waits in the line
	trip    time.Duration // that a round trip takes
	handler time.Duration // that a handler takes
	blocked bool          // the queue's limit or rate keeps jobs from being taken
}

// room returns how many jobs a runner with so many slots may hold: as many more as
// end while it is on a round trip.
func (p *pace) room(slots int) int {
	if p.bound <= slots || p.blocked {
		return slots
	}
	ended := int64(slots) * int64(min(p.trip, longestTrip)) / int64(max(p.handler, 1))
	return int(min(int64(slots)+ended, int64(p.bound)))
}

// wentRound takes in what a round trip took.
func (p *pace) wentRound(took time.Duration) { p.trip += (took - p.trip) / tripsAveraged }

// handled takes in what a handler took.
func (p *pace) handled(took time.Duration) { p.handler += (took - p.handler) / handlersAveraged }

// slow has no job taken in advance until enough handlers were short again.
func (p *pace) slow() { p.handler = max(p.handler, unproven) }

// room returns how many jobs the runner may hold, and kept how many it does. The
// caller holds the lock.
func (r *runner) room() int { return r.pace.room(r.config.concurrency) }
func (r *runner) kept() int { return r.running + len(r.line) }

// waited returns when the job that has waited longest for a slot is to wait no
// longer; zero if none waits, or what the second lane is out for is to come first.
// The caller holds the lock.
func (r *runner) waited() time.Time {
	var since time.Time
	if !r.exchanger.second.idle() {
		return since
	}
	if len(r.line) > 0 {
		since = r.line[0].taken
	}
	if x := &r.exchanger; len(x.reserved) > 0 && r.kept() >= r.config.concurrency && (since.IsZero() || x.since.Before(since)) {
		since = x.since
	}
	if since.IsZero() {
		return since
	}
	return since.Add(r.pace.patient)
}

// overdue reports whether jobs have waited for a slot for too long. The caller holds
// the lock.
func (r *runner) overdue() bool {
	until := r.waited()
	return !until.IsZero() && !time.Now().Before(until)
}

// disperse has the jobs in the line given back. The caller holds the lock.
func (r *runner) disperse() {
	if len(r.line) == 0 {
		return
	}
	r.log.Debug("jobs that were taken in advance are given back", "jobs", len(r.line), "running", r.running)
	for _, a := range r.line {
		a.held.ended = true
		r.results = append(r.results, a.giveBack())
	}
	r.line = nil
	// One call puts the first of its jobs in front of the others.
	slices.SortStableFunc(r.results, func(a, b result) int { return cmp.Compare(a.order, b.order) })
	r.pace.slow()
}
