package echomq_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/wire"
)

// completedOrFailed is a handler whose jobs called bad fail.
func completedOrFailed(_ context.Context, job *echomq.Job[greeting]) (string, error) {
	if strings.HasPrefix(job.Payload.Name, "bad") {
		return "", echomq.Fail(errFlaky)
	}
	return "fine", nil
}

func TestNothingIsKept(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, completedOrFailed)
		none := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}, Failed: echomq.Keep{None: true}})
		good, bad := f.enqueue(t, "good", none), f.enqueue(t, "bad", none)
		_, err := good.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrNotKept)
		failure := awaitFailure(t, f, bad)
		require.Equal(t, "nothing was kept of it", failure.Reason)
		require.Equal(t, echomq.StateCompleted, state(t, f, good), "a stub tells how it ended")
		require.Equal(t, echomq.StateFailed, state(t, f, bad))
		for _, handle := range []echomq.Handle[string]{good, bad} {
			fields := f.hash(t, handle.ID)
			require.Len(t, fields, 2, "the name and the last settle")
			left := f.store.PTTL(f.ctx, f.queue.Key(handle.ID)).Val()
			require.Greater(t, left, 30*time.Second, "longer than anyone sends again")
			require.LessOrEqual(t, left, time.Minute)
		}
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key("completed"), f.queue.Key("failed")).Val())
		require.True(t, f.enqueue(t, "again", echomq.ID(good.ID)).Existing)
	})
}

func TestJobWithoutResultOfWhichNothingIsKept(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := echomq.NewJobType[greeting, echomq.None](f.jobSpec("note"))
		f.serve(t, []echomq.Route{echomq.RouteTo(job, echomq.NoResult(
			func(context.Context, *echomq.Job[greeting]) error { return nil }))})
		handle, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{},
			echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}}))
		require.NoError(t, err)
		await(t, f, handle)
	})
}

// tidy starts a worker that looks all the time for what is kept no longer.
func (f *fixture) tidy(t *testing.T) *worker {
	t.Helper()
	return f.run(t, []echomq.WorkerOption{echomq.CleanEvery(20 * time.Millisecond)},
		echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), completedOrFailed)}, echomq.Concurrency(1)))
}

// kept reports whether more than a stub is left of a job.
func (f *fixture) kept(t *testing.T, id string) bool {
	t.Helper()
	return f.hash(t, id)["finishedOn"] != ""
}

// trimmed waits until no more than a stub is left of a job.
func (f *fixture) trimmed(t *testing.T, id string) {
	t.Helper()
	eventually(t, func() bool { return !f.kept(t, id) }, "the job is trimmed")
}

func TestEndedJobsAreKeptByCount(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		keep := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Count: 3}, Failed: echomq.Keep{Count: 2}})
		var good, bad []echomq.Handle[string]
		for i := range 6 {
			good = append(good, f.enqueue(t, fmt.Sprint("good ", i), keep))
			bad = append(bad, f.enqueue(t, fmt.Sprint("bad ", i), keep))
		}
		f.tidy(t)
		await(t, f, good[5])
		awaitFailure(t, f, bad[5])
		eventually(t, func() bool {
			return f.store.ZCard(f.ctx, f.queue.Key("completed")).Val() == 3 && f.store.ZCard(f.ctx, f.queue.Key("failed")).Val() == 2
		}, "the oldest are gone")
		for i := range 6 {
			require.Equal(t, i >= 3, f.kept(t, good[i].ID), "good %d", i)
			require.Equal(t, i >= 4, f.kept(t, bad[i].ID), "bad %d", i)
		}
	})
}

func TestEndedJobsAreKeptByAge(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.tidy(t)
		short := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}})
		young := f.enqueue(t, "young")
		gone := f.enqueue(t, "old", short)
		stays := f.enqueue(t, "bad", short)
		eventually(t, func() bool { return f.store.ZScore(f.ctx, f.queue.Key("completed"), young.ID).Err() == nil }, "it ended")
		reach(t, f, gone, echomq.StateCompleted)
		f.trimmed(t, gone.ID)
		require.Equal(t, "fine", await(t, f, young), "each job has its own bounds")
		_, err := gone.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrNotKept)
		awaitFailure(t, f, stays)
	})
}

func TestEveryKeyOfATrimmedJobGoes(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w := f.work(t, completedOrFailed)
		handle := f.enqueue(t, "old", echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}}))
		await(t, f, handle)
		w.halt(t)
		key := f.queue.Key(handle.ID)
		require.NoError(t, f.store.RPush(f.ctx, key+":logs", "line").Err())
		require.NoError(t, f.store.SAdd(f.ctx, key+":dependencies", "child").Err())
		require.NoError(t, f.store.HSet(f.ctx, key+":processed", "child", "1").Err())
		require.NoError(t, f.store.HSet(f.ctx, key+":failed", "child", "1").Err())
		f.tidy(t)
		f.trimmed(t, handle.ID)
		for _, left := range f.keys(t) {
			require.NotContains(t, left, handle.ID+":")
		}
		require.Len(t, f.hash(t, handle.ID), 2, "a stub, so that it is not added again")
		left := f.store.PTTL(f.ctx, key).Val()
		require.Greater(t, left, time.Duration(0))
		require.LessOrEqual(t, left, time.Minute)
		require.True(t, f.enqueue(t, "again", echomq.ID(handle.ID)).Existing)
	})
}

func TestTrimmingGoesOnBeyondOnePage(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const kept, gone = 210, 210 // each more than the janitor looks at in one step
		w := f.work(t, completedOrFailed)
		completed := func() int64 { return f.store.ZCard(f.ctx, f.queue.Key("completed")).Val() }
		_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(kept)...),
			echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: echomq.Forever, Count: echomq.NoLimit}}))
		require.NoError(t, err)
		eventually(t, func() bool { return completed() == kept }, "those that stay have ended")
		_, err = echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(gone)...),
			echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}}))
		require.NoError(t, err)
		eventually(t, func() bool { return completed() == kept+gone }, "all have ended")
		w.halt(t)
		f.tidy(t)
		eventually(t, func() bool { return completed() == kept }, "those behind the ones that stay are gone")
	})
}

// TestTurnBeginsWithTheOldest has the last turn stopped before more pages of jobs that
// are kept than one turn looks at. The oldest ones go in the next turn all the same,
// and not when the sweep has come round.
func TestTurnBeginsWithTheOldest(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const old, young = 250, 4100
		now := time.Now()
		pipe := f.store.Pipeline()
		for n := range old + young {
			ended := now
			if n < old {
				ended = now.Add(-48 * time.Hour) // of the 24 for which they are kept
			}
			id := fmt.Sprintf("job-%04d", n)
			pipe.HSet(f.ctx, f.queue.Key(id), "name", "greet", "data", "{}", "finishedOn", ended.UnixMilli())
			pipe.ZAdd(f.ctx, f.queue.Key("completed"), redis.Z{Score: float64(ended.UnixMilli()), Member: id})
			if n%100 == 99 {
				_, err := pipe.Exec(f.ctx)
				require.NoError(t, err)
			}
		}
		pipe.HSet(f.ctx, f.queue.Key("meta"), "version", wire.Version, "sweptCompleted", old)
		_, err := pipe.Exec(f.ctx)
		require.NoError(t, err)
		f.run(t, []echomq.WorkerOption{echomq.CleanEvery(2 * time.Second)}, f.served(hello))
		eventually(t, func() bool {
			turn := f.hash(t, "meta")
			return turn["turnEnds"] != "" && turn["turn"] == ""
		}, "a turn is over")
		require.EqualValues(t, young, f.store.ZCard(f.ctx, f.queue.Key("completed")).Val())
		swept, err := strconv.Atoi(f.hash(t, "meta")["sweptCompleted"])
		require.NoError(t, err)
		require.Greater(t, swept, 3000, "the sweep has gone on from where it was")
	})
}
