package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/acl"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// lively is a handler whose jobs end in every way, by their names.
func lively(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
	if err := errors.Join(job.Progress(ctx, 1), job.Log(ctx, "line")); err != nil {
		return "", err
	}
	switch {
	case job.Payload.Name == "cancelled":
		<-ctx.Done()
		return "", ctx.Err()
	case job.Payload.Name == "bad":
		return "", echomq.Fail(errFlaky)
	case job.Payload.Name == "flaky" && job.Attempt() == 1:
		return "", errFlaky
	case job.Payload.Name == "sleepy" && job.AttemptsStarted == 1:
		return "", echomq.Snooze(10 * time.Millisecond)
	}
	return "hello " + job.Payload.Name, nil
}

// TestLivesOfJobsWithoutMoreRights runs jobs of all kinds with the rights that
// emq acl gives, and holds the table of plain commands against what was sent.
func TestLivesOfJobsWithoutMoreRights(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		lost := r.enqueue(t, "lost")
		r.loseToStranger(t, lost)

		serve := func(f *fixture) echomq.Served {
			return echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), lively)}, echomq.Lease(shortLease))
		}
		w := r.run(t, []echomq.WorkerOption{echomq.CleanEvery(20 * time.Millisecond)}, serve(r.fixture), serve(r.second))
		for _, f := range []*fixture{r.fixture, r.second} {
			r.live(t, f)
		}
		require.Equal(t, "hello lost", await(t, r.fixture, lost))
		w.halt(t)

		r.requireNoRefusal(t)
		r.asProducer.requireTable(t, acl.Producer)
		r.asWorker.requireTable(t, acl.Worker)
	})
}

// live lets jobs of one queue live.
func (r *roles) live(t *testing.T, f *fixture) {
	t.Helper()
	retry := echomq.Retry(echomq.RetrySpec{Base: time.Millisecond, Backoff: echomq.Fixed})
	var handles []echomq.Handle[string]
	for name, opts := range map[string][]echomq.EnqueueOption{
		"plain":   nil,
		"delayed": {echomq.In(20 * time.Millisecond)},
		"ranked":  {echomq.Priority(3)},
		"flaky":   {retry},
		"sleepy":  nil,
	} {
		handles = append(handles, f.enqueue(t, name, opts...))
	}
	batch, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(3)...))
	require.NoError(t, err)
	for _, outcome := range batch {
		handles = append(handles, outcome.Handle)
	}
	_, err = echomq.UpsertSchedule(f.ctx, f.producer, f.greet(), echomq.ScheduleSpec{ID: "beat", Every: echomq.MinEvery, Limit: 2}, greeting{"beat"})
	require.NoError(t, err)
	eventually(t, func() bool { return f.schedule(t).Count == 2 }, "slots have come")
	prepared, err := echomq.Prepare(f.producer, f.greet(), greeting{"prepared"}, echomq.ID("prepared"))
	require.NoError(t, err)
	_, err = r.producing.Send(f.ctx, prepared, prepared)
	require.NoError(t, err)
	handle, err := f.greet().Handle(r.producing, "prepared")
	require.NoError(t, err)
	for _, handle := range append(handles, handle) {
		require.Contains(t, await(t, f, handle), "hello ")
		require.Contains(t, f.logs(t, handle), "1 line")
		require.Equal(t, echomq.StateCompleted, state(t, f, handle))
	}
	awaitFailure(t, f, f.enqueue(t, "bad"))
	require.NotEmpty(t, read(t, f.ctx, f.queueThrough(t, r.producing), echomq.FromStart()).event(t).JobID)
	cancelled := f.enqueue(t, "cancelled")
	reach(t, f, cancelled, echomq.StateActive)
	require.NoError(t, cancelled.Cancel(f.ctx))
	require.True(t, awaitFailure(t, f, cancelled).Cancelled)
	one := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}})
	brief := f.enqueue(t, "brief", one)
	eventually(t, func() bool {
		_, err := brief.Await(f.ctx)
		return errors.Is(err, echomq.ErrNotKept)
	}, "the job is trimmed")
	none := echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}})
	_, err = f.enqueue(t, "stub", none).Await(f.ctx)
	require.ErrorIs(t, err, echomq.ErrNotKept)
}

// loseToStranger lets a worker take the job that waits and die with it.
func (r *roles) loseToStranger(t *testing.T, handle echomq.Handle[string]) {
	t.Helper()
	stranger := *r.fixture
	stranger.client = r.newClient(t, r.workerStore)
	stranger.loseTo(t, handle)
}

func TestClientsWithDefaultOptionsNeedNoMoreRights(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		f := newFixture(t, e)
		request := acl.Request{Role: acl.Producer, User: "emq-producer", Queues: []wire.Queue{f.queue}, Legacy: []string{"a[b]*?", "bull"}, Database: 2}
		setUser(t, f.store, request)
		options := e.Options()
		store := clientAs(t, &redis.Options{Network: options.Network, Addr: options.Addr, DB: 2, ClientName: "shop"}, "emq-producer")
		require.NoError(t, store.Ping(f.ctx).Err())
		client := f.newClient(t, store, echomq.LegacyPrefixes(request.Legacy...))
		f.producer = echomq.NewProducer(client, f.spec)
		f.enqueue(t, "Ada")
		require.ErrorContains(t, store.Do(f.ctx, "exists", "aXb*?:"+f.spec.Name+":meta").Err(), "NOPERM", "a prefix is no pattern")
		require.ErrorContains(t, store.Do(f.ctx, "select", "3").Err(), "NOPERM")
	})
}

// evalsha calls a script of the protocol as a user, with the queue's keys as they
// stand in the header and one job.
func evalsha(t *testing.T, admin, store redis.UniversalClient, name string, keys []string, args ...any) error {
	t.Helper()
	found, ok := lua.Lookup(name)
	require.True(t, ok)
	require.NoError(t, admin.ScriptLoad(t.Context(), found.Source).Err())
	return store.EvalSha(t.Context(), found.SHA1, keys, args...).Err()
}

func queueKeys(queue wire.Queue, suffixes ...string) []string {
	keys := make([]string, len(suffixes))
	for i, suffix := range suffixes {
		keys[i] = queue.Key(suffix)
	}
	return keys
}

func TestWhatNoRoleMayDo(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		other, err := wire.ParseQueue("other")
		require.NoError(t, err)
		setUser(t, r.store, acl.Request{Role: acl.Operator, User: "emq-operator", Queues: []wire.Queue{r.queue, r.second.queue}})
		operator := clientAs(t, r.engine.Options(), "emq-operator")
		job := r.enqueue(t, "Ada")
		require.NoError(t, operator.HGetAll(r.ctx, r.queue.Key(job.ID)).Err())
		require.NoError(t, operator.SMembers(r.ctx, wire.StoreQueuesKey).Err())

		for role, store := range map[string]redis.UniversalClient{"producer": r.producerStore, "worker": r.workerStore, "operator": operator} {
			for _, command := range [][]any{
				{"keys", "*"}, {"scan", "0"}, {"dbsize"}, {"flushall"}, {"flushdb"}, {"script", "flush"}, {"script", "kill"},
				{"config", "get", "*"}, {"config", "set", "maxmemory", "1"}, {"acl", "list"}, {"monitor"},
				{"client", "list"}, {"client", "kill", "type", "normal"}, {"shutdown"}, {"save"}, {"select", "1"},
				{"eval", "return 1", "0"}, {"function", "list"}, {"publish", "a", "b"}, {"subscribe", "a"}, {"multi"},
				{"hget", other.Key("meta"), "version"}, {"hset", other.Key("job"), "name", "x"}, {"bzpopmin", other.Key("marker"), "0.01"},
				{"hget", "bull:" + r.spec.Name + ":meta", "x"}, {"exists", "bull:other:meta"},
				{"del", wire.StoreVersionKey}, {"set", wire.StoreVersionKey, "x"}, {"del", wire.StoreQueuesKey}, {"sadd", wire.StoreVersionKey, "x"},
				{"rename", r.queue.Key("wait"), other.Key("wait")},
			} {
				assert.ErrorContains(t, store.Do(r.ctx, command...).Err(), "NOPERM", "%s: %v", role, command)
			}
			if role != "operator" { // who may obliterate queues
				assert.ErrorContains(t, store.Do(r.ctx, "srem", wire.StoreQueuesKey, r.spec.Name).Err(), "NOPERM", "%s", role)
			}
			// Scripts of one's own may do no more than one's commands.
			foreign, err := store.ScriptLoad(r.ctx, "return redis.call('HGET', ARGV[1], 'name')").Result()
			require.NoError(t, err)
			require.NoError(t, store.EvalSha(r.ctx, foreign, nil, r.queue.Key(job.ID)).Err())
			require.ErrorIs(t, echomq.Kind(store.EvalSha(r.ctx, foreign, nil, other.Key("job")).Err()), echomq.ErrPermission)
			publish, err := store.ScriptLoad(r.ctx, "return redis.call('PUBLISH', 'a', 'b')").Result()
			require.NoError(t, err)
			require.ErrorIs(t, echomq.Kind(store.EvalSha(r.ctx, publish, nil).Err()), echomq.ErrPermission)
			require.ErrorIs(t, echomq.Kind(evalsha(t, r.store, store, "due", queueKeys(other, "meta", "delayed", "active"), 1)), echomq.ErrPermission)
		}
	})
}

func TestProducerCannotDoTheWorkersPart(t *testing.T) {
	eachRoles(t, func(t *testing.T, r *roles) {
		job := r.enqueue(t, "Ada")
		r.loseTo(t, job)
		before := r.keys(t)
		hash, lock := r.queue.Key(job.ID), r.queue.Key(job.ID+":lock")
		token := r.store.Get(r.ctx, lock).Val()
		id, err := wire.ParseJobID(job.ID)
		require.NoError(t, err)
		for _, call := range []script.Call{
			script.Settle{Events: "final", History: 100, Items: []script.SettleItem{
				{ID: id, Token: token, Outcome: "completed", Attempts: 1, Starts: 1, Keep: true, Job: "greet"},
			}}.Call(r.queue),
			script.Extend{Lease: 1000, Items: []script.ExtendItem{{ID: id, Token: token}}}.Call(r.queue),
			script.Pick{
				Events: "final", History: 100, Token: "thief:1", Worker: "thief", Lease: 1000, Want: 1, Window: 1, Limit: 1000, Payload: 1000,
			}.Call(r.queue),
		} {
			err := evalsha(t, r.store, r.producerStore, call.Script.Name, call.Keys, call.Args...)
			require.ErrorIs(t, echomq.Kind(err), echomq.ErrPermission, "%s: %v", call.Script.Name, err)
		}
		require.Equal(t, before, r.keys(t))
		require.Equal(t, echomq.StateActive, state(t, r.fixture, job))
		for _, command := range [][]any{
			{"del", hash}, {"get", lock}, {"rpop", r.queue.Key("wait")}, {"zpopmin", r.queue.Key("active")}, {"expire", hash, "1"},
			{"subscribe", r.queue.ControlChannel()}, {"bzpopmin", r.queue.Key("marker"), "0.01"}, {"hgetall", hash}, {"info"},
		} {
			require.ErrorContains(t, r.producerStore.Do(r.ctx, command...).Err(), "NOPERM", fmt.Sprint(command))
		}
	})
}

// TestFlowsWithoutMoreRights runs a flow over two queues, whose workers are users
// of their own with no more rights than emq acl gives.
func TestFlowsWithoutMoreRights(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		parents, children := newFixture(t, e), newFixture(t, e)
		both := []wire.Queue{parents.queue, children.queue}
		work := func(user string, f *fixture) {
			setUser(t, f.store, acl.Request{Role: acl.Worker, User: user, Queues: []wire.Queue{f.queue}})
			setUser(t, f.store, acl.Request{Role: acl.Flow, User: user, Queues: both, Also: true})
			f.client = f.newClient(t, clientAs(t, e.Options(), user))
			f.run(t, []echomq.WorkerOption{carryOften()}, f.gathering(children))
		}
		setUser(t, parents.store, acl.Request{Role: acl.Producer, User: "sender", Queues: both})
		setUser(t, parents.store, acl.Request{Role: acl.Flow, User: "sender", Queues: both[:1], Also: true})
		sender := parents.newClient(t, clientAs(t, e.Options(), "sender"))
		parents.producer, children.producer = echomq.NewProducer(sender, parents.spec), echomq.NewProducer(sender, children.spec)

		lost := children.prepare(t, "lost", echomq.In(time.Hour))
		flow := echomq.NewFlow(parents.prepare(t, "p"), echomq.Child(children.prepare(t, "a")),
			echomq.Child(echomq.NewFlow(parents.prepare(t, "b"), echomq.Child(children.prepare(t, "c")))),
			echomq.Child(lost, echomq.OnFailure(echomq.IgnoreFailure)))
		handle, err := echomq.SendFlow(parents.ctx, sender, parents.greet(), flow)
		require.NoError(t, err)
		require.Zero(t, parents.store.Exists(parents.ctx, parents.queue.Key("outbox")).Val(), "the sender has done it all")
		require.EqualValues(t, 1, parents.store.Del(parents.ctx, children.queue.Key(lost.ID())).Val())
		parents.store.ZAdd(parents.ctx, parents.queue.Key("waiting-children"), redisZ(1, handle.ID))

		work("parents-worker", parents)
		work("children-worker", children)
		require.Equal(t, "p(a removed)", await(t, parents, handle))
		parents.requireNoFlow(t)
		log, err := parents.store.Do(parents.ctx, "acl", "log").Slice()
		require.NoError(t, err)
		assert.Empty(t, log)

		// In the other queue it may not do a worker's part.
		store := clientAs(t, e.Options(), "parents-worker")
		for _, command := range [][]any{
			{"rpop", children.queue.Key("wait")}, {"zpopmin", children.queue.Key("marker")}, {"bzpopmin", children.queue.Key("marker"), "0.01"},
		} {
			require.ErrorContains(t, store.Do(parents.ctx, command...).Err(), "NOPERM", fmt.Sprint(command))
		}
	})
}
