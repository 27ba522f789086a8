package echomq_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// requireListener waits until somebody listens for cancellations.
func (f *fixture) requireListener(t *testing.T) {
	t.Helper()
	channel := f.queue.ControlChannel()
	eventually(t, func() bool {
		count, err := f.store.PubSubNumSub(f.ctx, channel).Result()
		require.NoError(t, err)
		return count[channel] > 0
	}, "a worker listens")
}

// listener returns the engine's id of the connection that listens; "" for none.
func (f *fixture) listener(t *testing.T) string {
	t.Helper()
	clients, err := f.store.ClientList(f.ctx).Result()
	require.NoError(t, err)
	for line := range strings.Lines(clients) {
		if strings.Contains(line, " sub=1 ") {
			return strings.Fields(line)[0]
		}
	}
	return ""
}

// requireCancelled requires that a job has failed because it was cancelled.
func requireCancelled(t *testing.T, f *fixture, handle echomq.Handle[string], reason string) *echomq.JobError {
	t.Helper()
	failure := awaitFailure(t, f, handle)
	require.True(t, failure.Cancelled)
	require.ErrorIs(t, failure, echomq.ErrCancelled)
	require.Equal(t, reason, failure.Reason)
	return failure
}

// ended is a running job whose handler tells why and when its context ended.
type ended struct {
	cause error
	at    time.Time
}

// patient starts a worker whose handlers wait for the end of their context and
// return what is left to them to return.
func (f *fixture) patient(t *testing.T, give error, opts ...echomq.QueueOption) (running <-chan string, over <-chan ended) {
	t.Helper()
	begun, ends := make(chan string, 100), make(chan ended, 100)
	f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
		begun <- job.ID
		<-ctx.Done()
		ends <- ended{context.Cause(ctx), time.Now()}
		return "done all the same", give
	}, opts...)
	return begun, ends
}

func TestCancelOfAWaitingJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		plain, ranked := f.enqueue(t, "Ada"), f.enqueue(t, "Bob", echomq.Priority(2))
		delayed := f.enqueue(t, "Eve", echomq.In(time.Hour))
		other := f.enqueue(t, "other")
		require.NoError(t, plain.Cancel(f.ctx))
		require.NoError(t, ranked.Cancel(f.ctx, "no longer", "wanted"))
		require.NoError(t, delayed.Cancel(f.ctx, strings.Repeat("x", 1<<10)))
		require.NoError(t, ranked.Cancel(f.ctx, "for another reason"), "once more")
		require.Equal(t, echomq.StateWaiting, state(t, f, plain), "it is marked")
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			assert.Equal(t, "other", job.Payload.Name, "no other runs")
			return "", nil
		})
		failure := requireCancelled(t, f, plain, "cancelled")
		require.Zero(t, failure.Attempts)
		requireCancelled(t, f, ranked, "cancelled: no longer wanted")
		requireCancelled(t, f, delayed, "cancelled: "+strings.Repeat("x", 1<<10))
		await(t, f, other)

		require.ErrorIs(t, plain.Cancel(f.ctx), echomq.ErrJobEnded)
		require.ErrorIs(t, other.Cancel(f.ctx), echomq.ErrJobEnded)
		require.ErrorIs(t, other.Cancel(f.ctx, strings.Repeat("x", 1<<10+1)), echomq.ErrOption)
		nobody, err := f.greet().Handle(f.client, "nobody")
		require.NoError(t, err)
		require.ErrorIs(t, nobody.Cancel(f.ctx), echomq.ErrJobMissing)
		stranger, err := f.greet(func(s *echomq.JobSpec) { s.Name = "other" }).Handle(f.client, plain.ID)
		require.NoError(t, err)
		require.ErrorIs(t, stranger.Cancel(f.ctx), echomq.ErrJobMismatch)
		require.ErrorIs(t, echomq.Handle[string]{}.Cancel(f.ctx), echomq.ErrOption)
	})
}

// cancelWithin is how soon a cancellation must reach a handler where its worker
// listens. The mechanism is held by the tests on a proxy; the time has slack for
// a busy machine.
const cancelWithin = time.Second

// TestCancelOfARunningJob cancels from a client of its own. The lease is so long
// that only the channel can have told.
func TestCancelOfARunningJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		running, over := f.patient(t, echomq.RetryAfter(time.Hour, errFlaky))
		f.requireListener(t)
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		elsewhere, err := f.greet().Handle(f.newClient(t, f.programStore(t)), handle.ID)
		require.NoError(t, err)
		begun := time.Now()
		require.NoError(t, elsewhere.Cancel(f.ctx, "enough"))
		end := receive(t, over, "the end of its context")
		t.Logf("%s: the handler knew after %v", f.engine, end.at.Sub(begun).Round(10*time.Microsecond))
		require.Less(t, end.at.Sub(begun), cancelWithin)
		require.ErrorIs(t, end.cause, echomq.ErrCancelled)
		require.Equal(t, "cancelled: enough", end.cause.Error())
		failure := requireCancelled(t, f, handle, "cancelled: enough: flaky")
		require.Equal(t, 1, failure.Attempts, "it is not tried again")
		require.ErrorIs(t, handle.Cancel(f.ctx), echomq.ErrJobEnded)
	})
}

// TestOutcomesOfACancelledJob lets handlers return what they like.
func TestOutcomesOfACancelledJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gives := map[string]error{
			"nothing": nil, "snooze": echomq.Snooze(time.Hour), "fail": echomq.Fail(errors.New("broken")), "ctx": context.Canceled,
		}
		running := make(chan string, 10)
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			running <- job.Payload.Name
			<-ctx.Done()
			return "done", gives[job.Payload.Name]
		})
		f.requireListener(t)
		handles := map[string]echomq.Handle[string]{}
		for name := range gives {
			handles[name] = f.enqueue(t, name)
			receive(t, running, "the job")
		}
		for _, handle := range handles {
			require.NoError(t, handle.Cancel(f.ctx))
		}
		require.Equal(t, "done", await(t, f, handles["nothing"]), "its effect has happened")
		requireCancelled(t, f, handles["snooze"], "cancelled: snoozed for 1h0m0s")
		requireCancelled(t, f, handles["fail"], "cancelled: broken")
		requireCancelled(t, f, handles["ctx"], "cancelled: context canceled")
	})
}

// TestCausesAreToldApart ends contexts in all four ways.
func TestCausesAreToldApart(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		type cause struct {
			name string
			err  error
		}
		running, causes := make(chan string, 10), make(chan cause, 10)
		w := f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.AttemptsStarted > 1 {
				return "", nil
			}
			running <- job.Payload.Name
			<-ctx.Done()
			causes <- cause{job.Payload.Name, context.Cause(ctx)}
			return "", ctx.Err()
		}, echomq.Lease(shortLease))
		f.requireListener(t)
		begin := func(name string, opts ...echomq.EnqueueOption) echomq.Handle[string] {
			handle := f.enqueue(t, name, opts...)
			receive(t, running, name)
			return handle
		}
		require.NoError(t, begin("cancelled").Cancel(f.ctx))
		begin("timed out", echomq.Timeout(time.Millisecond))
		lost := begin("lost")
		require.NoError(t, f.store.Set(f.ctx, f.queue.Key(lost.ID+":lock"), "other:1", 0).Err())
		for range 3 {
			found := receive(t, causes, "the end of a context")
			require.ErrorIs(t, found.err, map[string]error{
				"cancelled": echomq.ErrCancelled, "timed out": echomq.ErrTimeout, "lost": echomq.ErrLeaseLost,
			}[found.name], found.name)
		}
		begin("shut down")
		expired, cancel := context.WithCancel(f.ctx)
		cancel()
		require.NoError(t, w.Stop(expired))
		require.ErrorIs(t, receive(t, causes, "the end of a context").err, echomq.ErrShutdown)
	})
}

func TestQueueCancelsJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		running, over := f.patient(t, errFlaky, echomq.Concurrency(1))
		f.requireListener(t)
		active := f.enqueue(t, "active")
		receive(t, running, "the job")
		waiting := f.enqueue(t, "waiting")
		queue, err := f.client.Queue(f.spec.Name)
		require.NoError(t, err)
		require.NoError(t, f.store.Set(f.ctx, f.queue.Key("broken"), "strange", 0).Err())
		outcomes, err := queue.Cancel(f.ctx, active.ID, "wait", waiting.ID, "nobody", "broken")
		require.NoError(t, err)
		require.Len(t, outcomes, 5)
		require.Equal(t, echomq.JobOutcome{ID: active.ID}, outcomes[0])
		require.ErrorIs(t, outcomes[1].Err, echomq.ErrName)
		require.Equal(t, echomq.JobOutcome{ID: waiting.ID}, outcomes[2])
		require.ErrorIs(t, outcomes[3].Err, echomq.ErrJobMissing)
		require.ErrorIs(t, outcomes[4].Err, echomq.ErrJobQuarantined)
		require.ErrorIs(t, receive(t, over, "the end of its context").cause, echomq.ErrCancelled)
		requireCancelled(t, f, active, "cancelled: flaky")
		requireCancelled(t, f, waiting, "cancelled")
		outcomes, err = queue.Cancel(f.ctx)
		require.NoError(t, err)
		require.Empty(t, outcomes)

		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		outcomes, err = queue.Cancel(f.ctx, slices.Repeat([]string{"a"}, 501)...)
		require.ErrorIs(t, err, echomq.ErrVersion)
		require.Len(t, outcomes, 501)
		require.ErrorIs(t, outcomes[500].Err, echomq.ErrNotSent)
	})
}

// TestCancelOfAJobThatAnotherHolds lets a worker that cannot know bring the job
// back: it does not wait for its retry.
func TestCancelOfAJobThatAnotherHolds(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate, running := make(chan struct{}), make(chan string, 1)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			running <- job.Payload.Name
			<-gate
			return "", echomq.RetryAfter(time.Hour, errFlaky)
		})
		f.requireListener(t)
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		// As the script leaves it, and nobody tells.
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "defa", "cancelled: quietly").Err())
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "cancels", "1").Err())
		close(gate)
		failure := requireCancelled(t, f, handle, "cancelled: quietly")
		require.Equal(t, 1, failure.Attempts)
	})
}

// TestForgedCancellationEndsNothing publishes what was not cancelled.
func TestForgedCancellationEndsNothing(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	b.work(t, b.through(t, proxy.Client(t)))
	b.eventually(t, func() bool { return proxy.Count("subscribe") == 1 }, "the worker listens")
	id := b.add(t, chore{Takes: 200 * time.Millisecond}).ID
	b.eventually(t, func() bool { runs, _ := b.ledger.count(); return runs == 1 }, "the job runs")
	before := proxy.Count("evalsha")
	for _, message := range []string{"cancel " + id, "cancel " + id, "cancel nobody", "cancel", "CANCEL " + id, ""} {
		require.NoError(t, b.direct.Publish(b.ctx, b.queue.ControlChannel(), message).Err())
	}
	b.drain(t, 1)
	b.ledger.requireRuns(t, map[string]int{id: 1})
	b.requireUntouched(t, map[string]int{id: 1})
	assert.LessOrEqual(t, proxy.Count("evalsha")-before, 2+2+3, "each true name is looked at, and no other")
}

// TestCancelReachesAWorkerThatCannotListen takes the channel away.
func TestCancelReachesAWorkerThatCannotListen(t *testing.T) {
	t.Parallel()
	f := newFixture(t, enginetest.Start(t, enginetest.Valkey))
	proxy := enginetest.NewProxy(t, f.engine)
	proxy.CutBeforeRequest(func(command []string) bool { return strings.EqualFold(command[0], "subscribe") })
	f.client = f.newClient(t, proxy.Store(t))
	running, over := f.patient(t, errFlaky, echomq.Lease(shortLease))
	handle := f.enqueue(t, "Ada")
	receive(t, running, "the job")
	require.NoError(t, handle.Cancel(f.ctx))
	require.ErrorIs(t, receive(t, over, "the end of its context").cause, echomq.ErrCancelled)
	requireCancelled(t, f, handle, "cancelled: flaky")
}

// TestListenerIsBackAfterAnOutage cuts the connections and cancels meanwhile,
// and afterwards; the lease is long.
func TestListenerIsBackAfterAnOutage(t *testing.T) {
	t.Parallel()
	f := newFixture(t, enginetest.Start(t, enginetest.Valkey))
	proxy := enginetest.NewProxy(t, f.engine)
	f.client = f.newClient(t, proxy.Store(t))
	running, over := f.patient(t, errFlaky)
	f.client = f.newClient(t, f.store)
	f.producer = echomq.NewProducer(f.client, f.spec)
	f.requireListener(t)
	during, after := f.enqueue(t, "during"), f.enqueue(t, "after")
	receive(t, running, "a job")
	receive(t, running, "a job")
	proxy.Refuse(true)
	proxy.CutAll()
	eventually(t, func() bool {
		return f.store.PubSubNumSub(f.ctx, f.queue.ControlChannel()).Val()[f.queue.ControlChannel()] == 0
	}, "nobody listens")
	require.NoError(t, during.Cancel(f.ctx))
	proxy.Refuse(false)
	f.requireListener(t)
	begun := time.Now()
	require.ErrorIs(t, receive(t, over, "the end of a context").cause, echomq.ErrCancelled)
	require.Less(t, time.Since(begun), echomq.DefaultLease/3-time.Second, "it looked when it was back")
	requireCancelled(t, f, during, "cancelled: flaky")
	begun = time.Now()
	require.NoError(t, after.Cancel(f.ctx))
	require.Less(t, receive(t, over, "the end of a context").at.Sub(begun), cancelWithin)
}

// TestDeadListenerIsReplaced freezes the connection of a listener: what it does
// not hear is found when leases are renewed, and then it listens anew.
func TestDeadListenerIsReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t, enginetest.Start(t, enginetest.Valkey))
	frozen := &freezer{address: f.engine.Options()}
	frozen.address.ReadTimeout = 300 * time.Millisecond
	store := redis.NewClient(frozen.options())
	t.Cleanup(func() { _ = store.Close() })
	f.client = f.newClient(t, store)
	const lease = 4500 * time.Millisecond
	running, over := f.patient(t, errFlaky, echomq.Lease(lease))
	f.client = f.newClient(t, f.store)
	f.producer = echomq.NewProducer(f.client, f.spec)
	f.requireListener(t)
	first, second := f.enqueue(t, "first"), f.enqueue(t, "second")
	receive(t, running, "a job")
	receive(t, running, "a job")
	listening := f.listener(t)
	frozen.freeze()
	require.NoError(t, first.Cancel(f.ctx))
	require.ErrorIs(t, receive(t, over, "the end of a context").cause, echomq.ErrCancelled)
	eventually(t, func() bool { found := f.listener(t); return found != "" && found != listening }, "another connection listens")
	begun := time.Now()
	require.NoError(t, second.Cancel(f.ctx))
	require.Less(t, receive(t, over, "the end of a context").at.Sub(begun), cancelWithin)
	requireCancelled(t, f, first, "cancelled: flaky")
}

// TestCancelWithoutTheRightToTell takes the right to publish from a producer.
func TestCancelWithoutTheRightToTell(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		running, over := r.patient(t, errFlaky, echomq.Lease(shortLease))
		change(t, r.store, "emq-producer", "resetchannels")
		handle := r.enqueue(t, "Ada")
		receive(t, running, "the job")
		require.NoError(t, handle.Cancel(r.ctx), "it is marked all the same")
		require.ErrorIs(t, receive(t, over, "the end of its context").cause, echomq.ErrCancelled)
		requireCancelled(t, r.fixture, handle, "cancelled: flaky")
	})
}
