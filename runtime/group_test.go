package echomq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// grouped returns the job greet with its groups named by what its payload has
// before a slash.
func (f *fixture) grouped() echomq.JobType[greeting, string] {
	return f.greet().GroupBy(func(key *echomq.GroupKey, payload *greeting) {
		if group, _, ok := strings.Cut(payload.Name, "/"); ok {
			key.Text(group)
		} else {
			key.Nil()
		}
	})
}

// enqueueGrouped adds jobs whose groups stand before a slash in their names.
func (f *fixture) enqueueGrouped(t *testing.T, names ...string) (handles []echomq.Handle[string]) {
	t.Helper()
	payloads := make([]greeting, len(names))
	for i, name := range names {
		payloads[i].Name = name
	}
	outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.grouped(), echomq.Items(payloads...))
	require.NoError(t, err)
	for _, outcome := range outcomes {
		handles = append(handles, outcome.Handle)
	}
	return handles
}

// names returns so many names of a group.
func namesOf(group string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%s/%d", group, i)
	}
	return names
}

// order runs everything that waits and returns the names in the order in which
// they were started.
func (f *fixture) order(t *testing.T, jobs int, opts ...echomq.QueueOption) []string {
	t.Helper()
	started := make(chan string, jobs)
	w := f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		started <- job.Payload.Name
		return "", nil
	}, append(opts, echomq.Concurrency(1))...)
	order := make([]string, jobs)
	for i := range order {
		order[i] = receive(t, started, "a job")
	}
	require.NoError(t, w.Stop(f.ctx))
	return order
}

// requireNoGroups requires that nothing of groups is left in the store.
func (f *fixture) requireNoGroups(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		return f.store.Exists(f.ctx, f.queue.Key("groups"), f.queue.Key("grouped"), f.queue.Key("group-active")).Val() == 0
	}, "nothing of groups is left")
}

func TestGroupsTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueueGrouped(t, namesOf("big", 5)...)
		f.enqueueGrouped(t, namesOf("small", 2)...)
		f.enqueueGrouped(t, "alone 1", "alone 2", "alone 3", "alone 4")
		require.Equal(t, []string{
			"alone 1", "big/0", "alone 2", "small/0", "alone 3", "big/1", "alone 4", "small/1", "big/2", "big/3", "big/4",
		}, f.order(t, 11))
		f.requireNoGroups(t)
	})
}

// TestLargeGroupDoesNotHoldUpSmallOne adds a thousand jobs of one group and ten of
// another after them, on workers that take many at a time.
func TestLargeGroupDoesNotHoldUpSmallOne(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueueGrouped(t, namesOf("large", 1000)...)
		small := f.enqueueGrouped(t, namesOf("small", 10)...)
		var mu sync.Mutex
		var started []string
		for range 2 {
			f.another(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				started = append(started, job.Payload.Name)
				return "", nil
			}, echomq.Concurrency(10))
		}
		for _, handle := range small {
			await(t, f, handle)
		}
		f.completed(t, 1010)
		mu.Lock()
		defer mu.Unlock()
		last := 0
		for i, name := range started {
			if strings.HasPrefix(name, "small/") {
				last = i
			}
		}
		require.Less(t, last, 100, "the small group has ended when the large one has hardly begun")
		f.requireNoGroups(t)
	})
}

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

func TestJobsOfAGroupKeepTheirOrder(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		group := echomq.Group("a")
		f.enqueue(t, "later", group, echomq.Priority(7))
		f.enqueue(t, "first", group)
		f.enqueue(t, "sooner", group, echomq.Priority(2))
		f.enqueue(t, "second", group)
		require.Equal(t, []string{"first", "second", "sooner", "later"}, f.order(t, 4))
		f.requireNoGroups(t)
	})
}

// TestJobComesBackToTheFrontOfItsGroup retries a job at once: it is the next of
// its group, whose turn comes after that of the other group.
func TestJobComesBackToTheFrontOfItsGroup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueueGrouped(t, "a/0", "a/1", "b/0", "b/1")
		started := make(chan string, 10)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			started <- job.Payload.Name
			if job.Payload.Name == "a/0" && job.Attempt() == 1 {
				return "", echomq.RetryAfter(0, errFlaky)
			}
			return "", nil
		}, echomq.Concurrency(1))
		var order []string
		for range 5 {
			order = append(order, receive(t, started, "a job"))
		}
		require.Equal(t, []string{"a/0", "b/0", "a/0", "b/1", "a/1"}, order)
		f.completed(t, 4)
		f.requireNoGroups(t)
	})
}

// TestDelayedJobGoesToItsGroup has a job that becomes due, and one that is tried
// again later, while the queue is paused.
func TestDelayedJobGoesToItsGroup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		started := make(chan string, 10)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			started <- job.Payload.Name
			if job.Payload.Name == "flaky" && job.Attempt() == 1 {
				return "", echomq.RetryAfter(500*time.Millisecond, errFlaky)
			}
			return "", nil
		}, echomq.Concurrency(1))
		group, queue := echomq.Group("a"), f.admin(t)
		flaky := f.enqueue(t, "flaky", group)
		receive(t, started, "the job that fails")
		reach(t, f, flaky, echomq.StateDelayed)
		require.NoError(t, queue.Pause(f.ctx))
		waiting := f.enqueue(t, "waiting", group)
		delayed := f.enqueue(t, "delayed", group, echomq.In(10*time.Millisecond))
		reach(t, f, flaky, echomq.StateWaiting)
		reach(t, f, delayed, echomq.StateWaiting)
		f.requirePaused(t, true)
		require.Empty(t, started)
		require.EqualValues(t, 3, f.counts(t).Grouped)
		require.NoError(t, queue.Resume(f.ctx))
		for _, name := range []string{"flaky", "waiting", "delayed"} {
			require.Equal(t, name, receive(t, started, "a job"))
		}
		await(t, f, waiting)
		f.completed(t, 3)
		f.requireNoGroups(t)
	})
}

func TestLostJobOfAGroupRunsElsewhere(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.GroupLimit = 1
		handles := f.enqueueGrouped(t, "a/0", "a/1")
		f.loseTo(t, handles[0])
		require.Equal(t, []string{"a/0", "a/1"}, f.order(t, 2, echomq.Lease(shortLease)))
		for _, handle := range handles {
			await(t, f, handle)
		}
		f.requireNoGroups(t)
	})
}

// TestGroupsAfterAStop stops a worker, which gives back what it has not begun.
func TestGroupsAfterAStop(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		f.spec.GroupLimit = 2
		f.enqueueGrouped(t, namesOf("a", 6)...)
		w, running := f.gated(t, gate, echomq.Concurrency(4))
		receive(t, running, "a job")
		receive(t, running, "a job")
		close(gate)
		require.NoError(t, w.Stop(f.ctx))
		left := f.counts(t)
		require.Zero(t, left.Active)
		f.order(t, int(left.Grouped))
		f.completed(t, 6)
		f.requireNoGroups(t)
	})
}

func TestBatchHandlerGetsJobsOfGroups(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueueGrouped(t, slices.Concat(namesOf("a", 20), namesOf("b", 4))...)
		var mu sync.Mutex
		var first map[string]int
		f.workBatches(t, echomq.BatchSpec{Size: 8, Wait: 50 * time.Millisecond}, func(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
			mu.Lock()
			defer mu.Unlock()
			if first == nil {
				first = map[string]int{}
				for _, job := range jobs {
					group, _, _ := strings.Cut(job.Payload.Name, "/")
					first[group]++
				}
			}
			return make([]string, len(jobs)), nil
		}, echomq.Concurrency(8), echomq.GroupLimit(5))
		f.completed(t, 24)
		mu.Lock()
		defer mu.Unlock()
		require.GreaterOrEqual(t, first["b"], 3, "a batch takes jobs of each group")
		require.LessOrEqual(t, first["a"], 5, "and no more than may be active")
		f.requireNoGroups(t)
	})
}

// TestGroupsOfHostileNames: a name is a text of any kind, and stands for nothing
// but itself.
func TestGroupsOfHostileNames(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		long := strings.Repeat("long", 100)
		names := []string{"a|b", "a|b|", "a}", "|", "~turn", "a b", "\x00\n\xff", "é", "{x}", "%41", "A", long, long + "er", strings.Repeat("é", 43)}
		var handles []echomq.Handle[string]
		for _, name := range names {
			for range 2 {
				handles = append(handles, f.enqueue(t, name, echomq.Group(name)))
			}
		}
		counts := f.counts(t)
		require.EqualValues(t, len(names), counts.Groups)
		require.EqualValues(t, 2*len(names), counts.Grouped)
		groups := map[string]bool{}
		for _, handle := range handles {
			groups[f.envelope(t, handle.ID).Group] = true
		}
		require.Len(t, groups, len(names))
		f.work(t, hello, echomq.GroupLimit(1))
		for _, handle := range handles {
			await(t, f, handle)
		}
		f.requireNoGroups(t)
	})
}

func TestGroupOptionGoesOverPayload(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		enqueue := func(name string, opts ...echomq.EnqueueOption) echomq.Envelope {
			handle, err := echomq.Enqueue(f.ctx, f.producer, f.grouped(), greeting{name}, opts...)
			require.NoError(t, err)
			return f.envelope(t, handle.ID)
		}
		require.Equal(t, "a", enqueue("a/0").Group)
		require.Equal(t, "b", enqueue("a/0", echomq.Group("b")).Group)
		require.Empty(t, enqueue("a/0", echomq.Group("")).Group)
		require.Empty(t, enqueue("alone").Group)
		require.Empty(t, enqueue("/0").Group, "the empty text names no group")

		broken := f.greet().GroupBy(func(*echomq.GroupKey, *greeting) { panic("no") })
		_, err := echomq.Enqueue(f.ctx, f.producer, broken, greeting{})
		require.ErrorIs(t, err, echomq.ErrPayload)
		broken = f.greet().GroupBy(func(key *echomq.GroupKey, _ *greeting) { key.Marshaled(nil, errFlaky) })
		_, err = echomq.Enqueue(f.ctx, f.producer, broken, greeting{})
		require.ErrorIs(t, err, echomq.ErrPayload)
		require.ErrorIs(t, err, errFlaky)
	})
}

func TestPreparedJobKeepsItsGroup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		encoded, err := json.Marshal(f.prepare(t, "Ada", echomq.Group("a b")))
		require.NoError(t, err)
		var prepared echomq.Prepared
		require.NoError(t, json.Unmarshal(encoded, &prepared))
		sent, err := f.client.Send(f.ctx, prepared)
		require.NoError(t, err)
		require.Equal(t, "a%20b", f.envelope(t, sent[0].ID).Group)
		spoilt := strings.Replace(string(encoded), "a%20b", "a|b", 1)
		require.Error(t, json.Unmarshal([]byte(spoilt), &prepared))
	})
}

// TestReplacedJobGetsTheGroup: a delayed job takes the group of what replaces it,
// as it takes its time.
func TestReplacedJobGetsTheGroup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		unique := echomq.Unique(echomq.UniqueSpec{Key: "k", Conflict: echomq.ConflictReplace})
		first := f.enqueue(t, "first", unique, echomq.In(time.Hour), echomq.Group("a"))
		second := f.enqueue(t, "second", unique, echomq.In(time.Hour), echomq.Group("b"))
		require.Equal(t, first.ID, second.ID)
		require.Equal(t, "b", f.envelope(t, first.ID).Group)
		f.enqueue(t, "third", unique, echomq.In(time.Hour))
		require.Empty(t, f.envelope(t, first.ID).Group)
	})
}

func TestJobsOfSchedulesHaveGroups(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		groups := make(chan string, 10)
		job := f.grouped()
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(job, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			groups <- job.ID + " " + job.Group
			return "", nil
		})}).Repeating(
			echomq.Repeat(job, echomq.ScheduleSpec{ID: "computed", Every: 100 * time.Millisecond}, func(slot time.Time) (greeting, error) {
				return greeting{fmt.Sprintf("slot/%d", slot.UnixMilli())}, nil
			}))
		_, err := echomq.UpsertSchedule(f.ctx, f.producer, job, echomq.ScheduleSpec{ID: "given", Every: 100 * time.Millisecond}, greeting{"given/1"})
		require.NoError(t, err)
		f.run(t, nil, served)
		seen := map[string]bool{}
		eventually(t, func() bool {
			for len(groups) > 0 {
				id, group, _ := strings.Cut(<-groups, " ")
				require.Equal(t, map[bool]string{true: "slot", false: "given"}[strings.HasPrefix(id, "_computed.")], group)
				seen[group] = true
			}
			return len(seen) == 2
		}, "both schedules have added jobs")
	})
}

func TestOperatorSeesGroups(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.admin(t)
		names := slices.Concat(namesOf("a", 7), namesOf("b", 3), namesOf("c", 1))
		handles := f.enqueueGrouped(t, names...)
		alone := f.enqueueGrouped(t, "alone 1", "alone 2")
		f.enqueue(t, "ranked", echomq.Priority(1))
		counts := f.counts(t)
		require.Equal(t, echomq.Counts{Waiting: 13, Grouped: 11, Groups: 3, Prioritized: 1}, counts)
		require.EqualValues(t, 13, counts.In(echomq.StateWaiting))
		want := []string{alone[0].ID, alone[1].ID}
		for _, handle := range handles {
			want = append(want, handle.ID)
		}
		for _, size := range []int{1, 2, 3, 5, 13, 100} {
			require.Equal(t, want, f.ids(t, echomq.StateWaiting, echomq.PageSize(size)), "in pages of %d", size)
		}
		info, err := queue.Get(f.ctx, handles[0].ID)
		require.NoError(t, err)
		require.Equal(t, echomq.StateWaiting, info.State)
		require.Equal(t, "a", info.Group)
		require.Equal(t, echomq.StateWaiting, state(t, f, handles[0]))

		outcomes, err := queue.Remove(f.ctx, handles[10].ID, handles[0].ID, handles[0].ID)
		require.NoError(t, err)
		require.NoError(t, outcomes[0].Err)
		require.NoError(t, outcomes[1].Err)
		require.ErrorIs(t, outcomes[2].Err, echomq.ErrJobMissing)
		counts = f.counts(t)
		require.EqualValues(t, 9, counts.Grouped)
		require.EqualValues(t, 2, counts.Groups, "a group without work is gone")

		require.NoError(t, handles[1].Cancel(f.ctx, "not wanted"))
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", echomq.Fail(errFlaky) }, echomq.GroupLimit(1))
		eventually(t, func() bool { return f.counts(t).Failed == 12 }, "all have failed")
		f.requireNoGroups(t)
	})
}

func TestRetriedJobGoesToItsGroup(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := f.enqueueGrouped(t, "a/0", "b/0")
		w := f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", echomq.Fail(errFlaky) })
		for _, handle := range handles {
			awaitFailure(t, f, handle)
		}
		w.halt(t)
		for _, handle := range handles {
			require.NoError(t, handle.Retry(f.ctx))
		}
		f.enqueueGrouped(t, "a/1")
		require.EqualValues(t, 3, f.counts(t).Grouped)
		require.Equal(t, []string{"a/0", "b/0", "a/1"}, f.order(t, 3))
		f.requireNoGroups(t)
	})
}

func TestGroupsAreDrainedAndObliterated(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.admin(t)
		fill := func() {
			var names []string
			for n := range 600 {
				names = append(names, fmt.Sprintf("g%d/%d", n%7, n))
			}
			f.enqueueGrouped(t, names...)
		}
		fill()
		removed, err := queue.Drain(f.ctx)
		require.NoError(t, err)
		require.EqualValues(t, 600, removed)
		f.requireNoGroups(t)

		fill()
		gate := make(chan struct{})
		w, running := f.gated(t, gate, echomq.Concurrency(4), echomq.GroupLimit(1))
		for range 4 {
			receive(t, running, "a job")
		}
		removed, err = queue.Obliterate(f.ctx, echomq.Force())
		require.NoError(t, err)
		require.EqualValues(t, 600, removed)
		f.requireNoGroups(t)
		close(gate)
		w.halt(t)
		require.Empty(t, slices.DeleteFunc(f.keys(t), func(key string) bool { return strings.HasSuffix(key, ":events") }))
	})
}

func TestQueueWithoutGroupsKnowsNothingOfThem(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "Ada")
		f.order(t, 1, echomq.GroupLimit(3))
		f.completed(t, 1)
		meta := f.store.HGetAll(f.ctx, f.queue.Key("meta")).Val()
		require.NotContains(t, slices.Collect(maps.Keys(meta)), "grouped")
	})
}
