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
		cause := <-causes
		require.ErrorIs(t, cause, echomq.ErrTimeout)
		require.ErrorIs(t, cause, context.DeadlineExceeded, "libraries return the cause as their error")
		var timeout interface{ Timeout() bool }
		require.ErrorAs(t, cause, &timeout)
		require.True(t, timeout.Timeout())
	})
}

// A handler may return the cause of its context's end as it is, or with its own words.
func TestReasonSaysOnceWhyTheContextEnded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		running := make(chan struct{}, 1)
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			running <- struct{}{}
			<-ctx.Done()
			if job.Payload.Name == "wrapped" {
				return "", fmt.Errorf("waiting: %w", context.Cause(ctx))
			}
			return "", context.Cause(ctx)
		})
		once := echomq.Retry(quick(1))
		for name, want := range map[string]string{
			"bare": "job timed out after 20ms", "wrapped": "job timed out after 20ms: waiting: job timed out",
		} {
			handle := f.enqueue(t, name, echomq.Timeout(20*time.Millisecond), once)
			<-running
			require.Equal(t, want, awaitFailure(t, f, handle).Reason)
		}
		handle := f.enqueue(t, "bare", once)
		<-running
		require.NoError(t, handle.Cancel(f.ctx, "no more"))
		require.Equal(t, "cancelled: no more", awaitFailure(t, f, handle).Reason)
	})
}

// Attempts that start together share a deadline where they may run for as long, and
// none ends with another.
func TestTimeoutsOfJobsThatStartTogether(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 12
		timeouts := []time.Duration{time.Second, time.Second, time.Minute, echomq.NoTimeout}
		type seen struct {
			id      string
			bounded bool
			err     error
		}
		ended := make(chan seen, jobs)
		release := make(chan struct{})
		var items []echomq.Item[greeting]
		for n := range jobs {
			name := "waits"
			if n%4 == 1 {
				name = "ends at once"
			}
			items = append(items, echomq.Item[greeting]{
				Payload: greeting{name}, Options: []echomq.EnqueueOption{echomq.Timeout(timeouts[n%4]), echomq.Retry(quick(1))},
			})
		}
		_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), items)
		require.NoError(t, err)
		f.serve(t, []echomq.Route{echomq.RouteTo(f.greet(), func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			_, bounded := ctx.Deadline()
			if job.Payload.Name == "waits" {
				select {
				case <-ctx.Done():
				case <-release:
				}
			}
			ended <- seen{job.ID, bounded, ctx.Err()}
			return "", ctx.Err()
		})}, echomq.Concurrency(jobs))
		counts := map[seen]int{}
		take := func(n int) {
			for range n {
				one := <-ended
				one.id = ""
				counts[one]++
			}
		}
		take(jobs / 2)
		require.Equal(t, map[seen]int{{bounded: true}: jobs / 4, {bounded: true, err: context.DeadlineExceeded}: jobs / 4}, counts)
		close(release)
		take(jobs / 2)
		require.Equal(t, map[seen]int{
			{bounded: true}: jobs / 2, {bounded: true, err: context.DeadlineExceeded}: jobs / 4, {}: jobs / 4,
		}, counts)
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
