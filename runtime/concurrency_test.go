package echomq_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestConcurrencyIsUsedAndNeverExceeded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const slots, jobs = 5, 60
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(jobs)...))
		require.NoError(t, err)
		var running, most atomic.Int64
		gate := make(chan struct{})
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			if now := running.Add(1); now > most.Load() {
				most.Store(now)
			}
			<-gate
			running.Add(-1)
			return "", nil
		}, echomq.Concurrency(slots))
		eventually(t, func() bool { return running.Load() == slots }, "all slots are taken")
		require.EqualValues(t, slots, f.store.ZCard(f.ctx, f.queue.Key("active")).Val(), "no more is taken than can run")
		for range jobs {
			require.LessOrEqual(t, running.Load(), int64(slots))
			gate <- struct{}{}
		}
		for _, outcome := range outcomes {
			await(t, f, outcome.Handle)
		}
		require.EqualValues(t, slots, most.Load())
	})
}

func TestFreedSlotIsFilledWhileOthersRun(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name == "slow" {
				<-gate
			}
			return "", nil
		}, echomq.Concurrency(2))
		slow := f.enqueue(t, "slow")
		for i := range 20 { // all through the other slot
			await(t, f, f.enqueue(t, fmt.Sprint(i)))
		}
		require.Equal(t, echomq.StateActive, state(t, f, slow))
		close(gate)
		await(t, f, slow)
	})
}

func TestJobsWaitWhileAllSlotsAreTaken(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			<-gate
			return "", nil
		}, echomq.Concurrency(1))
		first := f.enqueue(t, "first")
		reach(t, f, first, echomq.StateActive)
		second := f.enqueue(t, "second")
		require.Equal(t, echomq.StateWaiting, state(t, f, second), "no more is taken than can run")
		require.EqualValues(t, 1, f.store.ZCard(f.ctx, f.queue.Key("active")).Val())
		close(gate)
		await(t, f, second)
	})
}

func TestSeveralQueuesInOneWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := newFixture(t, f.engine)
		gate := make(chan struct{})
		block := func(context.Context, *echomq.Job[greeting]) (string, error) {
			<-gate
			return "", nil
		}
		f.run(t, []echomq.WorkerOption{echomq.Concurrency(1)},
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), block)}),
			echomq.Serve(other.spec, []echomq.Route{echomq.RouteTo(other.greet(), hello)}))
		blocked := f.enqueue(t, "Ada")
		reach(t, f, blocked, echomq.StateActive)
		require.Equal(t, "hello Bob", await(t, other, other.enqueue(t, "Bob")), "each queue has slots of its own")
		close(gate)
		await(t, f, blocked)
	})
}

func TestSeveralWorkersShareAQueue(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var runs [3]atomic.Int64
		for i := range runs {
			f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
				runs[i].Add(1)
				return "", nil
			}, echomq.Concurrency(2))
		}
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(100)...))
		require.NoError(t, err)
		for _, outcome := range outcomes {
			await(t, f, outcome.Handle)
			require.Equal(t, 1, f.envelope(t, outcome.Handle.ID).AttemptsStarted)
		}
		require.EqualValues(t, 100, runs[0].Load()+runs[1].Load()+runs[2].Load(), "each ran once")
	})
}
