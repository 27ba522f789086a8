package echomq

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// renewals is how often a lease is renewed in its time.
const renewals = 3

func (r *runner) renewEvery() time.Duration { return r.config.lease / renewals }

// retryPause is how long to wait before trying again, the try-th time, while
// jobs may be held. When the store is back, their leases must be renewed, and the
// answer to a lost pick be had, well before the moment at which another worker
// may take them: one renewal interval later.
func (r *runner) retryPause(try int) time.Duration {
	if r.sinceMove() < time.Second {
		try = min(try, moveTries)
	}
	return min(retryPause(try), r.renewEvery()/4)
}

// renewNow makes the lease keeper renew without waiting for its time.
func (r *runner) renewNow() {
	select {
	case r.renewal <- struct{}{}:
	default:
	}
}

// leaseLoop renews the leases of all jobs that are held: one timer a queue,
// however many jobs, and independent of their handlers.
func (r *runner) leaseLoop() {
	every := r.renewEvery()
	timer := time.NewTimer(every)
	defer timer.Stop()
	failures := 0
	for {
		select {
		case <-timer.C:
		case <-r.renewal:
		case <-r.doubt:
			for held := range slices.Chunk(r.takeSuspects(), maxBatch) {
				// Should it fail, the next renewal tells.
				_, _ = r.extend(held, false)
			}
			continue
		case <-r.store.Done():
			return
		}
		if r.renew() {
			failures = 0
			timer.Reset(every - rand.N(every/10))
			continue
		}
		failures++
		timer.Reset(r.retryPause(failures))
	}
}

// renew renews all leases and reports whether the store answered for all.
func (r *runner) renew() bool {
	ok := true
	r.strayed()
	if err := r.leave(r.stuckOnes()); err != nil {
		ok = false
		r.log.Warn("jobs of stuck handlers could not be left; trying again", "error", err)
	}
	for held := range slices.Chunk(r.holdings(), maxBatch) {
		if failed, err := r.extend(held, true); err != nil {
			ok = false
			if r.store.Err() == nil {
				r.log.Warn("leases could not be renewed; trying again", "jobs", failed, "error", err)
			}
			if !moving(err) {
				break
			}
		}
	}
	return ok
}

// extend renews the leases of some jobs in one round trip, ends the contexts of
// those that were cancelled, and returns of how many it could not, and why.
// Where it was not asked to because the control channel told, that has failed to.
func (r *runner) extend(held []*holding, unasked bool) (failed int, failure error) {
	if len(held) == 0 {
		return 0, nil
	}
	chunks := slices.Collect(slices.Chunk(held, r.callSize(len(held))))
	calls := make([]script.Call, len(chunks))
	for n, chunk := range chunks {
		call := script.Extend{Lease: r.config.lease.Milliseconds()}
		for _, h := range chunk {
			call.Items = append(call.Items, script.ExtendItem{ID: h.id, Token: h.token})
		}
		calls[n] = call.Call(r.queue)
	}
	sent := time.Now()
	for n, a := range r.exchange(calls...) {
		reply, err := script.ExtendReply{}, a.err
		if err == nil {
			reply, err = script.DecodeExtend(a.reply)
		}
		if err != nil {
			failed, failure = failed+len(chunks[n]), err
			continue
		}
		for i, verdict := range reply.Results {
			switch verdict.Verdict {
			case script.ExtendVerdictLost:
				r.lose(chunks[n][i])
			case script.ExtendVerdictCancelled:
				if r.endCancelled(chunks[n][i], verdict.Reason) && unasked {
					r.hardOfHearing()
				}
			}
		}
		r.renewed(chunks[n], sent)
	}
	return failed, failure
}

// renewed notes that leases were renewed by a call that was made at the time. The jobs
// whose leases it found to be lost have ended.
func (r *runner) renewed(held []*holding, at time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range held {
		h.leased = at
	}
}

// lose ends the context of a job whose lease was lost, unless it has ended in
// the meantime.
func (r *runner) lose(h *holding) {
	r.mu.Lock()
	lost := r.held[h.id.String()] == h && !h.ended
	if lost {
		delete(r.held, h.id.String())
		r.strays = append(r.strays, h)
	}
	r.mu.Unlock()
	if lost {
		r.end(h, ErrLeaseLost)
		r.log.Warn("lost the lease of a job", "job", h.id.String())
	}
}

// endCancelled ends the context of a job that was cancelled, and reports whether
// that was news.
func (r *runner) endCancelled(h *holding, mark string) bool {
	r.mu.Lock()
	news := !h.ended && h.why == nil
	r.mu.Unlock()
	if news {
		r.end(h, &cancelError{mark: mark})
		r.log.Info("a job was cancelled", "job", h.id.String(), "reason", mark)
	}
	return news
}

// holdings returns the jobs that are held, for the lease keeper.
func (r *runner) holdings() []*holding {
	r.mu.Lock()
	defer r.mu.Unlock()
	held := make([]*holding, 0, len(r.held))
	for _, h := range r.held {
		held = append(held, h)
	}
	slices.SortFunc(held, func(a, b *holding) int {
		if a.id.String() < b.id.String() {
			return -1
		}
		return 1
	})
	return held
}
