package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// TestFlowOfSealedJobs: results of children are opened as they were sealed.
func TestFlowOfSealedJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.client = f.newClient(t, f.programStore(t), echomq.TransformPayloads(compressed{}))
		f.producer = echomq.NewProducer(f.client, f.spec)
		child := f.prepare(t, "a")
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"), echomq.Child(child)))
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		require.Equal(t, "p(a)", await(t, f, handle))
		require.Equal(t, "json+gzip", f.hash(t, child.ID())["cdc"])
		require.NotContains(t, f.hash(t, child.ID())["returnvalue"], "a\"")
	})
}

// TestMiddlewareSeesAFlowOnce: it gets all jobs in one call, the parent first, and
// can refuse them and not leave some out.
func TestMiddlewareSeesAFlowOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var seen [][]string
		refusal := errors.New("not now")
		around := func(next echomq.EnqueueFunc) echomq.EnqueueFunc {
			return func(ctx context.Context, jobs []echomq.Prepared) ([]echomq.Sent, error) {
				var ids []string
				for _, job := range jobs {
					ids = append(ids, job.ID())
				}
				seen = append(seen, ids)
				switch len(seen) {
				case 1:
					return nil, refusal
				case 2:
					return next(ctx, jobs[:1])
				}
				return next(ctx, jobs)
			}
		}
		client := f.newClient(t, f.programStore(t), echomq.EnqueueMiddleware(around))
		flow := echomq.NewFlow(f.prepare(t, "p", echomq.ID("p")), echomq.Child(f.prepare(t, "a", echomq.ID("a"))),
			echomq.Child(echomq.NewFlow(f.prepare(t, "b", echomq.ID("b")), echomq.Child(f.prepare(t, "c", echomq.ID("c"))))))
		_, err := echomq.SendFlow(f.ctx, client, f.greet(), flow)
		require.ErrorIs(t, err, refusal)
		_, err = echomq.SendFlow(f.ctx, client, f.greet(), flow)
		require.ErrorIs(t, err, echomq.ErrOption)
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key("p"), f.queue.Key("outbox")).Val(), "nothing was added")
		handle, err := echomq.SendFlow(f.ctx, client, f.greet(), flow)
		require.NoError(t, err)
		all := []string{"p", "a", "b", "c"}
		require.Equal(t, [][]string{all, all, all}, seen)
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		require.Equal(t, "p(a b(c))", await(t, f, handle))
	})
}

// TestParentsInABatch: each job of a batch has its own children.
func TestParentsInABatch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		second := newFixture(t, f.engine)
		var handles []echomq.Handle[string]
		for _, name := range []string{"a", "b"} {
			flow := echomq.NewFlow(second.prepare(t, name), echomq.Child(f.prepare(t, name+"1")), echomq.Child(f.prepare(t, name+"2")))
			handles = append(handles, second.sendFlow(t, flow))
		}
		one := gather(f)
		both := func(ctx context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
			results := make([]string, len(jobs))
			for i, job := range jobs {
				var err error
				if results[i], err = one(ctx, job); err != nil {
					return nil, err
				}
			}
			return results, nil
		}
		batches := echomq.Serve(second.spec, []echomq.Route{echomq.RouteToBatch(second.greet(), both)},
			echomq.Batches(second.greet(), echomq.BatchSpec{Size: 2, Wait: time.Minute}))
		f.run(t, []echomq.WorkerOption{carryOften(), echomq.Concurrency(4)}, f.gathering(), batches)
		require.Equal(t, "a(a1 a2)", await(t, f, handles[0]))
		require.Equal(t, "b(b1 b2)", await(t, f, handles[1]))
	})
}

// TestRemovedChildTellsItsParent by way of the outbox, without being looked for.
func TestRemovedChildTellsItsParent(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		child := f.prepare(t, "a", echomq.In(time.Hour))
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"), echomq.Child(child, echomq.OnFailure(echomq.IgnoreFailure))))
		counts, err := f.admin(t).Counts(f.ctx)
		require.NoError(t, err)
		require.Equal(t, echomq.Counts{Delayed: 1, WaitingChildren: 1}, counts)
		require.Equal(t, []string{handle.ID}, f.ids(t, echomq.StateWaitingChildren))
		_, err = f.admin(t).Remove(f.ctx, child.ID())
		require.NoError(t, err)
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		require.Equal(t, "p(removed)", await(t, f, handle))
	})
}

// TestRemovedParentLeavesItsChildren to themselves, and nothing of itself.
func TestRemovedParentLeavesItsChildren(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		child := f.prepare(t, "a", echomq.In(time.Hour))
		handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"), echomq.Child(child)))
		require.NoError(t, handle.Remove(f.ctx))
		require.Equal(t, echomq.StateMissing, state(t, f, handle))
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("delayed"), redisZ(1, child.ID())).Err())
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		left, err := f.greet().Handle(f.client, child.ID())
		require.NoError(t, err)
		require.Equal(t, "a", await(t, f, left))
		f.requireNoFlow(t)
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key(handle.ID)+":dependencies", f.queue.Key(handle.ID)+":processed").Val())
	})
}

// TestHandlerOfAParentIsTestedWithoutAStore plants results of children.
func TestHandlerOfAParentIsTestedWithoutAStore(t *testing.T) {
	t.Parallel()
	child := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "children", Name: "greet"})
	job := &echomq.Job[greeting]{Envelope: echomq.Envelope{ID: "p"}}
	ctx := echomq.WithChildResults(t.Context(), job, child, echomq.ChildResult[string]{Result: "a"},
		echomq.ChildResult[string]{Err: &echomq.ChildError{Kind: echomq.ErrChildFailed, ID: "b", Queue: "children", Reason: "no"}})
	results, err := echomq.ChildResults(ctx, job, child)
	require.NoError(t, err)
	require.Len(t, results, 2)
	require.Equal(t, "a", results[0].Result)
	require.ErrorIs(t, results[1].Err, echomq.ErrChildFailed)
	require.EqualError(t, results[1].Err, `echomq: job "b" of queue "children": child failed: no`)
	_, err = echomq.ChildResults(ctx, &echomq.Job[greeting]{Envelope: echomq.Envelope{ID: "other"}}, child)
	require.ErrorIs(t, err, echomq.ErrOption)
}

// TestCancelledParentFailsWithoutItsChildren, which go on.
func TestCancelledParentFailsWithoutItsChildren(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		child := f.prepare(t, "a", echomq.In(time.Hour))
		parent := f.prepare(t, "p", echomq.In(time.Hour))
		handle := f.sendFlow(t, echomq.NewFlow(parent, echomq.Child(child)))
		require.NoError(t, handle.Cancel(f.ctx, "enough"))
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		failure := awaitFailure(t, f, handle)
		require.ErrorIs(t, failure, echomq.ErrCancelled)
		left, err := f.greet().Handle(f.client, child.ID())
		require.NoError(t, err)
		require.Equal(t, echomq.StateDelayed, state(t, f, left))
		require.NoError(t, left.Cancel(f.ctx))
		require.ErrorIs(t, awaitFailure(t, f, left), echomq.ErrCancelled)
		f.requireNoFlow(t)
	})
}

// TestParentDoesNotReplaceTheHolderOfItsKey: its children would be lost.
func TestParentDoesNotReplaceTheHolderOfItsKey(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		flow := func(conflict echomq.Conflict) echomq.Flow {
			parent := f.prepare(t, "p", echomq.Unique(echomq.UniqueSpec{Key: "one", Conflict: conflict}))
			return echomq.NewFlow(parent, echomq.Child(f.prepare(t, "a")))
		}
		_, err := echomq.SendFlow(f.ctx, f.client, f.greet(), flow(echomq.ConflictReplace))
		require.ErrorIs(t, err, echomq.ErrOption)
		first := f.sendFlow(t, flow(echomq.ConflictExisting))
		second := f.sendFlow(t, flow(echomq.ConflictExisting))
		require.True(t, second.Existing)
		require.Equal(t, first.ID, second.ID)
		_, err = echomq.SendFlow(f.ctx, f.client, f.greet(), flow(echomq.ConflictError))
		require.ErrorIs(t, err, echomq.ErrDuplicate)
		f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
		require.Equal(t, "p(a)", await(t, f, first))
		require.EqualValues(t, 2, f.store.ZCard(f.ctx, f.queue.Key("completed")).Val(), "children of flows that were not added are not added")
	})
}

// TestChildWhoseUniqueKeyIsHeld is not added, whatever its conflict says, and its
// parent is told.
func TestChildWhoseUniqueKeyIsHeld(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, conflict := range []echomq.Conflict{echomq.ConflictExisting, echomq.ConflictError, echomq.ConflictReplace} {
			unique := []echomq.EnqueueOption{echomq.Unique(echomq.UniqueSpec{Key: "same", Conflict: conflict}), echomq.In(time.Hour)}
			owner := f.enqueue(t, "owner", unique...)
			child := f.prepare(t, "child", unique...)
			handle := f.sendFlow(t, echomq.NewFlow(f.prepare(t, "p"), echomq.Child(child, echomq.OnFailure(echomq.IgnoreFailure))))
			f.hurryFlow(t)
			w := f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(f))
			require.Equal(t, "p(taken)", await(t, f, handle))
			require.Equal(t, echomq.StateDelayed, state(t, f, owner))
			w.halt(t)
			require.NoError(t, owner.Remove(f.ctx))
		}
	})
}

// hurryFlow makes what waits in the outbox due.
func (f *fixture) hurryFlow(t *testing.T) {
	t.Helper()
	for _, entry := range f.store.ZRange(f.ctx, f.queue.Key("outbox"), 0, -1).Val() {
		require.NoError(t, f.store.ZAddXX(f.ctx, f.queue.Key("outbox"), redisZ(1, entry)).Err())
	}
}
