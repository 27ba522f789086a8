package echomq

import (
	"context"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Retry makes failed jobs ready to run again, behind those that wait, and
// returns an outcome for each id, in order: [ErrJobNotFailed] for one in another
// state, [ErrJobMissing] for one that does not exist, [ErrJobQuarantined] for
// one whose record is damaged, and a [*DuplicateError] for one whose unique key
// another job holds by now.
//
// A job gets all its attempts and stalls again; the errors of its past attempts
// stay in its record. If a call fails its error is returned beside the outcomes,
// and the jobs that were not reached have [ErrNotSent].
func (q *Queue) Retry(ctx context.Context, ids ...string) ([]JobOutcome, error) {
	outcomes, jobs := outcomesOf(ids)
	for len(jobs) > 0 {
		chunk := jobs[:min(len(jobs), repairPage)]
		jobs = jobs[len(chunk):]
		if err := q.retryChunk(ctx, chunk, outcomes); err != nil {
			return outcomes, err
		}
	}
	return outcomes, nil
}

func (q *Queue) retryChunk(ctx context.Context, jobs []placed, outcomes []JobOutcome) error {
	for range uniqueTries {
		again, err := q.retryOnce(ctx, jobs, outcomes)
		if err != nil || len(again) == 0 {
			return err
		}
		jobs = again
	}
	return nil
}

// retryOnce makes one call, and returns the jobs whose unique keys were held by
// jobs that are gone.
func (q *Queue) retryOnce(ctx context.Context, jobs []placed, outcomes []JobOutcome) (again []placed, err error) {
	call := script.Retry{Events: script.RetryEventsFinal, History: DefaultEventHistory}
	for _, job := range jobs {
		call.Items = append(call.Items, script.RetryItem{ID: job.id})
	}
	raw, err := q.call(ctx, "retry jobs of", call.Call(q.queue))
	if err != nil {
		return nil, err
	}
	reply, err := script.DecodeRetry(raw)
	if err != nil {
		return nil, err
	}
	var heal script.Heal
	var rivals []placed
	for i, job := range jobs {
		result := reply.Results[i]
		if result.Verdict == script.RetryVerdictDuplicate {
			outcomes[job.at].Err = &DuplicateError{Queue: q.queue.Name(), Job: job.id.String(), Owner: result.Owner}
			if owner, err := wire.ParseStoredJobID(result.Owner); err == nil {
				heal.Items = append(heal.Items, script.HealItem{ID: owner, Unique: result.Unique})
				rivals = append(rivals, job)
			}
			continue
		}
		outcomes[job.at].Err = map[script.RetryVerdict]error{
			script.RetryVerdictRetried:     nil,
			script.RetryVerdictUnfailed:    ErrJobNotFailed,
			script.RetryVerdictMissing:     ErrJobMissing,
			script.RetryVerdictOrphan:      ErrJobMissing,
			script.RetryVerdictQuarantined: ErrJobQuarantined,
		}[result.Verdict]
	}
	if len(rivals) == 0 {
		return nil, nil
	}
	if raw, err = q.call(ctx, "look for the holders of unique keys of", heal.Call(q.queue)); err != nil {
		return nil, err
	}
	healed, err := script.DecodeHeal(raw)
	if err != nil {
		return nil, err
	}
	for i, result := range healed.Results {
		if result.Verdict != script.HealVerdictHeld {
			again = append(again, rivals[i])
		}
	}
	return again, nil
}

// RetryAll makes all jobs ready again that had failed by the time of the call,
// the oldest first, page by page, and returns how many it retried. Jobs that
// fail again meanwhile are left alone. If ctx ends or a call fails, what was
// retried is retried, and calling it again goes on.
func (q *Queue) RetryAll(ctx context.Context, opts ...BulkOption) (int64, error) {
	config := bulk(opts)
	list := script.List{Set: script.ListSetFailed, Order: script.ListOrderRising, Limit: repairPage}
	counts, err := q.Counts(ctx)
	if err != nil {
		return 0, err
	}
	left, begin := counts.Failed, int64(0) // begin is by the server's clock
	for {
		listed, err := q.listIDs(ctx, list)
		if err != nil {
			return config.done, err
		}
		if begin == 0 {
			begin = listed.Now
		}
		var ids []string
		for _, each := range listed.IDs {
			if each.Score > begin {
				break
			}
			if _, err := wire.ParseStoredJobID(each.ID); err == nil {
				ids = append(ids, each.ID)
			}
			list.Begun, list.Place, list.Last = true, each.Score, each.ID
		}
		outcomes, err := q.Retry(ctx, ids...)
		retried := int64(0)
		for _, outcome := range outcomes {
			if outcome.Err == nil {
				retried++
			}
		}
		if len(ids) > 0 {
			left -= int64(len(ids))
			config.step(retried, left)
		}
		if err != nil || len(listed.IDs) < repairPage || listed.IDs[len(listed.IDs)-1].Score > begin {
			return config.done, err
		}
	}
}

// Retry makes the job ready to run again if it has failed. The error is
// [ErrJobNotFailed], [ErrJobMissing], [ErrJobQuarantined] or a [*DuplicateError].
func (h Handle[R]) Retry(ctx context.Context) error {
	q, err := h.checked(ctx)
	if err != nil {
		return err
	}
	outcomes, err := q.Retry(ctx, h.ID)
	return h.outcome("retry", outcomes, err)
}

// Info returns all that is known of the job. The error is [ErrJobMissing] if it
// does not exist, and [ErrJobMismatch] if another job has its id.
func (h Handle[R]) Info(ctx context.Context) (JobInfo, error) {
	q, err := h.checked(ctx)
	if err != nil {
		return JobInfo{}, err
	}
	return q.Get(ctx, h.ID)
}
