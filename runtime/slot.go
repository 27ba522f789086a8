package echomq

import (
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// finish takes what came of a job that was held, and gives its slot to the next.
func (r *runner) finish(a *attempt, res result) {
	if next := r.finished(a, res); next != nil {
		next.start()
	}
}

// finished frees the slot, or returns the one that has it now.
func (r *runner) finished(a *attempt, res result) (next *attempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.held.ended = true
	r.pace.handled(time.Since(a.begun))
	if res.givenBack() {
		r.returned = append(r.returned, res)
	} else {
		r.results = append(r.results, res)
	}
	switch {
	case r.running == 0: // it was not waited for
	case len(r.line) > 0 && !r.stopping && r.leased(r.line[0]):
		next, r.line[0] = r.line[0], nil
		r.line = r.line[1:]
	default:
		r.running--
		r.share.release()
	}
	if r.running == 0 && r.idle != nil {
		select {
		case <-r.idle:
		default:
			close(r.idle)
		}
	}
	r.wake()
	if r.enough() {
		select {
		case r.more <- struct{}{}:
		default:
		}
	}
	return next
}

// hold enters a job that a pick has started, and takes a slot for it or has it wait
// for one. Once the runner is stopping none gets a slot: all wait to be given back, in
// their order. Before that it refuses those without a slot if none is to wait, as when it
// turns out to be one of several that were lost before. The pick has released the unique
// key of some, which giving them back does not undo: they may wait, and no more is taken
// in advance.
func (r *runner) hold(a *attempt) (slot, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.envelope.StalledCounter > 0 || a.settings.stalls == 0 {
		r.pace.slow()
	}
	may := r.pace.more(r.config.concurrency, r.taken())
	if a.envelope.DeduplicationUntil == string(script.AddUntilStarted) {
		may, r.pace.bound = len(r.line) < maxPrefetch, 0
	}
	slot = r.running < r.config.concurrency && !r.stopping
	if !slot && !may && !r.stopping {
		return false, false
	}
	r.orders++
	a.order = r.orders
	r.held[a.id.String()] = &a.held
	if slot {
		r.running++
		return true, true
	}
	a.taken = time.Now()
	a.held.leased = a.taken
	r.line = append(r.line, a)
	return false, true
}

// leased reports whether a job in the line is still this worker's for certain. The
// caller holds the lock.
func (r *runner) leased(a *attempt) bool { return time.Since(a.held.leased) < r.config.lease }

// release ends the holding of a job under a token.
func (r *runner) release(id, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[id]; h != nil && h.token == token {
		delete(r.held, id)
	}
}
