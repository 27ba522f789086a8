package echomq

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Queue is a queue as those see it who run it: as a whole, and job by job
// without their types. [Client.Queue] makes one. It is safe for concurrent use.
type Queue struct {
	client *Client
	queue  wire.Queue
}

// Queue returns the queue called name, or what [NameQueues] makes of it. It
// makes no contact yet, and the queue need not exist. The error is [ErrName].
func (c *Client) Queue(name string) (*Queue, error) {
	queue, err := c.queue(name)
	if err != nil {
		return nil, fmt.Errorf("echomq: queue: %w", err)
	}
	return &Queue{client: c, queue: queue}, nil
}

// Name returns the queue's name in the store.
func (q *Queue) Name() string { return q.queue.Name() }

// Pause makes the queue give out no further jobs, to any worker, until Resume.
// It may be called for a queue that is paused, or that does not exist yet, and
// outlasts restarts of programs and store.
//
// Jobs that run go on, and so do the few that a worker has taken and is about
// to start. Jobs can be added; delayed ones keep their due times, and those that
// become due meanwhile wait with the others.
func (q *Queue) Pause(ctx context.Context) error {
	call := script.Pause{Events: script.PauseEventsFinal, History: DefaultEventHistory}
	raw, err := q.call(ctx, "pause", call.Call(q.queue))
	if err != nil {
		return err
	}
	_, err = script.DecodePause(raw)
	return err
}

// Resume makes a paused queue give out jobs again. It may be called for a queue
// that is not paused.
func (q *Queue) Resume(ctx context.Context) error {
	call := script.Resume{Events: script.ResumeEventsFinal, History: DefaultEventHistory}
	raw, err := q.call(ctx, "resume", call.Call(q.queue))
	if err != nil {
		return err
	}
	_, err = script.DecodeResume(raw)
	return err
}

// Paused reports whether the queue is paused.
func (q *Queue) Paused(ctx context.Context) (bool, error) {
	if err := q.client.meet(ctx, q.queue); err != nil {
		return false, err
	}
	paused := false
	err := q.client.persist(ctx, q.op("look at"), func() error {
		cmd := q.client.store.HMGet(ctx, q.queue.Key("meta"), wire.FieldPaused)
		paused = len(cmd.Val()) == 1 && cmd.Val()[0] == "1"
		return notPermittedPlain(q.queue, []redis.Cmder{cmd}, cmd.Err())
	})
	return paused, err
}

// op says what is done to the queue, for errors.
func (q *Queue) op(what string) string { return fmt.Sprintf("%s queue %q", what, q.queue) }

// call makes a call on the queue and sees it through.
func (q *Queue) call(ctx context.Context, what string, call script.Call) (any, error) {
	if err := q.client.meet(ctx, q.queue); err != nil {
		return nil, err
	}
	return q.client.call(ctx, q.op(what), call)
}
