package echomq_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// notice is a payload of which the user alone makes two jobs the same.
type notice struct {
	User int64  `json:"user"`
	Text string `json:"text"`
}

// notices is the unique job of a fixture's queue.
type notices struct {
	*fixture
	job echomq.JobType[notice, string]
}

func uniquely(f *fixture, unique echomq.UniqueSpec, changes ...func(*echomq.JobSpec)) notices {
	spec := f.jobSpec("notice")
	spec.Unique = unique
	for _, change := range changes {
		change(&spec)
	}
	job := echomq.NewJobType[notice, string](spec).UniqueBy(func(key *echomq.UniqueKey, payload *notice) { key.Int(payload.User) })
	return notices{fixture: f, job: job}
}

func (n notices) try(user int64, text string, opts ...echomq.EnqueueOption) (echomq.Handle[string], error) {
	return echomq.Enqueue(n.ctx, n.producer, n.job, notice{user, text}, opts...)
}

// new adds a job, which must not be there.
func (n notices) new(t *testing.T, user int64, text string, opts ...echomq.EnqueueOption) echomq.Handle[string] {
	t.Helper()
	handle, err := n.try(user, text, opts...)
	require.NoError(t, err)
	require.False(t, handle.Existing, "it was to be added")
	return handle
}

// same adds a job which another one stands for.
func (n notices) same(t *testing.T, owner echomq.Handle[string], user int64, opts ...echomq.EnqueueOption) {
	t.Helper()
	handle, err := n.try(user, "the same", opts...)
	require.NoError(t, err)
	require.True(t, handle.Existing)
	require.False(t, handle.Replaced)
	require.Equal(t, owner.ID, handle.ID)
}

// held returns the keys that are held, by their holders.
func (n notices) held(t *testing.T) map[string]string {
	t.Helper()
	keys, err := n.store.HGetAll(n.ctx, n.queue.Key("dedup")).Result()
	require.NoError(t, err)
	held := make(map[string]string)
	for key, owner := range keys {
		held[owner] = key
	}
	require.Len(t, held, len(keys))
	return held
}

// gate is a handler whose jobs wait until they are let go.
type gate struct {
	begun chan string
	end   chan error
}

func newGate() gate { return gate{begun: make(chan string, 100), end: make(chan error, 100)} }

func (g gate) handle(_ context.Context, job *echomq.Job[notice]) (string, error) {
	g.begun <- job.Payload.Text
	return job.Payload.Text, <-g.end
}

func (n notices) work(t *testing.T, handle func(context.Context, *echomq.Job[notice]) (string, error), opts ...echomq.WorkerOption) *worker {
	t.Helper()
	return n.run(t, opts, echomq.Serve(n.spec, []echomq.Route{echomq.RouteTo(n.job, handle)}))
}

func text(_ context.Context, job *echomq.Job[notice]) (string, error) { return job.Payload.Text, nil }

func TestUniqueAnswersWithTheExistingJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{})
		owner := n.new(t, 1, "first")
		other := n.new(t, 2, "other")
		n.same(t, owner, 1)
		require.Len(t, n.held(t), 2)
		n.work(t, text)
		handle, err := n.try(1, "the same")
		require.NoError(t, err)
		require.Contains(t, []string{"first", "the same"}, await(t, f, handle), "the handle is the owner's, or of a new job")
		require.Equal(t, "first", await(t, f, owner))
		await(t, f, other)
		eventually(t, func() bool { return len(n.held(t)) == 0 }, "every key is released")
		n.new(t, 1, "again")
	})
}

func TestUniqueUntilStarted(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilStarted, For: time.Hour})
		g := newGate()
		first := n.new(t, 1, "first")
		n.same(t, first, 1)
		n.work(t, g.handle)
		receive(t, g.begun, "the first")
		require.Empty(t, n.held(t))
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key("dedup-due")).Val(), "nor is there a time of the key")
		second := n.new(t, 1, "second", echomq.In(time.Hour))
		n.same(t, second, 1)
		// A retry of the first takes nothing from the second.
		g.end <- echomq.RetryAfter(0, errFlaky)
		receive(t, g.begun, "the first, again")
		require.Contains(t, n.held(t), second.ID)
		g.end <- nil
		require.Equal(t, "first", await(t, f, first))
		require.Equal(t, []string{second.ID}, owners(n.held(t)))
	})
}

func owners(held map[string]string) []string {
	var ids []string
	for id := range held {
		ids = append(ids, id)
	}
	return ids
}

func TestUniqueUntilFinished(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilFinished})
		g := newGate()
		n.work(t, g.handle)
		owner := n.new(t, 1, "first")
		for _, end := range []error{echomq.RetryAfter(0, errFlaky), echomq.Snooze(0), echomq.Fail(errFlaky)} {
			receive(t, g.begun, "an attempt")
			n.same(t, owner, 1)
			g.end <- end
		}
		awaitFailure(t, f, owner)
		require.Empty(t, n.held(t))
		again := n.new(t, 1, "again")
		g.end <- nil
		require.Equal(t, "again", await(t, f, again))
		require.Empty(t, n.held(t))
	})
}

func TestUniqueUntilRemoved(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilRemoved, For: time.Hour})
		w := n.work(t, text)
		owner := n.new(t, 1, "first")
		require.Equal(t, "first", await(t, f, owner))
		n.same(t, owner, 1)
		nothing := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}})
		gone := n.new(t, 2, "not kept", nothing)
		reach(t, f, gone, echomq.StateCompleted)
		again := n.new(t, 2, "of which nothing is kept", echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}}))
		require.Equal(t, "of which nothing is kept", await(t, f, again))
		n.same(t, again, 2)
		w.halt(t)
		n.work(t, text, echomq.CleanEvery(20*time.Millisecond))
		eventually(t, func() bool { return len(n.held(t)) == 1 }, "the trimmed job has released its key")
		n.new(t, 2, "the third")
		n.same(t, owner, 1)
	})
}

func TestUniqueForAWhile(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilRemoved, For: 100 * time.Millisecond})
		owner := n.new(t, 1, "first")
		lonely := n.new(t, 2, "nobody asks for it")
		require.Equal(t, int64(2), f.store.ZCard(f.ctx, f.queue.Key("dedup-due")).Val())
		var next echomq.Handle[string]
		eventually(t, func() bool {
			handle, err := n.try(1, "next")
			require.NoError(t, err)
			next = handle
			return !handle.Existing
		}, "the time is over")
		require.NotEqual(t, owner.ID, next.ID)
		require.Equal(t, n.held(t)[next.ID] != "", true)
		n.work(t, text, echomq.CleanEvery(20*time.Millisecond))
		eventually(t, func() bool { return len(n.held(t)) == 0 }, "what nobody asks for is released as well")
		require.Equal(t, "nobody asks for it", await(t, f, lonely))
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key("dedup"), f.queue.Key("dedup-due")).Val())
	})
}

func TestUniqueConflictIsAnError(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Conflict: echomq.ConflictError})
		owner := n.new(t, 1, "first")
		_, err := n.try(1, "second")
		var duplicate *echomq.DuplicateError
		require.ErrorAs(t, err, &duplicate)
		require.ErrorIs(t, err, echomq.ErrDuplicate)
		require.Equal(t, &echomq.DuplicateError{Queue: f.spec.Name, Job: "notice", Owner: owner.ID}, duplicate)
		n.same(t, owner, 1, echomq.Unique(echomq.UniqueSpec{Conflict: echomq.ConflictExisting}))
		n.new(t, 1, "beside it", echomq.NotUnique())
		require.Equal(t, []string{owner.ID}, owners(n.held(t)))
	})
}

func TestUniqueBatch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{})
		owner := n.new(t, 1, "first")
		item := func(user int64, text string, opts ...echomq.EnqueueOption) echomq.Item[notice] {
			return echomq.Item[notice]{Payload: notice{user, text}, Options: opts}
		}
		conflict := func(c echomq.Conflict) echomq.EnqueueOption { return echomq.Unique(echomq.UniqueSpec{Conflict: c}) }
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, n.job, []echomq.Item[notice]{
			item(1, "a"), item(2, "b"), item(2, "c"), item(3, "d"),
			item(3, "e", conflict(echomq.ConflictError)),
			item(2, "f", conflict(echomq.ConflictReplace)), item(2, "g", conflict(echomq.ConflictReplace)),
			item(2, "h", echomq.NotUnique()),
		})
		require.ErrorIs(t, err, echomq.ErrDuplicate, "the first error of an item")
		require.Len(t, outcomes, 8)
		id := func(i int) string { return outcomes[i].Handle.ID }
		require.Equal(t, owner.ID, id(0))
		require.Equal(t, id(1), id(2), "the first of two in the batch has the key")
		require.Equal(t, id(1), id(5))
		require.Equal(t, id(1), id(6))
		require.NotEqual(t, id(1), id(7))
		for i, outcome := range outcomes {
			require.Equal(t, i == 0 || i == 2 || i == 5 || i == 6, outcome.Handle.Existing, "item %d", i)
			require.Equal(t, i == 5 || i == 6, outcome.Handle.Replaced, "item %d", i)
			require.Equal(t, i == 4, outcome.Err != nil, "item %d", i)
		}
		n.work(t, text)
		require.Equal(t, "g", await(t, f, outcomes[1].Handle), "the last content counts")
		require.Equal(t, "first", await(t, f, outcomes[0].Handle))
	})
}

// TestUniqueKeyIsNotTakenByAJobThatIsNotAdded: the id is looked at first.
func TestUniqueKeyIsNotTakenByAJobThatIsNotAdded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{})
		first := n.new(t, 1, "first", echomq.ID("same"))
		handle, err := n.try(2, "another key, the same id", echomq.ID("same"))
		require.NoError(t, err)
		require.True(t, handle.Existing)
		require.Equal(t, []string{first.ID}, owners(n.held(t)))
		n.new(t, 2, "the key is free")
	})
}

func TestUniquePreparedKeepsItsKey(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilRemoved, For: time.Hour, Conflict: echomq.ConflictReplace})
		owner := n.new(t, 1, "first")
		prepared, err := echomq.Prepare(f.producer, n.job, notice{1, "second"})
		require.NoError(t, err)
		row, err := json.Marshal(prepared)
		require.NoError(t, err)
		var again echomq.Prepared
		require.NoError(t, json.Unmarshal(row, &again))
		require.Equal(t, prepared.ID(), again.ID())
		for range 2 {
			sent, err := f.client.Send(f.ctx, again)
			require.NoError(t, err)
			require.Equal(t, []echomq.Sent{{ID: owner.ID, Existing: true, Replaced: true}}, sent)
		}
		envelope := f.envelope(t, owner.ID)
		require.JSONEq(t, `{"user":1,"text":"second"}`, string(envelope.Data))
		require.Equal(t, "removed", envelope.DeduplicationUntil)
		require.Equal(t, prepared.ID(), envelope.ReplacedBy)
		require.Equal(t, n.held(t)[owner.ID], envelope.DeduplicationID)
		for _, bad := range []string{
			`{"key":""}`, `{"key":"k","until":9}`, `{"key":"k","conflict":-1}`, `{"key":"k","forNanoseconds":5}`,
		} {
			var at map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(row, &at))
			at["unique"] = json.RawMessage(bad)
			spoiled, err := json.Marshal(at)
			require.NoError(t, err)
			require.Error(t, json.Unmarshal(spoiled, &again), bad)
		}
	})
}

func TestUniqueByAKeyOfTheCallersOwn(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		own := func(key string) echomq.EnqueueOption { return echomq.Unique(echomq.UniqueSpec{Key: key}) }
		first := f.enqueue(t, "Ada", own("a"))
		require.Equal(t, first.ID, f.enqueue(t, "Bob", own("a")).ID)
		require.NotEqual(t, first.ID, f.enqueue(t, "Bob", own("b")).ID)
		other := echomq.NewJobType[greeting, string](f.jobSpec("other"))
		handle, err := echomq.Enqueue(f.ctx, f.producer, other, greeting{}, own("a"))
		require.NoError(t, err)
		require.False(t, handle.Existing, "another type of job has other keys")
	})
}

func TestUniqueOptionsThatMakeNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{})
		for _, bad := range []echomq.UniqueSpec{
			{Until: 9}, {Conflict: -1}, {For: -time.Second}, {For: time.Microsecond},
		} {
			_, err := n.try(1, "", echomq.Unique(bad))
			require.ErrorIs(t, err, echomq.ErrOption, "%+v", bad)
		}
		_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{}, echomq.Unique(echomq.UniqueSpec{For: time.Hour}))
		require.ErrorIs(t, err, echomq.ErrOption, "there is no key")
		_, err = echomq.Enqueue(f.ctx, f.producer, f.greet(func(s *echomq.JobSpec) { s.Unique.For = time.Hour }), greeting{})
		require.ErrorIs(t, err, echomq.ErrOption, "there is no key")
		unreadable := errors.New("unreadable")
		for _, values := range []func(key *echomq.UniqueKey, _ *notice){
			func(key *echomq.UniqueKey, _ *notice) { key.Marshaled(nil, unreadable) },
			func(*echomq.UniqueKey, *notice) { panic(unreadable) },
		} {
			_, err = echomq.Enqueue(f.ctx, f.producer, n.job.UniqueBy(values), notice{})
			require.ErrorIs(t, err, echomq.ErrPayload)
			require.ErrorContains(t, err, "unreadable")
		}
		require.Empty(t, f.keys(t), "nothing was written")
	})
}
