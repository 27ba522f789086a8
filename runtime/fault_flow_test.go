package echomq_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// family prepares a flow of chores: a parent with two children, of which one has
// a child itself.
func (b *faultBed) family(t *testing.T) (flow echomq.Flow, ids []string) {
	t.Helper()
	producer := echomq.NewProducer(b.client, b.spec)
	prepare := func() echomq.Prepared {
		prepared, err := echomq.Prepare(producer, b.job, chore{})
		require.NoError(t, err)
		ids = append(ids, prepared.ID())
		return prepared
	}
	return echomq.NewFlow(prepare(), echomq.Child(prepare()), echomq.Child(echomq.NewFlow(prepare(), echomq.Child(prepare())))), ids
}

// sendLossyFlow sends a flow of which the store then loses a child, without which
// its parent can do.
func (b *faultBed) sendLossyFlow(t *testing.T, client *echomq.Client) (parent echomq.Handle[string], ids []string) {
	t.Helper()
	producer := echomq.NewProducer(client, b.spec)
	prepare := func(opts ...echomq.EnqueueOption) echomq.Prepared {
		prepared, err := echomq.Prepare(producer, b.job, chore{}, opts...)
		require.NoError(t, err)
		return prepared
	}
	root, child, lost := prepare(), prepare(), prepare(echomq.In(time.Hour))
	flow := echomq.NewFlow(root, echomq.Child(child), echomq.Child(lost, echomq.OnFailure(echomq.IgnoreFailure)))
	handle, err := echomq.SendFlow(b.ctx, client, b.job, flow)
	require.NoError(t, err)
	require.EqualValues(t, 1, b.direct.Del(b.ctx, b.queue.Key(lost.ID())).Val())
	b.direct.ZRem(b.ctx, b.queue.Key("delayed"), lost.ID())
	b.direct.ZAdd(b.ctx, b.queue.Key("waiting-children"), redisZ(1, handle.ID))
	return handle, []string{root.ID(), child.ID()}
}

// hurry makes what waits in the outbox due.
func (b *faultBed) hurry(t *testing.T) {
	t.Helper()
	for _, entry := range b.direct.ZRange(b.ctx, b.queue.Key("outbox"), 0, -1).Val() {
		require.NoError(t, b.direct.ZAdd(b.ctx, b.queue.Key("outbox"), redisZ(1, entry)).Err())
	}
}

// requireFlowOver waits until a flow's parent has ended well, and requires that
// each of its jobs ran once and that nothing is left to be delivered.
func (b *faultBed) requireFlowOver(t *testing.T, parent echomq.Handle[string], ids []string) {
	t.Helper()
	result, err := parent.Await(b.ctx)
	require.NoError(t, err)
	assert.Equal(t, parent.ID, result)
	b.eventually(t, func() bool {
		return b.direct.Exists(b.ctx, b.queue.Key("outbox"), b.queue.Key("outbox-body"), b.queue.Key("waiting-children")).Val() == 0
	}, "all was delivered")
	b.ledger.requireRuns(t, eachOnce(ids))
	b.requireSound(t)
}

// TestFlowSurvivesItsSender cuts the sender's way to the store for good at each
// of its calls, once before the request arrives and once before the answer does.
func TestFlowSurvivesItsSender(t *testing.T) {
	t.Parallel()
	engine := startValkey(t)
	for call := range 5 { // add of the parent, of its children, of the grandchild, and two acknowledgements
		for _, answered := range []bool{false, true} {
			if call == 0 && !answered {
				continue // nothing was sent
			}
			t.Run(string(rune('0'+call)), func(t *testing.T) {
				t.Parallel()
				b := newFaultBed(t, engine)
				proxy := enginetest.NewProxy(t, engine)
				sender := b.through(t, proxy.Client(t))
				flow, ids := b.family(t)
				_, err := b.job.Handle(sender, flow.ID())
				require.NoError(t, err)
				n := 0
				dead := func(command []string) bool {
					if command[0] != "evalsha" {
						return n > call
					}
					n++
					if n-1 == call {
						go proxy.Refuse(true)
					}
					return n-1 >= call
				}
				if answered {
					proxy.CutBeforeReply(dead)
				} else {
					proxy.CutBeforeRequest(dead)
				}
				ctx, cancel := context.WithTimeout(b.ctx, 300*time.Millisecond)
				defer cancel()
				_, err = echomq.SendFlow(ctx, sender, b.job, flow)
				if call == 0 {
					require.ErrorIs(t, err, echomq.ErrOutcomeUnknown)
				} else {
					require.NoError(t, err, "it is whole once its parent is there")
				}
				b.hurry(t)
				b.work(t, b.client, carryOften(), echomq.Concurrency(3))
				handle, err := b.job.Handle(b.client, flow.ID())
				require.NoError(t, err)
				b.requireFlowOver(t, handle, ids)
			})
		}
	}
}

// TestReportSurvivesItsWorker: the worker of the children dies after it has
// settled them and before it has told their parent.
func TestReportSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	for _, script := range []string{"collect", "deliver", "acknowledge"} {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			b := newFaultBed(t, startValkey(t))
			flow, ids := b.family(t)
			handle, err := echomq.SendFlow(b.ctx, b.client, b.job, flow)
			require.NoError(t, err)
			proxy := enginetest.NewProxy(t, b.engine)
			cut := proxy.CutBeforeRequest(calls(script))
			doomed := b.work(t, b.through(t, proxy.Client(t)), echomq.Concurrency(3), echomq.Lease(time.Second))
			b.eventually(t, func() bool { return cut.Hits() > 0 && b.direct.ZCard(b.ctx, b.queue.Key("completed")).Val() >= 2 }, "the leaves have ended")
			doomed.crash(t)
			b.hurry(t)
			b.work(t, b.client, carryOften(), echomq.Lease(time.Second))
			b.requireFlowOver(t, handle, ids)
		})
	}
}

// TestFlowWaitsForAFencedQueue: one of the children's queues cannot be joined; the
// delivery stays, and is made when it can.
func TestFlowWaitsForAFencedQueue(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	other := newFaultBed(t, b.engine)
	producer := echomq.NewProducer(b.client, other.spec)
	child, err := echomq.Prepare(producer, other.job, chore{})
	require.NoError(t, err)
	parent, err := echomq.Prepare(echomq.NewProducer(b.client, b.spec), b.job, chore{})
	require.NoError(t, err)
	require.NoError(t, b.direct.HSet(b.ctx, other.queue.Key("meta"), "version", "echomq:3.0.0").Err())
	flow := echomq.NewFlow(parent, echomq.Child(child))
	_, err = echomq.SendFlow(b.ctx, b.client, b.job, flow)
	require.ErrorIs(t, err, echomq.ErrOtherMajor, "before anything is written")
	require.Zero(t, b.direct.Exists(b.ctx, b.queue.Key(parent.ID())).Val())

	require.NoError(t, b.direct.Del(b.ctx, other.queue.Key("meta")).Err())
	sender := b.through(t, b.engine.Client(t))
	_, err = echomq.SendFlow(b.ctx, sender, b.job, flow)
	require.NoError(t, err)
	worker := other.work(t, b.client, carryOften())
	result, err := mustHandle(t, other, child.ID()).Await(b.ctx)
	require.NoError(t, err)
	require.Equal(t, child.ID(), result)
	worker.stop(t)
	b.work(t, b.client, carryOften())
	_, err = mustHandle(t, b, parent.ID()).Await(b.ctx)
	require.NoError(t, err)
}

func mustHandle(t *testing.T, b *faultBed, id string) echomq.Handle[string] {
	t.Helper()
	handle, err := b.job.Handle(b.client, id)
	require.NoError(t, err)
	return handle
}

// TestFlowAcrossTheNodesOfACluster has each generation on another node.
func TestFlowAcrossTheNodesOfACluster(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	var beds []*clusterBed
	for _, names := range queuesOf(t, cluster, 1) {
		beds = append(beds, newClusterBed(t, cluster, names[0]))
	}
	client := beds[0].client
	prepare := func(b *clusterBed, payload chore) echomq.Prepared {
		prepared, err := echomq.Prepare(echomq.NewProducer(client, b.spec), b.job, payload)
		require.NoError(t, err)
		return prepared
	}
	serveAll(t, beds, echomq.Concurrency(4), carryOften())
	for range 5 {
		branch := func() echomq.FlowChild {
			return echomq.Child(echomq.NewFlow(prepare(beds[1], chore{}), echomq.Child(prepare(beds[2], chore{Fails: 1})), echomq.Child(prepare(beds[0], chore{}))))
		}
		flow := echomq.NewFlow(prepare(beds[0], chore{}), branch(), branch())
		handle, err := echomq.SendFlow(beds[0].ctx, client, beds[0].job, flow)
		require.NoError(t, err)
		result, err := handle.Await(beds[0].ctx)
		require.NoError(t, err)
		require.Equal(t, handle.ID, result)
	}
}
