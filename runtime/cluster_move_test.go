package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// resumeMargin is within what a queue goes on after its slot has been moved. The
// promise is a second; the rest is for a machine that does other things as well.
const resumeMargin = 5 * time.Second

// TestSlotIsMovedUnderLoad moves the slot of a busy queue to a node that is new
// in the cluster: it has no slot and knows no script.
func TestSlotIsMovedUnderLoad(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	b := newClusterBed(t, cluster, cluster.QueueName(t))
	to := cluster.AddPrimary(t)
	for range 2 {
		b.work(t, clientOf(t, cluster.Client(t)), echomq.Concurrency(8))
	}
	producers := b.enqueue(t, clientOf(t, cluster.Client(t)), 3, func(n int) chore {
		return chore{Fails: n % 3 / 2, Takes: time.Duration(n%4) * time.Millisecond}
	})
	b.eventually(t, func() bool { return producers.count() > 200 }, "jobs come and go")

	before := producers.count()
	move := cluster.BeginMove(t, b.slot, to)
	begun := time.Now()
	for time.Since(begun) < 2*time.Second {
		move.Step(20)
		elapse(20 * time.Millisecond) // the move takes its time; that is what is tested
	}
	during := producers.count() - before
	move.Finish()
	moved := time.Now()
	b.direct = to.Client(t)
	resumed := producers.goesOn(t, b.faultBed, moved)
	assert.Less(t, resumed, resumeMargin)
	_, ran := b.ledger.count()
	b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs > ran+200 }, "jobs come and go at the new node")
	producers.stop()

	b.drain(t, producers.count())
	b.ledger.requireRuns(t, producers.acknowledged)
	b.requireUntouched(t, producers.acknowledged)
	b.requireSound(t)
	t.Logf("%d jobs; the move took %v, in which %d were enqueued; they went on %v after it",
		producers.count(), moved.Sub(begun).Round(time.Millisecond), during, resumed.Round(time.Millisecond))
}

// TestMoveThatOutlastsLeases moves the slot for several leases while live workers
// hold long jobs, whose leases run out because the calls that renew them are
// refused. None may be taken from its worker; that of a worker that died must be.
func TestMoveThatOutlastsLeases(t *testing.T) {
	t.Parallel()
	const lease, long, workers = 2 * time.Second, 6, 3
	cluster := enginetest.SharedCluster(t)
	queues := queuesOf(t, cluster, 1)
	var b *clusterBed
	var to *enginetest.Engine
	for owner, names := range queues {
		if b == nil {
			b = newClusterBed(t, cluster, names[0])
		} else {
			to = owner
		}
	}
	release := make(chan struct{})
	handle := func(ctx context.Context, job *echomq.Job[chore]) (string, error) {
		b.ledger.enter(job.ID)
		defer b.ledger.leave(job.ID)
		if job.Payload.Fails == 0 {
			return job.ID, nil
		}
		select {
		case <-release:
			return job.ID, nil
		case <-ctx.Done():
			b.ledger.wrong("the context of long job %s ended: %v", job.ID, context.Cause(ctx))
			return "", context.Cause(ctx)
		}
	}
	ids := b.addMany(t, long, chore{Fails: -1})
	for range workers { // each holds some, and so meets the move until its end
		b.workWith(t, clientOf(t, cluster.Client(t)), handle, echomq.Lease(lease), echomq.Concurrency(long/workers))
	}
	b.eventually(t, func() bool { return b.ledger.busy() == long }, "the long jobs run")
	lost := b.abandon(t, lease)

	deadline := func(id string) float64 { return b.direct.ZScore(b.ctx, b.queue.Key("active"), id).Val() }
	move := cluster.BeginMove(t, b.slot, to)
	// One lock is elsewhere, so that one lease cannot be renewed; the others can.
	move.Take(b.queue.Key(ids[0]) + ":lock")
	first := map[string]float64{}
	for _, id := range ids {
		first[id] = deadline(id)
	}
	for _, id := range ids[1:] {
		b.eventually(t, func() bool { return deadline(id) > first[id]+float64(lease.Milliseconds()) }, "the lease of a job whose keys are together is renewed")
	}
	assert.InDelta(t, first[ids[0]], deadline(ids[0]), float64(lease.Milliseconds()), "the lease of a job whose lock is elsewhere was not to be renewed")
	// Now none can.
	move.Take(b.queue.Key("meta"))
	elapse(lease + lease/2)
	move.Finish()
	moved := time.Now()
	b.direct = to.Client(t)

	b.eventually(t, func() bool { return b.expired(t, lost) == 0 }, "the live have renewed their leases")
	renewed := time.Since(moved)
	assert.Less(t, renewed, resumeMargin)
	b.eventually(t, func() bool { return b.direct.HGet(b.ctx, b.queue.Key(lost), "stc").Val() == "1" }, "the dead worker's job was taken back")
	recovered := time.Since(moved)
	assert.Greater(t, recovered, lease+lease/6, "nothing is taken back for a lease after a move")
	assert.Less(t, recovered, 3*lease+resumeMargin)
	close(release)
	b.drain(t, long+1)
	want := eachOnce(ids)
	b.requireUntouched(t, want)
	want[lost] = 1
	b.ledger.requireRuns(t, want)
	b.requireSound(t)
	t.Logf("leases were renewed %v after the move, and the dead worker's job taken back after %v",
		renewed.Round(time.Millisecond), recovered.Round(time.Millisecond))
}

// TestEnqueueWhileTheSlotIsMoved: what is refused because of a move was not
// executed, and says so when its time is over.
func TestEnqueueWhileTheSlotIsMoved(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	queues := queuesOf(t, cluster, 1)
	var nodes []*enginetest.Engine
	for node := range queues {
		nodes = append(nodes, node)
	}
	b := newClusterBed(t, cluster, queues[nodes[0]][0])
	b.add(t, chore{})
	move := cluster.BeginMove(t, b.slot, nodes[1])
	producer := echomq.NewProducer(b.client, b.spec)

	ctx, cancel := context.WithTimeout(b.ctx, 500*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := echomq.Enqueue(ctx, producer, b.job, chore{}, echomq.ID("impatient"))
	// The deadline may come while a try is out.
	assert.True(t, errors.Is(err, echomq.ErrUnreachable) || errors.Is(err, echomq.ErrOutcomeUnknown), err)
	assert.GreaterOrEqual(t, time.Since(begun), 400*time.Millisecond, "it was to be tried again")

	// Without a deadline it is tried again too: the store is there.
	enqueued := make(chan error, 1)
	go func() {
		_, err := echomq.Enqueue(context.Background(), producer, b.job, chore{}, echomq.ID("patient"))
		enqueued <- err
	}()
	elapse(briefly)
	move.Finish()
	require.NoError(t, receive(t, enqueued, "the call that was refused"))
	b.follow(t)
	b.eventually(t, func() bool { return b.direct.LLen(b.ctx, b.queue.Key("wait")).Val() == 2 }, "the job waits at the new node")
	assert.Zero(t, b.direct.Exists(b.ctx, b.queue.Key("impatient")).Val())
}

// briefly is longer than a call is tried that nobody answers.
const briefly = 4 * time.Second
