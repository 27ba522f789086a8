package echomq

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// TimeOption is the option [In] or [At]: when a job is to run.
type TimeOption struct {
	in time.Duration
	at time.Time
	by bool // by at
}

func (o TimeOption) applyEnqueue(c *enqueueConfig) {
	if o.by {
		c.at = o.at
	} else {
		c.spec.Delay, c.in = o.in, true
	}
}

func (o TimeOption) applyBatch(c *batchConfig) { c.shared = append(c.shared, o) }

// changeOf is a change that is to be made to jobs.
type changeOf struct {
	what     string // for errors
	priority int    // -1 leaves it
	delay    int64  // ms; -1 leaves the time
	due      int64  // ms; 0 to go by delay
}

// change says what job is to be changed when.
func (o TimeOption) change(what string) (changeOf, error) {
	switch {
	case !o.by && o.in < 0:
		return changeOf{}, optionError("delay %v: it must not be negative", o.in)
	case !o.by:
		return changeOf{what: what, priority: -1, delay: ceilMilliseconds(o.in)}, nil
	case o.at.Year() > maxYear:
		return changeOf{}, optionError("time %v: its year must be at most %d", o.at, maxYear)
	}
	return changeOf{what: what, priority: -1, delay: -1, due: dueMilliseconds(o.at)}, nil
}

func priorityChange(priority int) (changeOf, error) {
	if priority < 0 || priority > MaxPriority {
		return changeOf{}, optionError("priority %d: it must be from 0 to %d", priority, MaxPriority)
	}
	return changeOf{what: "set the priority of", priority: priority, delay: -1}, nil
}

// Reschedule has the job run at another time, [In] a while or [At] a moment, by
// the server's clock. It is for a job that is delayed, also between two attempts,
// and for one that waits to run. A time that is past is now.
//
// A job that waits among those without a priority is not looked for, so that the
// cost does not grow with the queue: it does not run before its new time, but its
// state stays waiting until a worker comes to it.
//
// The error is [ErrJobActive] for a job that a worker holds, [ErrJobEnded],
// [ErrJobMissing], [ErrJobMismatch], [ErrJobQuarantined], [ErrJobWaitsForChildren]
// for the parent of a flow, which runs when its children have ended, or
// [ErrCancelled] for a job that was cancelled.
func (h Handle[R]) Reschedule(ctx context.Context, when TimeOption) error {
	change, err := when.change("reschedule")
	return h.change(ctx, change, err)
}

// RunNow has the job run as soon as a worker is free: it is due now, if it was
// delayed. One that waits already keeps its place, and what was said to
// [Handle.Reschedule] of it is off. The errors are those of Reschedule.
func (h Handle[R]) RunNow(ctx context.Context) error {
	return h.change(ctx, runNow, nil)
}

var runNow = changeOf{what: "run now", priority: -1}

// SetPriority gives the job another priority: 0 runs first, then 1 to
// [MaxPriority]. It goes behind the jobs that have this priority already; one that
// has it keeps its place. A delayed job, and a parent that waits for its children,
// has it when it is due.
//
// A job that waits among those without a priority is not looked for, so that the
// cost does not grow with the queue: it goes to its new place, behind the jobs that
// are there then, when a worker comes to it, and keeps its state until then.
//
// The error is [ErrOption] for a priority that there is not, [ErrJobActive] for a
// job that a worker holds, whose attempt is under way, [ErrJobEnded],
// [ErrJobMissing], [ErrJobMismatch], [ErrJobQuarantined], or [ErrCancelled] for a
// job that was cancelled.
func (h Handle[R]) SetPriority(ctx context.Context, priority int) error {
	change, err := priorityChange(priority)
	return h.change(ctx, change, err)
}

func (h Handle[R]) change(ctx context.Context, change changeOf, err error) error {
	if err != nil {
		return err
	}
	if h.client == nil {
		return optionError("change of the zero Handle")
	}
	q := &Queue{client: h.client, queue: h.queue}
	outcomes := []JobOutcome{{ID: h.ID}}
	if err := q.change(ctx, change, h.name, []placed{{0, h.job}}, outcomes); err != nil {
		return err
	}
	return h.outcome(change.what, outcomes, nil)
}

// Reschedule has jobs run at another time, as [Handle.Reschedule] does, and
// returns an outcome for each id, in order, with its errors, or [ErrName] for an id
// that no job can have.
//
// If a call fails its error is returned beside the outcomes, and the jobs that
// were not reached have [ErrNotSent]. This holds for RunNow and SetPriority too.
func (q *Queue) Reschedule(ctx context.Context, when TimeOption, ids ...string) ([]JobOutcome, error) {
	change, err := when.change("reschedule")
	return q.changeAll(ctx, change, err, ids)
}

// RunNow has jobs run as soon as a worker is free, as [Handle.RunNow] does, and
// returns an outcome for each id, in order.
func (q *Queue) RunNow(ctx context.Context, ids ...string) ([]JobOutcome, error) {
	return q.changeAll(ctx, runNow, nil, ids)
}

// SetPriority gives jobs another priority, as [Handle.SetPriority] does, and
// returns an outcome for each id, in order.
func (q *Queue) SetPriority(ctx context.Context, priority int, ids ...string) ([]JobOutcome, error) {
	change, err := priorityChange(priority)
	return q.changeAll(ctx, change, err, ids)
}

func (q *Queue) changeAll(ctx context.Context, change changeOf, err error, ids []string) ([]JobOutcome, error) {
	if err != nil {
		return nil, err
	}
	outcomes, jobs := outcomesOf(ids)
	for len(jobs) > 0 {
		chunk := jobs[:min(len(jobs), repairPage)]
		jobs = jobs[len(chunk):]
		if err := q.change(ctx, change, "", chunk, outcomes); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// change changes jobs in one call.
func (q *Queue) change(ctx context.Context, change changeOf, name string, jobs []placed, outcomes []JobOutcome) error {
	call := script.Change{
		Events: script.ChangeEventsFinal, History: DefaultEventHistory, By: uuid.NewString(),
		Priority: int64(change.priority), Delay: change.delay, Due: change.due,
	}
	for _, job := range jobs {
		call.Items = append(call.Items, script.ChangeItem{ID: job.id, Name: name})
	}
	raw, err := q.call(ctx, change.what+" jobs of", call.Call(q.queue))
	if err != nil {
		return err
	}
	reply, err := script.DecodeChange(raw)
	if err != nil {
		return err
	}
	for i, result := range reply.Results {
		outcomes[jobs[i].at].Err = changeError(result, name)
	}
	return nil
}

func changeError(result script.ChangeResult, name string) error {
	switch result.Verdict {
	case script.ChangeVerdictChanged:
		return nil
	case script.ChangeVerdictActive:
		return ErrJobActive
	case script.ChangeVerdictParent:
		return ErrJobWaitsForChildren
	case script.ChangeVerdictDoomed:
		if isCancelled(result.Reason) {
			return &cancelError{mark: result.Reason}
		}
		return fmt.Errorf("%w, but for that the next worker says so: %s", ErrJobEnded, result.Reason)
	case script.ChangeVerdictEnded:
		return ErrJobEnded
	case script.ChangeVerdictMissing:
		return ErrJobMissing
	case script.ChangeVerdictMismatch:
		return fmt.Errorf("%w: it is %q, not %q", ErrJobMismatch, result.Name, name)
	}
	return ErrJobQuarantined
}
