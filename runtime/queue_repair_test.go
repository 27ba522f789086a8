package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/wire"
)

// batch adds jobs greet and returns their ids.
func (f *fixture) batch(t *testing.T, n int, opts ...echomq.BatchOption) []string {
	t.Helper()
	outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(n)...), opts...)
	require.NoError(t, err)
	ids := make([]string, n)
	for i, outcome := range outcomes {
		ids[i] = outcome.Handle.ID
	}
	return ids
}

// counts returns how many jobs there are.
func (f *fixture) counts(t *testing.T) echomq.Counts {
	t.Helper()
	counts, err := f.admin(t).Counts(f.ctx)
	require.NoError(t, err)
	return counts
}

func TestRetryFailedJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		healed := false
		w := f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if !healed {
				return "", errFlaky
			}
			return fmt.Sprint(job.Attempt()), nil
		})
		twice := echomq.Retry(echomq.RetrySpec{Attempts: 2, Backoff: echomq.Fixed, Base: time.Millisecond})
		one, two := f.enqueue(t, "one", twice), f.enqueue(t, "two", twice, echomq.Priority(3))
		awaitFailure(t, f, one)
		awaitFailure(t, f, two)
		w.halt(t)
		other := f.enqueue(t, "other")

		healed = true
		outcomes, err := f.admin(t).Retry(f.ctx, one.ID, other.ID, "none", "a b")
		require.NoError(t, err)
		require.NoError(t, outcomes[0].Err)
		require.ErrorIs(t, outcomes[1].Err, echomq.ErrJobNotFailed)
		require.ErrorIs(t, outcomes[2].Err, echomq.ErrJobMissing)
		require.ErrorIs(t, outcomes[3].Err, echomq.ErrName)
		require.Equal(t, echomq.StateWaiting, state(t, f, one), "and not what its stub would say")
		require.ErrorIs(t, one.Retry(f.ctx), echomq.ErrJobNotFailed)
		job, err := one.Info(f.ctx)
		require.NoError(t, err)
		require.Zero(t, job.AttemptsMade)
		require.Empty(t, job.FailedReason)
		require.NotEmpty(t, job.Stacktrace, "the errors of the past stay")

		var steps []echomq.Progress
		retried, err := f.admin(t).RetryAll(f.ctx, echomq.OnProgress(func(p echomq.Progress) { steps = append(steps, p) }))
		require.NoError(t, err)
		require.EqualValues(t, 1, retried)
		require.Equal(t, []echomq.Progress{{Done: 1}}, steps)
		require.Equal(t, echomq.StatePrioritized, state(t, f, two))
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			return fmt.Sprint(job.Attempt()), nil
		})
		require.Equal(t, "1", await(t, f, one))
		require.Equal(t, "1", await(t, f, two))
	})
}

// TestRetryAllGoesThroughAllPages retries more jobs than one page has, while a
// worker fails them again: each is retried once.
func TestRetryAllGoesThroughAllPages(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 260
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", echomq.Fail(errFlaky) })
		f.batch(t, jobs)
		eventually(t, func() bool { return f.counts(t).Failed == jobs }, "all have failed")
		steps := 0
		retried, err := f.admin(t).RetryAll(f.ctx, echomq.OnProgress(func(echomq.Progress) { steps++ }))
		require.NoError(t, err)
		require.EqualValues(t, jobs, retried)
		require.GreaterOrEqual(t, steps, 2)
		eventually(t, func() bool { return f.counts(t).Failed == jobs }, "all have failed again")
	})
}

func TestRemoveJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		started := make(chan struct{})
		release := make(chan struct{})
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			close(started)
			<-release
			return "done", nil
		}, echomq.Concurrency(1))
		held := f.enqueue(t, "held")
		receive(t, started, "the start")
		waiting := f.batch(t, 3)
		delayed := f.enqueue(t, "delayed", echomq.In(time.Hour))
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("quarantine"), redis.Z{Member: "a b", Score: 1}).Err())

		outcomes, err := f.admin(t).Remove(f.ctx, waiting[1], held.ID, delayed.ID, "none", "a b", "c d", waiting[1])
		require.NoError(t, err)
		for i, want := range []error{nil, echomq.ErrJobActive, nil, echomq.ErrJobMissing, nil, echomq.ErrName, echomq.ErrJobMissing} {
			require.ErrorIs(t, outcomes[i].Err, want, "%d", i)
		}
		require.ErrorIs(t, held.Remove(f.ctx), echomq.ErrJobActive)
		require.ErrorIs(t, delayed.Remove(f.ctx), echomq.ErrJobMissing)
		require.Equal(t, []string{waiting[0], waiting[2]}, f.ids(t, echomq.StateWaiting))
		close(release)
		require.Equal(t, "done", await(t, f, held))
		require.NoError(t, held.Remove(f.ctx))
		_, err = held.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMissing)
	})
}

// TestRemovedJobEndsItsAwait removes a job that somebody waits for.
func TestRemovedJobEndsItsAwait(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := f.enqueue(t, "Ada")
		ended := make(chan error, 1)
		go func() {
			_, err := job.Await(f.ctx)
			ended <- err
		}()
		eventually(t, func() bool { return echomq.Waiting(job) == 1 }, "somebody waits")
		outcome, err := f.admin(t).Remove(f.ctx, job.ID)
		require.NoError(t, err)
		require.NoError(t, outcome[0].Err)
		require.ErrorIs(t, receive(t, ended, "the end of Await"), echomq.ErrJobMissing)
	})
}

func TestDrainJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.batch(t, 260)
		f.batch(t, 20, echomq.Priority(2))
		f.batch(t, 10, echomq.In(time.Hour))
		require.NoError(t, f.store.LPush(f.ctx, f.queue.Key("wait"), "a b").Err())
		var last echomq.Progress
		drained, err := f.admin(t).Drain(f.ctx, echomq.OnProgress(func(p echomq.Progress) { last = p }))
		require.NoError(t, err)
		require.EqualValues(t, 280, drained)
		require.Equal(t, echomq.Progress{Done: 280}, last)
		require.Equal(t, echomq.Counts{Delayed: 10, Quarantined: 1}, f.counts(t))
		drained, err = f.admin(t).Drain(f.ctx, echomq.DrainDelayed())
		require.NoError(t, err)
		require.EqualValues(t, 10, drained)
		for _, key := range f.keys(t) {
			require.Contains(t, []string{"meta", "events", "quarantine", "marker"}, key[len(f.queue.Key("")):])
		}
	})
}

// TestDrainGoesOnWhereItStopped ends the context of a drain after a page.
func TestDrainGoesOnWhereItStopped(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.batch(t, 600)
		ctx, cancel := context.WithCancel(f.ctx)
		drained, err := f.admin(t).Drain(ctx, echomq.OnProgress(func(echomq.Progress) { cancel() }))
		require.ErrorIs(t, err, context.Canceled)
		require.Less(t, drained, int64(600))
		require.EqualValues(t, 600, drained+f.counts(t).Waiting)
		rest, err := f.admin(t).Drain(f.ctx)
		require.NoError(t, err)
		require.EqualValues(t, 600, drained+rest)
	})
}

func TestClean(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		now := f.store.Time(f.ctx).Val()
		pipe := f.store.Pipeline()
		for i := range 700 {
			id := fmt.Sprint("job", i)
			ended := now.Add(-time.Duration(i) * time.Minute)
			pipe.HSet(f.ctx, f.queue.Key(id), "name", "greet", "finishedOn", ended.UnixMilli(), "lst", "w:1 failed")
			pipe.ZAdd(f.ctx, f.queue.Key("failed"), redis.Z{Member: id, Score: float64(ended.UnixMilli())})
		}
		pipe.ZAdd(f.ctx, f.queue.Key("failed"), redis.Z{Member: "a b", Score: 1})
		_, err := pipe.Exec(f.ctx)
		require.NoError(t, err)
		cleaned, err := f.admin(t).Clean(f.ctx, echomq.StateFailed, 99*time.Minute+30*time.Second)
		require.NoError(t, err)
		require.EqualValues(t, 600, cleaned)
		require.Equal(t, echomq.Counts{Failed: 100, Quarantined: 1}, f.counts(t), "what is no job is kept to be seen")
		cleaned, err = f.admin(t).Clean(f.ctx, echomq.StateFailed, 0)
		require.NoError(t, err)
		require.EqualValues(t, 100, cleaned)
		require.Len(t, f.hash(t, "job0"), 2, "the stub of one that ended within a minute")
		require.Empty(t, f.hash(t, "job1"))
		cleaned, err = f.admin(t).Clean(f.ctx, echomq.StateQuarantined, 0)
		require.NoError(t, err)
		require.EqualValues(t, 1, cleaned)
		for _, state := range []echomq.State{echomq.StateWaiting, echomq.StateActive, echomq.StateMissing} {
			_, err := f.admin(t).Clean(f.ctx, state, 0)
			require.ErrorIs(t, err, echomq.ErrOption)
		}
		_, err = f.admin(t).Clean(f.ctx, echomq.StateFailed, -time.Second)
		require.ErrorIs(t, err, echomq.ErrOption)
	})
}

func TestObliterate(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		started := make(chan struct{}, 1)
		release := make(chan struct{})
		w := f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name != "held" {
				return completedOrFailed(ctx, job)
			}
			started <- struct{}{}
			<-release
			return "", nil
		})
		await(t, f, f.enqueue(t, "good"))
		awaitFailure(t, f, f.enqueue(t, "bad"))
		_, err := f.enqueue(t, "unkept", echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}})).Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrNotKept)
		f.enqueue(t, "held")
		receive(t, started, "the start")
		require.NoError(t, f.admin(t).Pause(f.ctx))
		f.batch(t, 260)
		f.batch(t, 5, echomq.Priority(2))
		f.batch(t, 5, echomq.In(time.Hour))
		for _, stray := range []string{"lost", "lost:logs", "scheduler:daily", "strange:key:here"} {
			require.NoError(t, f.store.Set(f.ctx, f.queue.Key(stray), "x", 0).Err())
		}
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("active"), redis.Z{Member: "a b", Score: 4_000_000_000_001}).Err())

		_, err = f.admin(t).Obliterate(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobActive)
		require.EqualValues(t, 260, f.counts(t).Waiting, "nothing was deleted")
		// An operator may not look through the keys of the store, so strays stay then.
		obliterated, err := f.queueThrough(t, f.newClient(t, f.store)).Obliterate(f.ctx, echomq.Force())
		require.NoError(t, err)
		require.EqualValues(t, 274, obliterated)
		require.Empty(t, f.keys(t))
		queues, err := f.operator(t).Queues(f.ctx)
		require.NoError(t, err)
		require.NotContains(t, queues, f.spec.Name)

		// A late settle brings nothing back, and the queue can begin anew.
		close(release)
		w.halt(t)
		require.Empty(t, f.keys(t))
		f.enqueue(t, "anew")
		require.Equal(t, echomq.Counts{Waiting: 1}, f.counts(t))
	})
}

// TestRepairsByAnOperator has the rights of the role, which may not look
// through the keys of the store.
func TestRepairsByAnOperator(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		setUser(t, r.store, acl.Request{Role: acl.Operator, User: "emq-operator", Queues: []wire.Queue{r.queue, r.second.queue}})
		client := r.newClient(t, clientAs(t, r.engine.Options(), "emq-operator"))
		queue, err := client.Queue(r.spec.Name)
		require.NoError(t, err)
		ids := r.batch(t, 10)
		_, err = queue.Counts(r.ctx)
		require.NoError(t, err)
		_, err = queue.List(r.ctx, echomq.StateWaiting)
		require.NoError(t, err)
		outcomes, err := queue.Remove(r.ctx, ids[0], "a b")
		require.NoError(t, err)
		require.NoError(t, outcomes[0].Err)
		_, err = queue.RetryAll(r.ctx)
		require.NoError(t, err)
		_, err = queue.Clean(r.ctx, echomq.StateFailed, 0)
		require.NoError(t, err)
		_, err = client.Queues(r.ctx)
		require.NoError(t, err)
		_, err = queue.Obliterate(r.ctx)
		require.NoError(t, err)

		worker, err := r.client.Queue(r.spec.Name)
		require.NoError(t, err)
		_, err = worker.Remove(r.ctx, ids[0])
		require.ErrorIs(t, err, echomq.ErrPermission)
		assert.ErrorContains(t, err, "emq acl operator")
		var refused *echomq.StoreError
		require.True(t, errors.As(err, &refused))
	})
}

// TestStrangeIDsEndInQuarantine plants ids that no job can have where only
// housekeeping meets them.
func TestStrangeIDsEndInQuarantine(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		due := redis.Z{Score: 1}
		for key, id := range map[string]string{"delayed": "a b", "active": "c d", "completed": "e f", "failed": "g h"} {
			due.Member = id
			require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key(key), due).Err())
		}
		w := f.run(t, []echomq.WorkerOption{echomq.CleanEvery(20 * time.Millisecond)},
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), completedOrFailed)}, echomq.Lease(100*time.Millisecond)))
		require.Equal(t, "fine", await(t, f, f.enqueue(t, "good")))
		eventually(t, func() bool { return f.counts(t).Quarantined == 4 }, "all four are in quarantine")
		require.Equal(t, echomq.Counts{Completed: 1, Quarantined: 4}, f.counts(t))
		w.halt(t)
		for job, err := range f.admin(t).Jobs(f.ctx, echomq.StateQuarantined) {
			require.NoError(t, err)
			require.NotEmpty(t, job.Damage)
			require.NotZero(t, job.QuarantinedOn)
			outcomes, err := f.admin(t).Remove(f.ctx, job.ID)
			require.NoError(t, err)
			require.NoError(t, outcomes[0].Err)
		}
		require.Zero(t, f.counts(t).Quarantined)
	})
}
