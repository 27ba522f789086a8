package echomq_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// gauge counts how many handlers run at once, and how many did at most.
type gauge struct{ now, most, ran atomic.Int64 }

func (g *gauge) enter() {
	now := g.now.Add(1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
}

func (g *gauge) leave() { g.ran.Add(1); g.now.Add(-1) }

// handle is a handler that takes its time.
func (g *gauge) handle(context.Context, *echomq.Job[greeting]) (string, error) {
	g.enter()
	defer g.leave()
	time.Sleep(time.Millisecond)
	return "", nil
}

// another starts a worker with a client of its own.
func (f *fixture) another(t *testing.T, handle handler, opts ...echomq.QueueOption) *worker {
	t.Helper()
	g := *f
	g.client = f.newClient(t, f.programStore(t))
	return g.work(t, handle, opts...)
}

// completed waits until so many jobs have completed.
func (f *fixture) completed(t *testing.T, n int64) {
	t.Helper()
	eventually(t, func() bool { return f.store.ZCard(f.ctx, f.queue.Key("completed")).Val() == n }, fmt.Sprintf("%d jobs have completed", n))
}

func TestLimitHoldsAcrossWorkers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.Limit = 3 // as its directive says
		var g gauge
		third, reached := context.WithCancel(f.ctx)
		handle := func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			g.enter()
			defer g.leave()
			if g.most.Load() >= 3 {
				reached()
			}
			select { // the first wait for each other
			case <-third.Done():
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
			return "", nil
		}
		for range 3 {
			f.another(t, handle, echomq.Concurrency(10))
		}
		begun := time.Now()
		f.enqueueMany(t, 60)
		for range 15 {
			f.enqueue(t, "one by one")
		}
		f.enqueueMany(t, 15, echomq.Priority(2))
		f.completed(t, 90)
		require.EqualValues(t, 3, g.most.Load())
		require.Less(t, time.Since(begun), 10*time.Second, "each job that ends makes room for the next at once")
	})
}

func TestLimitBelowTheSlotsOfOneWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var g gauge
		gate := make(chan struct{})
		f.enqueueMany(t, 12)
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			g.enter()
			defer g.leave()
			<-gate
			return "", nil
		}, echomq.Concurrency(10), echomq.Limit(3))
		for range 12 {
			eventually(t, func() bool {
				active := f.store.ZCard(f.ctx, f.queue.Key("active")).Val()
				require.LessOrEqual(t, active, int64(3), "no more is taken than may run")
				return g.now.Load() == min(3, 12-g.ran.Load())
			}, "as many run as may")
			gate <- struct{}{}
		}
		f.completed(t, 12)
		require.EqualValues(t, 3, g.most.Load())
	})
}

// limitProcessVariable makes the test binary a worker with a limit.
const limitProcessVariable = "EMQ_LIMIT_WORKER"

// TestLimitProcess is no test but what the next one starts as a process. It keeps
// the count of the jobs that run in the store, for all processes.
func TestLimitProcess(t *testing.T) {
	socket, queue := "", ""
	if _, err := fmt.Sscanf(os.Getenv(limitProcessVariable), "%s %s", &socket, &queue); err != nil {
		t.Skip("the test of the limit across processes runs this in a process of its own")
	}
	store := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: queue, Name: "greet"})
	worker, err := echomq.NewWorker(echomq.NewClient(store, quiet()), []echomq.WorkerOption{echomq.Concurrency(8), echomq.Limit(4)},
		echomq.Serve(echomq.QueueSpec{Name: queue}, []echomq.Route{echomq.RouteTo(job,
			func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
				now := store.Incr(ctx, "running").Val()
				store.ZAddArgs(ctx, "most", redis.ZAddArgs{GT: true, Members: []redis.Z{{Score: float64(now), Member: "most"}}})
				store.ZIncrBy(ctx, "share", 1, fmt.Sprint(os.Getpid()))
				time.Sleep(2 * time.Millisecond)
				return "", store.Decr(ctx, "running").Err()
			})}))
	require.NoError(t, err)
	require.NoError(t, worker.Run(context.Background()))
}

func TestLimitHoldsAcrossProcesses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, startValkey(t))
	const jobs = 300
	for range 3 {
		command := exec.Command(os.Args[0], "-test.run=^TestLimitProcess$", "-test.timeout=2m")
		command.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s", limitProcessVariable, f.engine.Options().Addr, f.queue))
		require.NoError(t, command.Start())
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	}
	eventually(t, func() bool {
		return strings.Count(f.store.ClientList(f.ctx).Val(), "cmd=bzpopmin") == 3
	}, "three processes wait for jobs")
	f.enqueueMany(t, jobs)
	f.completed(t, jobs)
	require.EqualValues(t, 4, f.store.ZScore(f.ctx, "most", "most").Val())
	shares := f.store.ZRangeWithScores(f.ctx, "share", 0, -1).Val()
	require.Greater(t, len(shares), 1, "several processes took part: %v", shares)
}

func TestLimitGoesWithBatches(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		f.enqueueMany(t, 1000)
		proxy.ResetCounts()
		f.work(t, hello, echomq.Concurrency(100), echomq.Limit(50))
		f.completed(t, 1000)
		require.Less(t, proxy.RoundTrips(), 500, "they are picked and settled in batches: %v", proxy.Counts())
	})
}

// TestFullQueueLetsWorkersRest adds jobs to a queue that is at its limit and has
// idle workers: none of them is woken.
func TestFullQueueLetsWorkersRest(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		gate := make(chan struct{})
		_, running := f.gated(t, gate, echomq.Concurrency(2), echomq.Limit(1))
		f.enqueue(t, "first")
		receive(t, running, "the first job")
		f.enqueue(t, "second") // somebody finds that there is no room for it
		eventually(t, func() bool { return f.store.HGet(f.ctx, f.queue.Key("meta"), "blocked").Val() == "limit" }, "the queue is at its limit")
		f.idle(t, proxy, 1)
		before := proxy.Count("evalsha")
		const jobs = 60
		for i := range jobs {
			f.enqueue(t, fmt.Sprint(i), echomq.Priority(i%2))
		}
		// A look after each 2 s of waiting for the marker, and renewals.
		require.Less(t, proxy.Count("evalsha")-before, jobs+10)
		close(gate)
		f.completed(t, jobs+2)
	})
}

func TestCrashedWorkerFreesTheLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const lease = 400 * time.Millisecond
		f.enqueueMany(t, 6)
		started := make(chan struct{}, 10)
		crash := f.another(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			started <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		}, echomq.Concurrency(5), echomq.Limit(2), echomq.Lease(lease))
		for range 2 {
			receive(t, started, "a job")
		}
		var g gauge
		f.another(t, g.handle, echomq.Concurrency(5), echomq.Limit(2), echomq.Lease(lease))
		crash.Kill()
		receive(t, crash.done, "the end of Run")
		crash.done <- nil
		begun := time.Now()
		f.completed(t, 6)
		require.Less(t, time.Since(begun), lease+2*lease/3+3*time.Second+2*time.Second)
		require.LessOrEqual(t, g.most.Load(), int64(2))
	})
}

// TestOperatorOverridesTheLimit changes the limit while workers run: at once, for
// all of them but the one that has an option.
func TestOperatorOverridesTheLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.Limit = 2
		queue := f.admin(t)
		gate := make(chan struct{})
		var g gauge
		hold := func(context.Context, *echomq.Job[greeting]) (string, error) {
			g.enter()
			defer g.leave()
			<-gate
			return "", nil
		}
		f.another(t, hold, echomq.Concurrency(4))
		f.another(t, hold, echomq.Concurrency(4))
		f.enqueueMany(t, 40)
		runs := func(n int64) {
			t.Helper()
			eventually(t, func() bool { return g.now.Load() == n }, fmt.Sprintf("%d run", n))
		}
		runs(2)
		begun := time.Now()
		require.NoError(t, queue.SetLimit(f.ctx, 5))
		runs(5)
		require.NoError(t, queue.SetLimit(f.ctx, echomq.NoLimit))
		runs(8)
		require.Less(t, time.Since(begun), time.Second, "it takes no timeout of the marker")
		require.NoError(t, queue.SetLimit(f.ctx, 1))
		set, err := queue.Overrides(f.ctx)
		require.NoError(t, err)
		require.Equal(t, echomq.Overrides{Limit: 1}, set)
		for n := int64(7); n >= 1; n-- {
			gate <- struct{}{}
			runs(n)
		}
		gate <- struct{}{}
		eventually(t, func() bool { return g.ran.Load() == 8 && g.now.Load() == 1 }, "the next runs alone")
		f.another(t, hold, echomq.Concurrency(4), echomq.Limit(3))
		runs(3)
		require.NoError(t, queue.ClearOverrides(f.ctx))
		set, err = queue.Overrides(f.ctx)
		require.NoError(t, err)
		require.Zero(t, set)
		for range 3 {
			gate <- struct{}{}
		}
		eventually(t, func() bool { return g.ran.Load() == 11 && g.now.Load() >= 2 }, "the directives hold again")
		close(gate)
		f.completed(t, 40)
	})
}

// TestProgramsWithDifferentLimits runs workers of two versions of a program. Each
// holds to its own number, and neither writes it anywhere.
func TestProgramsWithDifferentLimits(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var old, young gauge
		f.another(t, old.handle, echomq.Concurrency(8), echomq.Limit(2))
		f.another(t, young.handle, echomq.Concurrency(8), echomq.Limit(5))
		f.enqueueMany(t, 150)
		f.completed(t, 150)
		require.LessOrEqual(t, old.most.Load(), int64(2))
		require.LessOrEqual(t, young.most.Load(), int64(5))
		require.NotZero(t, young.ran.Load())
		meta, err := f.store.HGetAll(f.ctx, f.queue.Key("meta")).Result()
		require.NoError(t, err)
		for _, field := range []string{"limit", "rate", "groupLimit", "blocked"} {
			require.NotContains(t, meta, field, "their numbers travel with the calls")
		}
	})
}

func TestLimitsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	f := newFixture(t, enginetest.Start(t, enginetest.Miniredis))
	queue := f.admin(t)
	for about, opt := range map[string]echomq.QueueWorkerOption{
		"limit 0":          echomq.Limit(0),
		"a negative limit": echomq.Limit(-2),
		"a huge limit":     echomq.Limit(1 << 31),
		"no time":          echomq.Rate(5, 0),
		"no jobs":          echomq.Rate(0, time.Second),
		"nothing":          echomq.Rate(0, 0),
		"negative jobs":    echomq.Rate(-2, time.Second),
		"off with a time":  echomq.Rate(echomq.NoLimit, time.Second),
		"too many jobs":    echomq.Rate(1_000_001, time.Second),
		"too short a time": echomq.Rate(1, time.Microsecond),
		"too fine a time":  echomq.Rate(1, 1500*time.Microsecond),
		"too long a time":  echomq.Rate(1, 32*24*time.Hour),
		"a negative time":  echomq.Rate(1, -time.Second),
	} {
		_, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}, opt))
		require.ErrorIs(t, err, echomq.ErrOption, about)
	}
	for _, err := range []error{
		queue.SetLimit(f.ctx, 0), queue.SetLimit(f.ctx, -2), queue.SetRate(f.ctx, 0, 0),
		queue.SetRate(f.ctx, 1, 0), queue.SetRate(f.ctx, 5, 1500*time.Microsecond),
	} {
		require.ErrorIs(t, err, echomq.ErrOption)
	}
	assert.Empty(t, f.keys(t), "nothing was written")
}

// TestWorkerTellsWhoseLimitsHold reads the log of workers as they start.
func TestWorkerTellsWhoseLimitsHold(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		told := func(opts ...echomq.QueueOption) string {
			t.Helper()
			var log lines
			f.client = f.newClient(t, f.programStore(t), echomq.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			f.work(t, hello, opts...).halt(t)
			for line := range strings.Lines(log.String()) {
				if _, limits, found := strings.Cut(line, "the queue has limits"); found {
					return limits[strings.Index(limits, "limit.")-1:]
				}
			}
			return ""
		}
		require.Empty(t, told(), "by default there are none")
		f.spec.Limit, f.spec.Rate = 20, echomq.RateSpec{Jobs: 100, Per: time.Second}
		require.Equal(t, " limit.value=20 limit.from=directive rate.value=100/1s rate.from=directive\n", told())
		queue := f.admin(t)
		require.NoError(t, queue.SetLimit(f.ctx, 5))
		require.NoError(t, queue.SetRate(f.ctx, echomq.NoLimit, 0))
		require.Equal(t, " limit.value=5 limit.from=override rate.value=none rate.from=override\n", told())
		require.Equal(t, " limit.value=none limit.from=option rate.value=7/1m0s rate.from=option\n",
			told(echomq.Limit(echomq.NoLimit), echomq.Rate(7, time.Minute)))
	})
}

// lines is a log that several write to.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
