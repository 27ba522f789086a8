package echomq

import (
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// While the slot of a queue is being moved to another node of a cluster, a call
// is refused unless all its keys exist and are on the same node. Most calls
// declare one that does not exist, so the queue stands still until the move's
// end, and leases run out that nobody could renew.

// moving reports whether err says that a slot is being moved.
func moving(err error) bool { return hasWord(err, "TRYAGAIN") || hasWord(err, "ASK") }

// moveTries bounds the growth of the pauses between tries while a slot is being
// moved, so that the queue goes on soon after the move's end.
const moveTries = 3

// pauseAfter is how long to wait after an error before trying again.
func pauseAfter(err error, try int) time.Duration {
	if moving(err) {
		try = min(try, moveTries)
	}
	return retryPause(try)
}

// exchange sends calls for the runner's queue, and notes when its slot is being
// moved.
func (r *runner) exchange(calls ...script.Call) []answer {
	answers := r.within(calls)
	for _, a := range answers {
		if moving(a.err) {
			r.mu.Lock()
			r.moved = time.Now()
			r.mu.Unlock()
			break
		}
	}
	return answers
}

// sinceMove returns how long ago a call was last refused because of a move.
func (r *runner) sinceMove() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Since(r.moved)
}

// callSize is how many of so many jobs one call is for: after a move has been
// met, and until well after the leases that it touched, a single one, so that a
// job whose keys are together does not suffer for others.
func (r *runner) callSize(jobs int) int {
	if r.sinceMove() < 2*r.config.lease {
		return 1
	}
	return jobs
}

// rest returns until when no job is to be taken back: a lease after a move was
// last met, in which the live renew theirs.
func (r *runner) rest() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.moved.Add(r.config.lease)
}
