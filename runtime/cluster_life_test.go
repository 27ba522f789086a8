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

// onEachPrimary runs a test with a queue on each primary of the shared cluster.
func onEachPrimary(t *testing.T, test func(t *testing.T, b *clusterBed)) {
	t.Helper()
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	for _, names := range queuesOf(t, cluster, 1) {
		t.Run(cluster.Owner(t, cluster.Slot(t, "{"+names[0]+"}")).Options().Addr, func(t *testing.T) {
			t.Parallel()
			test(t, newClusterBed(t, cluster, names[0]))
		})
	}
}

// serveAll starts one worker for the queues of all beds.
func serveAll(t *testing.T, beds []*clusterBed, opts ...echomq.WorkerOption) *faultWorker {
	t.Helper()
	var served []echomq.Served
	var client *echomq.Client
	for _, b := range beds {
		client = b.client
		served = append(served, echomq.Serve(b.spec, []echomq.Route{echomq.RouteTo(b.job, b.ledger.handle)}))
	}
	worker, err := echomq.NewWorker(client, opts, served...)
	require.NoError(t, err)
	w := &faultWorker{Worker: worker, ended: make(chan error, 1)}
	go func() {
		w.ended <- worker.Run(context.Background())
		close(w.ended)
	}()
	t.Cleanup(func() { w.stop(t) })
	return w
}

// TestClusterServesQueuesOfSeveralSlots leads jobs through their lives in three
// queues, each on another node, that one worker serves. In the middle all nodes
// forget their scripts.
func TestClusterServesQueuesOfSeveralSlots(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	var beds []*clusterBed
	for _, names := range queuesOf(t, cluster, 1) {
		beds = append(beds, newClusterBed(t, cluster, names[0]))
	}
	serveAll(t, beds, echomq.Concurrency(4), echomq.CleanEvery(20*time.Millisecond))
	for _, b := range beds {
		t.Run(b.queue.Name(), func(t *testing.T) {
			want := map[string]int{}
			for round := range 2 {
				for _, id := range b.addMany(t, 50, chore{}, echomq.ChunkSize(20)) {
					want[id] = 1
				}
				begun := time.Now()
				delayed := b.add(t, chore{}, echomq.In(200*time.Millisecond))
				retried := b.add(t, chore{Fails: 2}, echomq.Priority(3))
				failing := b.add(t, chore{Fails: 5}, echomq.Retry(echomq.RetrySpec{Attempts: 2}))
				want[delayed.ID], want[retried.ID], want[failing.ID] = 1, 3, 2

				result, err := delayed.Await(b.ctx)
				require.NoError(t, err)
				assert.Equal(t, delayed.ID, result)
				assert.GreaterOrEqual(t, time.Since(begun), 200*time.Millisecond)
				result, err = retried.Await(b.ctx)
				require.NoError(t, err)
				assert.Equal(t, retried.ID, result)
				_, err = failing.Await(b.ctx)
				var failure *echomq.JobError
				require.ErrorAs(t, err, &failure)
				assert.Equal(t, 2, failure.Attempts)
				if round == 0 {
					assert.NoError(t, b.cluster.Client(t).ScriptFlush(b.ctx).Err())
				}
			}
			b.drain(t, len(want))
			b.ledger.requireRuns(t, want)
			b.requireUntouched(t, want)

			// Those that are kept no longer go, the others stay.
			b.addMany(t, 5, chore{}, echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Count: 2}}))
			b.drain(t, len(want)+2)
		})
	}
}

func TestClusterKeepsTheOrderOfPriorities(t *testing.T) {
	onEachPrimary(t, func(t *testing.T, b *clusterBed) {
		last := b.add(t, chore{}, echomq.Priority(2)).ID
		second := b.add(t, chore{}, echomq.Priority(1)).ID
		first := b.add(t, chore{}).ID
		b.work(t, b.client, echomq.Concurrency(1))
		b.drain(t, 3)
		assert.Equal(t, []string{first, second, last}, b.ledger.order)
	})
}

func TestClusterRecoversJobsOfALostWorker(t *testing.T) {
	const jobs = 4
	onEachPrimary(t, func(t *testing.T, b *clusterBed) {
		ids := b.addMany(t, jobs, chore{})
		doomed := b.workWith(t, b.client, func(ctx context.Context, _ *echomq.Job[chore]) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}, echomq.Lease(processLease), echomq.Concurrency(jobs))
		b.eventually(t, func() bool { return len(b.requireSound(t).locks) == jobs }, "all jobs run")
		doomed.crash(t)
		b.work(t, b.client, echomq.Lease(processLease))
		b.recovers(t, eachOnce(ids))
		assert.Len(t, b.requireSound(t).stalls(), jobs)
	})
}
