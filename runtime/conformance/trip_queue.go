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

// paused shows that a worker which looks takes nothing from a paused queue. The
// due time of the second job makes it look.
func (t *trip) paused(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := queue.Pause(ctx); err != nil {
		return err
	}
	picked, promoted := t.book.next("pick"), t.book.next("promote")
	var held []echomq.Handle[string]
	for _, opts := range [][]echomq.EnqueueOption{nil, {echomq.In(50 * time.Millisecond)}} {
		handle, err := t.add(ctx, "paused", opts...)
		if err != nil {
			return err
		}
		held = append(held, handle)
	}
	for _, signal := range []<-chan struct{}{picked, promoted} {
		if err := wait(ctx, signal); err != nil {
			return err
		}
	}
	for _, handle := range held {
		state, err := handle.State(ctx)
		if err != nil {
			return err
		}
		if state != echomq.StateWaiting {
			return fmt.Errorf("job %s of a paused queue is %s and not %s", handle.ID, state, echomq.StateWaiting)
		}
	}
	if err := queue.Resume(ctx); err != nil {
		return err
	}
	for _, handle := range held {
		if err := awaitResult(ctx, handle, "done: paused"); err != nil {
			return err
		}
	}
	return nil
}

// flow sends a flow, and asks what became of its child, as workers do when they
// hear nothing of one for long.
func (t *trip) flow(ctx context.Context) error {
	var jobs []echomq.Prepared
	for range 2 {
		prepared, err := echomq.Prepare(t.producer, t.job(), errand{Case: "flow"})
		if err != nil {
			return err
		}
		jobs = append(jobs, prepared)
		t.ended = append(t.ended, prepared.ID())
	}
	handle, err := echomq.SendFlow(ctx, t.client, t.job(), echomq.NewFlow(jobs[0], echomq.Child(jobs[1])))
	if err != nil {
		return err
	}
	if err := awaitResult(ctx, handle, "done: flow"); err != nil {
		return err
	}
	child, err := wire.ParseJobID(jobs[1].ID())
	if err != nil {
		return err
	}
	parent := t.queue.Key(handle.ID)
	return t.call(ctx, script.Verify{Bytes: 1000, Items: []script.VerifyItem{{ID: child, Parent: parent}}}.Call(t.queue))
}

// scheduled lets a schedule add one job, and removes it.
func (t *trip) scheduled(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	ticked := t.book.next("tick")
	once := echomq.ScheduleSpec{ID: "probe", Every: echomq.MinEvery, Limit: 1}
	if _, err := echomq.UpsertSchedule(ctx, t.producer, t.job(), once, errand{Case: "scheduled"}); err != nil {
		return err
	}
	if err := wait(ctx, ticked); err != nil {
		return err
	}
	var id string
	for id == "" {
		schedules, err := queue.Schedules(ctx)
		if err != nil {
			return err
		}
		if len(schedules) != 1 {
			return fmt.Errorf("the queue has %d schedules and not 1", len(schedules))
		}
		if last := schedules[0].Last; !last.IsZero() {
			id = fmt.Sprintf("_probe.%d", last.UnixMilli())
		}
	}
	handle, err := t.job().Handle(t.client, id)
	if err != nil {
		return err
	}
	t.ended = append(t.ended, id)
	if err := awaitResult(ctx, handle, "done: scheduled"); err != nil {
		return err
	}
	return queue.RemoveSchedule(ctx, "probe")
}

// limited shows that no more jobs run at once than an operator allows, and that
// each takes a token.
func (t *trip) limited(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := errors.Join(queue.SetLimit(ctx, 1), queue.SetRate(ctx, 2, 100*time.Millisecond)); err != nil {
		return err
	}
	var held []echomq.Handle[string]
	for range 4 {
		handle, err := t.add(ctx, "limited")
		if err != nil {
			return err
		}
		held = append(held, handle)
	}
	for _, handle := range held {
		if err := awaitResult(ctx, handle, "done: limited"); err != nil {
			return err
		}
	}
	return queue.ClearOverrides(ctx)
}

// grouped runs jobs of two groups with a limit, so that groups wait for their turn
// and for a slot.
func (t *trip) grouped(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := queue.SetGroupLimit(ctx, 1); err != nil {
		return err
	}
	var held []echomq.Handle[string]
	for n := range 6 {
		handle, err := t.add(ctx, "grouped", echomq.Group(fmt.Sprint("group ", n%2)))
		if err != nil {
			return err
		}
		held = append(held, handle)
	}
	for _, handle := range held {
		if err := awaitResult(ctx, handle, "done: grouped"); err != nil {
			return err
		}
	}
	return queue.ClearOverrides(ctx)
}

// unique adds three jobs that are the same, of which one runs. The call that
// releases keys whose time is over is one that workers make now and then.
func (t *trip) unique(ctx context.Context) error {
	key := func(conflict echomq.Conflict) echomq.EnqueueOption {
		return echomq.Unique(echomq.UniqueSpec{Key: "probe", For: time.Hour, Conflict: conflict})
	}
	owner, err := t.add(ctx, "unique", key(echomq.ConflictExisting), echomq.In(time.Hour))
	if err != nil {
		return err
	}
	same, err := t.add(ctx, "unique", key(echomq.ConflictExisting))
	if err != nil {
		return err
	}
	replaced, err := t.add(ctx, "unique", key(echomq.ConflictReplace), echomq.In(50*time.Millisecond))
	if err != nil {
		return err
	}
	if owner.Existing || same.ID != owner.ID || replaced.ID != owner.ID || !replaced.Replaced {
		return fmt.Errorf("jobs %s, %s and %s are the same and stand beside each other", owner.ID, same.ID, replaced.ID)
	}
	if err := awaitResult(ctx, owner, "done: unique"); err != nil {
		return err
	}
	return t.call(ctx, script.Prune{Limit: 100}.Call(t.queue))
}
