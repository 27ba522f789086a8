package echomq

import (
	"context"
	"fmt"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// Remove deletes jobs in any state but active, with everything of theirs, and
// returns an outcome for each id, in order: [ErrJobActive] for one that a worker
// holds, [ErrJobMissing] for one that does not exist. It also deletes ids from
// the quarantine that no job can have, as [Queue.List] shows them.
//
// A waiting job is looked for along the line, which takes the store 20 to 50 ms
// for every million jobs in it; use [Queue.Drain] to empty a queue, and cancel a
// job that need only not run.
//
// If a call fails its error is returned beside the outcomes, and the jobs that
// were not reached have [ErrNotSent].
func (q *Queue) Remove(ctx context.Context, ids ...string) ([]JobOutcome, error) {
	outcomes, jobs := outcomesOf(ids)
	for i := range outcomes {
		if outcomes[i].Err == ErrNotSent {
			continue
		}
		reply, err := q.expel(ctx, script.ExpelToNowhere, ids[i:i+1])
		if err != nil {
			return outcomes, err
		}
		if reply.Results[0].Verdict == script.ExpelVerdictExpelled {
			outcomes[i].Err = nil
		}
	}
	for len(jobs) > 0 {
		chunk := jobs[:min(len(jobs), repairPage)]
		jobs = jobs[len(chunk):]
		again, err := q.removeChunk(ctx, chunk, outcomes)
		if err != nil {
			return outcomes, err
		}
		jobs = slices.Concat(again, jobs)
	}
	return outcomes, nil
}

// removeChunk makes one call, and returns the jobs that it is to be made for
// again.
func (q *Queue) removeChunk(ctx context.Context, jobs []placed, outcomes []JobOutcome) (again []placed, err error) {
	call := script.Remove{Events: script.RemoveEventsFinal, History: DefaultEventHistory}
	for _, job := range jobs {
		call.Items = append(call.Items, script.RemoveItem{ID: job.id})
	}
	raw, err := q.call(ctx, "remove jobs from", call.Call(q.queue))
	if err != nil {
		return nil, err
	}
	reply, err := script.DecodeRemove(raw)
	if err != nil {
		return nil, err
	}
	for i, job := range jobs {
		switch reply.Results[i].Verdict {
		case script.RemoveVerdictRemoved:
			outcomes[job.at].Err = nil
		case script.RemoveVerdictActive:
			outcomes[job.at].Err = ErrJobActive
		case script.RemoveVerdictMissing:
			outcomes[job.at].Err = ErrJobMissing
		case script.RemoveVerdictAgain:
			again = append(again, job)
		}
	}
	return again, nil
}

// DrainOption is an option of [Queue.Drain].
type DrainOption interface{ applyDrain(*bulkConfig) }

type drainOption func(*bulkConfig)

func (o drainOption) applyDrain(c *bulkConfig) { o(c) }

// DrainDelayed drains the delayed jobs too, those between two attempts among
// them.
func DrainDelayed() DrainOption { return drainOption(func(c *bulkConfig) { c.delayed = true }) }

// Drain deletes the jobs that wait, with or without a priority or a group, page by page,
// and returns how many it deleted. Active and ended jobs stay.
//
// It ends when it finds none, so jobs that are added meanwhile are deleted too;
// pause the queue if its workers are not to take any. If ctx ends or a call
// fails, what was deleted is deleted, and calling it again goes on.
func (q *Queue) Drain(ctx context.Context, opts ...DrainOption) (int64, error) {
	config := &bulkConfig{}
	for _, opt := range opts {
		opt.applyDrain(config)
	}
	sets := []script.DrainSet{script.DrainSetWait, script.DrainSetPrioritized, script.DrainSetGrouped}
	if config.delayed {
		sets = append(sets, script.DrainSetDelayed)
	}
	for _, set := range sets {
		if err := q.drainSet(ctx, set, config); err != nil {
			return config.done, err
		}
	}
	return config.done, nil
}

func (q *Queue) drainSet(ctx context.Context, set script.DrainSet, config *bulkConfig) error {
	for {
		ids, odd, err := q.page(ctx, script.ListSet(set))
		if err != nil {
			return err
		}
		if len(ids)+len(odd) == 0 {
			return nil
		}
		// Ids that no job can have go into quarantine as they are taken.
		call := script.Drain{
			Events: script.DrainEventsFinal, History: DefaultEventHistory, Set: set, Take: int64(len(ids) + len(odd)),
		}
		for _, id := range ids {
			call.Items = append(call.Items, script.DrainItem{ID: id})
		}
		raw, err := q.call(ctx, "drain", call.Call(q.queue))
		if err != nil {
			return err
		}
		reply, err := script.DecodeDrain(raw)
		if err != nil {
			return err
		}
		removed := int64(0)
		for _, result := range reply.Results {
			if result.Verdict == script.DrainVerdictRemoved {
				removed++
			}
		}
		config.step(removed, reply.Left)
	}
}

// Remove deletes the job unless it is active, with everything of its. The error
// is [ErrJobActive] or [ErrJobMissing].
func (h Handle[R]) Remove(ctx context.Context) error {
	q, err := h.checked(ctx)
	if err != nil {
		return err
	}
	outcomes, err := q.Remove(ctx, h.ID)
	return h.outcome("remove", outcomes, err)
}

// checked returns the queue of the handle's job, which must be of its type if
// it exists.
func (h Handle[R]) checked(ctx context.Context) (*Queue, error) {
	if _, err := h.inspect(ctx); err != nil {
		return nil, err
	}
	return &Queue{client: h.client, queue: h.queue}, nil
}

func (h Handle[R]) outcome(what string, outcomes []JobOutcome, err error) error {
	if err == nil {
		err = outcomes[0].Err
	}
	if err != nil {
		return fmt.Errorf("echomq: %s job %q of queue %q: %w", what, h.ID, h.queue, err)
	}
	return nil
}
