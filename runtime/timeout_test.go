package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestTimeout(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		causes := make(chan error, 2)
		f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return "", ctx.Err()
		})
		handle := f.enqueue(t, "Ada", echomq.Timeout(20*time.Millisecond), echomq.Retry(quick(2)))
		failure := awaitFailure(t, f, handle)
		require.Equal(t, 2, failure.Attempts, "it is tried again")
		require.Equal(t, "job timed out after 20ms: context deadline exceeded", failure.Reason)
		require.ErrorIs(t, <-causes, echomq.ErrTimeout)
	})
}

func TestHandlerThatSucceedsAfterItsTimeout(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			<-ctx.Done()
			return "done all the same", nil
		})
		handle := f.enqueue(t, "Ada", echomq.Timeout(10*time.Millisecond))
		require.Equal(t, "done all the same", await(t, f, handle), "its effect has happened")
	})
}

func TestOutcomesAfterTheTimeout(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			<-ctx.Done()
			if job.Payload.Name == "fail" {
				return "", echomq.Fail(errors.New("for good"))
			}
			return "", echomq.RetryAfter(0, errFlaky)
		})
		timeout := echomq.Timeout(10 * time.Millisecond)
		failure := awaitFailure(t, f, f.enqueue(t, "fail", timeout))
		require.Equal(t, "for good", failure.Reason)
		require.Equal(t, 1, failure.Attempts)
		failure = awaitFailure(t, f, f.enqueue(t, "again", timeout, echomq.Retry(echomq.RetrySpec{Attempts: 2, Base: time.Hour})))
		require.Contains(t, failure.Reason, "flaky")
		require.Equal(t, 2, failure.Attempts)
	})
}

func TestDeadlineOfAJobsContext(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		left := make(chan time.Duration, 1)
		f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			deadline, bounded := ctx.Deadline()
			if !bounded {
				left <- 0
			} else {
				left <- time.Until(deadline)
			}
			return "", nil
		})
		f.enqueue(t, "default")
		require.InDelta(t, echomq.DefaultTimeout, receive(t, left, "the default"), float64(10*time.Second))
		f.enqueue(t, "none", echomq.Timeout(echomq.NoTimeout))
		require.Zero(t, receive(t, left, "no timeout"))
		f.enqueue(t, "hour", echomq.Timeout(time.Hour))
		require.InDelta(t, time.Hour, receive(t, left, "the option"), float64(10*time.Second))
	})
}
