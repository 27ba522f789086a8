package echomq_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// requirePaused requires that the queue is paused, or not, and that no marker
// wakes workers for its jobs while it is.
func (f *fixture) requirePaused(t *testing.T, want bool) {
	t.Helper()
	paused, err := f.admin(t).Paused(f.ctx)
	require.NoError(t, err)
	require.Equal(t, want, paused)
	if paused {
		marker, err := f.store.ZRange(f.ctx, f.queue.Key("marker"), 0, -1).Result()
		require.NoError(t, err)
		require.Subset(t, []string{"~due"}, marker)
	}
}

func TestPausedQueueGivesOutNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		_, running := f.gated(t, gate, echomq.Concurrency(2))
		first := f.enqueue(t, "first")
		receive(t, running, "the first job")

		queue := f.admin(t)
		for range 2 {
			require.NoError(t, queue.Pause(f.ctx))
			f.requirePaused(t, true)
		}
		second := f.enqueue(t, "second")
		ranked := f.enqueue(t, "ranked", echomq.Priority(1))
		delayed := f.enqueue(t, "delayed", echomq.In(30*time.Millisecond))
		due, err := f.store.ZScore(f.ctx, f.queue.Key("delayed"), delayed.ID).Result()
		require.NoError(t, err)
		require.NotZero(t, due)
		close(gate)
		require.Equal(t, "hello first", await(t, f, first), "what runs goes on")
		reach(t, f, delayed, echomq.StateWaiting) // a worker has promoted it and could take it
		require.Equal(t, echomq.StateWaiting, state(t, f, second))
		require.Equal(t, echomq.StatePrioritized, state(t, f, ranked))
		require.Empty(t, running)
		f.requirePaused(t, true)

		for range 2 {
			require.NoError(t, queue.Resume(f.ctx))
			f.requirePaused(t, false)
		}
		for _, handle := range []echomq.Handle[string]{second, ranked, delayed} {
			await(t, f, handle)
		}
		require.ElementsMatch(t, []string{"second", "delayed", "ranked"}, // two slots: in any order
			[]string{receive(t, running, "a job"), receive(t, running, "a job"), receive(t, running, "a job")})
		require.False(t, f.envelope(t, delayed.ID).ProcessedOn.Time().Before(time.UnixMilli(int64(due))))
	})
}

// TestPauseOutlastsPrograms pauses a queue that does not exist yet; later
// programs find it paused.
func TestPauseOutlastsPrograms(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.admin(t).Pause(f.ctx))
		handle := f.enqueue(t, "Ada")
		w := f.work(t, hello)
		w.halt(t)
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
		f.work(t, hello)
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
		require.NoError(t, f.admin(t).Resume(f.ctx))
		require.Equal(t, "hello Ada", await(t, f, handle))
	})
}

// TestPausedQueueTakesBack lets a retry and a recovery happen while the queue is
// paused: neither wakes a worker.
func TestPausedQueueTakesBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate, running := make(chan struct{}), make(chan string, 10)
		flaky := f.enqueue(t, "flaky")
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			running <- job.Payload.Name
			if job.Payload.Name == "flaky" && job.Attempt() == 1 {
				<-gate
				return "", echomq.RetryAfter(0, errFlaky)
			}
			return "done", nil
		}, echomq.Concurrency(1), echomq.Lease(time.Second))
		receive(t, running, "the first job")
		lost := f.enqueue(t, "lost")
		f.loseTo(t, lost)
		require.NoError(t, f.admin(t).Pause(f.ctx))
		reach(t, f, lost, echomq.StateWaiting)
		close(gate)
		reach(t, f, flaky, echomq.StateWaiting)
		f.requirePaused(t, true)
		require.Empty(t, running)
		require.NoError(t, f.admin(t).Resume(f.ctx))
		require.Equal(t, "done", await(t, f, lost))
		require.Equal(t, "done", await(t, f, flaky))
	})
}

func TestQueueObeysTheClientsNames(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		client := f.newClient(t, f.store, echomq.NameQueues(func(name string) string {
			if name == "mail" {
				return f.spec.Name
			}
			return name
		}))
		queue, err := client.Queue("mail")
		require.NoError(t, err)
		require.Equal(t, f.spec.Name, queue.Name())
		require.NoError(t, queue.Pause(f.ctx))
		f.requirePaused(t, true)

		_, err = client.Queue("{mail}")
		require.ErrorIs(t, err, echomq.ErrName)
		require.NoError(t, client.Close())
		require.ErrorIs(t, queue.Resume(f.ctx), echomq.ErrClosed)
		_, err = queue.Paused(f.ctx)
		require.ErrorIs(t, err, echomq.ErrClosed)
		f.requirePaused(t, true)
	})
}

func TestForeignQueueIsNotPaused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		require.ErrorIs(t, f.admin(t).Pause(f.ctx), echomq.ErrVersion)
		require.Equal(t, map[string]string{"version": "echomq:3.0.0"}, f.hash(t, "meta"))
	})
}

func TestOperatorPausesWithoutMoreRights(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		setUser(t, r.store, acl.Request{Role: acl.Operator, User: "emq-operator", Queues: []wire.Queue{r.queue}})
		queue, err := r.newClient(t, clientAs(t, r.engine.Options(), "emq-operator")).Queue(r.spec.Name)
		require.NoError(t, err)
		require.NoError(t, queue.Pause(r.ctx))
		r.requirePaused(t, true)
		paused, err := queue.Paused(r.ctx)
		require.NoError(t, err)
		require.True(t, paused)
		require.NoError(t, queue.Resume(r.ctx))
		r.requirePaused(t, false)
		r.requireNoRefusal(t)

		change(t, r.store, "emq-operator", "-hdel")
		requirePermission(t, queue.Resume(r.ctx), "run HDEL KEYS[1] (line", "operator --queue "+r.spec.Name)
	})
}

// TestFullStoreIsPausedAndResumed shows that a store without memory can be told
// to stop, and to go on.
func TestFullStoreIsPausedAndResumed(t *testing.T) {
	t.Parallel()
	for _, kind := range []enginetest.Kind{enginetest.Valkey, enginetest.Redis} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, enginetest.Start(t, kind))
			handle := f.enqueue(t, "Ada")
			require.NoError(t, f.store.ConfigSet(f.ctx, "maxmemory", "1").Err())
			require.NoError(t, f.admin(t).Pause(f.ctx))
			f.requirePaused(t, true)
			require.NoError(t, f.admin(t).Resume(f.ctx))
			f.requirePaused(t, false)
			f.work(t, hello)
			require.Equal(t, "hello Ada", await(t, f, handle))
		})
	}
}

// TestWorkerOfAPausedQueueIsQuiet counts what a worker sends while jobs wait in
// a paused queue: no more than if there were none.
func TestWorkerOfAPausedQueueIsQuiet(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	queue, err := b.client.Queue(b.queue.Name())
	require.NoError(t, err)
	require.NoError(t, queue.Pause(b.ctx))
	b.add(t, chore{})
	proxy := enginetest.NewProxy(t, b.engine)
	w := b.work(t, b.through(t, proxy.Client(t)), echomq.CleanEvery(time.Hour))
	b.eventually(t, func() bool { return w.Ready() && proxy.Count("bzpopmin") == 1 && proxy.Count("subscribe") == 1 }, "the worker waits for the marker, and listens")
	proxy.ResetCounts()
	b.eventually(t, func() bool { return proxy.Count("bzpopmin") == 2 }, "two blocks have passed")
	assert.Equal(t, map[string]int{"bzpopmin": 2, "evalsha": 2}, proxy.Counts())
	require.NoError(t, queue.Resume(b.ctx))
	b.drain(t, 1)
}
