package echomq_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// starts returns when the jobs were started, by the server's clock, in order.
func (f *fixture) starts(t *testing.T, handles []echomq.Handle[string]) []time.Time {
	t.Helper()
	moments := make([]time.Time, len(handles))
	for i, handle := range handles {
		envelope := f.envelope(t, handle.ID)
		require.Equal(t, 1, envelope.AttemptsStarted, "waiting for a turn is no attempt")
		moments[i] = envelope.ProcessedOn.Time()
	}
	slices.SortFunc(moments, time.Time.Compare)
	return moments
}

// requireRate requires that in no length of time more jobs started than the
// bucket holds and is filled with meanwhile.
func requireRate(t *testing.T, starts []time.Time, jobs int, per time.Duration) {
	t.Helper()
	for from := range starts {
		for to := from; to < len(starts); to++ {
			length := starts[to].Sub(starts[from])
			allowed := jobs + int(time.Duration(jobs)*length/per)
			require.LessOrEqual(t, to-from+1, allowed, "starts within %v, the first at %v: %v", length, starts[from].Sub(starts[0]), starts)
		}
	}
}

func TestRateIsKeptInEveryWindow(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs, per = 5, 100 * time.Millisecond
		f.spec.Rate = echomq.RateSpec{Jobs: jobs, Per: per}
		handles := f.enqueueMany(t, 30)
		for range 3 {
			f.another(t, hello, echomq.Concurrency(4))
		}
		f.completed(t, 30)
		starts := f.starts(t, handles)
		requireRate(t, starts, jobs, per)
		require.Less(t, starts[len(starts)-1].Sub(starts[0]), 5*time.Second, "each token is used when it is there")

		// After a rest the bucket is full, and no fuller.
		eventually(t, func() bool { return f.serverTime(t).Sub(starts[len(starts)-1]) > 2*per }, "the bucket is full")
		again := f.enqueueMany(t, 15)
		f.completed(t, 45)
		all := f.starts(t, slices.Concat(handles, again))
		requireRate(t, all, jobs, per)
		burst := f.starts(t, again)
		require.Less(t, burst[jobs-1].Sub(burst[0]), per, "it lets a full bucket start")
	})
}

// TestRateOfSlowWorkers reserves jobs first and starts them later: the tokens that
// they have do not come on top of those that fill the bucket meanwhile.
func TestRateOfOneToken(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const per = 30 * time.Millisecond
		for range 2 {
			f.another(t, hello, echomq.Concurrency(1), echomq.Rate(1, per))
		}
		handles := f.enqueueMany(t, 12)
		f.completed(t, 12)
		starts := f.starts(t, handles)
		for i := range len(starts) - 1 {
			require.GreaterOrEqual(t, starts[i+1].Sub(starts[i]), per)
		}
	})
}

// TestBusyWorkerWakesOthersForTheNextToken has the worker that was told of the
// next token without a free slot when it comes.
func TestBusyWorkerWakesOthersForTheNextToken(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const per = 150 * time.Millisecond
		gate := make(chan struct{})
		_, running := f.gated(t, gate, echomq.Concurrency(1), echomq.Rate(1, per))
		first := f.enqueue(t, "first")
		receive(t, running, "the first job")
		f.another(t, hello, echomq.Concurrency(1), echomq.Rate(1, per))
		second := f.enqueue(t, "second")
		await(t, f, second)
		close(gate)
		await(t, f, first)
		requireRate(t, f.starts(t, []echomq.Handle[string]{first, second}), 1, per)
	})
}

// TestLostWorkerWasToLookForTheToken crashes the worker that was told when the
// next token is there; another looks at most 2 s later.
func TestLostWorkerWasToLookForTheToken(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const per = 300 * time.Millisecond
		crash := f.another(t, hello, echomq.Concurrency(1), echomq.Rate(1, per))
		f.enqueueMany(t, 2)
		f.completed(t, 1)
		eventually(t, func() bool { return f.store.HExists(f.ctx, f.queue.Key("meta"), "blocked").Val() }, "the worker waits for a token")
		crash.Kill()
		receive(t, crash.done, "the end of Run")
		crash.done <- nil
		begun := time.Now()
		f.another(t, hello, echomq.Concurrency(1), echomq.Rate(1, per))
		f.completed(t, 2)
		require.Less(t, time.Since(begun), per+2*time.Second+2*time.Second)
	})
}

func TestOperatorOverridesTheRate(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.Rate = echomq.RateSpec{Jobs: 2, Per: time.Hour}
		queue := f.admin(t)
		f.another(t, hello)
		f.another(t, hello)
		handles := f.enqueueMany(t, 20)
		f.completed(t, 2)

		// Half a token an hour becomes one each 20 ms; the bucket is as empty as
		// it was.
		const per = 20 * time.Millisecond
		changed := f.serverTime(t)
		require.NoError(t, queue.SetRate(f.ctx, 1, per))
		set, err := queue.Overrides(f.ctx)
		require.NoError(t, err)
		require.Equal(t, echomq.Overrides{Rate: echomq.RateSpec{Jobs: 1, Per: per}}, set)
		f.completed(t, 20)
		starts := f.starts(t, handles)
		requireRate(t, starts[2:], 1, per)
		require.Less(t, starts[19].Sub(changed), 5*time.Second)

		// The directive again, with the token that has come since.
		require.NoError(t, queue.ClearOverrides(f.ctx))
		f.enqueueMany(t, 10)
		eventually(t, func() bool { return f.store.HExists(f.ctx, f.queue.Key("meta"), "blocked").Val() }, "there are no more tokens")
		done := f.store.ZCard(f.ctx, f.queue.Key("completed")).Val()
		require.LessOrEqual(t, done, int64(22))
		require.NoError(t, queue.SetRate(f.ctx, echomq.NoLimit, 0))
		f.completed(t, 30)
	})
}

// TestRateLetsWorkersRest has many workers wait for tokens: one of them looks for
// each, not all.
func TestRateLetsWorkersRest(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const workers, jobs, per = 6, 30, 30 * time.Millisecond
		proxy := f.counted(t)
		for range workers {
			f.work(t, hello, echomq.Concurrency(2), echomq.Rate(1, per))
		}
		f.enqueueMany(t, jobs)
		proxy.ResetCounts()
		f.completed(t, jobs)
		// A pick that takes the job, a settle, perhaps a look after it. If each
		// worker looked for each token it would be 6 picks a job.
		require.Less(t, proxy.Count("evalsha"), 4*jobs, "%v", proxy.Counts())
	})
}

// TestRateAndLimit has both: whichever leaves less.
func TestRateAndLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs, per = 10, 50 * time.Millisecond
		var g gauge
		for range 2 {
			f.another(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
				g.enter()
				defer g.leave()
				time.Sleep(5 * time.Millisecond)
				return "", nil
			}, echomq.Concurrency(5), echomq.Rate(jobs, per), echomq.Limit(2))
		}
		handles := f.enqueueMany(t, 40)
		f.completed(t, 40)
		require.LessOrEqual(t, g.most.Load(), int64(2))
		requireRate(t, f.starts(t, handles), jobs, per)
	})
}

// TestRetriesWaitForTokensToo: a failed attempt takes a token like the first.
func TestRetriesTakeTokens(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := f.greet(func(s *echomq.JobSpec) {
			s.Retry = echomq.RetrySpec{Attempts: 3, Backoff: echomq.Fixed, Base: time.Millisecond, Jitter: echomq.NoJitter}
		})
		var begun []time.Time
		f.serve(t, []echomq.Route{echomq.RouteTo(job, func(_ context.Context, j *echomq.Job[greeting]) (string, error) {
			begun = append(begun, time.Now())
			if j.Attempt() < 3 {
				return "", fmt.Errorf("attempt %d fails", j.Attempt())
			}
			return "done", nil
		})}, echomq.Concurrency(1), echomq.Rate(1, 60*time.Millisecond))
		handle, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{})
		require.NoError(t, err)
		require.Equal(t, "done", await(t, f, handle))
		require.Len(t, begun, 3)
		require.Greater(t, begun[2].Sub(begun[0]), 100*time.Millisecond)
	})
}
