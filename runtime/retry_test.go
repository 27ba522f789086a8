package echomq_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// quick is a retry without much of a wait.
func quick(attempts int) echomq.RetrySpec {
	return echomq.RetrySpec{Attempts: attempts, Backoff: echomq.Fixed, Base: time.Millisecond}
}

var errFlaky = errors.New("flaky")

func TestRetryUntilSuccess(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var runs atomic.Int64
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			runs.Add(1)
			if job.Attempt() < 4 {
				return "", errFlaky
			}
			return "at last", nil
		})
		handle := f.enqueue(t, "Ada", echomq.Retry(quick(4)))
		require.Equal(t, "at last", await(t, f, handle))
		require.EqualValues(t, 4, runs.Load())
		job := f.envelope(t, handle.ID)
		require.Equal(t, 4, job.AttemptsMade)
		require.Equal(t, 4, job.AttemptsStarted)
	})
}

func TestAttemptsExhausted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var runs atomic.Int64
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			runs.Add(1)
			return "", errFlaky
		})
		for _, attempts := range []int{1, 2, 5} {
			runs.Store(0)
			failure := awaitFailure(t, f, f.enqueue(t, "Ada", echomq.Retry(quick(attempts))))
			require.Equal(t, attempts, failure.Attempts)
			require.Len(t, failure.Trace, attempts)
			require.EqualValues(t, attempts, runs.Load())
		}
	})
}

func TestDefaultAttempts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", errFlaky })
		failure := awaitFailure(t, f, f.enqueue(t, "Ada", echomq.Retry(quick(0))))
		require.Equal(t, echomq.DefaultAttempts, failure.Attempts)
	})
}

func TestBackoffIsWaitedFor(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		started := make(chan time.Time, 3)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			started <- job.ProcessedOn.Time()
			return "", errFlaky
		})
		handle := f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{
			Attempts: 3, Backoff: echomq.Exponential, Base: 40 * time.Millisecond, Jitter: echomq.NoJitter,
		}))
		awaitFailure(t, f, handle)
		first, second, third := <-started, <-started, <-started
		require.GreaterOrEqual(t, second.Sub(first), 40*time.Millisecond)
		require.GreaterOrEqual(t, third.Sub(second), 80*time.Millisecond)
	})
}

func TestRetriedJobComesBackAtTheFront(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first := f.enqueue(t, "first", echomq.Retry(quick(2)))
		for range 3 {
			f.enqueue(t, "later")
		}
		names := make(chan string, 10)
		gate := make(chan struct{})
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			names <- job.Payload.Name
			if job.Payload.Name == "first" && job.Attempt() == 1 {
				return "", errFlaky
			}
			<-gate
			return "", nil
		}, echomq.Concurrency(1))
		require.Equal(t, "first", receive(t, names, "the first job"))
		require.Equal(t, "later", receive(t, names, "the second job"))
		reach(t, f, first, echomq.StateWaiting)
		close(gate)
		require.Equal(t, "first", receive(t, names, "the retry"))
		await(t, f, first)
	})
}

func TestRetrySettingsTravelWithTheJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", errFlaky })
		job := f.greet(func(s *echomq.JobSpec) { s.Retry = quick(3) }) // unknown to the worker's route
		handle, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{})
		require.NoError(t, err)
		require.Equal(t, 3, awaitFailure(t, f, handle).Attempts)
		handle, err = echomq.Enqueue(f.ctx, f.producer, job, greeting{}, echomq.Retry(echomq.RetrySpec{Attempts: 2}))
		require.NoError(t, err)
		require.Equal(t, 2, awaitFailure(t, f, handle).Attempts, "an option wins over the directive")
	})
}
