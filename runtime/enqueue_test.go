package echomq_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestEnqueueHandleAwait(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		handle := f.enqueue(t, "Ada")
		require.Equal(t, "hello Ada", await(t, f, handle))
		require.False(t, handle.Existing)
		require.Equal(t, f.spec.Name, handle.Queue())
	})
}

func TestMintedIDsAreUUIDsInOrderOfCreation(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		last := ""
		for range 10 {
			id := f.enqueue(t, "Ada").ID
			parsed, err := uuid.Parse(id)
			require.NoError(t, err)
			require.EqualValues(t, 7, parsed.Version())
			require.Greater(t, id, last)
			last = id
		}
	})
}

func TestHandlerSeesTheEnvelope(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		jobs := make(chan echomq.Job[greeting], 1)
		before := f.serverTime(t)
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(),
			func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
				jobs <- *job
				return "", nil
			})})
		f.run(t, []echomq.WorkerOption{echomq.WorkerName("worker-1")}, served)
		handle := f.enqueue(t, "Ada", echomq.Priority(7))
		await(t, f, handle)
		job := receive(t, jobs, "the job")
		require.Equal(t, greeting{"Ada"}, job.Payload)
		require.Equal(t, handle.ID, job.ID)
		require.Equal(t, "greet", job.Name)
		require.JSONEq(t, `{"name":"Ada"}`, string(job.Data))
		require.Equal(t, 1, job.PayloadVersion)
		require.Equal(t, 7, job.Priority)
		require.Equal(t, 0, job.AttemptsMade)
		require.Equal(t, 1, job.AttemptsStarted)
		require.Equal(t, 1, job.Attempt())
		require.Equal(t, "worker-1", job.ProcessedBy)
		require.GreaterOrEqual(t, int64(job.Timestamp), before.UnixMilli())
		require.GreaterOrEqual(t, job.ProcessedOn, job.Timestamp)

		ended := f.envelope(t, handle.ID)
		require.Equal(t, 1, ended.AttemptsMade)
		require.Equal(t, 1, ended.AttemptsStarted)
		require.Equal(t, "worker-1", ended.ProcessedBy)
		require.GreaterOrEqual(t, ended.FinishedOn, ended.ProcessedOn)
	})
}

func TestJobWithoutResult(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := echomq.NewJobType[greeting, echomq.None](f.jobSpec("note"))
		f.serve(t, []echomq.Route{echomq.RouteTo(job, echomq.NoResult(
			func(context.Context, *echomq.Job[greeting]) error { return nil }))})
		handle, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{"Ada"})
		require.NoError(t, err)
		require.Equal(t, echomq.None{}, await(t, f, handle))
	})
}

func TestJobsOfOneQueueGoToTheirHandlers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		length := echomq.NewJobType[string, int](f.jobSpec("length"))
		f.serve(t, []echomq.Route{
			echomq.RouteTo(f.greet(), hello),
			echomq.RouteTo(length, func(_ context.Context, job *echomq.Job[string]) (int, error) {
				return len(job.Payload), nil
			}),
		})
		first, err := echomq.Enqueue(f.ctx, f.producer, length, "abc")
		require.NoError(t, err)
		second := f.enqueue(t, "Ada")
		require.Equal(t, 3, await(t, f, first))
		require.Equal(t, "hello Ada", await(t, f, second))
	})
}

func TestIDThatIsTaken(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first := f.enqueue(t, "Ada", echomq.ID("order-1"))
		require.Equal(t, "order-1", first.ID)
		require.False(t, first.Existing)
		second := f.enqueue(t, "Bob", echomq.ID("order-1"))
		require.True(t, second.Existing)
		require.Equal(t, first.ID, second.ID)
		f.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, second), "the first job is left as it was")
		require.True(t, f.enqueue(t, "Cid", echomq.ID("order-1")).Existing, "also when it has ended")
	})
}

func TestIDOfAJobOfAnotherType(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := echomq.NewJobType[greeting, string](f.jobSpec("other"))
		f.enqueue(t, "Ada", echomq.ID("order-1"))
		_, err := echomq.Enqueue(f.ctx, f.producer, other, greeting{"Bob"}, echomq.ID("order-1"))
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
		require.ErrorContains(t, err, `it is "greet", not "other"`)
	})
}

func TestHostileIDs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, id := range []string{
			"", " ", "-a", ".a", "_a", "~a", "a b", "a:b", "a:lock", "a\n", "a\x00", "é", "a{b}", "a*",
			"wait", "meta", "events", "metrics", "scheduler", "marker", strings.Repeat("a", 256),
		} {
			_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{}, echomq.ID(id))
			require.ErrorIs(t, err, echomq.ErrName, "id %q", id)
			require.ErrorIs(t, err, echomq.ErrOption, "id %q", id)
		}
		require.Empty(t, f.keys(t), "nothing was written")
		for _, id := range []string{"0", "Wait", "wait.1", "a-b_c.d", strings.Repeat("a", 255)} {
			require.Equal(t, id, f.enqueue(t, "Ada", echomq.ID(id)).ID)
		}
	})
}

func TestJobOfAnotherQueue(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "elsewhere", Name: "greet"})
		_, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{})
		require.ErrorIs(t, err, echomq.ErrOption)
		require.Empty(t, f.keys(t))
	})
}
