package echomq

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// carryEvery is how often, about, a worker looks at the outbox while there is
	// something in it, or a parent waits. What it put there itself it delivers at
	// once; of the rest the janitor learns as it cleans up.
	carryEvery = 5 * time.Second
	// carryPage is how many deliveries it takes at a time.
	carryPage = 100
	// carryTimeout is how long one page may take.
	carryTimeout = 10 * time.Second
	// carryMost is the longest wait before a delivery that failed is tried again.
	carryMost = 5 * time.Minute
	// checkPage is of how many parents the children are looked for at a time, and
	// checkRest after how many looks at the outbox they are looked for again: 30
	// seconds with the default.
	checkPage = 20
	checkRest = 6
	// verifyPage is how many children are looked for in one call.
	verifyPage = 100
)

// runErrands makes the courier look at the outbox.
func (r *runner) runErrands() {
	select {
	case r.errands <- struct{}{}:
	default:
	}
}

// carryLoop makes the deliveries of flows: it brings children into being in their
// queues, reports ends to parents in theirs, and looks for children of which
// nothing has been heard for long. It looks when it is told that there is something
// to do, and then again and again until there is not: a queue without flows costs
// nothing.
func (r *runner) carryLoop() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-r.errands:
		case <-r.store.Done():
			return
		}
		more, left := true, false
		for more {
			if more, left = r.runErrand(r.store, checkPage); r.store.Err() != nil {
				return
			}
		}
		timer.Stop()
		if left {
			timer.Reset(r.carry/2 + rand.N(r.carry))
		}
	}
}

// runLastErrand reports what the last jobs of a stopping runner did, rather than
// leave it to others.
func (r *runner) runLastErrand() {
	select {
	case <-r.errands:
		if r.store.Err() == nil {
			r.runErrand(r.store, 0)
		}
	default:
	}
}

// errand is a delivery that was taken from the outbox.
type errand struct {
	id       wire.JobID
	entry    string
	delivery wire.Delivery
}

// runErrand makes a page of deliveries. more says that there may be more at once,
// left that there is something to look at again in a while.
func (r *runner) runErrand(ctx context.Context, parents int64) (more, left bool) {
	call := script.Collect{
		Limit: carryPage, Bytes: maxReplyBytes,
		Least: r.carry.Milliseconds(), Most: carryMost.Milliseconds(),
		Parents: parents, Check: checkRest * r.carry.Milliseconds(),
	}
	a := r.exchange(call.Call(r.queue))[0]
	reply, err := script.CollectReply{}, a.err
	if err == nil {
		reply, err = script.DecodeCollect(a.reply)
	}
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("the outbox cannot be looked at; trying again later", "error", err)
		}
		return false, true
	}
	ctx, cancel := context.WithTimeout(ctx, carryTimeout)
	defer cancel()
	var running sync.WaitGroup
	reports := map[wire.Queue][]errand{}
	for _, collected := range reply.Deliveries {
		e, queue, err := readErrand(collected)
		switch {
		case err != nil:
			r.log.Error("the outbox holds what cannot be delivered", "entry", collected.Entry, "error", err)
		case e.delivery.Children != nil:
			running.Go(func() { r.done(ctx, []errand{e}, r.deliverChildren(ctx, e)) })
		default:
			reports[queue] = append(reports[queue], e)
		}
	}
	for queue, errands := range reports {
		running.Go(func() { r.done(ctx, errands, r.deliverReports(ctx, queue, errands)) })
	}
	for _, parent := range reply.Parents {
		running.Go(func() { r.lookForChildren(ctx, parent) })
	}
	running.Wait()
	return len(reply.Deliveries) == carryPage, reply.Left
}

// readErrand takes a delivery apart. queue is where a report goes.
func readErrand(collected script.CollectDelivery) (e errand, queue wire.Queue, err error) {
	e.entry = collected.Entry
	if e.id, _, err = wire.ParseEntry(collected.Entry); err != nil {
		return e, queue, err
	}
	if e.delivery, err = wire.ParseDelivery([]byte(collected.Body)); err != nil || e.delivery.Children != nil {
		return e, queue, err
	}
	parent, err := parentOf(e.delivery.Report.Parent)
	if err == nil {
		_, err = wire.ParseEdge(e.delivery.Report.Edge)
	}
	return e, parent.Queue, err
}

// done acknowledges deliveries that were made.
func (r *runner) done(ctx context.Context, errands []errand, err error) {
	if err == nil {
		items := make([]script.AcknowledgeItem, len(errands))
		for i, e := range errands {
			items[i] = script.AcknowledgeItem{ID: e.id, Entry: e.entry}
		}
		err = r.client.acknowledge(ctx, r.queue, items)
	}
	if err != nil && r.store.Err() == nil {
		r.log.Warn("a delivery between jobs of a flow failed; it stays in the outbox and is tried again later",
			"job", errands[0].id.String(), "deliveries", len(errands), "error", err)
	}
}

func (r *runner) deliverReports(ctx context.Context, queue wire.Queue, errands []errand) error {
	reports := make([]wire.Report, len(errands))
	for i, e := range errands {
		reports[i] = e.delivery.Report
	}
	return r.client.deliver(ctx, queue, reports)
}

// deliverChildren adds the children of a job that were not added yet.
func (r *runner) deliverChildren(ctx context.Context, e errand) error {
	children, err := decodeChildren(e.delivery.Children)
	if err != nil {
		return err
	}
	// One that has ended and is gone must not be added again.
	edges, err := r.pendingEdges(ctx, e.id)
	if err != nil {
		return err
	}
	pending := make(map[string]bool, len(edges))
	for _, edge := range edges {
		pending[edge] = true
	}
	taken, err := r.client.addChildren(ctx, r.queue, e.id, children, pending)
	if len(taken) > 0 {
		err = errors.Join(err, r.client.deliver(ctx, r.queue, taken))
	}
	return err
}

// pendingEdges returns the edges of the children that a job waits for.
func (r *runner) pendingEdges(ctx context.Context, id wire.JobID) ([]string, error) {
	return within2(ctx, &r.client.goroutines, func() ([]string, error) {
		return r.client.store.SMembers(ctx, r.queue.JobKey(id, "dependencies")).Result()
	})
}

// lookForChildren finds out what became of children of which a parent has heard
// nothing for long, and tells it of those that will never be heard of.
func (r *runner) lookForChildren(ctx context.Context, parent string) {
	id, err := wire.ParseJobID(parent)
	if err != nil {
		r.log.Error("the queue holds an id that no job can have", "id", parent, "error", err)
		return
	}
	edges, err := r.pendingEdges(ctx, id)
	var reports []wire.Report
	switch {
	case err != nil:
	case len(edges) == 0:
		// It waits for nothing: the set was lost. Any report makes the script see
		// that, one of a child that it never had as well.
		nobody := wire.Edge{Policy: wire.PolicyIgnore, Queue: r.queue, ID: id, Name: "-"}
		reports = []wire.Report{{Parent: r.queue.Job(id), Outcome: wire.OutcomeRemoved, Edge: nobody.String()}}
	default:
		reports, err = r.findChildren(ctx, id, edges)
	}
	if len(reports) > 0 {
		err = errors.Join(err, r.client.deliver(ctx, r.queue, reports))
	}
	if err != nil && r.store.Err() == nil {
		r.log.Warn("children of a job could not be looked for; trying again later", "job", parent, "error", err)
	}
}

// findChildren returns reports of children that have ended or are lost.
func (r *runner) findChildren(ctx context.Context, parent wire.JobID, edges []string) ([]wire.Report, error) {
	byQueue := map[wire.Queue][]wire.Edge{}
	var failures []error
	for _, text := range edges {
		edge, err := wire.ParseEdge(text)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		byQueue[edge.Queue] = append(byQueue[edge.Queue], edge)
	}
	var reports []wire.Report
	for queue, edges := range byQueue {
		if err := r.client.meet(ctx, queue); err != nil {
			failures = append(failures, err)
			continue
		}
		for page := range slices.Chunk(edges, verifyPage) {
			found, err := r.client.verify(ctx, queue, r.queue.Job(parent), page)
			reports = append(reports, found...)
			failures = append(failures, err)
		}
	}
	return reports, errors.Join(failures...)
}

// verify asks a queue what became of children, and returns reports of those that
// have ended or are lost.
func (c *Client) verify(ctx context.Context, queue wire.Queue, parent string, edges []wire.Edge) ([]wire.Report, error) {
	call := script.Verify{Bytes: maxReplyBytes}
	for _, edge := range edges {
		call.Items = append(call.Items, script.VerifyItem{ID: edge.ID, Parent: parent})
	}
	raw, err := c.call(ctx, fmt.Sprintf("look for children in queue %q", queue), call.Call(queue))
	if err != nil {
		return nil, err
	}
	reply, err := script.DecodeVerify(raw)
	if err != nil {
		return nil, err
	}
	var reports []wire.Report
	for i, result := range reply.Results {
		report := wire.Report{Parent: parent, Edge: edges[i].String()}
		switch result.State {
		case script.VerifyStatePending:
			continue
		case script.VerifyStateReported:
			delivery, err := wire.ParseDelivery([]byte(result.Value))
			if err != nil || delivery.Report.Parent != parent || delivery.Report.Edge != report.Edge {
				continue // not this parent's
			}
			report = delivery.Report
		case script.VerifyStateCompleted, script.VerifyStateFailed:
			report.Outcome, report.Value = wire.Outcome(result.State), []byte(result.Value)
		case script.VerifyStateTaken:
			report.Outcome, report.Value = wire.OutcomeTaken, []byte("another job has its id")
		case script.VerifyStateQuarantined:
			report.Outcome, report.Value = wire.OutcomeRemoved, []byte("its record was overwritten by something that is no job")
		case script.VerifyStateMissing:
			report.Outcome, report.Value = wire.OutcomeRemoved, []byte("it does not exist any more")
		}
		reports = append(reports, report)
	}
	return reports, nil
}

// within2 is within for work that can fail.
func within2[V any](ctx context.Context, on *goroutines, work func() (V, error)) (V, error) {
	type result struct {
		value V
		err   error
	}
	got, err := within(ctx, on, func() result {
		value, err := work()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return result{value, err}
	})
	if err != nil {
		return got.value, err
	}
	return got.value, got.err
}
