package echomq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// SendFlow sends a flow and returns the handle of its parent, which job is the
// type of. The parent is added first, and with it, in the same step, all that its
// children take to be added: from then on the flow is whole, whatever becomes of
// this program. The children are then added by this call, or, where it does not
// come to that, by the workers of the parent's queue, a few seconds later.
//
// A parent that is there already is left as it is, and so are its children: the
// handle's Existing is set. So sending a flow again is safe, as it is to send a
// [Prepared] again.
//
// The error is [ErrOption] for a flow that makes no sense, [ErrJobMismatch] if the
// parent is of another type than job, and else as of [Enqueue]; nothing was added
// then, or, as an [ErrOutcomeUnknown] or [ErrNotReplicated] says, it may have been.
func SendFlow[T, R any](ctx context.Context, client *Client, job JobType[T, R], flow Flow) (Handle[R], error) {
	if err := flow.check(); err != nil {
		return Handle[R]{}, err
	}
	if flow.job.name != job.spec.Name {
		return Handle[R]{}, fmt.Errorf("echomq: flow: %w: its parent is %q, not %q", ErrJobMismatch, flow.job.name, job.spec.Name)
	}
	sent, err := client.sendFlow(ctx, flow)
	if err != nil {
		return Handle[R]{}, err
	}
	return handleOf(client, job.codecs.result, &flow.job, &sent), sent.Err
}

// sendFlow sends a flow through the client's middleware, which sees its jobs in
// one call, the parent first.
func (c *Client) sendFlow(ctx context.Context, flow Flow) (Sent, error) {
	jobs := flow.jobs()
	send := func(ctx context.Context, given []Prepared) ([]Sent, error) {
		if len(given) != len(jobs) {
			err := optionError("enqueue middleware sends %d of %d jobs of a flow, which is sent whole or not at all", len(given), len(jobs))
			return refusedAll(given, err), err
		}
		for i, job := range given {
			if job.queue != jobs[i].queue || job.id != jobs[i].id {
				err := optionError("enqueue middleware sends job %q of queue %q of a flow in the place of another", job.id, job.queue)
				return refusedAll(given, err), err
			}
		}
		traced, _ := flow.with(c.traced(ctx, given))
		parent, err := c.plantFlow(ctx, traced)
		sent := refusedAll(given, parent.Err)
		sent[0] = parent
		return sent, err
	}
	if err := c.checkMiddleware(); err != nil {
		return Sent{}, err
	}
	sent, err := around(c.middleware, EnqueueFunc(send))(ctx, slices.Clone(jobs))
	switch {
	case err != nil:
		return Sent{}, err
	case len(sent) != len(jobs):
		return Sent{}, optionError("enqueue middleware returned %d results for %d jobs", len(sent), len(jobs))
	}
	return sent[0], nil
}

// plantFlow adds a flow's parent and then its children.
func (c *Client) plantFlow(ctx context.Context, flow Flow) (Sent, error) {
	parent, err := flow.prepare()
	if err != nil {
		return Sent{}, err
	}
	for _, job := range flow.jobs() {
		if err := c.admit(ctx, job.queue, job); err != nil {
			return Sent{}, err
		}
	}
	sent, err := c.sendChunks(ctx, []Prepared{parent}, 1)
	if err != nil || sent[0].Existing {
		return sent[0], err
	}
	if err := c.bringChildren(ctx, parent, flow.children); err != nil {
		c.log.Debug("children of a flow are left to the workers of its parent's queue",
			"queue", parent.queue.Name(), "job", parent.ID(), "error", err)
	}
	return sent[0], nil
}

// bringChildren adds the children of a job that was just added, and theirs, and
// takes that out of the outbox.
func (c *Client) bringChildren(ctx context.Context, parent Prepared, children []FlowChild) error {
	taken, err := c.addChildren(ctx, parent.queue, parent.id, children, nil)
	if err != nil {
		return err
	}
	if len(taken) > 0 {
		if err := c.deliver(ctx, parent.queue, taken); err != nil {
			return err
		}
	}
	return c.acknowledge(ctx, parent.queue, []script.AcknowledgeItem{{ID: parent.id, Entry: wire.ChildrenEntry(parent.id)}})
}

// addChildren adds children of a job, those of which pending has the edge if it
// is not nil, each in its queue; and theirs. It returns reports of those whose
// place another job has.
func (c *Client) addChildren(ctx context.Context, queue wire.Queue, id wire.JobID, children []FlowChild, pending map[string]bool) ([]wire.Report, error) {
	byQueue := map[wire.Queue][]Prepared{}
	byKey := map[string]FlowChild{}
	var queues []wire.Queue
	for i, child := range children {
		edge := child.edge(i)
		if pending != nil && !pending[edge] {
			continue
		}
		job, err := child.flow.prepare()
		if err != nil {
			return nil, err
		}
		job.place.parent, job.place.edge = queue.Job(id), edge
		if byQueue[job.queue] == nil {
			queues = append(queues, job.queue)
		}
		byQueue[job.queue] = append(byQueue[job.queue], job)
		byKey[job.queue.Job(job.id)] = child
	}
	var taken []wire.Report
	var failures []error
	for _, queue := range queues {
		jobs := byQueue[queue]
		sent, err := c.sendChunks(ctx, jobs, maxChunk)
		failures = append(failures, notTaken(err))
		for i, result := range sent {
			job := jobs[i]
			switch {
			case errors.Is(result.Err, ErrDuplicate), result.ID != job.ID():
				taken = append(taken, wire.Report{
					Parent: job.place.parent, Outcome: wire.OutcomeTaken, Edge: job.place.edge,
					Value: []byte("another job holds its unique key"),
				})
			case result.Existing && result.parent != job.place.parent:
				taken = append(taken, wire.Report{
					Parent: job.place.parent, Outcome: wire.OutcomeTaken, Edge: job.place.edge,
					Value: []byte("another job has its id"),
				})
			case result.Err != nil:
				failures = append(failures, notTaken(result.Err))
			case job.place.children > 0 && !result.Existing:
				// What fails here is in the outbox of the child's own queue.
				if err := c.bringChildren(ctx, job, byKey[queue.Job(job.id)].flow.children); err != nil {
					c.log.Debug("children of a flow are left to the workers of their parent's queue",
						"queue", queue.Name(), "job", job.ID(), "error", err)
				}
			}
		}
	}
	return taken, errors.Join(failures...)
}

// notTaken leaves out errors of jobs whose place another one has, which are told
// to their parents.
func notTaken(err error) error {
	if errors.Is(err, ErrJobMismatch) || errors.Is(err, ErrDuplicate) {
		return nil
	}
	return err
}

// decodeChildren returns what was to be added. Whoever sent it has compared the
// contracts; should one have been replaced since, its jobs are still to be added.
func decodeChildren(encoded []byte) ([]FlowChild, error) {
	var children []FlowChild
	err := json.Unmarshal(encoded, &children)
	withoutContracts(children)
	return children, err
}

func withoutContracts(children []FlowChild) {
	for i := range children {
		children[i].flow.job.contract = ContractSpec{}
		withoutContracts(children[i].flow.children)
	}
}

// acknowledge takes deliveries that were made out of the outbox of a queue.
func (c *Client) acknowledge(ctx context.Context, queue wire.Queue, items []script.AcknowledgeItem) error {
	for chunk := range slices.Chunk(items, maxBatch) {
		op := fmt.Sprintf("acknowledge deliveries of queue %q", queue)
		if _, err := c.call(ctx, op, script.Acknowledge{Items: chunk}.Call(queue)); err != nil {
			return err
		}
	}
	return nil
}

// parentOf returns the job whose hash has the given key.
func parentOf(key string) (wire.Key, error) {
	parent, err := wire.ParseKey(key)
	if err == nil && (parent.Job.IsZero() || parent.Part != "") {
		err = fmt.Errorf("key %q is not of a job's hash", key)
	}
	return parent, err
}

// deliver tells jobs of one queue what came of their children.
func (c *Client) deliver(ctx context.Context, queue wire.Queue, reports []wire.Report) error {
	if err := c.meet(ctx, queue); err != nil {
		return err
	}
	for len(reports) > 0 {
		bytes, n := 0, 0
		call := script.Deliver{Events: script.DeliverEventsFinal, History: DefaultEventHistory}
		for ; n < min(len(reports), maxBatch) && (n == 0 || bytes+len(reports[n].Value) <= maxBatchBytes); n++ {
			report := reports[n]
			bytes += len(report.Value)
			parent, err := parentOf(report.Parent)
			if err != nil {
				return err
			}
			call.Items = append(call.Items, script.DeliverItem{
				ID: parent.Job, Edge: report.Edge, Outcome: script.DeliverOutcome(report.Outcome), Value: report.Value,
			})
		}
		if _, err := c.call(ctx, fmt.Sprintf("report to parents in queue %q", queue), call.Call(queue)); err != nil {
			return err
		}
		reports = reports[n:]
	}
	return nil
}
