package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestFailMakesNoFurtherAttempt(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name == "wrapped" {
				return "", fmt.Errorf("wrapped: %w", echomq.Fail(errFlaky))
			}
			return "", echomq.Fail(nil)
		})
		failure := awaitFailure(t, f, f.enqueue(t, "wrapped"))
		require.Equal(t, "wrapped: flaky", failure.Reason)
		require.Equal(t, 1, failure.Attempts)
		failure = awaitFailure(t, f, f.enqueue(t, "nil"))
		require.Equal(t, "unspecified error", failure.Reason)
	})
}

func TestRetryAfterSetsTheWait(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		started := make(chan time.Time, 3)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			started <- job.ProcessedOn.Time()
			return "", echomq.RetryAfter(60*time.Millisecond, errFlaky)
		})
		handle := f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{Attempts: 2, Base: time.Hour}))
		failure := awaitFailure(t, f, handle)
		require.Equal(t, 2, failure.Attempts, "it consumes attempts and ends with them")
		require.Equal(t, "flaky", failure.Reason)
		first, second := <-started, <-started
		require.GreaterOrEqual(t, second.Sub(first), 60*time.Millisecond)
	})
}

func TestRetryAfterNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Attempt() == 1 {
				return "", echomq.RetryAfter(-time.Hour, nil)
			}
			return "now", nil
		})
		handle := f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{Base: time.Hour}))
		require.Equal(t, "now", await(t, f, handle))
		require.Equal(t, "unspecified error", f.envelope(t, handle.ID).FailedReason)
	})
}

func TestSnoozeConsumesNoAttempt(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		started := make(chan time.Time, 5)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			started <- job.ProcessedOn.Time()
			if job.AttemptsStarted < 4 {
				return "", echomq.Snooze(30 * time.Millisecond)
			}
			return fmt.Sprintf("attempt %d", job.Attempt()), nil
		})
		handle := f.enqueue(t, "Ada", echomq.Retry(quick(1)))
		require.Equal(t, "attempt 1", await(t, f, handle))
		job := f.envelope(t, handle.ID)
		require.Equal(t, 1, job.AttemptsMade)
		require.Equal(t, 4, job.AttemptsStarted)
		require.Empty(t, job.Stacktrace, "it did not fail")
		require.Empty(t, job.FailedReason)
		first, second := <-started, <-started
		require.GreaterOrEqual(t, second.Sub(first), 30*time.Millisecond)
	})
}

func TestOutcomesAreErrorsOfTheirCause(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, echomq.Fail(errFlaky), errFlaky)
	require.ErrorIs(t, echomq.RetryAfter(time.Second, errFlaky), errFlaky)
	require.EqualError(t, echomq.Fail(errFlaky), "flaky")
	require.EqualError(t, echomq.RetryAfter(time.Second, errFlaky), "flaky")
	require.EqualError(t, echomq.Snooze(time.Second), "snoozed for 1s")
	require.Error(t, errors.Unwrap(echomq.Fail(nil)))
}
