package echomq

import (
	"context"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Clean deletes the jobs that ended in a state, [StateCompleted] or
// [StateFailed], at least so long ago by the server's clock, however long they
// are to be kept, page by page from the oldest on; or, with [StateQuarantined],
// what was put into quarantine so long ago. It returns how many it deleted.
//
// If ctx ends or a call fails, what was deleted is deleted, and calling it again
// goes on. The error is [ErrOption] for another state or a negative age.
func (q *Queue) Clean(ctx context.Context, state State, olderThan time.Duration, opts ...BulkOption) (int64, error) {
	if olderThan < 0 {
		return 0, optionError("clean %v: the age must not be negative", olderThan)
	}
	if !state.Ended() && state != StateQuarantined {
		return 0, optionError("clean %q: only completed, failed and quarantined jobs have an age; Drain deletes those that wait", state)
	}
	config := bulk(opts)
	counts, err := q.Counts(ctx)
	if err != nil {
		return 0, err
	}
	set, _ := setOf(state)
	left := counts.In(state)
	list := script.List{Set: set, Order: script.ListOrderRising, Limit: repairPage}
	for {
		listed, err := q.listIDs(ctx, list)
		if err != nil {
			return config.done, err
		}
		var jobs []wire.JobID
		var odd []string
		for _, each := range listed.IDs {
			if each.Score+olderThan.Milliseconds() > listed.Now {
				break
			}
			if job, err := wire.ParseStoredJobID(each.ID); err == nil {
				jobs = append(jobs, job)
			} else {
				odd = append(odd, each.ID)
			}
			list.Begun, list.Place, list.Last = true, each.Score, each.ID
		}
		if len(jobs)+len(odd) == 0 {
			return config.done, nil
		}
		cleaned, err := q.cleanPage(ctx, state, olderThan, jobs, odd)
		left -= int64(len(jobs) + len(odd))
		config.step(cleaned, left)
		if err != nil || len(jobs)+len(odd) < repairPage {
			return config.done, err
		}
	}
}

// cleanPage deletes the jobs of a page, and returns how many it deleted.
func (q *Queue) cleanPage(ctx context.Context, state State, olderThan time.Duration, jobs []wire.JobID, odd []string) (int64, error) {
	cleaned := int64(0)
	if len(odd) > 0 {
		// They are no jobs: an operator is to see them before they go.
		to := script.ExpelToQuarantine
		if state == StateQuarantined {
			to = script.ExpelToNowhere
		}
		reply, err := q.expel(ctx, to, odd)
		if err != nil {
			return 0, err
		}
		for _, result := range reply.Results {
			if result.Verdict == script.ExpelVerdictExpelled && to == script.ExpelToNowhere {
				cleaned++
			}
		}
	}
	switch {
	case len(jobs) == 0:
		return cleaned, nil
	case state == StateQuarantined:
		ids := make([]string, len(jobs))
		for i, job := range jobs {
			ids[i] = job.String()
		}
		outcomes, err := q.Remove(ctx, ids...)
		for _, outcome := range outcomes {
			if outcome.Err == nil {
				cleaned++
			}
		}
		return cleaned, err
	}
	call := script.Trim{Set: script.TrimSet(state)}
	for _, job := range jobs {
		call.Items = append(call.Items, script.TrimItem{ID: job, Age: olderThan.Milliseconds(), Newer: -1})
	}
	raw, err := q.call(ctx, "clean", call.Call(q.queue))
	if err != nil {
		return cleaned, err
	}
	reply, err := script.DecodeTrim(raw)
	for _, result := range reply.Results {
		if result.Verdict == script.TrimVerdictTrimmed {
			cleaned++
		}
	}
	return cleaned, err
}
