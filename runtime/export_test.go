package echomq

import (
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// AwaitAtMost replaces [AwaitLimit] for a client.
func AwaitAtMost(limit time.Duration) ClientOption {
	return clientOption(func(c *clientConfig) { c.awaitLimit = limit })
}

// HoldAtMost replaces for how long callers wait for a call that is out.
func HoldAtMost(limit time.Duration) ClientOption {
	return clientOption(func(c *clientConfig) { c.holdLimit = limit })
}

// CleanEvery replaces the interval at which a worker looks for ended jobs that
// are kept no longer.
func CleanEvery(interval time.Duration) WorkerOption {
	return workerOption(func(c *workerConfig) { c.cleanEvery = interval })
}

// LeftPause replaces the time until a worker looks again at a slot that it has
// left to others.
func LeftPause(pause time.Duration) WorkerOption {
	return workerOption(func(c *workerConfig) { c.leftPause = pause })
}

// TakeAhead has a worker take jobs in advance from the start, as if its handlers were
// short, and replaces for how long they wait for a slot.
func TakeAhead(wait time.Duration) WorkerOption {
	return workerOption(func(c *workerConfig) { c.lineWait, c.handlerTime = wait, 1 })
}

// Waiting returns how many calls of the handle's client wait for its job.
func Waiting[R any](h Handle[R]) int { return listeners(h.client, h.queue.Name(), h.ID) }

// Following returns how many loops of a client there are over a queue's events.
func Following(client *Client, queue string) int { return listeners(client, queue, everyJob) }

func listeners(client *Client, queue, id string) int {
	client.mu.Lock()
	w := client.watchers[queue]
	client.mu.Unlock()
	if w == nil {
		return 0
	}
	select {
	case <-w.ready:
	default:
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.waiting[id])
}

// CancelGrace replaces how long a stopping worker waits for handlers whose
// context it has cancelled.
func CancelGrace(grace time.Duration) WorkerOption {
	return workerOption(func(c *workerConfig) { c.cancelGrace = grace })
}

// Kind returns what kind of error err is, or nil.
func Kind(err error) error { return kindOf(err) }

// CarryEvery replaces the interval at which a worker looks at the outbox, while
// there is something in it, and has its janitor find that out in five of them.
func CarryEvery(interval time.Duration) WorkerOption {
	return workerOption(func(c *workerConfig) {
		c.carryEvery, c.cleanEvery = interval, min(c.cleanEvery, 5*interval)
	})
}

// Revision returns the hash over what a scheduler is set to.
func Revision(item script.ScheduleItem) string { return revision(item) }

// InWait returns how many callers wait for a call that adds jobs.
func InWait(client *Client) int {
	client.joints.mu.Lock()
	defer client.joints.mu.Unlock()
	waiting := 0
	for _, j := range client.joints.known {
		j.mu.Lock()
		waiting += len(j.waiting)
		j.mu.Unlock()
	}
	return waiting
}
