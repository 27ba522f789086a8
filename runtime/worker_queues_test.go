package echomq_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func (f *fixture) served(handle handler, opts ...echomq.QueueOption) echomq.Served {
	return echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), handle)}, opts...)
}

// crew counts handlers that run at once, which stay until they are let go.
type crew struct {
	running, most, ended atomic.Int64
	gate                 chan struct{}
}

func (c *crew) handle(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
	now := c.running.Add(1)
	defer func() {
		c.running.Add(-1)
		c.ended.Add(1)
	}()
	for most := c.most.Load(); now > most && !c.most.CompareAndSwap(most, now); most = c.most.Load() {
	}
	select {
	case <-c.gate:
		return "", nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// A queue for which others have left no slot is served all the same.
func TestQueueWithoutSlotsIsReady(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		c := crew{gate: make(chan struct{})}
		f.enqueueMany(t, 4)
		w := f.run(t, []echomq.WorkerOption{echomq.TotalConcurrency(4)}, f.served(c.handle))
		eventually(t, func() bool { return c.running.Load() == 4 }, "all slots are taken")
		late := f.sibling(t)
		handle := late.enqueue(t, "Ada")
		require.NoError(t, w.Add(f.ctx, late.served(hello)))
		eventually(t, w.Ready, "the worker is ready")
		require.Equal(t, echomq.StateWaiting, state(t, late, handle))
		close(c.gate)
		await(t, late, handle)
	})
}

// Queues that share slots get them by weight where several have work, and all of
// them where one has.
func TestTotalConcurrency(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		heavy, light := f, f.sibling(t)
		gate := make(chan struct{})
		h, l := crew{gate: gate}, crew{gate: gate}
		light.enqueueMany(t, 20)
		w := f.run(t, []echomq.WorkerOption{echomq.TotalConcurrency(8)},
			heavy.served(h.handle, echomq.Weight(3)), light.served(l.handle))
		eventually(t, func() bool { return l.running.Load() == 8 }, "one queue alone has all slots")
		require.Zero(t, h.running.Load())

		// As slots are freed, the other comes to its share and not beyond.
		heavy.enqueueMany(t, 20)
		require.ElementsMatch(t, []string{heavy.queue.Name(), light.queue.Name()}, w.Queues())
		for freed := range int64(20) {
			gate <- struct{}{}
			eventually(t, func() bool {
				return h.ended.Load()+l.ended.Load() == freed+1 && h.running.Load()+l.running.Load() == 8
			}, "the freed slot is taken again")
			if h.running.Load() >= 6 {
				break
			}
		}
		require.InDelta(t, 6, h.running.Load(), 1)
		require.InDelta(t, 2, l.running.Load(), 1)
		close(gate)
		for _, queue := range []*fixture{heavy, light} {
			eventually(t, func() bool { return queue.count(t, "completed") == 20 }, "all jobs are done")
		}
		require.LessOrEqual(t, h.most.Load()+l.most.Load(), int64(8+7))
		require.LessOrEqual(t, h.most.Load(), int64(8))
	})
}

// count returns how many jobs stand in a set.
func (f *fixture) count(t *testing.T, set string) int64 {
	t.Helper()
	count, err := f.store.ZCard(f.ctx, f.queue.Key(set)).Result()
	require.NoError(t, err)
	return count
}

func TestAddAndRemoveQueues(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first, second, third := f, f.sibling(t), f.sibling(t)
		w, err := echomq.NewWorker(f.client, []echomq.WorkerOption{echomq.TotalConcurrency(4)}, first.served(hello))
		require.NoError(t, err)
		require.False(t, w.Ready())
		// Before Run it is as if the queue had been given to NewWorker.
		require.NoError(t, w.Add(f.ctx, second.served(hello)))
		running := &worker{Worker: w, done: make(chan error, 1)}
		go func() { running.done <- w.Run(context.Background()) }()
		eventually(t, w.Ready, "the worker is ready")
		require.Equal(t, "hello Ada", await(t, first, first.enqueue(t, "Ada")))
		require.Equal(t, "hello Ada", await(t, second, second.enqueue(t, "Ada")))

		waiting := third.enqueue(t, "Grace")
		require.NoError(t, w.Add(f.ctx, third.served(hello)))
		require.Equal(t, "hello Grace", await(t, third, waiting))
		require.ErrorContains(t, w.Add(f.ctx, third.served(hello)), "served twice")
		require.ErrorIs(t, w.Remove(f.ctx, "unknown"), echomq.ErrOption)
		require.ErrorIs(t, w.Remove(f.ctx, "no name"), echomq.ErrName)

		// A queue that is removed has no jobs taken any more; the others go on.
		require.NoError(t, w.Remove(f.ctx, first.spec.Name))
		require.NoError(t, w.Remove(f.ctx, second.spec.Name))
		left := first.enqueue(t, "Edsger")
		require.Equal(t, "hello Alan", await(t, third, third.enqueue(t, "Alan")))
		require.Equal(t, echomq.StateWaiting, state(t, first, left))
		require.Equal(t, []string{third.queue.Name()}, w.Queues())
		require.True(t, w.Ready())

		// With none left it still runs, and can be given some again.
		require.NoError(t, w.Remove(f.ctx, third.spec.Name))
		require.True(t, w.Ready())
		require.NoError(t, w.Add(f.ctx, first.served(hello)))
		require.Equal(t, "hello Edsger", await(t, first, left))
		running.halt(t)
		require.ErrorIs(t, w.Add(f.ctx, second.served(hello)), echomq.ErrClosed)
	})
}

// A removed queue's jobs end as at a stop: in time, or given back.
func TestRemoveWaitsForJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := f.sibling(t)
		c := crew{gate: make(chan struct{})}
		w := f.run(t, []echomq.WorkerOption{echomq.TotalConcurrency(2)}, f.served(c.handle), other.served(hello))
		handle := f.enqueue(t, "Ada")
		eventually(t, func() bool { return c.running.Load() == 1 }, "the job runs")
		patience, cancel := context.WithTimeout(f.ctx, 20*time.Millisecond)
		defer cancel()
		require.NoError(t, w.Remove(patience, f.spec.Name))
		require.Equal(t, echomq.StateWaiting, state(t, f, handle))
		require.Zero(t, f.envelope(t, handle.ID).AttemptsStarted)
		// Its slots are the others'.
		for i := range 4 {
			require.Equal(t, fmt.Sprintf("hello %d", i), await(t, other, other.enqueue(t, fmt.Sprint(i))))
		}
	})
}

// What a queue that is removed gives back as it is taken leaves its slots to the others,
// while what has begun goes on.
func TestRemoveLeavesSlotsToOthers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const slots = 8
		taking := &snag{held: make(chan struct{}), open: make(chan struct{})}
		f.client = f.newClient(t, f.programStore(t), echomq.WithLogger(slog.New(taking)))
		other := f.sibling(t)
		c, gate := crew{gate: make(chan struct{})}, make(chan struct{})
		handle, running := atGate(gate)
		w := f.run(t, []echomq.WorkerOption{echomq.TotalConcurrency(slots)}, f.served(c.handle), other.served(handle))
		goOn := opener(taking.open)
		for _, end := range []func(){opener(c.gate), opener(gate), goOn} {
			t.Cleanup(end) // also if the test ends before
		}
		f.enqueue(t, "Ada")
		eventually(t, func() bool { return c.running.Load() == 1 }, "the first job runs")
		queue := f.admin(t)
		require.NoError(t, queue.Pause(f.ctx))
		handles := f.enqueueMany(t, slots-1)
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handles[0].ID), "opts", "{").Err())
		require.NoError(t, queue.Resume(f.ctx))
		receive(t, taking.held, "the start of the second job")
		require.NotZero(t, f.store.HLen(f.ctx, f.queue.Key("reserved")).Val(), "the others are reserved")
		removed := make(chan error, 1)
		go func() { removed <- w.Remove(f.ctx, f.spec.Name) }()
		eventually(t, func() bool { return len(w.Queues()) == 1 }, "the queue is being removed")
		goOn()
		eventually(t, func() bool { return state(t, f, handles[slots-2]) == echomq.StateWaiting }, "they are given back")
		other.enqueueMany(t, slots-1)
		for range slots - 1 {
			receive(t, running, "a job of the other queue")
		}
		require.Empty(t, removed, "the first job goes on")
	})
}

// A queue that cannot be added is not, and says why.
func TestAddRefuses(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := f.sibling(t)
		w := f.run(t, nil, f.served(hello))
		require.NoError(t, f.store.HSet(f.ctx, other.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		require.ErrorIs(t, w.Add(f.ctx, other.served(hello)), echomq.ErrOtherMajor)
		require.NoError(t, f.store.Del(f.ctx, other.queue.Key("meta")).Err())
		require.NoError(t, w.Add(f.ctx, other.served(hello)))
		require.Equal(t, "hello Ada", await(t, other, other.enqueue(t, "Ada")))
		require.ErrorIs(t, w.Add(f.ctx, f.sibling(t).served(hello, echomq.Weight(0))), echomq.ErrOption)
		_, err := echomq.NewWorker(f.client, []echomq.WorkerOption{echomq.TotalConcurrency(0)}, f.served(hello))
		require.ErrorIs(t, err, echomq.ErrOption)
	})
}
