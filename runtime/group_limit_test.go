package echomq_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// crowd counts, for each group, how many of its jobs run at once, and did at most.
type crowd struct {
	mu        sync.Mutex
	now, most map[string]int
	total     int
}

func (c *crowd) handle(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
	group, _, _ := strings.Cut(job.Payload.Name, "/")
	c.move(group, 1)
	defer c.move(group, -1)
	time.Sleep(time.Millisecond)
	return "", nil
}

func (c *crowd) move(group string, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now, c.most = map[string]int{}, map[string]int{}
	}
	c.now[group] += by
	c.most[group] = max(c.most[group], c.now[group])
	c.total = max(c.total, c.now["a"]+c.now["b"]+c.now["c"])
}

func TestGroupLimitHoldsAcrossWorkers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.GroupLimit = 2 // as a directive says
		var c crowd
		f.enqueueGrouped(t, slices.Concat(namesOf("a", 40), namesOf("b", 40), namesOf("c", 20))...)
		for range 3 {
			f.another(t, c.handle, echomq.Concurrency(10))
		}
		begun := time.Now()
		for i := range 10 { // one by one, to workers that are idle now and then
			f.enqueueGrouped(t, fmt.Sprintf("a/%d", 40+i))
		}
		f.enqueueMany(t, 30)
		f.completed(t, 140)
		require.Less(t, time.Since(begun), 10*time.Second, "each job that ends makes room for the next at once")
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, group := range []string{"a", "b", "c"} {
			require.Equal(t, 2, c.most[group], group)
		}
		f.requireNoGroups(t)
	})
}

// TestFreeSlotOfAGroupWakesAWorker has two workers, of which one runs the only job
// of a group that may run. The other, idle one is not needed: the slot is taken as
// soon as it is free, by whoever is there.
func TestFreeSlotOfAGroupWakesAWorker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate, running := make(chan struct{}), make(chan string, 10)
		for range 2 {
			f.another(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
				running <- ""
				<-gate
				return "", nil
			}, echomq.Concurrency(2), echomq.GroupLimit(1))
		}
		f.enqueueGrouped(t, namesOf("a", 4)...)
		for n := range 4 {
			receive(t, running, "a job")
			require.EqualValues(t, 1, f.store.ZCard(f.ctx, f.queue.Key("active")).Val())
			marker, err := f.store.ZRange(f.ctx, f.queue.Key("marker"), 0, -1).Result()
			require.NoError(t, err)
			require.Empty(t, marker, "nobody is woken for what cannot be taken")
			require.Empty(t, running)
			begun := time.Now()
			gate <- struct{}{}
			if n < 3 {
				eventually(t, func() bool { return len(running) == 1 }, "the next one runs")
				require.Less(t, time.Since(begun), time.Second, "nobody waits for a timeout")
			}
		}
		f.completed(t, 4)
	})
}

func TestGroupLimitOverrides(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.GroupLimit = 1
		queue := f.admin(t)
		gate := make(chan struct{})
		_, running := f.gated(t, gate, echomq.Concurrency(10))
		f.enqueueGrouped(t, namesOf("a", 8)...)
		receive(t, running, "the first job")
		runs := func(n int) {
			t.Helper()
			for range n {
				receive(t, running, "a further job")
			}
			time.Sleep(20 * time.Millisecond)
			require.Empty(t, running)
		}
		runs(0)
		require.NoError(t, queue.SetGroupLimit(f.ctx, 3))
		runs(2)
		set, err := queue.Overrides(f.ctx)
		require.NoError(t, err)
		require.Equal(t, echomq.Overrides{GroupLimit: 3}, set)
		require.NoError(t, queue.SetGroupLimit(f.ctx, 2))
		gate <- struct{}{}
		runs(0) // two are above the limit still, or at it
		require.NoError(t, queue.SetGroupLimit(f.ctx, echomq.NoLimit))
		runs(5)
		require.NoError(t, queue.ClearOverrides(f.ctx))
		set, err = queue.Overrides(f.ctx)
		require.NoError(t, err)
		require.Zero(t, set)
		close(gate)
		f.completed(t, 8)
		for _, wrong := range []int{0, -2, 1 << 31} {
			require.ErrorIs(t, queue.SetGroupLimit(f.ctx, wrong), echomq.ErrOption)
			_, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}, echomq.GroupLimit(wrong)))
			require.ErrorIs(t, err, echomq.ErrOption)
		}
		f.requireNoGroups(t)
	})
}

// TestOptionOfGroupLimitGoesOverOverride: a worker with a number of its own is not
// told otherwise.
func TestOptionOfGroupLimitGoesOverOverride(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.admin(t).SetGroupLimit(f.ctx, 5))
		var c crowd
		f.enqueueGrouped(t, namesOf("a", 20)...)
		f.work(t, c.handle, echomq.Concurrency(10), echomq.GroupLimit(2))
		f.completed(t, 20)
		require.Equal(t, 2, c.most["a"])
	})
}

// TestGroupOfADamagedRecordKeepsItsSlots takes the field away that names a waiting
// job's group. Its group counts it all the same, and no more once it has ended.
func TestGroupOfADamagedRecordKeepsItsSlots(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		jobs := f.enqueueGrouped(t, namesOf("a", 3)...)
		require.EqualValues(t, 1, f.store.HDel(f.ctx, f.queue.Key(jobs[0].ID), "grp").Val())
		f.another(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", nil },
			echomq.Concurrency(2), echomq.GroupLimit(1))
		for _, job := range jobs {
			await(t, f, job)
		}
		f.requireNoGroups(t)
	})
}
