package echomq_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// replicaPair is a primary with a replica that a test may detach.
type replicaPair struct {
	*faultBed
	primary, replica *enginetest.Engine
	safe             *echomq.Client // waits for the replica
}

func newReplicaPair(t *testing.T, primary *enginetest.Engine) *replicaPair {
	t.Helper()
	store := primary.Client(t)
	b := newStoreBed(t, primary.QueueName(t), store, store)
	return &replicaPair{b, primary, enginetest.StartReplica(t, primary), clientOf(t, store, echomq.WithReplicaAck(1))}
}

// follow makes the replica follow what listens at the address, or nobody.
func (p *replicaPair) follow(t *testing.T, host, port string) {
	t.Helper()
	require.NoError(t, p.replica.Client(t).Do(p.ctx, "replicaof", host, port).Err())
}

func (p *replicaPair) prepare(t *testing.T, id string) echomq.Prepared {
	t.Helper()
	prepared, err := echomq.Prepare(echomq.NewProducer(p.safe, p.spec), p.job, chore{}, echomq.ID(id))
	require.NoError(t, err)
	return prepared
}

// send sends a job and waits for the replica for a short time only.
func (p *replicaPair) send(t *testing.T, job echomq.Prepared) (echomq.Sent, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 500*time.Millisecond)
	defer cancel()
	sent, err := p.safe.Send(ctx, job)
	return sent[0], err
}

// TestReplicaAcknowledges: what the replica has not acknowledged is not reported
// done, however often it is sent; what it has survives the primary.
func TestReplicaAcknowledges(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		p := newReplicaPair(t, e)
		host, port := hostPort(t, e)
		_, err := p.safe.Send(p.ctx, p.prepare(t, "safe"))
		require.NoError(t, err)

		p.follow(t, host, "1")
		p.eventually(t, func() bool { return p.direct.Wait(p.ctx, 1, time.Millisecond).Val() == 0 }, "the replica is gone")
		job := p.prepare(t, "later")
		for range 2 { // the second time the job is there already, and nothing is written
			sent, err := p.send(t, job)
			var failure *echomq.NotReplicatedError
			require.ErrorAs(t, err, &failure)
			assert.ErrorIs(t, err, echomq.ErrNotReplicated)
			assert.NotErrorIs(t, err, echomq.ErrOutcomeUnknown)
			assert.Equal(t, []string{"later"}, failure.IDs)
			assert.ErrorIs(t, sent.Err, echomq.ErrNotReplicated)
			assert.EqualValues(t, 1, p.direct.Exists(p.ctx, p.queue.Key("later")).Val(), "it was added")
		}
		require.EqualValues(t, -1, p.direct.TTL(p.ctx, p.queue.Key("meta")).Val(), "the queue lives for ever")

		p.follow(t, host, port)
		sent, err := p.safe.Send(p.ctx, job)
		require.NoError(t, err)
		assert.True(t, sent[0].Existing)
		p.requireAtRest(t)

		p.follow(t, host, "1")
		p.eventually(t, func() bool { return p.direct.Wait(p.ctx, 1, time.Millisecond).Val() == 0 }, "the replica is gone")
		p.add(t, chore{}, echomq.ID("plain"))
		p.primary.Kill()
		p.follow(t, "no", "one")
		left := p.replica.Client(t)
		for id, want := range map[string]int64{"safe": 1, "later": 1, "plain": 0} {
			assert.Equal(t, want, left.Exists(p.ctx, p.queue.Key(id)).Val(), id)
		}
	}, enginetest.TCP())
}

// TestReplicaThatStandsStill: on a replica that is there and does not answer, a
// connection which has written nothing would wait for nothing.
func TestReplicaThatStandsStill(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		p := newReplicaPair(t, e)
		_, err := p.safe.Send(p.ctx, p.prepare(t, "safe"))
		require.NoError(t, err)
		p.replica.Stop()
		job := p.prepare(t, "later")
		for range 2 {
			p.safe = clientOf(t, e.Client(t), echomq.WithReplicaAck(1)) // with new connections
			_, err := p.send(t, job)
			require.ErrorIs(t, err, echomq.ErrNotReplicated)
		}
		// A worker settles again until the replica has it.
		w := p.work(t, p.safe)
		p.eventually(t, func() bool { return p.direct.ZCard(p.ctx, p.queue.Key("completed")).Val() == 2 }, "the jobs have ended")
		p.replica.Cont()
		p.eventually(t, w.Ready, "the worker goes on")
		_, err = p.safe.Send(p.ctx, job)
		require.NoError(t, err)
		w.stop(t)
		want := eachOnce([]string{"safe", "later"})
		p.ledger.requireRuns(t, want)
		p.requireUntouched(t, want)
		p.requireAtRest(t)
	}, enginetest.TCP())
}

// TestWorkerWithoutReplicas goes on all the same, if slowly: at worst its jobs
// run again.
func TestWorkerWithoutReplicas(t *testing.T) {
	t.Parallel()
	e := startValkey(t)
	store := e.Client(t)
	b := newStoreBed(t, e.QueueName(t), store, store)
	w := b.work(t, clientOf(t, store, echomq.WithReplicaAck(1)))
	ids := b.addMany(t, 20, chore{})
	b.drain(t, len(ids))
	b.eventually(t, w.Ready, "the worker has left it at that")
	b.ledger.requireRuns(t, eachOnce(ids))
}

func TestReplicaAckNeedsAStoreThatKeepsToAConnection(t *testing.T) {
	t.Parallel()
	e := startValkey(t)
	ring := redis.NewRing(&redis.RingOptions{NewClient: func(*redis.Options) *redis.Client { return redis.NewClient(e.Options()) }, Addrs: map[string]string{"one": "unused"}})
	t.Cleanup(func() { _ = ring.Close() })
	b := newStoreBed(t, e.QueueName(t), ring, e.Client(t), echomq.WithReplicaAck(1))
	_, err := echomq.Enqueue(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, chore{})
	assert.ErrorIs(t, err, echomq.ErrOption)
}

func hostPort(t *testing.T, e *enginetest.Engine) (host, port string) {
	t.Helper()
	host, port, err := net.SplitHostPort(e.Options().Addr)
	require.NoError(t, err)
	return host, port
}
