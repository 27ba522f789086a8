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

func TestQueueWithoutGroupsKnowsNothingOfThem(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "Ada")
		f.order(t, 1, echomq.GroupLimit(3))
		f.completed(t, 1)
		meta := f.store.HGetAll(f.ctx, f.queue.Key("meta")).Val()
		require.NotContains(t, slices.Collect(maps.Keys(meta)), "grouped")
	})
}
