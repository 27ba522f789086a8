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
	if res.outcome == script.SettleOutcomeRelease {
		r.returned = append(r.returned, res)
	} else {
		r.results = append(r.results, res)
	}
	if len(r.line) > 0 && r.running > 0 && !r.stopping {
		next, r.line[0] = r.line[0], nil
		r.line = r.line[1:]
	} else {
		r.free()
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

// free frees a slot. The caller holds the lock.
func (r *runner) free() {
	if r.running > 0 {
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
}

// hold enters a job that a pick has started, and takes a slot for it or has it wait
// for one. It refuses all once the runner is stopping, since nobody would wait for
// their handlers.
func (r *runner) hold(a *attempt) (slot, held bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return false, false
	}
	if a.envelope.StalledCounter > 0 || a.settings.stalls == 0 {
		r.pace.slow()
	}
	r.held[a.id.String()] = &a.held
	if r.running < r.config.concurrency {
		r.running++
		return true, true
	}
	a.taken = time.Now()
	r.line = append(r.line, a)
	return false, true
}

// release ends the holding of a job under a token.
func (r *runner) release(id, token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[id]; h != nil && h.token == token {
		delete(r.held, id)
	}
}
