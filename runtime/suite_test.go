package echomq_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// patience bounds everything that a test waits for.
const patience = time.Minute

// greeting is the payload of most tests.
type greeting struct {
	Name string `json:"name"`
}

// handler is a handler of the job greet.
type handler = func(context.Context, *echomq.Job[greeting]) (string, error)

// fixture is a queue of a test's own, with a client and a producer for it.
type fixture struct {
	engine   *enginetest.Engine
	store    redis.UniversalClient
	client   *echomq.Client
	spec     echomq.QueueSpec
	producer *echomq.Producer
	queue    wire.Queue
	// ctx ends with the test, or when patience does.
	ctx context.Context
}

// each runs a test on every engine, with a queue of its own.
func each(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) { test(t, newFixture(t, e)) })
}

// eachServer runs a test on every engine but the embedded one, which cannot tell
// which of its clients wait for what.
func eachServer(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) { test(t, newFixture(t, e)) }, enginetest.Miniredis)
}

// eachFresh runs a test on a new engine of every kind, which holds nothing and
// belongs to it alone.
func eachFresh(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	t.Parallel()
	for _, kind := range []enginetest.Kind{enginetest.Miniredis, enginetest.Valkey, enginetest.Redis, enginetest.ValkeyCluster} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			test(t, newFixture(t, enginetest.Start(t, kind)))
		})
	}
}

func newFixture(t *testing.T, e *enginetest.Engine) *fixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	name := e.QueueName(t)
	queue, err := wire.ParseQueue(name)
	require.NoError(t, err)
	f := &fixture{engine: e, store: e.Store(t), spec: echomq.QueueSpec{Name: name}, queue: queue, ctx: ctx}
	f.client = f.newClient(t, f.programStore(t))
	f.producer = echomq.NewProducer(f.client, f.spec)
	return f
}

// sibling returns a fixture of another queue, for the programs of the first.
func (f *fixture) sibling(t *testing.T) *fixture {
	t.Helper()
	other := newFixture(t, f.engine) // whose rights the programs of the test get too
	other.client = f.client
	other.producer = echomq.NewProducer(f.client, other.spec)
	return other
}

// newClient returns another client, which is closed with the test.
func (f *fixture) newClient(t *testing.T, store redis.UniversalClient, opts ...echomq.ClientOption) *echomq.Client {
	t.Helper()
	client := echomq.NewClient(store, slices.Concat([]echomq.ClientOption{quiet()}, opts)...)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func quiet() echomq.ClientOption { return echomq.WithLogger(slog.New(slog.DiscardHandler)) }

// jobSpec returns the spec of a job of the fixture's queue.
func (f *fixture) jobSpec(name string) echomq.JobSpec {
	return echomq.JobSpec{Queue: f.spec.Name, Name: name, Contract: echomq.ContractSpec{Hash: "0123456789abcdef"}}
}

// greet returns the job that most tests use, with changes to its spec.
func (f *fixture) greet(changes ...func(*echomq.JobSpec)) echomq.JobType[greeting, string] {
	spec := f.jobSpec("greet")
	for _, change := range changes {
		change(&spec)
	}
	return echomq.NewJobType[greeting, string](spec)
}

// enqueue adds a job greet to the fixture's queue.
func (f *fixture) enqueue(t *testing.T, name string, opts ...echomq.EnqueueOption) echomq.Handle[string] {
	t.Helper()
	handle, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{name}, opts...)
	require.NoError(t, err)
	return handle
}

// worker is a worker that runs.
type worker struct {
	*echomq.Worker
	// done has what Run returned.
	done chan error
}

// work starts a worker that handles the job greet, and waits until it is ready.
func (f *fixture) work(t *testing.T, handle handler, opts ...echomq.QueueOption) *worker {
	t.Helper()
	return f.serve(t, []echomq.Route{echomq.RouteTo(f.greet(), handle)}, opts...)
}

// serve starts a worker with the given routes, and waits until it is ready.
func (f *fixture) serve(t *testing.T, routes []echomq.Route, opts ...echomq.QueueOption) *worker {
	t.Helper()
	return f.run(t, nil, echomq.Serve(f.spec, routes, opts...))
}

// run starts a worker, waits until it is ready, and stops it with the test.
func (f *fixture) run(t *testing.T, opts []echomq.WorkerOption, served ...echomq.Served) *worker {
	t.Helper()
	w, err := echomq.NewWorker(f.client, opts, served...)
	require.NoError(t, err)
	running := &worker{Worker: w, done: make(chan error, 1)}
	go func() { running.done <- w.Run(context.Background()) }()
	t.Cleanup(func() { running.halt(t) })
	eventually(t, running.Ready, "the worker is ready")
	return running
}

// halt stops the worker and requires that it did so in an orderly way.
func (w *worker) halt(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, w.Stop(ctx))
	require.NoError(t, receive(t, w.done, "the end of Run"))
	w.done <- nil
}

// eventually waits until a condition holds that nothing else signals.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); {
		require.True(t, time.Now().Before(deadline), "in vain waited until %s", what)
		time.Sleep(2 * time.Millisecond)
	}
}

// receive returns the next value of a channel.
func receive[V any](t *testing.T, channel <-chan V, what string) V {
	t.Helper()
	select {
	case value := <-channel:
		return value
	case <-time.After(patience):
		require.Fail(t, "in vain waited for "+what)
		panic("unreachable")
	}
}

// await returns the result of a job, which must succeed.
func await[R any](t *testing.T, f *fixture, handle echomq.Handle[R]) R {
	t.Helper()
	result, err := handle.Await(f.ctx)
	require.NoError(t, err)
	return result
}

// awaitFailure returns the failure of a job.
func awaitFailure[R any](t *testing.T, f *fixture, handle echomq.Handle[R]) *echomq.JobError {
	t.Helper()
	_, err := handle.Await(f.ctx)
	var failure *echomq.JobError
	require.ErrorAs(t, err, &failure)
	return failure
}

// state returns where a job stands.
func state[R any](t *testing.T, f *fixture, handle echomq.Handle[R]) echomq.State {
	t.Helper()
	found, err := handle.State(f.ctx)
	require.NoError(t, err)
	return found
}

// reach waits until a job stands there.
func reach[R any](t *testing.T, f *fixture, handle echomq.Handle[R], want echomq.State) {
	t.Helper()
	eventually(t, func() bool { return state(t, f, handle) == want }, "the job is "+string(want))
}

// hash returns a job's hash.
func (f *fixture) hash(t *testing.T, id string) map[string]string {
	t.Helper()
	fields, err := f.store.HGetAll(f.ctx, f.queue.Key(id)).Result()
	require.NoError(t, err)
	return fields
}

// envelope returns a job's hash, decoded.
func (f *fixture) envelope(t *testing.T, id string) echomq.Envelope {
	t.Helper()
	var fields []string
	for name, value := range f.hash(t, id) {
		fields = append(fields, name, value)
	}
	envelope, err := wire.DecodeEnvelope(id, fields)
	require.NoError(t, err)
	return envelope
}

// keys returns the keys of the fixture's queue, sorted.
func (f *fixture) keys(t *testing.T) []string {
	t.Helper()
	return f.engine.Keys(t, f.queue.Key("*"))
}

// serverTime returns the engine's clock.
func (f *fixture) serverTime(t *testing.T) time.Time {
	t.Helper()
	now, err := f.store.Time(f.ctx).Result()
	require.NoError(t, err)
	return now
}

// hello answers every greeting.
func hello(_ context.Context, job *echomq.Job[greeting]) (string, error) {
	return "hello " + job.Payload.Name, nil
}
