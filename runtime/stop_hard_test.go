package echomq_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// stopHard stops a worker without waiting for its jobs.
func (w *worker) stopHard(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stopErr := w.Stop(ctx)
	err := receive(t, w.done, "the end of Run")
	require.Equal(t, err, stopErr, "Stop returns what Run returned")
	w.done <- nil
	return err
}

// cancellable starts a worker whose jobs run until their contexts end, and
// waits until it holds n of them.
func (f *fixture) cancellable(t *testing.T, n int, causes chan<- error) *worker {
	t.Helper()
	running := make(chan struct{}, n)
	w := f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
		running <- struct{}{}
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return "", errGaveUp
	}, echomq.Concurrency(n))
	for range n {
		receive(t, running, "a job")
	}
	return w
}

func TestHardStopGivesJobsBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada", echomq.Retry(quick(1)))
		causes := make(chan error, 1)
		w := f.cancellable(t, 1, causes)
		require.NoError(t, w.stopHard(t))
		require.ErrorIs(t, <-causes, echomq.ErrShutdown)
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
		job := f.envelope(t, handle.ID)
		require.Equal(t, 0, job.AttemptsMade, "the attempt is refunded")
		require.Equal(t, 0, job.AttemptsStarted)
		require.Empty(t, job.FailedReason)
		f.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, handle))
	})
}

func TestJobsAreGivenBackAtTheFrontInOrder(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const held = 8
		for i := range held + 2 {
			f.enqueue(t, fmt.Sprint(i))
		}
		w := f.cancellable(t, held, make(chan error, held))
		require.NoError(t, w.stopHard(t))
		names := f.names(t)
		for i := range held + 2 {
			require.Equal(t, fmt.Sprint(i), receive(t, names, "a job"))
		}
	})
}

func TestPrioritizedJobIsGivenBackToItsPriority(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, name := range []string{"first", "second"} {
			f.enqueue(t, name, echomq.Priority(2))
		}
		w := f.cancellable(t, 1, make(chan error, 1))
		require.NoError(t, w.stopHard(t))
		f.enqueue(t, "foremost", echomq.Priority(1))
		names := f.names(t)
		for _, want := range []string{"foremost", "first", "second"} {
			require.Equal(t, want, receive(t, names, "a job"))
		}
	})
}

func TestHandlerThatSucceedsInAHardStop(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		running := make(chan struct{})
		w := f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			close(running)
			<-ctx.Done()
			return "just in time", nil
		})
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		require.NoError(t, w.stopHard(t))
		require.Equal(t, "just in time", await(t, f, handle))
	})
}

func TestStopTimeoutEndsThePatienceOfRun(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		causes := make(chan error, 1)
		running := make(chan struct{})
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			close(running)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return "", errGaveUp
		})})
		w, err := echomq.NewWorker(f.client, []echomq.WorkerOption{echomq.StopTimeout(30 * time.Millisecond)}, served)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(f.ctx)
		defer cancel()
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		cancel()
		require.NoError(t, receive(t, done, "the end of Run"))
		require.ErrorIs(t, <-causes, echomq.ErrShutdown)
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
	})
}

func TestHandlerThatIgnoresItsContext(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate, ended := make(chan struct{}), make(chan struct{})
		running := make(chan struct{})
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), func(context.Context, *echomq.Job[greeting]) (string, error) {
			defer close(ended)
			close(running)
			<-gate
			return "too late", nil
		})})
		w, err := echomq.NewWorker(f.client, []echomq.WorkerOption{echomq.CancelGrace(50 * time.Millisecond)}, served)
		require.NoError(t, err)
		handle := f.enqueue(t, "Ada")
		busy := &worker{Worker: w, done: make(chan error, 1)}
		go func() { busy.done <- w.Run(f.ctx) }()
		receive(t, running, "the job")
		require.ErrorContains(t, busy.stopHard(t), "1 handler(s) ignored the end of their context")
		require.Equal(t, echomq.StateActive, state(t, f, handle), "the job is left to its lease")
		close(gate)
		receive(t, ended, "the end of the handler")
		require.Equal(t, echomq.StateActive, state(t, f, handle))
	})
}
