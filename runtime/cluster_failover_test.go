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

// failoverNodeTimeout is after what the nodes take another for dead.
const failoverNodeTimeout = 1500 * time.Millisecond

// failoverMargin is within what clients go on after a server was killed: far
// below the minute after which the client library asks by itself who serves
// what.
const failoverMargin = 25 * time.Second

// failover is a queue whose server is killed, with what is done to it.
type failover struct {
	*faultBed
	producers *load
	handle    echomq.Handle[string]
	awaited   chan error
}

// begin loads the queue of a bed, and awaits a job that takes longer than the
// server lives.
func (b *faultBed) begin(t *testing.T, client *echomq.Client) *failover {
	t.Helper()
	f := &failover{faultBed: b, awaited: make(chan error, 1)}
	b.work(t, client, echomq.Concurrency(8))
	f.handle = b.add(t, chore{Takes: 3 * time.Second})
	go func() {
		_, err := f.handle.Await(b.ctx)
		f.awaited <- err
	}()
	f.producers = b.enqueue(t, client, 2, func(n int) chore {
		return chore{Takes: time.Duration(n%4) * time.Millisecond}
	})
	b.eventually(t, func() bool { return f.producers.count() > 100 }, "jobs come and go")
	return f
}

// end drains the queue and returns how many jobs were acknowledged, and how
// many of them are gone.
func (f *failover) end(t *testing.T) (acknowledged, lost int) {
	t.Helper()
	f.producers.abort()
	// The awaited job may be one of those that are gone.
	awaited := receive(t, f.awaited, "the end of the awaited job")
	f.eventually(t, func() bool {
		s, err := f.snapshot(f.ctx)
		require.NoError(t, err)
		for _, places := range s.places {
			if places[0] != "completed" {
				return false
			}
		}
		return true
	}, "all jobs have ended")
	snapshot := f.requireSound(t)
	for id := range f.producers.acknowledged {
		if snapshot.hashes[id] == nil {
			lost++
		}
	}
	if snapshot.hashes[f.handle.ID] != nil {
		assert.NoError(t, awaited)
	}
	runs, jobs := f.ledger.count()
	t.Logf("%d jobs acknowledged, %d of them gone; %d not acknowledged by replicas; %d runs of %d jobs",
		len(f.producers.acknowledged), lost, f.producers.unreplicated, runs, jobs)
	return len(f.producers.acknowledged), lost
}

// TestPrimaryIsKilled kills the primary of two busy queues, one with and one
// without the acknowledgement of a replica. The clients have the client library's
// own settings: without help they would not notice for a minute.
func TestPrimaryIsKilled(t *testing.T) {
	t.Parallel()
	cluster := enginetest.StartCluster(t, failoverNodeTimeout)
	var names []string
	for _, found := range queuesOf(t, cluster, 2) {
		names = found
	}
	replicated, plain := newClusterBed(t, cluster, names[0]), newClusterBed(t, cluster, names[1])
	safe := replicated.begin(t, clientOf(t, cluster.Client(t), echomq.WithReplicaAck(1)))
	fast := plain.begin(t, clientOf(t, cluster.Client(t)))
	victim := cluster.Owner(t, plain.slot)
	require.Same(t, victim, cluster.Owner(t, replicated.slot))

	victim.Kill()
	killed := time.Now()
	again := fast.producers.goesOn(t, fast.faultBed, killed)
	assert.Less(t, again, failoverMargin)
	require.NotSame(t, victim, cluster.Owner(t, plain.slot))
	fast.producers.stop()
	// Nobody replicates the new primary until the killed server is back.
	victim.Restart()
	back := time.Now()
	acknowledged := safe.producers.goesOn(t, safe.faultBed, back)
	plain.follow(t)
	replicated.follow(t)
	_, lost := safe.end(t)
	assert.Zero(t, lost, "acknowledged by a replica and lost")
	total, lost := fast.end(t)
	t.Logf("jobs were enqueued again %v after the kill; with a replica's acknowledgement %v after the server's return",
		again.Round(time.Millisecond), acknowledged.Round(time.Millisecond))
	t.Logf("without the acknowledgement of replicas %d of %d acknowledged jobs were lost", lost, total)
}

// TestSentinelFailover does the same to a primary that Sentinel watches.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	s := enginetest.StartSentinels(t, time.Second)
	direct := s.Primary.Client(t)
	replicated := newStoreBed(t, s.Primary.QueueName(t), s.Client(t), direct)
	plain := newStoreBed(t, s.Primary.QueueName(t), s.Client(t), direct)
	safe := replicated.begin(t, clientOf(t, s.Client(t), echomq.WithReplicaAck(1)))
	fast := plain.begin(t, clientOf(t, s.Client(t)))

	s.Primary.Kill()
	killed := time.Now()
	again := fast.producers.goesOn(t, fast.faultBed, killed)
	assert.Less(t, again, failoverMargin)
	fast.producers.stop()
	// There is no replica any more, so nothing is acknowledged.
	ctx, cancel := context.WithTimeout(replicated.ctx, time.Second)
	defer cancel()
	_, err := echomq.Enqueue(ctx, echomq.NewProducer(clientOf(t, s.Client(t), echomq.WithReplicaAck(1)), replicated.spec), replicated.job, chore{})
	assert.ErrorIs(t, err, echomq.ErrNotReplicated)

	direct = s.Replica.Client(t)
	replicated.direct, plain.direct = direct, direct
	_, lost := safe.end(t)
	assert.Zero(t, lost, "acknowledged by a replica and lost")
	total, lost := fast.end(t)
	t.Logf("jobs were enqueued again %v after the kill", again.Round(time.Millisecond))
	t.Logf("without the acknowledgement of replicas %d of %d acknowledged jobs were lost", lost, total)
}
