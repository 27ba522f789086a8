package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

func (t *trip) plain(ctx context.Context) error {
	if err := t.work(); err != nil {
		return err
	}
	return t.complete(ctx, "plain")
}

func (t *trip) quiet(ctx context.Context) error {
	handle, err := echomq.Enqueue(ctx, t.quietProducer(), t.job(), errand{Case: "quiet"})
	if err != nil {
		return err
	}
	t.ended = append(t.ended, handle.ID)
	return awaitResult(ctx, handle, "done: quiet")
}

// quietProducer returns a producer that writes no event as it adds.
func (t *trip) quietProducer() *echomq.Producer {
	spec := t.spec()
	spec.Events = echomq.EventsFinal
	return echomq.NewProducer(t.client, spec)
}

func (t *trip) prioritized(ctx context.Context) error {
	return t.complete(ctx, "prioritized", echomq.Priority(3))
}

func (t *trip) delayed(ctx context.Context) error {
	return t.complete(ctx, "delayed", echomq.In(50*time.Millisecond))
}

func (t *trip) retried(ctx context.Context) error { return t.complete(ctx, "retried") }

func (t *trip) failed(ctx context.Context) error {
	handle, err := t.add(ctx, "failed")
	if err != nil {
		return err
	}
	_, err = handle.Await(ctx)
	var failure *echomq.JobError
	if err == nil {
		return fmt.Errorf("job %s was to fail and has completed", handle.ID)
	}
	if errors.As(err, &failure) {
		return nil
	}
	return err
}

// reporting reads what a job has told while it ran.
func (t *trip) reporting(ctx context.Context) error {
	handle, err := t.add(ctx, "reporting")
	if err != nil {
		return err
	}
	if err := awaitResult(ctx, handle, "done: reporting"); err != nil {
		return err
	}
	progress, err := handle.Progress(ctx)
	if err != nil {
		return err
	}
	lines, err := handle.Logs(ctx, 0)
	if err == nil && (string(progress) != "50" || len(lines) != 1 || lines[0].Text != "half way") {
		err = fmt.Errorf("job %s recorded %q and %v", handle.ID, progress, lines)
	}
	return err
}

// stalled loses a worker that has renewed its lease, and lets another recover
// its job.
func (t *trip) stalled(ctx context.Context) error {
	if err := t.worker.halt(); err != nil {
		return err
	}
	t.worker = nil
	handle, err := t.add(ctx, "stalled")
	if err != nil {
		return err
	}
	if err := t.work(echomq.Lease(shortLease)); err != nil {
		return err
	}
	for _, signal := range []<-chan struct{}{t.taken, t.book.next("extend")} {
		if err := wait(ctx, signal); err != nil {
			return err
		}
	}
	t.worker.Kill()
	err = t.worker.halt()
	t.worker = nil
	if err != nil {
		return err
	}
	if err := t.work(echomq.Lease(shortLease), echomq.StuckAfter(shortLease/4)); err != nil {
		return err
	}
	return awaitResult(ctx, handle, "done: stalled")
}

// changed brings a job forward.
func (t *trip) changed(ctx context.Context) error {
	handle, err := t.add(ctx, "changed", echomq.In(time.Hour))
	if err != nil {
		return err
	}
	if err := handle.SetPriority(ctx, 3); err != nil {
		return err
	}
	if err := handle.RunNow(ctx); err != nil {
		return err
	}
	return awaitResult(ctx, handle, "done: changed")
}

// cancelled cancels a job that runs.
func (t *trip) cancelled(ctx context.Context) error {
	handle, err := t.add(ctx, "cancelled")
	if err != nil {
		return err
	}
	if err := wait(ctx, t.taken); err != nil {
		return err
	}
	if err := handle.Cancel(ctx, "for the probe"); err != nil {
		return err
	}
	_, err = handle.Await(ctx)
	switch {
	case errors.Is(err, echomq.ErrCancelled):
		return nil
	case err == nil:
		return fmt.Errorf("job %s was cancelled and has completed", handle.ID)
	}
	return err
}

// stuck lets a handler go on until its worker leaves its job.
func (t *trip) stuck(ctx context.Context) error {
	t.left = t.book.next("leave")
	return t.complete(ctx, "stuck", echomq.Timeout(time.Millisecond))
}

// trimmed deletes the ended jobs, by the call that workers make now and then
// for what is older than it is to be kept.
func (t *trip) trimmed(ctx context.Context) error {
	for _, set := range []script.TrimSet{script.TrimSetCompleted, script.TrimSetFailed} {
		call := script.Trim{Set: set}
		for _, id := range t.ended {
			job, err := wire.ParseStoredJobID(id)
			if err != nil {
				return err
			}
			call.Items = append(call.Items, script.TrimItem{ID: job, Age: 0, Newer: -1})
		}
		if err := t.call(ctx, call.Call(t.queue)); err != nil {
			return err
		}
	}
	return nil
}
