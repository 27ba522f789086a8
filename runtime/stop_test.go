package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// atGate returns a handler whose jobs say that they run and wait for a gate.
func atGate(gate <-chan struct{}) (handle handler, running <-chan string) {
	names := make(chan string, 100)
	return func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		names <- job.Payload.Name
		<-gate
		return "hello " + job.Payload.Name, nil
	}, names
}

// gated starts a worker whose jobs say that they run and wait for a gate.
func (f *fixture) gated(t *testing.T, gate <-chan struct{}, opts ...echomq.QueueOption) (w *worker, running <-chan string) {
	t.Helper()
	handle, running := atGate(gate)
	return f.work(t, handle, opts...), running
}

func TestStopLetsRunningJobsEnd(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		w, running := f.gated(t, gate, echomq.Concurrency(1))
		first, second := f.enqueue(t, "first"), f.enqueue(t, "second")
		receive(t, running, "the first job")
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(f.ctx) }()
		eventually(t, func() bool { return !w.Ready() }, "the worker is stopping")
		close(gate)
		require.NoError(t, receive(t, stopped, "the end of Stop"))
		require.NoError(t, receive(t, w.done, "the end of Run"))
		w.done <- nil
		require.Equal(t, "hello first", await(t, f, first), "what ran was settled")
		require.Equal(t, echomq.StateWaiting, state(t, f, second), "nothing was taken any more")
		require.NoError(t, w.Stop(f.ctx), "stopping twice")
		require.False(t, w.Ready())
	})
}

func TestRunEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		running := make(chan struct{}, 1)
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), func(context.Context, *echomq.Job[greeting]) (string, error) {
			running <- struct{}{}
			<-gate
			return "done", nil
		})})
		w, err := echomq.NewWorker(f.client, nil, served)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(f.ctx)
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		cancel()
		eventually(t, func() bool { return !w.Ready() }, "the worker is stopping")
		close(gate)
		require.NoError(t, receive(t, done, "the end of Run"))
		require.Equal(t, "done", await(t, f, handle))
	})
}

func TestStopBeforeRun(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
		require.NoError(t, err)
		require.False(t, w.Ready())
		require.NoError(t, w.Stop(f.ctx))
		require.NoError(t, w.Stop(f.ctx))
		require.ErrorIs(t, w.Run(f.ctx), echomq.ErrClosed)
	})
}

func TestKillBeforeRun(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), mustNotRun(t))}))
		require.NoError(t, err)
		handle := f.enqueue(t, "Ada")
		w.Kill()
		if err := w.Run(f.ctx); err != nil {
			require.ErrorIs(t, err, echomq.ErrClosed)
		}
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
	})
}

func TestRunWithAContextThatHasEnded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), mustNotRun(t))}))
		require.NoError(t, err)
		handle := f.enqueue(t, "Ada")
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		require.NoError(t, w.Run(ctx))
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
	})
}

func TestRunTwice(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w := f.work(t, hello)
		require.ErrorIs(t, w.Run(f.ctx), echomq.ErrClosed)
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")), "the first run goes on")
		w.halt(t)
		require.ErrorIs(t, w.Run(f.ctx), echomq.ErrClosed)
	})
}

func TestKillLeavesJobsToTheirLeases(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		causes := make(chan error, 1)
		running := make(chan struct{})
		w := f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			close(running)
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return "too late", nil
		})
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		start := time.Now()
		w.Kill()
		require.NoError(t, receive(t, w.done, "the end of Run"))
		w.done <- nil
		require.Less(t, time.Since(start), 2*time.Second)
		require.ErrorIs(t, receive(t, causes, "the end of the job's context"), echomq.ErrShutdown)
		require.Equal(t, echomq.StateActive, state(t, f, handle))
		w.Kill() // twice
	})
}

func TestReady(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
		require.NoError(t, err)
		require.False(t, w.Ready(), "before Run")
		done := make(chan error, 1)
		go func() { done <- w.Run(f.ctx) }()
		eventually(t, w.Ready, "the worker is ready")
		require.NoError(t, w.Stop(f.ctx))
		require.False(t, w.Ready(), "after Stop")
		require.NoError(t, receive(t, done, "the end of Run"))
	})
}

func TestWorkerOutlivesAClosedClient(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		mine := f.newClient(t, f.store)
		theirs := *f
		theirs.client = mine
		theirs.work(t, hello)
		require.NoError(t, mine.Close())
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")), "Close does not stop workers")
		again, err := echomq.NewWorker(mine, nil, echomq.Serve(f.spec, nil))
		require.NoError(t, err)
		require.ErrorIs(t, again.Run(f.ctx), echomq.ErrClosed)
	})
}

var errGaveUp = errors.New("gave up")
