package echomq_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestDelayedJobRunsNeverBeforeItsTime(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		const wait = 150 * time.Millisecond
		handle := f.enqueue(t, "Ada", echomq.In(wait))
		require.Equal(t, "150", f.hash(t, handle.ID)["delay"])
		await(t, f, handle)
		job := f.envelope(t, handle.ID)
		late := job.ProcessedOn.Time().Sub(job.Timestamp.Time()) - wait
		require.GreaterOrEqual(t, late, time.Duration(0))
		require.Less(t, late, time.Second, "the timer fired, not the fallback")
		require.Zero(t, job.Delay, "it waits no longer")
	})
}

func TestJobRunsAtItsTime(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		at := f.serverTime(t).Add(120 * time.Millisecond)
		handle := f.enqueue(t, "Ada", echomq.At(at))
		due, err := f.store.ZScore(f.ctx, f.queue.Key("delayed"), handle.ID).Result()
		require.NoError(t, err)
		require.False(t, time.UnixMilli(int64(due)).Before(at), "rounded up to a millisecond")
		await(t, f, handle)
		job := f.envelope(t, handle.ID)
		require.False(t, job.ProcessedOn.Time().Before(at), "ran at %v instead of %v", job.ProcessedOn.Time(), at)
	})
}

func TestAtInThePastRunsAtOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, at := range []time.Time{time.Now().Add(-time.Hour), time.Unix(1, 0), time.Unix(0, 0), time.Unix(-1, 0)} {
			require.Equal(t, echomq.StateWaiting, state(t, f, f.enqueue(t, "Ada", echomq.At(at))), "at %v", at)
		}
	})
}

func TestDelayedJobsRunInOrderOfTheirTimes(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		names := make(chan string, 10)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			names <- job.Payload.Name
			return "", nil
		}, echomq.Concurrency(1))
		base := f.serverTime(t).Add(300 * time.Millisecond)
		for _, i := range []int{3, 1, 4, 0, 2} { // a later one first, so the timer must be moved forward
			f.enqueue(t, fmt.Sprint(i), echomq.At(base.Add(time.Duration(i)*30*time.Millisecond)))
		}
		for i := range 5 {
			require.Equal(t, fmt.Sprint(i), receive(t, names, "a delayed job"))
		}
	})
}

func TestDelayOfTheSpec(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := f.greet(func(s *echomq.JobSpec) { s.Delay = time.Hour })
		enqueue := func(opts ...echomq.EnqueueOption) echomq.State {
			handle, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{}, opts...)
			require.NoError(t, err)
			return state(t, f, handle)
		}
		require.Equal(t, echomq.StateDelayed, enqueue())
		require.Equal(t, echomq.StateWaiting, enqueue(echomq.In(0)), "an option wins over the directive")
		require.Equal(t, echomq.StateWaiting, enqueue(echomq.At(time.Unix(1, 0))))
		require.Equal(t, echomq.StateWaiting, enqueue(echomq.At(time.Unix(0, 0))))
	})
}

func TestJobsOfTheFarFuture(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		for _, option := range []echomq.EnqueueOption{
			echomq.At(time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)),
			echomq.At(time.Date(2600, 1, 1, 0, 0, 0, 0, time.UTC)),
			echomq.In(math.MaxInt64),
		} {
			handle := f.enqueue(t, "Ada", option)
			require.Equal(t, echomq.StateDelayed, state(t, f, handle))
			await(t, f, f.enqueue(t, "soon", echomq.In(20*time.Millisecond)))
			require.Equal(t, echomq.StateDelayed, state(t, f, handle))
		}
	})
}
