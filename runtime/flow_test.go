package echomq_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// carryOften makes the workers of a test look at the outbox all the time.
func carryOften() echomq.WorkerOption { return echomq.CarryEvery(10 * time.Millisecond) }

// sendFlow sends a flow whose parent is a job greet of the fixture's queue.
func (f *fixture) sendFlow(t *testing.T, flow echomq.Flow) echomq.Handle[string] {
	t.Helper()
	handle, err := echomq.SendFlow(f.ctx, f.client, f.greet(), flow)
	require.NoError(t, err)
	return handle
}

// gather is a handler that answers with what it has of its children, in the
// queues of the fixtures; a leaf says hello, and one called "bad" fails.
func gather(fixtures ...*fixture) handler {
	return func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
		if job.Payload.Name == "bad" {
			return "", echomq.Fail(errors.New("no luck"))
		}
		if job.Children == 0 {
			return job.Payload.Name, nil
		}
		var results []echomq.ChildResult[string]
		for _, f := range fixtures {
			found, err := echomq.ChildResults(ctx, job, f.greet())
			if err != nil {
				return "", err
			}
			results = append(results, found...)
		}
		slices.SortFunc(results, func(a, b echomq.ChildResult[string]) int { return a.Index - b.Index })
		var texts []string
		for _, child := range results {
			switch {
			case errors.Is(child.Err, echomq.ErrChildFailed):
				texts = append(texts, "failed")
			case errors.Is(child.Err, echomq.ErrChildRemoved):
				texts = append(texts, "removed")
			case errors.Is(child.Err, echomq.ErrChildTaken):
				texts = append(texts, "taken")
			case errors.Is(child.Err, echomq.ErrChildPending):
				texts = append(texts, "pending")
			case child.Err != nil:
				return "", child.Err
			default:
				texts = append(texts, child.Result)
			}
		}
		return job.Payload.Name + "(" + strings.Join(texts, " ") + ")", nil
	}
}

func (f *fixture) gathering(fixtures ...*fixture) echomq.Served {
	return echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), gather(fixtures...))}, echomq.Lease(time.Second))
}

func TestFlowOfThreeGenerationsInThreeQueues(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		second, third := newFixture(t, f.engine), newFixture(t, f.engine)
		branch := func(name string) echomq.FlowChild {
			return echomq.Child(echomq.NewFlow(second.prepare(t, name),
				echomq.Child(third.prepare(t, name+"1")), echomq.Child(f.prepare(t, name+"2")), echomq.Child(third.prepare(t, name+"3"))))
		}
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "root"), branch("a"), echomq.Child(second.prepare(t, "leaf")), branch("b")))
		require.False(t, handle.Existing)
		require.Equal(t, echomq.StateWaitingChildren, state(t, f, handle))
		all := []*fixture{f, second, third}
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(all...), second.gathering(all...), third.gathering(all...))
		require.Equal(t, "root(a(a1 a2 a3) leaf b(b1 b2 b3))", await(t, f, handle))
	})
}

func TestFlowOfManyChildren(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const children = 200
		second := newFixture(t, f.engine)
		flow := make([]echomq.FlowChild, children)
		want := make([]string, children)
		for i := range flow {
			want[i] = fmt.Sprint(i)
			flow[i] = echomq.Child(second.prepare(t, want[i]))
		}
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "all"), flow...))
		f.run(t, []echomq.WorkerOption{echomq.Concurrency(50)}, f.gathering(second), second.gathering())
		require.Equal(t, "all("+strings.Join(want, " ")+")", await(t, f, handle))
		f.requireNoFlow(t)
		second.requireNoFlow(t)
	})
}

// requireNoFlow waits until nothing of the queue waits for children, or to be
// delivered.
func (f *fixture) requireNoFlow(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		return f.store.Exists(f.ctx, f.queue.Key("waiting-children"), f.queue.Key("outbox"), f.queue.Key("outbox-body")).Val() == 0
	}, "all was delivered")
}

// TestEveryEndResolvesTheParentByEveryPolicy crosses the policies with the ways
// in which a child can end. Its sibling ends well, but for a parent that does not
// wait for it.
func TestEveryEndResolvesTheParentByEveryPolicy(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		second := newFixture(t, f.engine)
		second.enqueue(t, "stranger", echomq.ID("taken"), echomq.In(time.Hour))
		type wanted struct{ result, reason string }
		cases := map[echomq.FailurePolicy]map[string]wanted{
			echomq.FailParent: {
				"completed": {result: "p(fine other)"}, "failed": {reason: "failed: no luck"},
				"removed": {reason: "was removed: it does not exist any more"}, "taken": {reason: "was not added: another job has its id"},
			},
			echomq.ContinueParent: {
				"completed": {result: "p(fine other)"}, "failed": {result: "p(failed pending)"},
				"removed": {result: "p(removed pending)"}, "taken": {result: "p(taken pending)"},
			},
			echomq.IgnoreFailure: {
				"completed": {result: "p(fine other)"}, "failed": {result: "p(failed other)"},
				"removed": {result: "p(removed other)"}, "taken": {result: "p(taken other)"},
			},
			echomq.RemoveChild: {
				"completed": {result: "p(fine other)"}, "failed": {result: "p(other)"},
				"removed": {result: "p(other)"}, "taken": {result: "p(other)"},
			},
		}
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(second), second.gathering())
		for policy, ends := range cases {
			for end, want := range ends {
				t.Run(string(policy)+" "+end, func(t *testing.T) {
					var child echomq.Prepared
					switch end {
					case "completed":
						child = second.prepare(t, "fine")
					case "failed":
						child = second.prepare(t, "bad")
					case "removed":
						child = second.prepare(t, "lost", echomq.In(time.Hour))
					case "taken":
						child = second.prepare(t, "twin", echomq.ID("taken"))
					}
					var sibling []echomq.EnqueueOption
					if policy == echomq.ContinueParent && end != "completed" || policy == echomq.FailParent && end != "completed" {
						sibling = append(sibling, echomq.In(time.Hour))
					}
					handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"),
						echomq.Child(child, echomq.OnFailure(policy)), echomq.Child(second.prepare(t, "other", sibling...))))
					if end == "removed" {
						require.EqualValues(t, 1, f.store.Del(f.ctx, second.queue.Key(child.ID())).Val())
						f.store.ZAdd(f.ctx, f.queue.Key("waiting-children"), redisZ(1, handle.ID))
					}
					if end == "taken" {
						f.hurryFlow(t)
					}
					if want.reason != "" {
						failure := awaitFailure(t, f, handle)
						assert.Equal(t, "child "+child.ID()+" of queue "+second.queue.Name()+" "+want.reason, failure.Reason)
						assert.Zero(t, failure.Attempts)
						return
					}
					assert.Equal(t, want.result, await(t, f, handle))
				})
			}
		}
	})
}

// TestFailureOfAGrandchild goes up through two generations.
func TestFailureOfAGrandchildFailsAll(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		second := newFixture(t, f.engine)
		flow := echomq.NewFlow(f.prepare(t, "root"), echomq.Child(echomq.NewFlow(second.prepare(t, "middle"), echomq.Child(f.prepare(t, "bad")))))
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f), second.gathering(f))
		require.Contains(t, awaitFailure(t, f, f.sendFlow(t, flow)).Reason, "no luck")
	})
}

func TestFlowIsSentOnceAndKeptAsJSON(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		flow := echomq.NewFlow(f.prepare(t, "p", echomq.ID("parent")),
			echomq.Child(f.prepare(t, "a"), echomq.OnFailure(echomq.RemoveChild)), echomq.Child(echomq.NewFlow(f.prepare(t, "b"), echomq.Child(f.prepare(t, "c")))))
		row, err := json.Marshal(flow)
		require.NoError(t, err)
		var read echomq.Flow
		require.NoError(t, json.Unmarshal(row, &read))
		again, err := json.Marshal(read)
		require.NoError(t, err)
		require.JSONEq(t, string(row), string(again))
		require.Equal(t, "parent", read.ID())
		require.Equal(t, f.queue.Name(), read.Queue())

		require.False(t, f.sendFlow(t, flow).Existing)
		keys := f.keys(t)
		handle := f.sendFlow(t, read)
		require.True(t, handle.Existing)
		require.Equal(t, keys, f.keys(t))
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		require.Equal(t, "p(a b(c))", await(t, f, handle))
		require.True(t, f.sendFlow(t, flow).Existing, "of one that has ended as well")
		f.requireNoFlow(t)
		require.EqualValues(t, 4, f.store.ZCard(f.ctx, f.queue.Key("completed")).Val(), "every job ran once")
	})
}

func TestParentKeepsItsDelayAndPriority(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		w := f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		begun := f.serverTime(t)
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "late", echomq.In(300*time.Millisecond)), echomq.Child(f.prepare(t, "a"))))
		require.Equal(t, "late(a)", await(t, f, handle))
		require.GreaterOrEqual(t, f.serverTime(t).Sub(begun), 290*time.Millisecond)
		w.halt(t)

		child := f.prepare(t, "a")
		handle = f.sendFlow(t, echomq.NewFlow(f.prepare(t, "ranked", echomq.Priority(7)), echomq.Child(child)))
		require.Equal(t, "7", f.hash(t, handle.ID)["priority"])
		require.Equal(t, f.queue.Key(handle.ID), f.envelope(t, child.ID()).ParentKey)
		f.run(t, nil, f.gathering(f))
		require.Equal(t, "ranked(a)", await(t, f, handle))
	})
}

// TestNothingIsLeftOfAFlow: what is not kept goes with all its keys, though its
// end must be reported first.
func TestNothingIsLeftOfAFlow(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		second := newFixture(t, f.engine)
		none := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}, Failed: echomq.Keep{None: true}})
		brief := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}, Failed: echomq.Keep{Age: time.Millisecond}})
		var ids []string
		for _, keep := range []echomq.JobOption{none, brief} {
			flow := echomq.NewFlow(f.prepare(t, "p", keep),
				echomq.Child(second.prepare(t, "a", keep)), echomq.Child(second.prepare(t, "bad", keep), echomq.OnFailure(echomq.IgnoreFailure)),
				echomq.Child(echomq.NewFlow(f.prepare(t, "m", keep), echomq.Child(second.prepare(t, "c", keep)))))
			ids = append(ids, f.sendFlow(t, flow).ID)
		}
		f.run(t, []echomq.WorkerOption{carryOften(), echomq.CleanEvery(10 * time.Millisecond)}, f.gathering(f, second), second.gathering())
		for _, queue := range []*fixture{f, second} {
			eventually(t, func() bool {
				left := slices.DeleteFunc(queue.keys(t), func(key string) bool {
					suffix := strings.TrimPrefix(key, queue.queue.Key(""))
					// A stub answers replays for a minute.
					return suffix == "meta" || suffix == "events" || f.store.PTTL(f.ctx, key).Val() > 0
				})
				return len(left) == 0
			}, "nothing is left")
		}
		require.Len(t, ids, 2)
	})
}

func TestFlowsThatMakeNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		one := f.prepare(t, "a")
		deep := echomq.NewFlow(f.prepare(t, "deepest"), echomq.Child(f.prepare(t, "leaf")))
		for range echomq.MaxFlowDepth {
			deep = echomq.NewFlow(f.prepare(t, "deeper"), echomq.Child(deep))
		}
		flows := map[string]echomq.Flow{
			"no children":  echomq.NewFlow(f.prepare(t, "p")),
			"zero":         {},
			"zero child":   echomq.NewFlow(f.prepare(t, "p"), echomq.Child(echomq.Prepared{})),
			"nil child":    echomq.NewFlow(f.prepare(t, "p"), echomq.Child(nil)),
			"a policy":     echomq.NewFlow(f.prepare(t, "p"), echomq.Child(f.prepare(t, "a"), echomq.OnFailure("never"))),
			"a job twice":  echomq.NewFlow(f.prepare(t, "p"), echomq.Child(one), echomq.Child(one)),
			"its own":      echomq.NewFlow(one, echomq.Child(one)),
			"too deep":     deep,
			"too many":     echomq.NewFlow(f.prepare(t, "p"), make([]echomq.FlowChild, echomq.MaxChildren+1)...),
			"a line break": echomq.NewFlow(f.prepare(t, "p"), f.childNamed(t, "line\nbreak")),
		}
		if f.engine.Embedded() { // one engine is enough for so many bytes
			flows["too large"] = echomq.NewFlow(f.prepare(t, "p"), f.large(t)...)
		}
		for name, flow := range flows {
			_, err := echomq.SendFlow(f.ctx, f.client, f.greet(), flow)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		_, err := echomq.SendFlow(f.ctx, f.client, f.greet(func(s *echomq.JobSpec) { s.Name = "other" }),
			echomq.NewFlow(f.prepare(t, "p"), echomq.Child(f.prepare(t, "a"))))
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
		require.Empty(t, f.keys(t))
		_, err = echomq.ChildResults(f.ctx, &echomq.Job[greeting]{}, f.greet())
		require.ErrorIs(t, err, echomq.ErrOption)
		require.Error(t, json.Unmarshal([]byte(`{"job":{},"children":[]}`), new(echomq.Flow)))
	})
}

// large returns children that are too large together.
func (f *fixture) large(t *testing.T) []echomq.FlowChild {
	var children []echomq.FlowChild
	for range 5 {
		children = append(children, echomq.Child(f.prepare(t, strings.Repeat("a", 900_000))))
	}
	return children
}

func (f *fixture) childNamed(t *testing.T, name string) echomq.FlowChild {
	prepared, err := echomq.Prepare(f.producer, f.greet(func(s *echomq.JobSpec) { s.Name = name }), greeting{})
	require.NoError(t, err)
	return echomq.Child(prepared)
}

// TestLostDependenciesDoNotHoldTheParent: what a parent waits for was evicted.
func TestLostDependenciesDoNotHoldTheParent(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"), echomq.Child(f.prepare(t, "a", echomq.In(time.Hour)))))
		require.NoError(t, f.store.Del(f.ctx, f.queue.Key(handle.ID)+":dependencies").Err())
		f.store.ZAdd(f.ctx, f.queue.Key("waiting-children"), redisZ(1, handle.ID))
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		require.Equal(t, "p()", await(t, f, handle))
	})
}

// TestLostReportIsFoundOut: children have ended, and what was to tell their parent
// was lost.
func TestLostReportIsFoundOut(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		second := newFixture(t, f.engine)
		good, bad := second.prepare(t, "a", echomq.In(time.Hour)), second.prepare(t, "b", echomq.In(time.Hour))
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"), echomq.Child(good), echomq.Child(bad, echomq.OnFailure(echomq.IgnoreFailure))))
		f.store.Del(f.ctx, second.queue.Key("delayed"))
		f.store.HSet(f.ctx, second.queue.Key(good.ID()), "finishedOn", 1, "lst", "w:1 completed", "returnvalue", `"a"`)
		f.store.ZAdd(f.ctx, second.queue.Key("completed"), redisZ(1, good.ID()))
		f.store.HSet(f.ctx, second.queue.Key(bad.ID()), "finishedOn", 1, "lst", "w:1 failed", "failedReason", "no")
		f.store.ZAdd(f.ctx, second.queue.Key("failed"), redisZ(1, bad.ID()))
		f.store.ZAdd(f.ctx, f.queue.Key("waiting-children"), redisZ(1, handle.ID))
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(second))
		require.Equal(t, "p(a failed)", await(t, f, handle))
	})
}
