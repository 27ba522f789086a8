package echomq

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// togetherFor is how far apart the starts of jobs may lie that share a deadline.
const togetherFor = time.Millisecond

// deadlines are those of jobs that start at about the same time. The ones that may run
// for as long share one: a timer and a context for each job cost as much as reading its
// record. The latest one is kept for those to come, until jobs ends.
type deadlines struct {
	jobs context.Context
	mu   sync.Mutex
	last *deadline
}

// deadline is when attempts time out.
type deadline struct {
	ctx     context.Context
	stop    context.CancelFunc
	timeout time.Duration
	begun   time.Time
	limit   time.Time    // zero for never
	users   atomic.Int64 // those that have not released it
}

// after returns the deadline of an attempt that starts now and may run for timeout, 0
// for as long as it likes. It is to be released.
func (d *deadlines) after(now time.Time, timeout time.Duration) *deadline {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || d.last.timeout != timeout || now.Sub(d.last.begun) > togetherFor {
		if d.last != nil {
			d.last.release()
		}
		d.last = &deadline{ctx: d.jobs, stop: func() {}, timeout: timeout, begun: now}
		if timeout > 0 {
			d.last.limit = now.Add(timeout)
			d.last.ctx, d.last.stop = context.WithDeadlineCause(d.jobs, d.last.limit, ErrTimeout)
		}
		d.last.users.Add(1)
	}
	d.last.users.Add(1)
	return d.last
}

// release says that an attempt has ended. The last one frees the timer.
func (d *deadline) release() {
	if d.users.Add(-1) == 0 {
		d.stop()
	}
}
