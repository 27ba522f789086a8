package echomq_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// ids returns the ids of the jobs in a state, a page at a time.
func (f *fixture) ids(t *testing.T, state echomq.State, opts ...echomq.ListOption) []string {
	t.Helper()
	var ids []string
	for job, err := range f.admin(t).Jobs(f.ctx, state, opts...) {
		require.NoError(t, err)
		ids = append(ids, job.ID)
	}
	return ids
}

func TestCounts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.Equal(t, echomq.Counts{}, f.counts(t), "of a queue that does not exist")
		f.batch(t, 5)
		f.batch(t, 4, echomq.Priority(1))
		f.batch(t, 3, echomq.In(time.Hour))
		require.NoError(t, f.admin(t).Pause(f.ctx))
		counts := f.counts(t)
		require.Equal(t, echomq.Counts{Waiting: 5, Prioritized: 4, Delayed: 3, Paused: true}, counts)
		require.EqualValues(t, 4, counts.In(echomq.StatePrioritized))
		queues, err := f.operator(t).Queues(f.ctx)
		require.NoError(t, err)
		require.Contains(t, queues, f.spec.Name)
	})
}

func TestListGoesThroughAllPages(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		waiting := f.batch(t, 7)
		delayed := f.batch(t, 5, echomq.In(time.Hour)) // all due at once
		require.Equal(t, waiting, f.ids(t, echomq.StateWaiting, echomq.PageSize(3)))
		require.Equal(t, slices.Sorted(slices.Values(delayed)), f.ids(t, echomq.StateDelayed, echomq.PageSize(2)))
		newest := f.ids(t, echomq.StateDelayed, echomq.PageSize(2), echomq.NewestFirst())
		slices.Reverse(newest)
		require.Equal(t, slices.Sorted(slices.Values(delayed)), newest)
		require.Empty(t, f.ids(t, echomq.StateFailed))

		page, err := f.admin(t).List(f.ctx, echomq.StateDelayed, echomq.PageSize(2))
		require.NoError(t, err)
		require.WithinDuration(t, time.Now().Add(time.Hour), page.Jobs[0].Due, 10*time.Minute)
		require.Equal(t, "greet", page.Jobs[0].Name)
		for _, wrong := range [][]echomq.ListOption{
			{echomq.PageSize(0)}, {echomq.PageSize(501)}, {echomq.After("x")}, {echomq.After(page.Next), echomq.NewestFirst()},
		} {
			_, err := f.admin(t).List(f.ctx, echomq.StateDelayed, wrong...)
			require.ErrorIs(t, err, echomq.ErrOption)
		}
		_, err = f.admin(t).List(f.ctx, echomq.StateWaiting, echomq.NewestFirst())
		require.ErrorIs(t, err, echomq.ErrOption)
		_, err = f.admin(t).List(f.ctx, echomq.StateMissing)
		require.ErrorIs(t, err, echomq.ErrOption)
	})
}

// TestListWhileJobsAreTaken lists waiting jobs of which some are taken between
// the pages: none that stays is missed.
func TestListWhileJobsAreTaken(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		ids := f.batch(t, 30)
		var listed []string
		cursor := ""
		for taken := 0; ; taken++ {
			page, err := f.admin(t).List(f.ctx, echomq.StateWaiting, echomq.PageSize(4), echomq.After(cursor))
			require.NoError(t, err)
			for _, job := range page.Jobs {
				listed = append(listed, job.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
			require.NoError(t, f.store.RPop(f.ctx, f.queue.Key("wait")).Err())
			f.batch(t, 1)
		}
		require.Equal(t, ids, listed[:30])
	})
}

func TestGet(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, completedOrFailed)
		good := f.enqueue(t, "good", echomq.Timeout(time.Second))
		require.Equal(t, "fine", await(t, f, good))
		job, err := good.Info(f.ctx)
		require.NoError(t, err)
		require.Equal(t, echomq.StateCompleted, job.State)
		require.Equal(t, 1, job.AttemptsMade)
		require.NotZero(t, job.FinishedOn)
		encoded, err := json.Marshal(job)
		require.NoError(t, err)
		var fields map[string]any
		require.NoError(t, json.Unmarshal(encoded, &fields))
		require.Equal(t, map[string]any{"name": "good"}, fields["data"], "a payload of JSON is shown as it is")
		require.Equal(t, "fine", fields["returnvalue"])
		require.Equal(t, map[string]any{"timeout": 1000.0}, fields["opts"])
		require.Equal(t, "completed", fields["state"])
		require.NotContains(t, fields, "due")

		_, err = f.admin(t).Get(f.ctx, "none")
		require.ErrorIs(t, err, echomq.ErrJobMissing)
		_, err = f.admin(t).Get(f.ctx, "a b")
		require.ErrorIs(t, err, echomq.ErrName)
	})
}

// TestListOfLargeJobs lists jobs which do not fit into one reply.
func TestListOfLargeJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 6
		large := make([]byte, 3<<20)
		for i := range jobs {
			id := fmt.Sprint("job", i)
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(id), "name", "greet", "data", large).Err())
			require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("failed"), redis.Z{Member: id, Score: float64(i)}).Err())
		}
		page, err := f.admin(t).List(f.ctx, echomq.StateFailed)
		require.NoError(t, err)
		require.Len(t, page.Jobs, jobs)
		for _, job := range page.Jobs {
			require.Len(t, job.Data, len(large))
		}
	})
}
