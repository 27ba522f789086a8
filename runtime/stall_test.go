package echomq_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// shortLease is how long the workers hold jobs whose loss a test waits for.
const shortLease = 200 * time.Millisecond

// loseTo starts a worker that takes a job and dies with it.
func (f *fixture) loseTo(t *testing.T, handle echomq.Handle[string]) {
	t.Helper()
	taken := make(chan struct{}, 1)
	w := f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
		taken <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}, echomq.Lease(shortLease), echomq.Concurrency(1))
	receive(t, taken, "the job to be taken")
	w.Kill()
	w.halt(t)
	require.Equal(t, echomq.StateActive, state(t, f, handle), "nothing was given back")
}

func TestJobOfALostWorkerRunsElsewhere(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		f.loseTo(t, handle)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			return fmt.Sprintf("start %d, attempt %d, stalls %d", job.AttemptsStarted, job.Attempt(), job.StalledCounter), nil
		}, echomq.Lease(shortLease))
		require.Equal(t, "start 2, attempt 1, stalls 1", await(t, f, handle))
	})
}

func TestLostJobComesBackAtTheFront(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		lost := f.enqueue(t, "lost")
		f.loseTo(t, lost)
		gate := make(chan struct{})
		names := make(chan string, 3)
		f.enqueue(t, "blocker")
		f.enqueue(t, "later")
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			names <- job.Payload.Name
			<-gate
			return "", nil
		}, echomq.Concurrency(1), echomq.Lease(shortLease))
		require.Equal(t, "blocker", receive(t, names, "the first job"))
		reach(t, f, lost, echomq.StateWaiting)
		close(gate)
		require.Equal(t, "lost", receive(t, names, "the lost job"))
		require.Equal(t, "later", receive(t, names, "the last job"))
	})
}

func TestLostJobKeepsItsPriority(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		lost := f.enqueue(t, "lost", echomq.Priority(5))
		f.loseTo(t, lost)
		gate := make(chan struct{})
		names := make(chan string, 4)
		f.enqueue(t, "blocker")
		f.enqueue(t, "same", echomq.Priority(5))
		f.enqueue(t, "sooner", echomq.Priority(4))
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			names <- job.Payload.Name
			<-gate
			return "", nil
		}, echomq.Concurrency(1), echomq.Lease(shortLease))
		receive(t, names, "the blocker")
		reach(t, f, lost, echomq.StatePrioritized)
		close(gate)
		for _, want := range []string{"sooner", "lost", "same"} {
			require.Equal(t, want, receive(t, names, "a job"))
		}
	})
}

func TestStallsExceeded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{Stalls: 1}))
		f.loseTo(t, handle)
		f.loseTo(t, handle)
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			t.Error("a job whose stalls are exceeded must not run")
			return "", nil
		}, echomq.Lease(shortLease))
		failure := awaitFailure(t, f, handle)
		require.Contains(t, failure.Reason, "stalled 2 times")
		require.Equal(t, 0, failure.Attempts, "no attempt ended")
	})
}

func TestNoStallsAllowed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{Stalls: echomq.NoStalls}))
		f.loseTo(t, handle)
		f.work(t, hello, echomq.Lease(shortLease))
		require.Contains(t, awaitFailure(t, f, handle).Reason, "stalled 1 times")
	})
}
