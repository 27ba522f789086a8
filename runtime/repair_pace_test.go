package echomq_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestTrimmingKeepsPace runs jobs as fast as two workers can, of which few are to
// be kept: the ended ones do not pile up meanwhile, although the workers have one
// turn after the other at deleting them.
func TestTrimmingKeepsPace(t *testing.T) {
	t.Parallel()
	f := newFixture(t, enginetest.Start(t, enginetest.Valkey))
	const jobs, kept, every = 8_000, 50, 20 * time.Millisecond
	for range 2 {
		f.run(t, []echomq.WorkerOption{echomq.CleanEvery(every)},
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), completedOrFailed)}, echomq.Concurrency(50)))
	}
	ended := make(chan int64, 1)
	watched, stop := context.WithCancel(f.ctx)
	go func() { // the most that there ever were
		most := int64(0)
		for watched.Err() == nil {
			most = max(most, f.store.ZCard(f.ctx, f.queue.Key("completed")).Val())
			time.Sleep(5 * time.Millisecond)
		}
		ended <- most
	}()
	keep := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Count: kept}})
	for range jobs / 500 {
		f.batch(t, 500, keep)
	}
	eventually(t, func() bool { c := f.counts(t); return c.Waiting+c.Active == 0 && c.Completed == kept }, "all have ended and few are kept")
	stop()
	most := receive(t, ended, "the highest number")
	t.Logf("at most %d of %d jobs were there at once", most, jobs)
	require.Less(t, most, int64(jobs*3/4), "they are deleted while others end")
}

// TestJanitorsTakeTurns shows that many workers do not each look through the
// ended jobs.
func TestJanitorsTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const workers, every = 5, 50 * time.Millisecond
		f.batch(t, 20)
		for range workers {
			f.run(t, []echomq.WorkerOption{echomq.CleanEvery(every)},
				echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), completedOrFailed)}, echomq.Concurrency(4)))
		}
		eventually(t, func() bool { return f.counts(t).Completed == 20 }, "all have ended")
		turns := map[string]bool{}
		eventually(t, func() bool {
			turn := f.store.HGet(f.ctx, f.queue.Key("meta"), "turn").Val()
			if turn != "" {
				turns[turn] = true
			}
			return len(turns) > 1
		}, "more than one has had a turn")
	})
}

// busy returns for how long the engine's main thread has worked so far. Unlike the
// time that its slow log has of a command, it does not count when a machine that
// is busy with other things kept the engine from its work.
func busy(t *testing.T, store redis.UniversalClient) time.Duration {
	t.Helper()
	info, err := store.InfoMap(t.Context(), "cpu").Result()
	require.NoError(t, err)
	total := 0.0
	for _, field := range []string{"used_cpu_user_main_thread", "used_cpu_sys_main_thread"} {
		seconds, err := strconv.ParseFloat(info["CPU"][field], 64)
		require.NoError(t, err)
		total += seconds
	}
	return time.Duration(total * float64(time.Second))
}

// endedVariable is the environment variable that sets how many ended jobs there
// are in TestCleaningHoldsUpNobody.
const endedVariable = "EMQ_ENDED_JOBS"

// TestCleaningHoldsUpNobody cleans a queue with many ended jobs while others
// enqueue. All that the engine does for one page, and for what was enqueued in the
// meantime, takes it less than 50 ms, so no single call does. On a machine that others
// use the same work takes longer at times: one page in twenty may.
func TestCleaningHoldsUpNobody(t *testing.T) {
	t.Parallel()
	jobs := 100_000
	if text := os.Getenv(endedVariable); text != "" {
		var err error
		jobs, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	f := newFixture(t, enginetest.Start(t, enginetest.Valkey))
	ctx := context.Background()
	f.plantEnded(t, jobs)
	f.enqueue(t, "first contact")

	cleaned := make(chan error, 1)
	var done int64
	var pages []time.Duration
	before := busy(t, f.store)
	go func() {
		var err error
		done, err = f.admin(t).Clean(ctx, echomq.StateCompleted, time.Minute, echomq.OnProgress(func(echomq.Progress) {
			now := busy(t, f.store)
			pages, before = append(pages, now-before), now
		}))
		cleaned <- err
	}()
	added := 0
	for end := false; !end; added++ {
		_, err := echomq.Enqueue(ctx, f.producer, f.greet(), greeting{"Ada"})
		require.NoError(t, err)
		select {
		case err := <-cleaned:
			require.NoError(t, err)
			end = true
		default:
		}
	}
	slices.Sort(pages)
	t.Logf("%d jobs were cleaned while %d were added; %d pages kept the engine busy for %v at most", done, added, len(pages), pages[len(pages)-1])
	require.EqualValues(t, jobs, done)
	require.Greater(t, added, 10)
	require.Less(t, pages[(len(pages)-1)*19/20], 50*time.Millisecond)
}

// plantEnded writes jobs that completed long ago.
func (f *fixture) plantEnded(t *testing.T, jobs int) {
	t.Helper()
	ctx := context.Background()
	for begin := 0; begin < jobs; begin += 5000 {
		pipe := f.store.Pipeline()
		members := make([]redis.Z, 0, 5000)
		for i := begin; i < min(begin+5000, jobs); i++ {
			id := fmt.Sprintf("job-%08d", i)
			pipe.HSet(ctx, f.queue.Key(id), "name", "greet", "data", `{"name":"Ada"}`, "finishedOn", i, "lst", "w:1 completed")
			members = append(members, redis.Z{Member: id, Score: float64(i)})
		}
		pipe.ZAdd(ctx, f.queue.Key("completed"), members...)
		_, err := pipe.Exec(ctx)
		require.NoError(t, err)
	}
}
