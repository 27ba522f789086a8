package conformance

import (
	"context"
	"fmt"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// repaired does to jobs what an operator does. The queue is not obliterated,
// since its keys are still to be looked at: that is tried while jobs wait, which
// is a reason not to.
func (t *trip) repaired(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := queue.Pause(ctx); err != nil {
		return err
	}
	var held []string
	newer, err := echomq.Enqueue(ctx, t.quietProducer(), t.jobOf(2), errand{Case: "repaired"})
	if err != nil {
		return err
	}
	held = append(held, newer.ID)
	for _, opts := range [][]echomq.EnqueueOption{nil, {echomq.Priority(2)}, {echomq.In(time.Hour)}} {
		handle, err := echomq.Enqueue(ctx, t.producer, t.job(), errand{Case: "repaired"}, opts...)
		if err != nil {
			return err
		}
		held = append(held, handle.ID)
	}
	counts, err := queue.Counts(ctx)
	if err != nil {
		return err
	}
	if counts.Waiting != 2 || counts.Prioritized != 1 || counts.Delayed != 1 {
		return fmt.Errorf("there are %+v, and not two jobs that wait, one with a priority and one that is delayed", counts)
	}
	page, err := queue.List(ctx, echomq.StateWaiting)
	if err != nil {
		return err
	}
	if len(page.Jobs) != 2 || page.Jobs[0].ID != held[0] {
		return fmt.Errorf("the waiting jobs are not those that were added")
	}
	// The second is of no job: what such an id may do is to leave the quarantine.
	if _, err := queue.Remove(ctx, held[0], "no job"); err != nil {
		return err
	}
	if err := t.unfinished(ctx, held[0]); err != nil {
		return err
	}
	if drained, err := queue.Drain(ctx, echomq.DrainDelayed()); err != nil || drained != 3 {
		return fmt.Errorf("%d jobs were drained and not 3: %w", drained, err)
	}
	if retried, err := queue.RetryAll(ctx); err != nil || retried == 0 {
		return fmt.Errorf("no failed job was retried: %w", err)
	}
	if err := queue.Resume(ctx); err != nil {
		return err
	}
	return t.failed(ctx)
}

// unfinished makes the calls of an end of the queue that does not come about, and
// of a worker's turn to clean up.
func (t *trip) unfinished(ctx context.Context, id string) error {
	job, err := wire.ParseStoredJobID(id)
	if err != nil {
		return err
	}
	sweep := script.Sweep{Worker: "probe", Set: script.SweepSetCompleted, Step: script.SweepStepLook, Limit: 1, Hold: 1}
	for _, call := range []script.Call{
		script.Erase{Items: []script.EraseItem{{ID: job}}}.Call(t.queue),
		script.Obliterate{}.Call(t.queue),
		sweep.Call(t.queue),
	} {
		if err := t.call(ctx, call); err != nil {
			return err
		}
	}
	return nil
}
