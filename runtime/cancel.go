package echomq

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

const (
	// cancelMark is what a cancelled job has as its deferred failure, alone or
	// with a colon, a blank and the reason.
	cancelMark = "cancelled"
	// maxCancelReason bounds a reason, in bytes.
	maxCancelReason = 1 << 10
)

// cancelError is the cause of a context that ended because its job was
// cancelled.
type cancelError struct{ mark string }

func (e *cancelError) Error() string        { return e.mark }
func (e *cancelError) Is(target error) bool { return target == ErrCancelled }

func isCancelled(deferred string) bool {
	return deferred == cancelMark || strings.HasPrefix(deferred, cancelMark+": ")
}

// Cancel cancels the job, wherever it is, and returns when the store knows. The
// reason, of at most 1 KiB, is part of the job's failure.
//
// A job that waits is not run: the worker that comes to it settles it as failed.
// A delayed one becomes due at once for that. The context of a running handler
// ends with [ErrCancelled], within 100 ms where its worker listens, or else when
// it renews its lease; if the handler returns an error then, the job has failed
// and is not tried again, and if it returns none the job has completed. Either
// way the job's end is what Await waits for; its failure is an ErrCancelled.
//
// Cancelling a job again changes nothing. The error is [ErrJobEnded],
// [ErrJobMissing], [ErrJobMismatch] or [ErrJobQuarantined].
func (h Handle[R]) Cancel(ctx context.Context, reason ...string) error {
	if h.client == nil {
		return optionError("cancel of the zero Handle")
	}
	q := &Queue{client: h.client, queue: h.queue}
	outcomes := []JobOutcome{{ID: h.ID}}
	err := q.cancel(ctx, strings.Join(reason, " "), h.name, []placed{{0, h.job}}, outcomes)
	if err != nil {
		return err
	}
	if outcomes[0].Err != nil {
		return h.wrap("cancel", outcomes[0].Err)
	}
	return nil
}

// Cancel cancels jobs, as [Handle.Cancel] does, and returns an outcome for each
// id, in order: [ErrJobEnded], [ErrJobMissing], [ErrJobQuarantined], or
// [ErrName] for an id that no job can have.
//
// If a call fails its error is returned beside the outcomes, and the jobs that
// were not reached have [ErrNotSent].
func (q *Queue) Cancel(ctx context.Context, ids ...string) ([]JobOutcome, error) {
	outcomes, jobs := outcomesOf(ids)
	for len(jobs) > 0 {
		chunk := jobs[:min(len(jobs), maxBatch)]
		jobs = jobs[len(chunk):]
		if err := q.cancel(ctx, "", "", chunk, outcomes); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

// cancel cancels jobs in one call and tells the workers of those that run.
func (q *Queue) cancel(ctx context.Context, reason, name string, jobs []placed, outcomes []JobOutcome) error {
	if len(reason) > maxCancelReason {
		return optionError("a reason of %d bytes; the limit is %d", len(reason), maxCancelReason)
	}
	call := script.Cancel{Events: script.CancelEventsFinal, History: DefaultEventHistory, Mark: cancelMark}
	if reason != "" {
		call.Mark += ": " + reason
	}
	for _, job := range jobs {
		call.Items = append(call.Items, script.CancelItem{ID: job.id, Name: name})
	}
	raw, err := q.call(ctx, "cancel jobs of", call.Call(q.queue))
	if err != nil {
		return err
	}
	reply, err := script.DecodeCancel(raw)
	if err != nil {
		return err
	}
	var running []string
	for i, result := range reply.Results {
		outcome := &outcomes[jobs[i].at]
		switch result.Verdict {
		case script.CancelVerdictMarked:
			outcome.Err = nil
		case script.CancelVerdictActive:
			outcome.Err = nil
			running = append(running, outcome.ID)
		case script.CancelVerdictEnded:
			outcome.Err = ErrJobEnded
		case script.CancelVerdictMissing:
			outcome.Err = ErrJobMissing
		case script.CancelVerdictQuarantined:
			outcome.Err = ErrJobQuarantined
		case script.CancelVerdictMismatch:
			outcome.Err = fmt.Errorf("%w: it is %q, not %q", ErrJobMismatch, result.Name, name)
		}
	}
	q.tell(ctx, running)
	return nil
}

// tell tells the workers of the queue that running jobs were cancelled. Whom it
// does not reach learns it at the next renewal.
func (q *Queue) tell(ctx context.Context, ids []string) {
	if len(ids) == 0 {
		return
	}
	err, ended := within(ctx, &q.client.goroutines, func() error {
		_, err := q.client.store.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for _, id := range ids {
				pipe.Publish(ctx, q.queue.ControlChannel(), cancelWord+id)
			}
			return nil
		})
		return err
	})
	if ended != nil {
		err = ended
	}
	if err != nil {
		q.client.log.Warn("workers could not be told of cancelled jobs; they learn it when they renew their leases",
			"queue", q.queue.Name(), "jobs", len(ids), "error", err)
	}
}
