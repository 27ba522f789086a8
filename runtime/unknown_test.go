package echomq_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// strange is a worker that knows another job only.
func (f *fixture) strange(t *testing.T) *worker {
	t.Helper()
	other := echomq.NewJobType[greeting, string](f.jobSpec("other"))
	return f.serve(t, []echomq.Route{echomq.RouteTo(other, hello)})
}

// givenBack waits until a job was given back for the n-th time and returns it.
func (f *fixture) givenBack(t *testing.T, id string, n int) echomq.Envelope {
	t.Helper()
	var job echomq.Envelope
	eventually(t, func() bool {
		job = f.envelope(t, id)
		return job.UnknownCount == n && job.Delay > 0
	}, "the job was given back")
	return job
}

func TestUnknownJobIsGivenBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w := f.strange(t)
		handle := f.enqueue(t, "Ada")
		first := f.givenBack(t, handle.ID, 1)
		require.Equal(t, time.Second, first.Delay.Duration())
		require.Equal(t, 0, first.AttemptsMade, "no attempt is consumed")
		require.Equal(t, 0, first.AttemptsStarted)
		require.Equal(t, echomq.StateDelayed, state(t, f, handle))
		second := f.givenBack(t, handle.ID, 2)
		require.Equal(t, 2*time.Second, second.Delay.Duration(), "it grows")
		w.halt(t)

		// The job is due again, and somebody knows it.
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("delayed"), due(handle.ID)).Err())
		f.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, handle))
		ended := f.envelope(t, handle.ID)
		require.Equal(t, 1, ended.AttemptsMade)
		require.Equal(t, 2, ended.UnknownCount)
	})
}

func TestDelayOfAnUnknownJobIsCapped(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for ukn, want := range map[int]time.Duration{3: 8 * time.Second, 8: 256 * time.Second, 9: 5 * time.Minute, 1 << 20: 5 * time.Minute} {
			handle := f.enqueue(t, "Ada")
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "ukn", ukn).Err())
			w := f.strange(t)
			require.Equal(t, want, f.givenBack(t, handle.ID, ukn+1).Delay.Duration())
			w.halt(t)
		}
	})
}

func TestUnknownJobDoesNotHoldUpOthers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := echomq.NewJobType[greeting, string](f.jobSpec("other"))
		stuck, err := echomq.Enqueue(f.ctx, f.producer, other, greeting{})
		require.NoError(t, err)
		f.work(t, hello, echomq.Concurrency(1))
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")))
		require.Equal(t, echomq.StateDelayed, state(t, f, stuck))
	})
}

func TestNewerPayloadVersion(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		newer := f.greet(func(s *echomq.JobSpec) { s.Version = 3 })
		handle, err := echomq.Enqueue(f.ctx, f.producer, newer, greeting{"Ada"})
		require.NoError(t, err)
		require.Equal(t, "3", f.hash(t, handle.ID)["ver"])
		older := f.serve(t, []echomq.Route{echomq.RouteTo(f.greet(func(s *echomq.JobSpec) { s.Version = 2 }), hello)})
		f.givenBack(t, handle.ID, 1)
		older.halt(t)
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("delayed"), due(handle.ID)).Err())
		f.serve(t, []echomq.Route{echomq.RouteTo(newer, hello)})
		require.Equal(t, "hello Ada", await(t, f, handle))
	})
}

func TestOlderPayloadVersionIsServed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		versions := make(chan int, 1)
		newer := f.greet(func(s *echomq.JobSpec) { s.Version = 3 })
		f.serve(t, []echomq.Route{echomq.RouteTo(newer, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			versions <- job.PayloadVersion
			return "", nil
		})})
		await(t, f, f.enqueue(t, "Ada"))
		require.Equal(t, 1, <-versions)
	})
}

func TestUnknownCodec(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "cdc", "msgpack").Err())
		f.work(t, hello)
		f.givenBack(t, handle.ID, 1)
	})
}
