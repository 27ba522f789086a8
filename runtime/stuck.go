package echomq

import (
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// end ends the context of a job's handler, unless it has ended already. One that waits
// in the line ends there.
func (r *runner) end(h *holding, cause error) {
	r.mu.Lock()
	if h.why == nil {
		h.why, h.over = cause, time.Now()
	}
	r.leaveLine(h)
	cancel := h.cancel
	r.mu.Unlock()
	if cancel != nil {
		cancel(cause)
	}
}

// over returns why the context of the handler has ended, and when; nil if it has
// not, or if the handler has returned or not begun. The caller holds the lock.
func (r *runner) over(h *holding) (since time.Time, why error) {
	switch {
	case h.ended, h.cancel == nil:
		return time.Time{}, nil
	case !h.limit.IsZero() && time.Now().After(h.limit) && (h.why == nil || h.limit.Before(h.over)):
		return h.limit, ErrTimeout
	}
	return h.over, h.why
}

// stuck reports whether a handler goes on although its context has ended a while
// ago, and why it has. The caller holds the lock.
func (r *runner) stuck(h *holding) (why error, stuck bool) {
	since, why := r.over(h)
	return why, why != nil && time.Since(since) >= r.config.stuckAfter
}

// stuckOnes returns the jobs that are held and whose handlers are stuck.
func (r *runner) stuckOnes() []*holding {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*holding
	for _, h := range r.held {
		if _, stuck := r.stuck(h); stuck {
			found = append(found, h)
		}
	}
	return found[:min(len(found), maxBatch)]
}

// leave gives up jobs whose handlers are stuck. Their slots stay taken until the
// handlers return.
func (r *runner) leave(stuck []*holding) error {
	if len(stuck) == 0 {
		return nil
	}
	call := script.Leave{Events: script.LeaveEvents(r.config.events.word()), History: DefaultEventHistory}
	for _, h := range stuck {
		call.Items = append(call.Items, script.LeaveItem{ID: h.id, Token: h.token, Job: h.name})
	}
	a := r.exchange(call.Call(r.queue))[0]
	if a.err != nil {
		return a.err
	}
	if _, err := script.DecodeLeave(a.reply); err != nil {
		return err
	}
	for _, h := range stuck {
		r.mu.Lock()
		if r.held[h.id.String()] == h {
			delete(r.held, h.id.String())
		}
		_, why := r.over(h)
		r.mu.Unlock()
		if why != nil {
			r.report(h, why)
		}
	}
	return nil
}

// strayed tells once of each handler that goes on long after its lease was lost.
func (r *runner) strayed() {
	r.mu.Lock()
	var rest, stuck []*holding
	for _, h := range r.strays {
		if _, now := r.stuck(h); now {
			stuck = append(stuck, h)
		} else if !h.ended {
			rest = append(rest, h)
		}
	}
	r.strays = rest
	r.mu.Unlock()
	for _, h := range stuck {
		r.report(h, ErrLeaseLost)
	}
}

func (r *runner) report(h *holding, why error) {
	r.log.Error(
		"a handler is stuck: it goes on although its context has ended; its job is left to others, and its slot stays taken",
		"job", h.id.String(), "cause", why, "after", r.config.stuckAfter)
}
