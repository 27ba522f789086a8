package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// shortLease is the lease of the worker that is lost.
const shortLease = 200 * time.Millisecond

// stopTimeout bounds the orderly end of a worker.
const stopTimeout = 10 * time.Second

// errand is the payload of the probe's jobs.
type errand struct {
	Case string `json:"case"`
}

// trip runs jobs through package echomq, as a program would.
type trip struct {
	queue    wire.Queue
	book     *ledger
	store    redis.UniversalClient
	client   *echomq.Client
	producer *echomq.Producer
	worker   *tripWorker
	taken    chan struct{}   // gets a value when the job that is to stall is taken
	left     <-chan struct{} // closed when the worker has left the job of a stuck handler
	ended    []string        // ids of jobs that have ended
	fail     func(error)     // is told why a worker has ended by itself
}

// tripWorker is a worker that runs.
type tripWorker struct {
	*echomq.Worker
	done chan error // has what Run returned
}

// stage is a step of the probe, before it is run.
type stage struct {
	name, doc string
	run       func(*trip, context.Context) error
}

// stages are the steps, in order.
var stages = []stage{
	{"plain", "a job is added, and a worker that waits for it runs it", (*trip).plain},
	{"quiet", "a job of a producer that writes no event", (*trip).quiet},
	{"prioritized", "a job with a priority", (*trip).prioritized},
	{"delayed", "a job that is due in a while is promoted then", (*trip).delayed},
	{"retried", "a job fails once, comes back, and completes", (*trip).retried},
	{"failed", "a job fails for good", (*trip).failed},
	{"reporting", "a job records progress and a log line, which are read", (*trip).reporting},
	{"stalled", "a worker renews its lease, then is lost; another recovers the job and runs it", (*trip).stalled},
	{"cancelled", "a job is cancelled as it runs, and fails", (*trip).cancelled},
	{"changed", "a delayed job gets another priority, and is run now", (*trip).changed},
	{"stuck", "a handler goes on after its timeout; its worker leaves the job", (*trip).stuck},
	{"paused", "the queue is paused and gives out nothing, also when a delayed job is due; it is resumed, and both jobs run", (*trip).paused},
	{"limited", "an operator sets the queue's limit and rate; jobs run one after the other, and each takes a token", (*trip).limited},
	{"grouped", "jobs of two groups, one of each at a time, run in turns", (*trip).grouped},
	{"repaired", "jobs of a paused queue, one of them of a newer version, are counted, listed, removed and drained; a failed one is retried", (*trip).repaired},
	{"flow", "a parent runs when its child has ended, which is told it through the outbox", (*trip).flow},
	{"scheduled", "a job repeats; its first slot comes and it runs; the schedule is removed", (*trip).scheduled},
	{"unique", "a delayed job holds a unique key; another one is answered with it, a third takes its place and time", (*trip).unique},
	{"trimmed", "ended jobs that are no longer kept are deleted, with every key of theirs", (*trip).trimmed},
}

func newTrip(queue wire.Queue, store redis.UniversalClient, book *ledger) *trip {
	t := &trip{queue: queue, book: book, store: store, taken: make(chan struct{}, 1), fail: func(error) {}}
	t.client = echomq.NewClient(store, echomq.WithLogger(slog.New(slog.DiscardHandler)))
	t.producer = echomq.NewProducer(t.client, t.spec())
	return t
}

func (t *trip) spec() echomq.QueueSpec {
	return echomq.QueueSpec{Name: t.queue.Name(), Concurrency: 2, Events: echomq.EventsAll}
}

func (t *trip) job() echomq.JobType[errand, string] { return t.jobOf(1) }

func (t *trip) jobOf(version int) echomq.JobType[errand, string] {
	return echomq.NewJobType[errand, string](echomq.JobSpec{
		Queue: t.queue.Name(), Name: "probe", Version: version, Contract: echomq.ContractSpec{Hash: "probe"},
	})
}

// close ends the worker and the client, so that nothing more is written.
func (t *trip) close() error {
	var err error
	if t.worker != nil {
		err = t.worker.halt()
	}
	return errors.Join(err, t.client.Close(), t.store.Close())
}

// abandon ends the worker without another word to the engine, which is lost.
func (t *trip) abandon() {
	if t.worker != nil {
		t.worker.Kill()
	}
}

// work starts the worker.
func (t *trip) work(opts ...echomq.QueueOption) error {
	worker, err := echomq.NewWorker(t.client, nil,
		echomq.Serve(t.spec(), []echomq.Route{echomq.RouteTo(t.job(), t.handle)}, opts...))
	if err != nil {
		return err
	}
	t.worker = &tripWorker{Worker: worker, done: make(chan error, 1)}
	go func(w *tripWorker) {
		err := w.Run(context.Background())
		if err != nil {
			t.fail(err)
		}
		w.done <- err
	}(t.worker)
	return nil
}

// halt stops the worker in an orderly way.
func (w *tripWorker) halt() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	err := w.Stop(ctx)
	return errors.Join(err, <-w.done)
}

func (t *trip) handle(ctx context.Context, job *echomq.Job[errand]) (string, error) {
	switch {
	case job.Payload.Case == "retried" && job.Attempt() == 1:
		return "", echomq.RetryAfter(20*time.Millisecond, errors.New("the first attempt fails"))
	case job.Payload.Case == "reporting":
		if err := job.Progress(ctx, 50); err != nil {
			return "", err
		}
		if err := job.Log(ctx, "half way"); err != nil {
			return "", err
		}
	case job.Payload.Case == "cancelled":
		t.taken <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	case job.Payload.Case == "stuck" && job.AttemptsStarted == 1:
		<-t.left
	case job.Payload.Case == "failed":
		return "", echomq.Fail(errors.New("this job is to fail"))
	case job.Payload.Case == "stalled" && job.AttemptsStarted == 1:
		t.taken <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}
	return "done: " + job.Payload.Case, nil
}

// add adds a job.
func (t *trip) add(ctx context.Context, name string, opts ...echomq.EnqueueOption) (echomq.Handle[string], error) {
	handle, err := echomq.Enqueue(ctx, t.producer, t.job(), errand{Case: name}, opts...)
	if err == nil {
		t.ended = append(t.ended, handle.ID)
	}
	return handle, err
}

// complete adds a job and waits for its result.
func (t *trip) complete(ctx context.Context, name string, opts ...echomq.EnqueueOption) error {
	handle, err := t.add(ctx, name, opts...)
	if err != nil {
		return err
	}
	return awaitResult(ctx, handle, "done: "+name)
}

func awaitResult(ctx context.Context, handle echomq.Handle[string], want string) error {
	result, err := handle.Await(ctx)
	if err == nil && result != want {
		err = fmt.Errorf("job %s has the result %q and not %q", handle.ID, result, want)
	}
	return err
}

// wait waits for a signal.
func wait(ctx context.Context, signal <-chan struct{}) error {
	select {
	case <-signal:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// call makes a call that package echomq has no function for.
func (t *trip) call(ctx context.Context, call script.Call) error {
	args := []any{"evalsha", call.Script.SHA1, len(call.Keys)}
	for _, key := range call.Keys {
		args = append(args, key)
	}
	cmd := redis.NewCmd(ctx, append(args, call.Args...)...)
	cmd.SetFirstKeyPos(3)
	return t.store.Process(ctx, cmd)
}

// load loads the scripts, in the place of which the ledger puts those under
// test, so that no call has to be sent twice.
func (t *trip) load(ctx context.Context) error {
	for _, script := range lua.All() {
		if err := t.store.ScriptLoad(ctx, script.Source).Err(); err != nil {
			return fmt.Errorf("load %s.lua: %w", script.Name, err)
		}
	}
	return nil
}
