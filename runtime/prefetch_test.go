package echomq_test

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// never is as long as no test takes.
const never = time.Hour

// gated is a worker's handler that begins when it is let in and says so, and ends when
// it is let out.
type gated struct {
	begun chan string
	let   chan struct{}
	now   atomic.Int64
	most  atomic.Int64
}

func newGated() *gated { return &gated{begun: make(chan string, 1000), let: make(chan struct{})} }

func (g *gated) handle(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
	now := g.now.Add(1)
	defer g.now.Add(-1)
	for most := g.most.Load(); now > most && !g.most.CompareAndSwap(most, now); most = g.most.Load() {
	}
	g.begun <- job.Payload.Name
	select {
	case <-g.let:
		return "", nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// ahead starts a worker that takes jobs in advance from the start.
func (f *fixture) ahead(t *testing.T, patient time.Duration, handle handler, opts ...echomq.QueueOption) *worker {
	t.Helper()
	return f.run(t, []echomq.WorkerOption{echomq.TakeAhead(patient)},
		echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), handle)}, opts...))
}

// queueUp enqueues jobs that are named by numbers, and returns their handles.
func (f *fixture) queueUp(t *testing.T, jobs int, opts ...echomq.BatchOption) []echomq.Handle[string] {
	t.Helper()
	items := make([]echomq.Item[greeting], jobs)
	for i := range items {
		items[i].Payload.Name = fmt.Sprint(i)
	}
	outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), items, opts...)
	require.NoError(t, err)
	handles := make([]echomq.Handle[string], jobs)
	for i, outcome := range outcomes {
		handles[i] = outcome.Handle
	}
	return handles
}

func (f *fixture) active() int64 { return f.store.ZCard(f.ctx, f.queue.Key("active")).Val() }

// waitingInOrder returns the ids that wait, the next to run first.
func (f *fixture) waitingInOrder() []string {
	ids := f.store.LRange(f.ctx, f.queue.Key("wait"), 0, -1).Val()
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}

func idsOf(handles []echomq.Handle[string]) []string {
	ids := make([]string, len(handles))
	for i, handle := range handles {
		ids[i] = handle.ID
	}
	return ids
}

// requireNames receives the names of jobs from..to-1, in order.
func requireNames(t *testing.T, begun <-chan string, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		require.Equal(t, fmt.Sprint(i), receive(t, begun, "the next job"))
	}
}

// Jobs that were taken in advance run in the slots that there are, in order, and no
// more of them are taken than the bound says.
func TestPrefetch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, slots := range []int{1, 3} {
			const bound, jobs = 12, 60
			f := f.sibling(t)
			handles := f.queueUp(t, jobs)
			g := newGated()
			f.ahead(t, never, g.handle, echomq.Concurrency(slots), echomq.Prefetch(bound))
			eventually(t, func() bool { return f.active() == bound }, "jobs are taken in advance")
			eventually(t, func() bool { return g.now.Load() == int64(slots) }, "all slots are taken")
			for i := range jobs {
				name := receive(t, g.begun, "the next job")
				if slots == 1 {
					require.Equal(t, fmt.Sprint(i), name)
				}
				g.let <- struct{}{}
			}
			for _, handle := range handles {
				await(t, f, handle)
				require.Equal(t, 1, f.envelope(t, handle.ID).AttemptsStarted)
			}
			require.EqualValues(t, slots, g.most.Load())
		}
	})
}

// What a job that was taken in advance waits for a slot is not of its own time.
func TestTimeoutBeginsWithTheHandler(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const timeout = 10 * time.Second
		var last time.Time
		f.queueUp(t, 20, echomq.Timeout(timeout))
		var done atomic.Int64
		f.ahead(t, never, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			limit, ok := ctx.Deadline()
			if !ok || limit.Sub(last) < timeout-time.Millisecond {
				return "", echomq.Fail(fmt.Errorf("the deadline is %v after the last job ended", limit.Sub(last)))
			}
			time.Sleep(5 * time.Millisecond)
			last = time.Now()
			done.Add(1)
			return "", nil
		}, echomq.Concurrency(1))
		eventually(t, func() bool { return done.Load() == 20 }, "all have run")
	})
}

// A job in line is given back when it has waited for too long, in its place and as it
// was, for whoever has a slot.
func TestPrefetchedJobsAreGivenBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 30
		handles := f.queueUp(t, jobs)
		slow := newGated()
		f.ahead(t, 20*time.Millisecond, slow.handle, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, slow.begun, "the first job"))
		eventually(t, func() bool { return f.active() == 1 && len(f.waitingInOrder()) == jobs-1 }, "the others are given back")
		require.Equal(t, idsOf(handles[1:]), f.waitingInOrder(), "in their order")
		for _, handle := range handles[1:] {
			require.Zero(t, f.envelope(t, handle.ID).AttemptsStarted, "as if they had not been taken")
		}
		quick := newGated()
		close(quick.let)
		f.work(t, quick.handle, echomq.Concurrency(1), echomq.Prefetch(0))
		requireNames(t, quick.begun, 1, jobs)
		slow.let <- struct{}{}
		for _, handle := range handles {
			await(t, f, handle)
			envelope := f.envelope(t, handle.ID)
			require.Equal(t, 1, envelope.AttemptsStarted)
			require.Zero(t, envelope.StalledCounter)
		}
	})
}

// A worker that stops gives back what it has taken in advance at once, in its place,
// while its handlers still run.
func TestStopGivesBackWhatIsInLine(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 30
		handles := f.queueUp(t, jobs)
		g := newGated()
		w := f.ahead(t, never, g.handle, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, g.begun, "the first job"))
		eventually(t, func() bool { return f.active() == jobs }, "the others are taken in advance")
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(f.ctx) }()
		eventually(t, func() bool { return len(f.waitingInOrder()) == jobs-1 }, "the others are given back")
		require.Equal(t, idsOf(handles[1:]), f.waitingInOrder(), "in their order")
		g.let <- struct{}{}
		require.NoError(t, receive(t, stopped, "the end of the worker"))
		require.Empty(t, g.begun)
		require.Equal(t, echomq.StateCompleted, state(t, f, handles[0]))
	})
}

// A job whose worker dies while it is in line is one whose worker was lost.
func TestJobsInLineSurviveTheirWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 10
		handles := f.queueUp(t, jobs)
		g := newGated()
		w := f.ahead(t, never, g.handle, echomq.Concurrency(1), echomq.Lease(200*time.Millisecond))
		require.Equal(t, "0", receive(t, g.begun, "the first job"))
		eventually(t, func() bool {
			return f.active() == jobs && f.store.HLen(f.ctx, f.queue.Key("reserved")).Val() == 0
		}, "the others are taken in advance")
		w.Kill()
		require.NoError(t, receive(t, w.done, "the end of Run"))
		w.done <- nil
		require.Empty(t, g.begun, "no handler begins in a worker that was killed")
		next := newGated()
		close(next.let)
		f.work(t, next.handle, echomq.Concurrency(1), echomq.Lease(200*time.Millisecond))
		for _, handle := range handles {
			await(t, f, handle)
			require.Equal(t, 1, f.envelope(t, handle.ID).StalledCounter)
		}
	})
}

// The handler of a job that was cancelled in line, or whose lease was lost there, is
// not run.
func TestJobsThatEndInLineAreNotRun(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := f.queueUp(t, 4)
		g := newGated()
		f.ahead(t, never, g.handle, echomq.Concurrency(1), echomq.Lease(300*time.Millisecond))
		require.Equal(t, "0", receive(t, g.begun, "the first job"))
		eventually(t, func() bool { return f.active() == 4 }, "the others are taken in advance")
		require.NoError(t, handles[1].Cancel(f.ctx))
		lost := f.queue.Key(handles[2].ID)
		deadline := f.store.ZScore(f.ctx, f.queue.Key("active"), handles[2].ID).Val()
		require.NoError(t, f.store.Set(f.ctx, lost+":lock", "somebody:1", 0).Err())
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("active"), redis.Z{Score: deadline + 1e9, Member: handles[2].ID}).Err())
		// The lease keeper has renewed the last one since, and so has seen the other.
		eventually(t, func() bool {
			return f.store.ZScore(f.ctx, f.queue.Key("active"), handles[3].ID).Val() >= deadline+200
		}, "the leases are renewed")
		require.ErrorIs(t, awaitFailure(t, f, handles[1]), echomq.ErrCancelled, "at once")
		g.let <- struct{}{}
		require.Equal(t, "3", receive(t, g.begun, "the last job"))
		g.let <- struct{}{}
		await(t, f, handles[3])
		require.Empty(t, g.begun)
		require.Equal(t, echomq.StateActive, state(t, f, handles[2]), "it is somebody else's")
		require.Equal(t, "somebody:1", f.store.Get(f.ctx, lost+":lock").Val())
	})
}

// Handlers that do not return leave their slots to the line as others do.
func TestLineGoesOnAfterHandlersThatDoNotReturn(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := f.queueUp(t, 30)
		f.ahead(t, never, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			switch job.Payload.Name[len(job.Payload.Name)-1] % 3 {
			case 0:
				panic("on purpose")
			case 1:
				goruntime.Goexit()
			}
			return "", echomq.Fail(errors.New("on purpose"))
		}, echomq.Concurrency(1), echomq.RetryWaits(f.greet(), func(*echomq.Job[greeting], error, time.Duration) time.Duration { return time.Millisecond }))
		for _, handle := range handles {
			require.NotEmpty(t, awaitFailure(t, f, handle).Reason)
		}
	})
}

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
				g := newGated()
				f.run(t, append(c.worker, echomq.TakeAhead(never)), echomq.Serve(f.spec,
					[]echomq.Route{echomq.RouteTo(f.greet(), g.handle)}, append(c.queue, echomq.Concurrency(slots))...))
				for range slots {
					receive(t, g.begun, "a job")
				}
				for range jobs - slots {
					// What is reserved is not lost with the worker.
					eventually(t, func() bool {
						return f.active()-f.store.HLen(f.ctx, f.queue.Key("reserved")).Val() == slots
					}, "only those that run are started")
					g.let <- struct{}{}
					receive(t, g.begun, "a job")
				}
				close(g.let)
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
		g := newGated()
		f.ahead(t, never, g.handle, echomq.Concurrency(slots))
		ended := 0
		end := func(jobs int) {
			for range jobs {
				g.let <- struct{}{}
				receive(t, g.begun, "the next job")
			}
			ended += jobs
			eventually(t, func() bool { return f.store.ZCard(f.ctx, f.queue.Key("completed")).Val() == int64(ended) }, "they have ended")
		}
		receive(t, g.begun, "a job")
		receive(t, g.begun, "a job")
		end(50)
		require.EqualValues(t, slots, f.active(), "none is taken in advance")
		require.NoError(t, f.admin(t).SetLimit(f.ctx, echomq.NoLimit))
		for end(20); f.active() == slots; end(20) {
			require.Less(t, ended, jobs-50, "none is taken in advance still")
		}
		close(g.let)
	})
}

// What was given back wakes workers that have a slot, and not the one that has none.
func TestGivenBackJobsWakeAnIdleWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.queueUp(t, 3)
		slow := newGated()
		f.ahead(t, 300*time.Millisecond, slow.handle, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, slow.begun, "the first job"))
		eventually(t, func() bool { return f.active() == 3 }, "the others are taken in advance")
		quick := newGated()
		close(quick.let)
		f.work(t, quick.handle, echomq.Concurrency(1), echomq.Prefetch(0)) // it waits longest for the marker
		eventually(t, func() bool { return f.active() == 1 }, "they are given back")
		given := time.Now()
		requireNames(t, quick.begun, 1, 3)
		// A worker that is not woken looks after a second or two.
		require.Less(t, time.Since(given), time.Second)
		slow.let <- struct{}{}
	})
}

// A job that waits in line while the store is away for longer than its lease is not
// begun: others have it.
func TestLineIsNotRunAfterItsLeases(t *testing.T) {
	t.Parallel()
	f := newFixture(t, startValkey(t))
	handles := f.queueUp(t, 5)
	proxy := enginetest.NewProxy(t, f.engine)
	cut := *f
	cut.client = f.newClient(t, proxy.Store(t))
	slow := newGated()
	cut.ahead(t, never, slow.handle, echomq.Concurrency(1), echomq.Lease(300*time.Millisecond))
	require.Equal(t, "0", receive(t, slow.begun, "the first job"))
	eventually(t, func() bool { return f.active() == 5 }, "the others are taken in advance")
	proxy.Refuse(true)
	proxy.CutAll()
	quick := newGated()
	close(quick.let)
	f.work(t, quick.handle, echomq.Concurrency(1), echomq.Lease(300*time.Millisecond))
	for _, handle := range handles {
		await(t, f, handle)
	}
	slow.let <- struct{}{}
	eventually(t, func() bool { return slow.now.Load() == 0 }, "the slow handler has ended")
	proxy.Refuse(false)
	f.enqueue(t, "next")
	require.Eventually(t, func() bool {
		select {
		case name := <-quick.begun:
			return name == "next"
		case name := <-slow.begun:
			slow.let <- struct{}{}
			return assert.Equal(t, "next", name)
		default:
			return false
		}
	}, patience, time.Millisecond)
	require.Empty(t, slow.begun)
}

// A queue in which jobs release their unique keys when they are started is one whose
// jobs are not taken in advance once the worker knows.
func TestNoPrefetchOfJobsThatReleaseTheirKeys(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "0")
		f.enqueue(t, "1", echomq.Unique(echomq.UniqueSpec{Key: "k", Until: echomq.UntilStarted}))
		g := newGated()
		f.ahead(t, never, g.handle, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, g.begun, "the first job"))
		eventually(t, func() bool { return f.active() == 2 }, "the first of them is taken in advance")
		more := f.queueUp(t, 3)
		for range 4 {
			g.let <- struct{}{}
			receive(t, g.begun, "a job")
			eventually(t, func() bool { return f.active() == 1 }, "and no others")
		}
		close(g.let)
		for _, handle := range more {
			await(t, f, handle)
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

// TestPrefetchUnderFaults has workers that take jobs in advance, with handlers that
// are short but for some, and that come and go, over connections that break.
func TestPrefetchUnderFaults(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	const rounds, short, long = 5, 400, 2
	want := map[string]int{}
	for range rounds {
		for _, id := range slices.Concat(b.addMany(t, short, chore{}), b.addMany(t, long, chore{Takes: 60 * time.Millisecond})) {
			want[id] = 1
		}
	}
	proxy := enginetest.NewProxy(t, b.engine)
	opts := []echomq.WorkerOption{echomq.TakeAhead(20 * time.Millisecond), echomq.Concurrency(2), echomq.Lease(time.Second)}
	var last *faultWorker
	var most int64
	for round := range rounds {
		if last != nil {
			last.stop(t)
		}
		last = b.work(t, b.through(t, proxy.Store(t)), opts...)
		b.eventually(t, last.Ready, "the worker is ready")
		b.work(t, b.client, opts...)
		cuts := 0
		b.eventually(t, func() bool {
			most = max(most, b.direct.ZCard(b.ctx, b.queue.Key("active")).Val())
			runs, _ := b.ledger.count()
			runs -= round * short
			if cuts < 3 && runs > (cuts+1)*short/4 {
				cuts++
				proxy.CutAll()
			}
			return runs >= short
		}, "jobs run")
	}
	b.drain(t, len(want))
	assert.Greater(t, most, int64(4*rounds), "jobs were taken in advance")
	b.ledger.requireRuns(t, want)
	b.requireUntouched(t, want)
	b.requireAtRest(t)
}
