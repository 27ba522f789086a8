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
	{"repaired", "jobs of a paused queue are counted, listed, removed and drained; a failed one is retried", (*trip).repaired},
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

func (t *trip) job() echomq.JobType[errand, string] {
	return echomq.NewJobType[errand, string](echomq.JobSpec{
		Queue: t.queue.Name(), Name: "probe", Contract: echomq.ContractSpec{Hash: "probe"},
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

func (t *trip) plain(ctx context.Context) error {
	if err := t.work(); err != nil {
		return err
	}
	return t.complete(ctx, "plain")
}

func (t *trip) prioritized(ctx context.Context) error {
	return t.complete(ctx, "prioritized", echomq.Priority(3))
}

func (t *trip) delayed(ctx context.Context) error {
	return t.complete(ctx, "delayed", echomq.In(50*time.Millisecond))
}

func (t *trip) retried(ctx context.Context) error { return t.complete(ctx, "retried") }

func (t *trip) failed(ctx context.Context) error {
	handle, err := t.add(ctx, "failed")
	if err != nil {
		return err
	}
	_, err = handle.Await(ctx)
	var failure *echomq.JobError
	if err == nil {
		return fmt.Errorf("job %s was to fail and has completed", handle.ID)
	}
	if errors.As(err, &failure) {
		return nil
	}
	return err
}

// reporting reads what a job has told while it ran.
func (t *trip) reporting(ctx context.Context) error {
	handle, err := t.add(ctx, "reporting")
	if err != nil {
		return err
	}
	if err := awaitResult(ctx, handle, "done: reporting"); err != nil {
		return err
	}
	progress, err := handle.Progress(ctx)
	if err != nil {
		return err
	}
	lines, err := handle.Logs(ctx, 0)
	if err == nil && (string(progress) != "50" || len(lines) != 1 || lines[0].Text != "half way") {
		err = fmt.Errorf("job %s recorded %q and %v", handle.ID, progress, lines)
	}
	return err
}

// stalled loses a worker that has renewed its lease, and lets another recover
// its job.
func (t *trip) stalled(ctx context.Context) error {
	if err := t.worker.halt(); err != nil {
		return err
	}
	t.worker = nil
	handle, err := t.add(ctx, "stalled")
	if err != nil {
		return err
	}
	if err := t.work(echomq.Lease(shortLease)); err != nil {
		return err
	}
	for _, signal := range []<-chan struct{}{t.taken, t.book.next("extend")} {
		if err := wait(ctx, signal); err != nil {
			return err
		}
	}
	t.worker.Kill()
	err = t.worker.halt()
	t.worker = nil
	if err != nil {
		return err
	}
	if err := t.work(echomq.Lease(shortLease), echomq.StuckAfter(shortLease/4)); err != nil {
		return err
	}
	return awaitResult(ctx, handle, "done: stalled")
}

// changed brings a job forward.
func (t *trip) changed(ctx context.Context) error {
	handle, err := t.add(ctx, "changed", echomq.In(time.Hour))
	if err != nil {
		return err
	}
	if err := handle.SetPriority(ctx, 3); err != nil {
		return err
	}
	if err := handle.RunNow(ctx); err != nil {
		return err
	}
	return awaitResult(ctx, handle, "done: changed")
}

// cancelled cancels a job that runs.
func (t *trip) cancelled(ctx context.Context) error {
	handle, err := t.add(ctx, "cancelled")
	if err != nil {
		return err
	}
	if err := wait(ctx, t.taken); err != nil {
		return err
	}
	if err := handle.Cancel(ctx, "for the probe"); err != nil {
		return err
	}
	_, err = handle.Await(ctx)
	switch {
	case errors.Is(err, echomq.ErrCancelled):
		return nil
	case err == nil:
		return fmt.Errorf("job %s was cancelled and has completed", handle.ID)
	}
	return err
}

// stuck lets a handler go on until its worker leaves its job.
func (t *trip) stuck(ctx context.Context) error {
	t.left = t.book.next("leave")
	return t.complete(ctx, "stuck", echomq.Timeout(time.Millisecond))
}

// paused shows that a worker which looks takes nothing from a paused queue. The
// due time of the second job makes it look.
func (t *trip) paused(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := queue.Pause(ctx); err != nil {
		return err
	}
	picked, promoted := t.book.next("pick"), t.book.next("promote")
	var held []echomq.Handle[string]
	for _, opts := range [][]echomq.EnqueueOption{nil, {echomq.In(50 * time.Millisecond)}} {
		handle, err := t.add(ctx, "paused", opts...)
		if err != nil {
			return err
		}
		held = append(held, handle)
	}
	for _, signal := range []<-chan struct{}{picked, promoted} {
		if err := wait(ctx, signal); err != nil {
			return err
		}
	}
	for _, handle := range held {
		state, err := handle.State(ctx)
		if err != nil {
			return err
		}
		if state != echomq.StateWaiting {
			return fmt.Errorf("job %s of a paused queue is %s and not %s", handle.ID, state, echomq.StateWaiting)
		}
	}
	if err := queue.Resume(ctx); err != nil {
		return err
	}
	for _, handle := range held {
		if err := awaitResult(ctx, handle, "done: paused"); err != nil {
			return err
		}
	}
	return nil
}

// flow sends a flow, and asks what became of its child, as workers do when they
// hear nothing of one for long.
func (t *trip) flow(ctx context.Context) error {
	var jobs []echomq.Prepared
	for range 2 {
		prepared, err := echomq.Prepare(t.producer, t.job(), errand{Case: "flow"})
		if err != nil {
			return err
		}
		jobs = append(jobs, prepared)
		t.ended = append(t.ended, prepared.ID())
	}
	handle, err := echomq.SendFlow(ctx, t.client, t.job(), echomq.NewFlow(jobs[0], echomq.Child(jobs[1])))
	if err != nil {
		return err
	}
	if err := awaitResult(ctx, handle, "done: flow"); err != nil {
		return err
	}
	child, err := wire.ParseJobID(jobs[1].ID())
	if err != nil {
		return err
	}
	parent := t.queue.Key(handle.ID)
	return t.call(ctx, script.Verify{Bytes: 1000, Items: []script.VerifyItem{{ID: child, Parent: parent}}}.Call(t.queue))
}

// scheduled lets a schedule add one job, and removes it.
func (t *trip) scheduled(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	ticked := t.book.next("tick")
	once := echomq.ScheduleSpec{ID: "probe", Every: echomq.MinEvery, Limit: 1}
	if _, err := echomq.UpsertSchedule(ctx, t.producer, t.job(), once, errand{Case: "scheduled"}); err != nil {
		return err
	}
	if err := wait(ctx, ticked); err != nil {
		return err
	}
	var id string
	for id == "" {
		schedules, err := queue.Schedules(ctx)
		if err != nil {
			return err
		}
		if len(schedules) != 1 {
			return fmt.Errorf("the queue has %d schedules and not 1", len(schedules))
		}
		if last := schedules[0].Last; !last.IsZero() {
			id = fmt.Sprintf("_probe.%d", last.UnixMilli())
		}
	}
	handle, err := t.job().Handle(t.client, id)
	if err != nil {
		return err
	}
	t.ended = append(t.ended, id)
	if err := awaitResult(ctx, handle, "done: scheduled"); err != nil {
		return err
	}
	return queue.RemoveSchedule(ctx, "probe")
}

// limited shows that no more jobs run at once than an operator allows, and that
// each takes a token.
func (t *trip) limited(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := errors.Join(queue.SetLimit(ctx, 1), queue.SetRate(ctx, 2, 100*time.Millisecond)); err != nil {
		return err
	}
	var held []echomq.Handle[string]
	for range 4 {
		handle, err := t.add(ctx, "limited")
		if err != nil {
			return err
		}
		held = append(held, handle)
	}
	for _, handle := range held {
		if err := awaitResult(ctx, handle, "done: limited"); err != nil {
			return err
		}
	}
	return queue.ClearOverrides(ctx)
}

// grouped runs jobs of two groups with a limit, so that groups wait for their turn
// and for a slot.
func (t *trip) grouped(ctx context.Context) error {
	queue, err := t.client.Queue(t.queue.Name())
	if err != nil {
		return err
	}
	if err := queue.SetGroupLimit(ctx, 1); err != nil {
		return err
	}
	var held []echomq.Handle[string]
	for n := range 6 {
		handle, err := t.add(ctx, "grouped", echomq.Group(fmt.Sprint("group ", n%2)))
		if err != nil {
			return err
		}
		held = append(held, handle)
	}
	for _, handle := range held {
		if err := awaitResult(ctx, handle, "done: grouped"); err != nil {
			return err
		}
	}
	return queue.ClearOverrides(ctx)
}

// unique adds three jobs that are the same, of which one runs. The call that
// releases keys whose time is over is one that workers make now and then.
func (t *trip) unique(ctx context.Context) error {
	key := func(conflict echomq.Conflict) echomq.EnqueueOption {
		return echomq.Unique(echomq.UniqueSpec{Key: "probe", For: time.Hour, Conflict: conflict})
	}
	owner, err := t.add(ctx, "unique", key(echomq.ConflictExisting), echomq.In(time.Hour))
	if err != nil {
		return err
	}
	same, err := t.add(ctx, "unique", key(echomq.ConflictExisting))
	if err != nil {
		return err
	}
	replaced, err := t.add(ctx, "unique", key(echomq.ConflictReplace), echomq.In(50*time.Millisecond))
	if err != nil {
		return err
	}
	if owner.Existing || same.ID != owner.ID || replaced.ID != owner.ID || !replaced.Replaced {
		return fmt.Errorf("jobs %s, %s and %s are the same and stand beside each other", owner.ID, same.ID, replaced.ID)
	}
	if err := awaitResult(ctx, owner, "done: unique"); err != nil {
		return err
	}
	return t.call(ctx, script.Prune{Limit: 100}.Call(t.queue))
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

// trimmed deletes the ended jobs, by the call that workers make now and then
// for what is older than it is to be kept.
func (t *trip) trimmed(ctx context.Context) error {
	for _, set := range []script.TrimSet{script.TrimSetCompleted, script.TrimSetFailed} {
		call := script.Trim{Set: set}
		for _, id := range t.ended {
			job, err := wire.ParseStoredJobID(id)
			if err != nil {
				return err
			}
			call.Items = append(call.Items, script.TrimItem{ID: job, Age: 0, Newer: -1})
		}
		if err := t.call(ctx, call.Call(t.queue)); err != nil {
			return err
		}
	}
	return nil
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
