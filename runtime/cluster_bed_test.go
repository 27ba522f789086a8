package echomq_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// newStoreBed is a faultBed on a store of several servers. Its direct connection
// is to the one that has the queue.
func newStoreBed(t *testing.T, name string, store redis.UniversalClient, direct *redis.Client, opts ...echomq.ClientOption) *faultBed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), faultPatience)
	t.Cleanup(cancel)
	queue, err := wire.ParseQueue(name)
	require.NoError(t, err)
	b := &faultBed{
		direct: direct, queue: queue, ctx: ctx,
		spec:   echomq.QueueSpec{Name: name},
		ledger: &ledger{runs: map[string]int{}, running: map[string]int{}},
		job: echomq.NewJobType[chore, string](echomq.JobSpec{Queue: name, Name: "chore", Retry: echomq.RetrySpec{
			Attempts: 20, Backoff: echomq.Fixed, Base: 10 * time.Millisecond,
		}}),
	}
	b.client = clientOf(t, store, opts...)
	return b
}

// clientOf returns a client that is closed with the test.
func clientOf(t *testing.T, store redis.UniversalClient, opts ...echomq.ClientOption) *echomq.Client {
	t.Helper()
	client := echomq.NewClient(store, append(opts, quiet())...)
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return client
}

// clusterBed is a bed whose queue lies on a cluster.
type clusterBed struct {
	*faultBed
	cluster *enginetest.Cluster
	slot    int
}

func newClusterBed(t *testing.T, cluster *enginetest.Cluster, name string, opts ...echomq.ClientOption) *clusterBed {
	t.Helper()
	slot := cluster.Slot(t, "{"+name+"}")
	direct := cluster.Owner(t, slot).Client(t)
	return &clusterBed{newStoreBed(t, name, cluster.Client(t), direct, opts...), cluster, slot}
}

// follow makes the bed look at the node that has the queue now.
func (b *clusterBed) follow(t *testing.T) {
	t.Helper()
	b.direct = b.cluster.Owner(t, b.slot).Client(t)
}

// queuesOf returns names of queues, as many for each primary of a cluster as are
// wanted.
func queuesOf(t *testing.T, cluster *enginetest.Cluster, each int) map[*enginetest.Engine][]string {
	t.Helper()
	found := map[*enginetest.Engine][]string{}
	for missing := 3 * each; missing > 0; {
		name := cluster.QueueName(t)
		owner := cluster.Owner(t, cluster.Slot(t, "{"+name+"}"))
		if len(found[owner]) < each && (len(found) < 3 || found[owner] != nil) {
			found[owner] = append(found[owner], name)
			missing--
		}
	}
	return found
}

// load enqueues jobs without end, until it is stopped.
type load struct {
	stop  func() // when all calls have ended
	abort func() // cancels the calls that are out

	mu           sync.Mutex
	acknowledged map[string]int
	last         time.Time // when the last call began that was acknowledged
	unreplicated int
}

// enqueue starts producers that enqueue jobs on a client. A call may take as
// long as the test; only what replicas did not acknowledge may fail.
func (b *faultBed) enqueue(t *testing.T, client *echomq.Client, producers int, next func(n int) chore) *load {
	t.Helper()
	l := &load{acknowledged: map[string]int{}}
	ctx, cancel := context.WithCancel(b.ctx)
	finished := make(chan struct{})
	var running sync.WaitGroup
	producer := echomq.NewProducer(client, b.spec)
	for range producers {
		running.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-finished:
					return
				default:
				}
				payload := next(n)
				begun := time.Now()
				handle, err := echomq.Enqueue(ctx, producer, b.job, payload)
				if ctx.Err() != nil || !l.note(t, handle.ID, payload.Fails+1, begun, err) {
					return
				}
			}
		})
	}
	l.stop = sync.OnceFunc(func() { close(finished); running.Wait(); cancel() })
	l.abort = func() { cancel(); l.stop() }
	t.Cleanup(l.abort)
	return l
}

func (l *load) note(t *testing.T, id string, runs int, begun time.Time, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var unreplicated *echomq.NotReplicatedError
	switch {
	case errors.As(err, &unreplicated):
		l.unreplicated++
		return true
	case assert.NoError(t, err):
		l.acknowledged[id] = runs
		if begun.After(l.last) {
			l.last = begun
		}
		return true
	}
	return false
}

// count returns how many jobs were acknowledged.
func (l *load) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// goesOn waits until a call was acknowledged that began after a moment, and
// returns how long after it that was.
func (l *load) goesOn(t *testing.T, b *faultBed, after time.Time) time.Duration {
	t.Helper()
	b.eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.last.After(after)
	}, "jobs are enqueued again")
	return time.Since(after)
}
