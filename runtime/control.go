package echomq

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// cancelWord begins the message on a queue's control channel that tells of a
// cancelled job: the word, a blank, the id.
const cancelWord = "cancel "

// deafPause is how long a runner waits before it asks to listen again after the
// store has refused it.
const deafPause = 30 * time.Second

// controlLoop listens on the queue's control channel, over a connection of its
// own. What it hears makes the lease keeper look: the store knows what was
// cancelled, and a message can be forged, late or lost.
func (r *runner) controlLoop() {
	for r.store.Err() == nil {
		r.listen()
	}
}

// listen listens until the runner ends, or until hardOfHearing.
func (r *runner) listen() {
	ctx, cancel := context.WithCancel(r.store)
	defer cancel()
	listener := r.client.store.Subscribe(ctx, r.queue.ControlChannel())
	r.mu.Lock()
	r.deaf = cancel
	r.mu.Unlock()
	closed := make(chan struct{})
	// Closing it is the one thing that ends a read.
	stop := context.AfterFunc(ctx, func() { defer close(closed); _ = listener.Close() })
	defer func() {
		if stop() {
			_ = listener.Close()
			return
		}
		<-closed
	}()
	for failures := 0; ctx.Err() == nil; {
		message, err := listener.Receive(ctx)
		switch {
		case err == nil:
			failures = 0
			r.hear(message)
		case ctx.Err() != nil:
		case isPermission(err):
			r.log.Warn("the store lets this worker not listen for cancellations, so it learns of them late, when it renews its leases",
				"channel", r.queue.ControlChannel(), "error", err, "advice", ruleAdvice("worker", r.queue.Name()))
			_ = sleep(ctx, deafPause)
			return
		default:
			failures++
			_ = sleep(ctx, retryPause(failures))
		}
	}
}

// hear deals with what came over the control channel.
func (r *runner) hear(message any) {
	switch message := message.(type) {
	case *redis.Subscription:
		// What was told while nobody listened is lost.
		r.renewNow()
	case *redis.Message:
		if id, ok := strings.CutPrefix(message.Payload, cancelWord); ok {
			r.suspect(id)
		}
	}
}

// hardOfHearing makes the runner listen anew: a job was cancelled and the
// channel has not told, as when its connection died without a word.
func (r *runner) hardOfHearing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.deaf != nil {
		r.deaf()
	}
}

// suspect has the lease keeper look at a job of which it is said that it was
// cancelled, if this worker holds it.
func (r *runner) suspect(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h := r.held[id]; h != nil && !h.ended && h.why == nil {
		if !slices.Contains(r.suspects, h) { // anybody can say it again and again
			r.suspects = append(r.suspects, h)
		}
		select {
		case r.doubt <- struct{}{}:
		default:
		}
	}
}

// takeSuspects returns the jobs that are to be looked at, once.
func (r *runner) takeSuspects() []*holding {
	r.mu.Lock()
	defer r.mu.Unlock()
	suspects := r.suspects
	r.suspects = nil
	return suspects
}
