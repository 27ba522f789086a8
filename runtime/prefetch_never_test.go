package echomq_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// Where jobs that wait in line would keep others from running, or be lost for nothing,
// none is taken in advance.
func TestNoPrefetch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const slots, jobs = 2, 12
		for name, c := range map[string]struct {
			worker  []echomq.WorkerOption
			queue   []echomq.QueueOption
			job     []echomq.BatchOption
			prepare func(t *testing.T, f *fixture, handles []echomq.Handle[string])
		}{
			"none is wanted":  {queue: []echomq.QueueOption{echomq.Prefetch(0)}},
			"a limit":         {queue: []echomq.QueueOption{echomq.Limit(10)}},
			"a rate":          {queue: []echomq.QueueOption{echomq.Rate(1000, time.Second)}},
			"a group limit":   {queue: []echomq.QueueOption{echomq.GroupLimit(10)}},
			"slots in common": {worker: []echomq.WorkerOption{echomq.TotalConcurrency(slots)}},
			"may not be lost": {job: []echomq.BatchOption{echomq.Retry(echomq.RetrySpec{Stalls: echomq.NoStalls})}},
			"were lost before": {prepare: func(_ *testing.T, f *fixture, handles []echomq.Handle[string]) {
				for _, handle := range handles {
					f.store.HSet(f.ctx, f.queue.Key(handle.ID), "stc", 1)
				}
			}},
			"one was lost before": {prepare: func(_ *testing.T, f *fixture, handles []echomq.Handle[string]) {
				f.store.HSet(f.ctx, f.queue.Key(handles[slots].ID), "stc", 1)
			}},
			"an operator's rate": {prepare: func(t *testing.T, f *fixture, _ []echomq.Handle[string]) {
				require.NoError(t, f.admin(t).SetRate(f.ctx, 1000, time.Second))
			}},
			"an operator's limit": {prepare: func(t *testing.T, f *fixture, _ []echomq.Handle[string]) {
				require.NoError(t, f.admin(t).SetLimit(f.ctx, 10))
			}},
			"an operator's group limit": {prepare: func(t *testing.T, f *fixture, _ []echomq.Handle[string]) {
				require.NoError(t, f.admin(t).SetGroupLimit(f.ctx, 10))
			}},
		} {
			t.Run(name, func(t *testing.T) {
				f := newFixture(t, f.engine)
				handles := f.queueUp(t, jobs, c.job...)
				if c.prepare != nil {
					c.prepare(t, f, handles)
				}
				gate := make(chan struct{})
				handle, running := atGate(gate)
				f.run(t, append(c.worker, echomq.TakeAhead(never)), echomq.Serve(f.spec,
					[]echomq.Route{echomq.RouteTo(f.greet(), handle)}, append(c.queue, echomq.Concurrency(slots))...))
				for range slots {
					receive(t, running, "a job")
				}
				for range jobs - slots {
					// What is reserved is not lost with the worker.
					eventually(t, func() bool {
						return f.active()-f.store.HLen(f.ctx, f.queue.Key("reserved")).Val() == slots
					}, "only those that run are started")
					gate <- struct{}{}
					receive(t, running, "a job")
				}
				close(gate)
				for _, handle := range handles {
					await(t, f, handle)
				}
			})
		}
	})
}

// Once an operator takes his limit back, jobs are taken in advance again.
func TestPrefetchFollowsTheOperator(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const slots, jobs = 2, 400
		require.NoError(t, f.admin(t).SetLimit(f.ctx, 100))
		f.queueUp(t, jobs)
		gate := make(chan struct{})
		_, running := f.ahead(t, never, gate, echomq.Concurrency(slots))
		ended := 0
		end := func(jobs int) {
			for range jobs {
				gate <- struct{}{}
				receive(t, running, "the next job")
			}
			ended += jobs
			eventually(t, func() bool { return f.store.ZCard(f.ctx, f.queue.Key("completed")).Val() == int64(ended) }, "they have ended")
		}
		receive(t, running, "a job")
		receive(t, running, "a job")
		end(50)
		require.EqualValues(t, slots, f.active(), "none is taken in advance")
		require.NoError(t, f.admin(t).SetLimit(f.ctx, echomq.NoLimit))
		for end(20); f.active() <= slots; end(20) {
			require.Less(t, ended, jobs-50, "none is taken in advance still")
		}
		close(gate)
	})
}

// Once the worker has met a job that releases its unique key when it is started, none
// is taken in advance, wherever that one stood.
func TestNoPrefetchOfJobsThatReleaseTheirKeys(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		until := echomq.Unique(echomq.UniqueSpec{Key: "k", Until: echomq.UntilStarted})
		for name, first := range map[string]int{"the first": 0, "one in line": 1} {
			t.Run(name, func(t *testing.T) {
				f := newFixture(t, f.engine)
				f.queueUp(t, first)
				f.enqueue(t, "keyed", until)
				gate := make(chan struct{})
				_, running := f.ahead(t, never, gate, echomq.Concurrency(1))
				receive(t, running, "the first job")
				eventually(t, func() bool { return f.active() == int64(first+1) }, "it was met")
				more := f.queueUp(t, 5)
				for range first + 4 {
					gate <- struct{}{}
					receive(t, running, "the next job")
					eventually(t, func() bool { return f.active() == 1 }, "no others are taken")
				}
				close(gate)
				for _, handle := range more {
					await(t, f, handle)
				}
			})
		}
	})
}

func TestPrefetchIsChecked(t *testing.T) {
	t.Parallel()
	store := redis.NewClient(&redis.Options{})
	defer store.Close()
	client := echomq.NewClient(store)
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "q", Name: "greet"})
	for _, n := range []int{-1, 501} {
		_, err := echomq.NewWorker(client, []echomq.WorkerOption{echomq.Prefetch(n)}, echomq.Serve(echomq.QueueSpec{Name: "q"}, []echomq.Route{echomq.RouteTo(job, hello)}))
		require.ErrorIs(t, err, echomq.ErrOption)
		require.ErrorContains(t, err, fmt.Sprintf("prefetch %d: it must be from 0 to 500", n))
	}
}
