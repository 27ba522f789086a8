package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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

// ahead starts a worker that takes jobs in advance from the start, and whose jobs say
// that they run and wait for a gate.
func (f *fixture) ahead(t *testing.T, wait time.Duration, gate <-chan struct{}, opts ...echomq.QueueOption) (w *worker, running <-chan string) {
	t.Helper()
	handle, running := atGate(gate)
	return f.aheadWith(t, wait, handle, opts...), running
}

func (f *fixture) aheadWith(t *testing.T, wait time.Duration, handle handler, opts ...echomq.QueueOption) *worker {
	t.Helper()
	return f.run(t, []echomq.WorkerOption{echomq.TakeAhead(wait)},
		echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), handle)}, opts...))
}

// queueUp enqueues jobs that are named by numbers, and returns their handles.
func (f *fixture) queueUp(t *testing.T, jobs int, opts ...echomq.BatchOption) []echomq.Handle[string] {
	t.Helper()
	outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(jobs)...), opts...)
	require.NoError(t, err)
	handles := make([]echomq.Handle[string], jobs)
	for i, outcome := range outcomes {
		handles[i] = outcome.Handle
	}
	return handles
}

// open returns a gate that is open.
func open() <-chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

func (f *fixture) waiting() int64 { return f.store.LLen(f.ctx, f.queue.Key("wait")).Val() }
func (f *fixture) active() int64  { return f.store.ZCard(f.ctx, f.queue.Key("active")).Val() }

// requireNames receives the names of jobs from..to-1, in order.
func requireNames(t *testing.T, running <-chan string, from, to int) {
	t.Helper()
	for _, name := range numbers(to)[from:] {
		require.Equal(t, name, receive(t, running, "the next job"))
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
			var now, most atomic.Int64
			gate := make(chan struct{})
			handle, running := atGate(gate)
			f.aheadWith(t, never, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				defer now.Add(-1)
				return handle(ctx, job)
			}, echomq.Concurrency(slots), echomq.Prefetch(bound))
			eventually(t, func() bool { return f.active() == bound }, "jobs are taken in advance")
			eventually(t, func() bool { return now.Load() == int64(slots) }, "all slots are taken")
			for i := range jobs {
				name := receive(t, running, "the next job")
				if slots == 1 {
					require.Equal(t, fmt.Sprint(i), name)
				}
				gate <- struct{}{}
			}
			for _, handle := range handles {
				await(t, f, handle)
				require.Equal(t, 1, f.envelope(t, handle.ID).AttemptsStarted)
			}
			require.EqualValues(t, slots, most.Load())
		}
	})
}

// What a job that was taken in advance waits for a slot is not of its own time.
func TestTimeoutBeginsWithTheHandler(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const timeout, jobs = 10 * time.Second, 20
		handles := f.queueUp(t, jobs, echomq.Timeout(timeout))
		gate, running := make(chan struct{}), make(chan time.Time, jobs)
		f.aheadWith(t, never, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			limit, _ := ctx.Deadline()
			running <- limit
			<-gate
			return "", nil
		}, echomq.Concurrency(1))
		receive(t, running, "the first job")
		eventually(t, func() bool { return f.active() == jobs }, "the others are taken in advance")
		elapse(10 * time.Millisecond) // longer than jobs may be apart that share a deadline
		least := time.Now().Add(timeout)
		close(gate)
		for range jobs - 1 {
			require.False(t, receive(t, running, "the next job").Before(least), "it began before the handler did")
		}
		for _, handle := range handles {
			await(t, f, handle)
		}
	})
}

// A job in line is given back when it has waited for too long, in its place and as it
// was, for whoever has a slot.
func TestPrefetchedJobsAreGivenBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 30
		handles := f.queueUp(t, jobs)
		gate := make(chan struct{})
		_, running := f.ahead(t, 20*time.Millisecond, gate, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, running, "the first job"))
		eventually(t, func() bool { return f.active() == 1 && f.waiting() == jobs-1 }, "the others are given back")
		require.Equal(t, numbers(jobs)[1:], waitingNames(t, f), "in their order")
		for _, handle := range handles[1:] {
			require.Zero(t, f.envelope(t, handle.ID).AttemptsStarted, "as if they had not been taken")
		}
		_, others := f.gated(t, open(), echomq.Concurrency(1), echomq.Prefetch(0))
		requireNames(t, others, 1, jobs)
		close(gate)
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
		gate := make(chan struct{})
		w, running := f.ahead(t, never, gate, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, running, "the first job"))
		eventually(t, func() bool { return f.active() == jobs }, "the others are taken in advance")
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(f.ctx) }()
		eventually(t, func() bool { return f.waiting() == jobs-1 }, "the others are given back")
		require.Equal(t, numbers(jobs)[1:], waitingNames(t, f), "in their order")
		close(gate)
		require.NoError(t, receive(t, stopped, "the end of the worker"))
		require.Empty(t, running)
		require.Equal(t, echomq.StateCompleted, state(t, f, handles[0]))
	})
}

// What a worker that stops has begun none of, of what its pick took, goes back in its
// place: before what it had reserved.
func TestStopWhileJobsAreTakenInAdvance(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 30
		taking := &snag{held: make(chan struct{}), open: make(chan struct{})}
		f.client = f.newClient(t, f.programStore(t), echomq.WithLogger(slog.New(taking)))
		handles := f.queueUp(t, jobs)
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handles[1].ID), "opts", "{").Err())
		w, running := f.ahead(t, never, open(), echomq.Concurrency(1))
		goOn := opener(taking.open)
		t.Cleanup(goOn) // also if the test ends before
		receive(t, taking.held, "the start of the second job")
		require.NotZero(t, f.store.HLen(f.ctx, f.queue.Key("reserved")).Val())
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(f.ctx) }()
		eventually(t, func() bool { return !w.Ready() }, "the worker is stopping")
		goOn()
		require.NoError(t, receive(t, stopped, "the end of Stop"))
		require.Equal(t, "0", receive(t, running, "the first job"))
		require.Empty(t, running)
		require.Equal(t, numbers(jobs)[1:], waitingNames(t, f), "in their order")
		for _, handle := range handles[1:] {
			require.Zero(t, f.envelope(t, handle.ID).AttemptsStarted, "as if they had not been taken")
		}
	})
}

// A job whose worker dies while it is in line is one whose worker was lost.
func TestJobsInLineSurviveTheirWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 10
		handles := f.queueUp(t, jobs)
		gate := make(chan struct{})
		w, running := f.ahead(t, never, gate, echomq.Concurrency(1), echomq.Lease(200*time.Millisecond))
		require.Equal(t, "0", receive(t, running, "the first job"))
		eventually(t, func() bool {
			return f.active() == jobs && f.store.HLen(f.ctx, f.queue.Key("reserved")).Val() == 0
		}, "the others are taken in advance")
		w.Kill()
		require.NoError(t, receive(t, w.done, "the end of Run"))
		w.done <- nil
		close(gate)
		f.gated(t, open(), echomq.Concurrency(1), echomq.Lease(200*time.Millisecond))
		for _, handle := range handles {
			await(t, f, handle)
			require.Equal(t, 1, f.envelope(t, handle.ID).StalledCounter)
		}
		require.Empty(t, running, "no handler begins in a worker that was killed")
	})
}

// The handler of a job that was cancelled in line, or whose lease was lost there, is
// not run.
func TestJobsThatEndInLineAreNotRun(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := f.queueUp(t, 4)
		gate := make(chan struct{})
		_, running := f.ahead(t, never, gate, echomq.Concurrency(1), echomq.Lease(300*time.Millisecond))
		require.Equal(t, "0", receive(t, running, "the first job"))
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
		close(gate)
		await(t, f, handles[3])
		require.Equal(t, "3", <-running)
		require.Empty(t, running)
		require.Equal(t, echomq.StateActive, state(t, f, handles[2]), "it is somebody else's")
		require.Equal(t, "somebody:1", f.store.Get(f.ctx, lost+":lock").Val())
	})
}

// Handlers that do not return leave their slots to the line as others do.
func TestLineGoesOnAfterHandlersThatDoNotReturn(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := f.queueUp(t, 30)
		f.aheadWith(t, never, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
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

// What was given back wakes workers that have a slot, and not the one that has none.
func TestGivenBackJobsWakeAnIdleWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.queueUp(t, 3)
		gate := make(chan struct{})
		_, running := f.ahead(t, 300*time.Millisecond, gate, echomq.Concurrency(1))
		require.Equal(t, "0", receive(t, running, "the first job"))
		eventually(t, func() bool { return f.active() == 3 }, "the others are taken in advance")
		_, others := f.gated(t, open(), echomq.Concurrency(1), echomq.Prefetch(0)) // which waits for the marker
		eventually(t, func() bool { return f.active() == 1 }, "they are given back")
		given := time.Now()
		requireNames(t, others, 1, 3)
		// A worker that is not woken looks after a second or two.
		require.Less(t, time.Since(given), time.Second)
		close(gate)
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
	gate := make(chan struct{})
	_, running := cut.ahead(t, never, gate, echomq.Concurrency(1), echomq.Lease(300*time.Millisecond))
	require.Equal(t, "0", receive(t, running, "the first job"))
	eventually(t, func() bool { return f.active() == 5 }, "the others are taken in advance")
	proxy.Refuse(true)
	proxy.CutAll()
	f.gated(t, open(), echomq.Concurrency(1), echomq.Lease(300*time.Millisecond))
	for _, handle := range handles {
		await(t, f, handle)
	}
	close(gate)
	proxy.Refuse(false)
	// The worker stops in an orderly way, after all of its handlers.
	t.Cleanup(func() { require.Empty(t, running) })
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
