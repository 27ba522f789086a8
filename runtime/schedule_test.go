package echomq_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// runs counts the runs of each job.
type runs struct {
	mu    sync.Mutex
	count map[string]int
	names map[string]string
}

func newRuns() *runs { return &runs{count: map[string]int{}, names: map[string]string{}} }

func (r *runs) handle(_ context.Context, job *echomq.Job[greeting]) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[job.ID]++
	r.names[job.ID] = job.Payload.Name
	return "hello " + job.Payload.Name, nil
}

func (r *runs) jobs() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	counted := map[string]int{}
	for id, n := range r.count {
		counted[id] = n
	}
	return counted
}

// name returns the name with which a job came.
func (r *runs) name(id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[id]
}

// upsert sets a schedule of the job greet.
func (f *fixture) upsert(t *testing.T, spec echomq.ScheduleSpec, opts ...echomq.EnqueueOption) time.Time {
	t.Helper()
	next, err := echomq.UpsertSchedule(f.ctx, f.producer, f.greet(), spec, greeting{"Ada"}, opts...)
	require.NoError(t, err)
	return next
}

// schedule returns the one schedule of the queue.
func (f *fixture) schedule(t *testing.T) echomq.Schedule {
	t.Helper()
	all, err := f.admin(t).Schedules(f.ctx)
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

// turnBack makes the queue's schedule stand at a slot that has passed, as if no
// worker had been there since.
func (f *fixture) turnBack(t *testing.T, slot time.Time) {
	t.Helper()
	id := f.schedule(t).ID
	require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("schedulers"), redis.Z{Member: id, Score: float64(slot.UnixMilli())}).Err())
	require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "slot", slot.UnixMilli()).Err())
}

func (f *fixture) completedIDs(t *testing.T) []string {
	t.Helper()
	ids, err := f.store.ZRange(f.ctx, f.queue.Key("completed"), 0, -1).Result()
	require.NoError(t, err)
	return ids
}

// halfAnHourAgo is an expression whose slot passed half an hour ago, and a day
// before that.
func halfAnHourAgo(now time.Time) (expression string, slot time.Time) {
	slot = now.UTC().Add(-30 * time.Minute).Truncate(time.Minute)
	return fmt.Sprintf("%d %d * * *", slot.Minute(), slot.Hour()), slot
}

func TestManyWorkersAddEachSlotOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		seen := newRuns()
		f.upsert(t, echomq.ScheduleSpec{ID: "beat", Every: 100 * time.Millisecond})
		for range 4 {
			f.work(t, seen.handle)
		}
		eventually(t, func() bool { return len(seen.jobs()) >= 5 }, "five slots have come")
		require.NoError(t, f.admin(t).RemoveSchedule(f.ctx, "beat"))
		counted := f.settled(t)
		for id, n := range seen.jobs() {
			require.Equal(t, 1, n, id)
			scheduler, slot, ok := wire.ParseSlotID(id)
			require.True(t, ok, id)
			require.Equal(t, "beat", scheduler.String())
			require.Zero(t, slot%100, "slots are the multiples of the interval")
			envelope := f.envelope(t, id)
			require.Equal(t, "beat", envelope.RepeatJobKey)
			require.Equal(t, time.UnixMilli(slot).UTC(), envelope.Slot())
			require.GreaterOrEqual(t, int64(envelope.Timestamp), slot, "no slot comes early by the server's clock")
		}
		require.Len(t, seen.jobs(), counted, "no job was added that did not run")
	})
}

// settled waits until no job is on its way, and returns how many have completed.
func (f *fixture) settled(t *testing.T) int {
	t.Helper()
	eventually(t, func() bool {
		return f.store.Exists(f.ctx, f.queue.Key("wait"), f.queue.Key("prioritized"), f.queue.Key("delayed"), f.queue.Key("active")).Val() == 0
	}, "all jobs have ended")
	return len(f.completedIDs(t))
}

func TestScheduleOutlastsEveryProcess(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		seen := newRuns()
		f.upsert(t, echomq.ScheduleSpec{Every: 100 * time.Millisecond})
		first := f.work(t, seen.handle)
		eventually(t, func() bool { return len(seen.jobs()) > 0 }, "a slot has come")
		first.Kill()
		<-first.done
		first.done <- nil
		before := f.schedule(t)
		require.Equal(t, "greet", before.ID, "the default")
		eventually(t, func() bool { return f.serverTime(t).After(before.Next.Add(250 * time.Millisecond)) }, "slots pass and nobody is there")
		require.Equal(t, before.Count, f.schedule(t).Count)

		f.work(t, seen.handle)
		eventually(t, func() bool { return f.schedule(t).Count > before.Count }, "it goes on")
		missed := wire.SchedulerID.Slot(must(wire.ParseSchedulerID("greet")), before.Next.UnixMilli())
		require.NotContains(t, seen.jobs(), missed.String(), "of the slots that passed the latest has come")
	})
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestMissedSlots(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for name, c := range map[string]struct {
			misfire echomq.Misfire
			jobs    int
		}{"once": {echomq.MisfireDefault, 1}, "skip": {echomq.MisfireSkip, 0}} {
			expression, slot := halfAnHourAgo(f.serverTime(t))
			f := f.sibling(t)
			f.upsert(t, echomq.ScheduleSpec{Cron: expression, Misfire: c.misfire})
			f.turnBack(t, slot.AddDate(0, 0, -2))
			f.work(t, hello)
			eventually(t, func() bool { return f.schedule(t).Next.After(f.serverTime(t)) }, "the schedule went on")
			require.Equal(t, c.jobs, f.settled(t), name)
			found := f.schedule(t)
			require.Equal(t, slot.AddDate(0, 0, 1), found.Next)
			require.Equal(t, c.jobs, found.Count)
			if c.jobs == 1 {
				require.Equal(t, slot, found.Last, "one job for all of them, that of the latest")
				require.Equal(t, []string{fmt.Sprintf("_greet.%d", slot.UnixMilli())}, f.completedIDs(t))
			}
		}
	})
}

func TestLateSlotWithinGraceIsNotMissed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.upsert(t, echomq.ScheduleSpec{Every: 24 * time.Hour, Misfire: echomq.MisfireSkip})
		f.turnBack(t, f.serverTime(t).Add(-echomq.MisfireGrace/2))
		f.work(t, hello)
		eventually(t, func() bool { return f.schedule(t).Count == 1 }, "it runs")
	})
}

func TestUpsertOfTheSameChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		expression, slot := halfAnHourAgo(f.serverTime(t))
		spec := echomq.ScheduleSpec{Cron: expression}
		next := f.upsert(t, spec)
		require.Equal(t, slot.AddDate(0, 0, 1), next)
		record := f.hash(t, "scheduler:greet")
		require.Equal(t, next, f.upsert(t, spec))
		require.Equal(t, record, f.hash(t, "scheduler:greet"))

		// A slot that waits for a worker is not lost when something else changes.
		f.turnBack(t, slot)
		require.Equal(t, slot, f.upsert(t, spec, echomq.Priority(3)))
		require.Equal(t, 3, f.schedule(t).Priority)
		// It is when the times do.
		spec.Zone = "Asia/Kolkata"
		require.True(t, f.upsert(t, spec).After(f.serverTime(t)))
		require.Equal(t, "Asia/Kolkata", f.schedule(t).Zone)
	})
}

func TestSchedulesAreListedAndRemoved(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		end := time.Date(2999, 1, 1, 0, 0, 0, 0, time.UTC)
		f.upsert(t, echomq.ScheduleSpec{ID: "b", Cron: "0 9 * * *", Zone: "Europe/Berlin", Misfire: echomq.MisfireSkip})
		f.upsert(t, echomq.ScheduleSpec{ID: "a", Every: time.Hour, Limit: 3, End: end}, echomq.In(time.Minute))
		f.upsert(t, echomq.ScheduleSpec{ID: "c", Every: echomq.MaxEvery})
		all, err := f.admin(t).Schedules(f.ctx)
		require.NoError(t, err)
		found := map[string]echomq.Schedule{}
		for i, schedule := range all {
			require.True(t, i == 0 || !schedule.Next.Before(all[i-1].Next), "in the order of their slots")
			require.True(t, schedule.Next.After(f.serverTime(t).Add(-time.Second)))
			schedule.Next = time.Time{}
			found[schedule.ID] = schedule
		}
		require.Equal(t, map[string]echomq.Schedule{
			"a": {ID: "a", Job: "greet", Every: time.Hour, Misfire: echomq.MisfireOnce, Limit: 3, End: end, Delay: time.Minute},
			"b": {ID: "b", Job: "greet", Cron: "0 9 * * *", Zone: "Europe/Berlin", Misfire: echomq.MisfireSkip},
			"c": {ID: "c", Job: "greet", Every: echomq.MaxEvery, Misfire: echomq.MisfireOnce},
		}, found)
		for _, id := range []string{"a", "b", "c", "c", "never"} {
			require.NoError(t, f.admin(t).RemoveSchedule(f.ctx, id))
		}
		require.ErrorIs(t, f.admin(t).RemoveSchedule(f.ctx, "a:b"), echomq.ErrName)
		require.Subset(t, []string{f.queue.Key("meta"), f.queue.Key("marker")}, f.keys(t), "nothing is left of them")
		meta := f.hash(t, "meta")
		delete(meta, "contract:1:greet")
		require.Equal(t, map[string]string{"version": "echomq:2.0.0"}, meta)
	})
}

func TestScheduleEnds(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		f.upsert(t, echomq.ScheduleSpec{ID: "twice", Every: 100 * time.Millisecond, Limit: 2})
		eventually(t, func() bool { return f.schedule(t).Next.IsZero() }, "it has ended")
		require.Equal(t, 2, f.schedule(t).Count)
		require.Equal(t, 2, f.settled(t))
		require.Zero(t, f.upsert(t, echomq.ScheduleSpec{ID: "twice", Every: 100 * time.Millisecond, Limit: 2}), "the same has ended")
		end := f.serverTime(t).Add(250 * time.Millisecond)
		f.upsert(t, echomq.ScheduleSpec{ID: "twice", Every: 100 * time.Millisecond, End: end})
		eventually(t, func() bool { return f.schedule(t).Next.IsZero() }, "it has come to its end")
		require.False(t, f.schedule(t).Last.After(end))
	})
}

func TestSchedulesThatAreRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for name, spec := range map[string]echomq.ScheduleSpec{
			"neither":       {},
			"both":          {Cron: "0 9 * * *", Every: time.Hour},
			"too few":       {Cron: "0 9 * *"},
			"never":         {Cron: "0 0 30 2 *"},
			"no zone":       {Cron: "0 9 * * *", Zone: "Mars/Olympus"},
			"Local":         {Cron: "0 9 * * *", Zone: "Local"},
			"zone of every": {Every: time.Hour, Zone: "Europe/Berlin"},
			"too short":     {Every: 99 * time.Millisecond},
			"too long":      {Every: echomq.MaxEvery + time.Hour},
			"id":            {ID: "_a", Every: time.Hour},
			"misfire":       {Every: time.Hour, Misfire: 7},
			"limit":         {Every: time.Hour, Limit: -1},
			"end":           {Every: time.Hour, End: time.Now().Add(-time.Hour)},
		} {
			_, err := echomq.UpsertSchedule(f.ctx, f.producer, f.greet(), spec, greeting{})
			require.ErrorIs(t, err, echomq.ErrOption, name)
			_, err = echomq.NewWorker(f.client, nil, f.repeating(hello, spec, nil))
			if name != "end" { // which the store's clock decides
				require.ErrorIs(t, err, echomq.ErrOption, name)
			}
		}
		hourly := echomq.ScheduleSpec{Every: time.Hour}
		for _, opt := range []echomq.EnqueueOption{echomq.ID("mine"), echomq.At(time.Now()), echomq.Priority(-1)} {
			_, err := echomq.UpsertSchedule(f.ctx, f.producer, f.greet(), hourly, greeting{}, opt)
			require.ErrorIs(t, err, echomq.ErrOption)
		}
		_, err := echomq.UpsertSchedule(f.ctx, f.producer, f.greet(), hourly, greeting{strings.Repeat("x", 2<<20)})
		require.ErrorIs(t, err, echomq.ErrPayload)
		unique := f.greet(func(s *echomq.JobSpec) { s.Unique = echomq.UniqueSpec{Until: echomq.UntilFinished} })
		_, err = echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(unique, hello)}).
			Repeating(echomq.Repeat(unique, hourly, nil)))
		require.ErrorIs(t, err, echomq.ErrOption, "a unique job")
		stranger := echomq.NewJobType[greeting, string](f.jobSpec("other"))
		for name, repeated := range map[string][]echomq.Repeated{
			"no handler": {echomq.Repeat(stranger, hourly, nil)},
			"twice":      {echomq.Repeat(f.greet(), hourly, nil), echomq.Repeat(f.greet(), hourly, nil)},
			"zero":       {{}},
		} {
			served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}).Repeating(repeated...)
			_, err := echomq.NewWorker(f.client, nil, served)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		_, err = f.greet().Handle(f.client, "_a:b")
		require.ErrorIs(t, err, echomq.ErrName)
		require.NotContains(t, f.keys(t), f.queue.Key("schedulers"))
	})
}

// TestWholeLifeOfAScheduledJob follows one from its slot until it is trimmed.
func TestWholeLifeOfAScheduledJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		expression, slot := halfAnHourAgo(f.serverTime(t))
		f.upsert(t, echomq.ScheduleSpec{Cron: expression}, echomq.Priority(2),
			echomq.Retry(echomq.RetrySpec{Attempts: 2, Backoff: echomq.Fixed, Base: time.Millisecond}),
			echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Second}}))
		f.turnBack(t, slot)
		handle, err := f.greet().Handle(f.client, fmt.Sprintf("_greet.%d", slot.UnixMilli()))
		require.NoError(t, err)
		f.run(t, []echomq.WorkerOption{echomq.CleanEvery(20 * time.Millisecond)},
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), lively)}, echomq.Lease(shortLease)))
		eventually(t, func() bool { return state(t, f, handle) != echomq.StateMissing }, "it was added")
		require.Equal(t, "hello Ada", await(t, f, handle))
		eventually(t, func() bool { return f.hash(t, handle.ID)["data"] == "" }, "it is trimmed, but for its stub")
	})
}

func TestScheduledJobOfALostWorkerRunsAgain(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		expression, slot := halfAnHourAgo(f.serverTime(t))
		f.upsert(t, echomq.ScheduleSpec{Cron: expression})
		f.turnBack(t, slot)
		started := make(chan string, 1)
		lost := f.serve(t, []echomq.Route{echomq.RouteTo(f.greet(), func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			started <- job.ID
			<-ctx.Done()
			return "", ctx.Err()
		})}, echomq.Lease(shortLease))
		id := receive(t, started, "the start")
		lost.Kill()
		<-lost.done
		lost.done <- nil
		f.work(t, hello, echomq.Lease(shortLease))
		handle, err := f.greet().Handle(f.client, id)
		require.NoError(t, err)
		require.Equal(t, "hello Ada", await(t, f, handle))
		require.Equal(t, 1, f.envelope(t, id).StalledCounter)
	})
}

func TestScheduleWithoutItsHashIsDropped(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.upsert(t, echomq.ScheduleSpec{Every: time.Hour})
		f.turnBack(t, f.serverTime(t).Add(-time.Second))
		require.NoError(t, f.store.Del(f.ctx, f.queue.Key("scheduler:greet")).Err())
		f.work(t, hello)
		eventually(t, func() bool { return f.store.Exists(f.ctx, f.queue.Key("schedulers")).Val() == 0 }, "it is gone")
		require.NotContains(t, f.hash(t, "meta"), "slot")
	})
}

func TestPausedQueueGathersTheJobsOfItsSlots(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.admin(t).Pause(f.ctx))
		f.upsert(t, echomq.ScheduleSpec{Every: 100 * time.Millisecond})
		seen := newRuns()
		f.work(t, seen.handle)
		eventually(t, func() bool { return f.schedule(t).Count >= 2 }, "slots come")
		require.Empty(t, seen.jobs())
		require.NoError(t, f.admin(t).Resume(f.ctx))
		eventually(t, func() bool { return len(seen.jobs()) >= 2 }, "they run")
	})
}

// TestRevisionVector holds the hash that docs/protocol.md defines.
func TestRevisionVector(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0kTzkwSXc4Yh_z7n5oSclA", echomq.Revision(script.ScheduleItem{
		Name: "digest", Cron: "0 9 * * *", Zone: "Europe/Berlin", Misfire: "once", Data: []byte("{}"), Version: 1, Priority: 10,
	}))
}
