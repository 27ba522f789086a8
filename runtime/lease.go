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
	for held := range slices.Chunk(r.holdings(), maxBatch) {
		if failed, err := r.extend(held); err != nil {
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

// extend renews the leases of some jobs in one round trip, and returns of how
// many it could not, and why.
func (r *runner) extend(held []*holding) (failed int, failure error) {
	chunks := slices.Collect(slices.Chunk(held, r.callSize(len(held))))
	calls := make([]script.Call, len(chunks))
	for n, chunk := range chunks {
		call := script.Extend{Lease: r.config.lease.Milliseconds()}
		for _, h := range chunk {
			call.Items = append(call.Items, script.ExtendItem{ID: h.id, Token: h.token})
		}
		calls[n] = call.Call(r.queue)
	}
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
			if verdict.Verdict == script.ExtendVerdictLost {
				r.lose(chunks[n][i])
			}
		}
	}
	return failed, failure
}

// lose ends the context of a job whose lease was lost, unless it has ended in
// the meantime.
func (r *runner) lose(h *holding) {
	r.mu.Lock()
	lost := r.held[h.id.String()] == h && !h.ended
	if lost {
		delete(r.held, h.id.String())
	}
	r.mu.Unlock()
	if lost {
		h.cancel(ErrLeaseLost)
		r.log.Warn("lost the lease of a running job", "job", h.id.String())
	}
}
