package echomq

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// eventPage is how many events are read at once.
const eventPage = 500

// ErrEventGap is what every [*EventGapError] is, for errors.Is.
var ErrEventGap = errors.New("events may have been missed")

// EventGapError says that events after a position may be gone: the history was
// trimmed or deleted before they were read. Reading goes on after it.
type EventGapError struct {
	// Queue is the queue's name.
	Queue string
	// After is the position from which events may be missing.
	After string
	// Before is the next event that there is; empty if there is none yet.
	Before string
}

func (e *EventGapError) Error() string {
	return fmt.Sprintf("echomq: queue %q: %v after %s: they are kept no longer", e.Queue, ErrEventGap, e.After)
}

// Is reports whether target is [ErrEventGap].
func (e *EventGapError) Is(target error) bool { return target == ErrEventGap }

// Events returns the queue's events after a position, oldest first, and goes on
// with new ones as they happen, until ctx ends or the loop is left:
//
//	for event, err := range queue.Events(ctx, echomq.FromNow()) {
//		if errors.Is(err, echomq.ErrEventGap) {
//			continue // or look at the state of what is followed
//		}
//		if err != nil {
//			return err
//		}
//		fmt.Println(event.Kind, event.JobID)
//	}
//
// It works from any process. Each event comes once and in order, through outages
// of the store too; to go on in another process, begin there [AfterEvent] the ID of the
// last event that was dealt with. Which events there are is said by the queue's
// [EventLevel]. A queue keeps about [DefaultEventHistory] events: who falls
// further behind gets an [*EventGapError] in place of what is gone, and after it
// what is left.
//
// Any other error is the last thing that comes: the cause of ctx's end, [ErrClosed]
// when the client was closed, [ErrPermission], or [ErrOption] for a position that
// is none. While the store is away it waits.
//
// All loops and [Handle.Await] calls of one client on one queue wait on one
// connection; each loop reads for itself, so that a slow one keeps nobody up.
func (q *Queue) Events(ctx context.Context, from EventPosition) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{Queue: q, yield: yield}
		if err := f.follow(ctx, from); err != nil {
			yield(Event{}, err)
		}
	}
}

// LastEvent returns the id of the queue's newest event, as a position to begin
// [AfterEvent] later, for instance after having looked at the state of things.
func (q *Queue) LastEvent(ctx context.Context) (string, error) {
	if err := q.client.meet(ctx, q.queue); err != nil {
		return "", err
	}
	last := beginning
	err := q.client.persist(ctx, q.op("look at the events of"), func() error {
		store, err := q.client.current(ctx, q.queue)
		if err != nil {
			return err
		}
		cmd := store.XRevRangeN(ctx, q.queue.Key("events"), "+", "-", 1)
		if len(cmd.Val()) > 0 {
			last = cmd.Val()[0].ID
		}
		return notPermittedPlain(q.queue, []redis.Cmder{cmd}, cmd.Err())
	})
	return last, err
}

// follower is one loop over a queue's events.
type follower struct {
	*Queue
	yield    func(Event, error) bool
	position string
}

// follow yields events until the loop is left, and then returns nil.
func (f *follower) follow(ctx context.Context, from EventPosition) error {
	if _, _, ok := splitEventID(from.id); !ok && from.id != "" {
		return optionError("event position %q: it must be the ID of an event", from.id)
	}
	if err := f.client.meet(ctx, f.queue); err != nil {
		return err
	}
	// First listen, then look: nothing is lost between.
	signal, leave, err := f.client.watch(ctx, f.queue, everyJob)
	if err != nil {
		return f.failed(err)
	}
	defer leave()
	if f.position = orDefault(from.id, beginning); from.now {
		if f.position, err = f.LastEvent(ctx); err != nil {
			return err
		}
	}
	for failures := 0; ; {
		more, err := f.page(ctx)
		switch {
		case errors.Is(err, errLeft):
			return nil
		case ctx.Err() != nil:
			return f.failed(context.Cause(ctx))
		case f.client.closing.Err() != nil:
			return f.failed(ErrClosed)
		case err != nil && classify(err) == refused:
			return refusal(f.op("read the events of"), err)
		case err != nil:
			failures++
			if sleep(ctx, retryPause(failures)) != nil {
				return f.failed(context.Cause(ctx))
			}
			continue
		}
		failures = 0
		if more {
			continue
		}
		select {
		case <-signal:
		case <-ctx.Done():
			return f.failed(context.Cause(ctx))
		case <-f.client.closing.Done():
			return f.failed(ErrClosed)
		}
	}
}

func (f *follower) failed(err error) error {
	return fmt.Errorf("echomq: %s: %w", f.op("read the events of"), err)
}

// errLeft says that the loop was left.
var errLeft = errors.New("the loop was left")

// page reads and yields one page. more says that there may be
// more.
func (f *follower) page(ctx context.Context) (more bool, err error) {
	var page, oldest, newest *redis.XMessageSliceCmd
	err, ended := within(ctx, &f.client.goroutines, func() error {
		store, err := f.client.current(ctx, f.queue)
		if err != nil {
			return err
		}
		key := f.queue.Key("events")
		cmds, err := store.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			page = pipe.XRangeN(ctx, key, "("+f.position, "+", eventPage)
			oldest = pipe.XRangeN(ctx, key, "-", "+", 1)
			newest = pipe.XRevRangeN(ctx, key, "+", "-", 1)
			return nil
		})
		return notPermittedPlain(f.queue, cmds, err)
	})
	if ended != nil {
		return false, ended
	}
	refresh(f.client.store, err)
	if err != nil {
		return false, err
	}
	missed, moved := f.gap(page.Val(), oldest.Val(), newest.Val())
	if moved {
		f.client.recheck(f.queue)
	}
	if missed != nil && !f.yield(Event{}, missed) {
		return false, errLeft
	}
	for _, entry := range page.Val() {
		f.position = entry.ID
		if !f.yield(eventOf(entry), nil) {
			return false, errLeft
		}
	}
	return moved || len(page.Val()) == eventPage, nil
}

// gap returns what is to be told of events that may be gone, or nil. None is gone
// for as long as the event at the position is there still: the oldest go first.
// moved says that the position had to be changed.
func (f *follower) gap(page, oldest, newest []redis.XMessage) (missed error, moved bool) {
	if f.position == beginning {
		return nil, false
	}
	gap := &EventGapError{Queue: f.Name(), After: f.position}
	switch {
	case len(oldest) == 0 && len(page) == 0:
		// The history was deleted: whatever comes is new.
		f.position = beginning
		return gap, true
	case len(page) > 0 && (len(oldest) == 0 || isBefore(f.position, oldest[0].ID)):
		gap.Before = page[0].ID
		return gap, false
	case len(page) == 0 && len(newest) > 0 && isBefore(newest[0].ID, f.position):
		// A fail-over has lost the end, or another history has taken its place.
		f.position = newest[0].ID
		return gap, true
	}
	return nil, false
}

// current returns what reads from the node that has the newest of a queue, also
// where the program's client reads from replicas, which may be behind each other.
func (c *Client) current(ctx context.Context, queue wire.Queue) (redis.Cmdable, error) {
	cluster, ok := c.store.(*redis.ClusterClient)
	if !ok || !cluster.Options().ReadOnly {
		return c.store, nil
	}
	return cluster.MasterForKey(ctx, queue.Key("events"))
}
