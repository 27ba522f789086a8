package echomq

import (
	"context"
	"errors"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Progress is how far a repair has come that goes page by page.
type Progress struct {
	// Done is how many jobs it has dealt with so far.
	Done int64 `json:"done"`
	// Left is how many there are still, about; more may come, and some may stay.
	Left int64 `json:"left"`
}

// BulkOption is an option of a repair that goes page by page.
type BulkOption interface{ applyBulk(*bulkConfig) }

type bulkConfig struct {
	progress func(Progress)
	delayed  bool
	force    bool
	done     int64
}

func bulk[O BulkOption](opts []O) *bulkConfig {
	config := &bulkConfig{}
	for _, opt := range opts {
		opt.applyBulk(config)
	}
	return config
}

// step notes that a page was dealt with.
func (c *bulkConfig) step(done, left int64) {
	c.done += done
	if c.progress != nil {
		c.progress(Progress{Done: c.done, Left: max(left, 0)})
	}
}

// ProgressOption is the option [OnProgress].
type ProgressOption func(Progress)

// OnProgress calls report after each page of a repair, from the goroutine that
// does it.
func OnProgress(report func(Progress)) ProgressOption { return report }

func (o ProgressOption) applyBulk(c *bulkConfig)       { c.progress = o }
func (o ProgressOption) applyDrain(c *bulkConfig)      { c.progress = o }
func (o ProgressOption) applyObliterate(c *bulkConfig) { c.progress = o }

// JobOutcome is what became of one job of several that were to be repaired.
type JobOutcome struct {
	ID string
	// Err says why nothing was done about the job; nil if it was done.
	Err error
}

// outcomesOf returns an outcome for each id: [ErrName] for one that no job can
// have, and [ErrNotSent] until something is known of the others, which are
// returned with their places.
func outcomesOf(ids []string) (outcomes []JobOutcome, jobs []placed) {
	outcomes = make([]JobOutcome, len(ids))
	for i, id := range ids {
		outcomes[i] = JobOutcome{ID: id, Err: ErrNotSent}
		job, err := wire.ParseStoredJobID(id)
		if err != nil {
			outcomes[i].Err = err
			continue
		}
		jobs = append(jobs, placed{i, job})
	}
	return outcomes, jobs
}

// placed is a job with its place among the outcomes.
type placed struct {
	at int
	id wire.JobID
}

// read makes a call that changes nothing, so that there is no unknown outcome.
func (q *Queue) read(ctx context.Context, what string, call script.Call) (any, error) {
	raw, err := q.call(ctx, what, call)
	if errors.Is(err, ErrOutcomeUnknown) {
		return nil, unreachable(q.op(what), err)
	}
	return raw, err
}

// page reads the first ids of a place, in order. Those that no job can have are
// returned apart.
func (q *Queue) page(ctx context.Context, set script.ListSet) (ids []wire.JobID, odd []string, err error) {
	reply, err := q.listIDs(ctx, script.List{Set: set, Order: script.ListOrderRising, Limit: repairPage})
	if err != nil {
		return nil, nil, err
	}
	for _, listed := range reply.IDs {
		if job, err := wire.ParseStoredJobID(listed.ID); err == nil {
			ids = append(ids, job)
		} else {
			odd = append(odd, listed.ID)
		}
	}
	return ids, odd, nil
}

// repairPage is how many jobs a repair deals with in one call: few enough that
// it holds up nobody for longer than some milliseconds.
const repairPage = 250

// expel takes ids that no job can have out of where they stand, into quarantine
// or, from there, for good.
func (q *Queue) expel(ctx context.Context, to script.ExpelTo, ids []string) (script.ExpelReply, error) {
	call := script.Expel{Events: script.ExpelEventsFinal, History: DefaultEventHistory, To: to}
	for _, id := range ids {
		call.Items = append(call.Items, script.ExpelItem{Member: id})
	}
	raw, err := q.call(ctx, "expel ids from", call.Call(q.queue))
	if err != nil {
		return script.ExpelReply{}, err
	}
	return script.DecodeExpel(raw)
}
