package echomq_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/wire"
)

// TestHandlerStopsItsOwnWorker, and is not waited for by itself.
func TestHandlerStopsItsOwnWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var w *echomq.Worker
		made := make(chan struct{})
		w, err := echomq.NewWorker(f.client, nil, f.served(func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			<-made
			within, cancel := context.WithCancel(ctx)
			defer cancel()
			if err := w.Remove(within, f.spec.Name); err == nil {
				return "", echomq.Fail(errFlaky)
			}
			return "stopped", w.Stop(within)
		}))
		require.NoError(t, err)
		close(made)
		handle := f.enqueue(t, "Ada")
		done := make(chan error, 1)
		go func() { done <- w.Run(context.Background()) }()
		require.NoError(t, receive(t, done, "the end of Run"))
		require.Equal(t, "stopped", await(t, f, handle))
	})
}

// TestStopWhileAQueueIsRemoved: the patience of the one who removes it is not that
// of the one who stops the worker.
func TestStopWhileAQueueIsRemoved(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, end := range []func(*echomq.Worker){
			func(w *echomq.Worker) {
				ended, cancel := context.WithCancel(f.ctx)
				cancel()
				require.NoError(t, w.Stop(ended))
			},
			(*echomq.Worker).Kill,
		} {
			running := make(chan struct{})
			causes := make(chan error, 1)
			w, err := echomq.NewWorker(f.client, nil, f.served(func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
				close(running)
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return "", errGaveUp
			}, echomq.Lease(100*time.Millisecond)))
			require.NoError(t, err)
			done, removed := make(chan error, 1), make(chan error, 1)
			go func() { done <- w.Run(context.Background()) }()
			handle := f.enqueue(t, "Ada")
			receive(t, running, "the job")
			go func() { removed <- w.Remove(context.Background(), f.spec.Name) }()
			eventually(t, func() bool { return len(w.Queues()) == 0 }, "the queue is being removed")
			end(w)
			require.NoError(t, receive(t, done, "the end of Run"))
			require.NoError(t, receive(t, removed, "the end of Remove"))
			require.ErrorIs(t, <-causes, echomq.ErrShutdown)
			next := f.work(t, hello)
			await(t, f, handle)
			next.halt(t)
		}
	})
}

// TestManyRunningJobsAreCancelledAtOnce: more than one call renews.
func TestManyRunningJobsAreCancelledAtOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 1100
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(make([]greeting, jobs)...))
		require.NoError(t, err)
		running, over := make(chan struct{}, jobs), make(chan struct{}, jobs)
		f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			running <- struct{}{}
			<-ctx.Done()
			over <- struct{}{}
			return "", ctx.Err()
		}, echomq.Concurrency(jobs), echomq.Lease(time.Hour))
		ids := make([]string, jobs)
		for i := range jobs {
			receive(t, running, "a job")
			ids[i] = outcomes[i].Handle.ID
		}
		queue, err := f.client.Queue(f.spec.Name)
		require.NoError(t, err)
		_, err = queue.Cancel(f.ctx, ids...)
		require.NoError(t, err)
		for range jobs {
			receive(t, over, "the end of a context, long before the lease is renewed")
		}
	})
}

// TestQueueIsEnteredAgain into the store's list, out of which it was lost under a
// worker.
func TestQueueIsEnteredAgain(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.run(t, []echomq.WorkerOption{echomq.CleanEvery(20 * time.Millisecond)}, f.served(hello))
		await(t, f, f.enqueue(t, "Ada"))
		require.NoError(t, f.store.SRem(f.ctx, wire.StoreQueuesKey, f.spec.Name).Err())
		eventually(t, func() bool { return f.store.SIsMember(f.ctx, wire.StoreQueuesKey, f.spec.Name).Val() }, "it is there again")
	})
}

// TestObliterateWithAnIDThatNoScheduleCanHave takes it out too.
func TestObliterateWithAnIDThatNoScheduleCanHave(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.upsert(t, echomq.ScheduleSpec{Every: time.Hour})
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("schedulers"), redis.Z{Score: 1, Member: "no {schedule"}).Err())
		queue := f.admin(t)
		_, err := queue.Obliterate(f.ctx)
		require.NoError(t, err)
		require.Empty(t, f.keys(t))
	})
}
