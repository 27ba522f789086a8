package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// faultPatience bounds what a fault test waits for. It is generous: the
// machine is shared, and the suite runs under the race detector.
const faultPatience = 60 * time.Second

// chore is the payload of the fault tests.
type chore struct {
	// Fails is how many attempts fail before one succeeds.
	Fails int `json:"fails,omitempty"`
	// Takes is how long the handler works.
	Takes time.Duration `json:"takes,omitempty"`
}

// faultBed is a private engine with one queue, and the ledger of what the
// handlers of all its workers did.
type faultBed struct {
	engine *enginetest.Engine
	direct *redis.Client // past every proxy
	client *echomq.Client
	spec   echomq.QueueSpec
	queue  wire.Queue
	job    echomq.JobType[chore, string]
	ledger *ledger
	ctx    context.Context
}

func newFaultBed(t *testing.T, e *enginetest.Engine) *faultBed {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), faultPatience)
	t.Cleanup(cancel)
	name := e.QueueName(t)
	queue, err := wire.ParseQueue(name)
	require.NoError(t, err)
	b := &faultBed{
		engine: e, direct: e.Client(t), queue: queue, ctx: ctx,
		spec:   echomq.QueueSpec{Name: name},
		ledger: &ledger{runs: map[string]int{}, running: map[string]int{}},
		job: echomq.NewJobType[chore, string](echomq.JobSpec{Queue: name, Name: "chore", Retry: echomq.RetrySpec{
			Attempts: 20, Backoff: echomq.Fixed, Base: 10 * time.Millisecond,
		}}),
	}
	b.loadScripts(t)
	b.client = b.through(t, b.direct)
	return b
}

// loadScripts makes sure that a call which is cut off was executed, rather than
// answered that its script is not there.
func (b *faultBed) loadScripts(t *testing.T) {
	t.Helper()
	for _, each := range lua.All() {
		require.NoError(t, b.direct.ScriptLoad(b.ctx, each.Source).Err())
	}
}

// through returns a client of the bed on the given connections.
func (b *faultBed) through(t *testing.T, store redis.UniversalClient) *echomq.Client {
	t.Helper()
	client := echomq.NewClient(store, quiet())
	t.Cleanup(func() { assert.NoError(t, client.Close()) })
	return client
}

// add enqueues one job past every proxy.
func (b *faultBed) add(t *testing.T, payload chore, opts ...echomq.EnqueueOption) echomq.Handle[string] {
	t.Helper()
	handle, err := echomq.Enqueue(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, payload, opts...)
	require.NoError(t, err)
	return handle
}

// addMany enqueues equal jobs past every proxy and returns their ids.
func (b *faultBed) addMany(t *testing.T, n int, payload chore, opts ...echomq.BatchOption) []string {
	t.Helper()
	items := make([]echomq.Item[chore], n)
	for i := range items {
		items[i].Payload = payload
	}
	outcomes, err := echomq.EnqueueBatch(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, items, opts...)
	require.NoError(t, err)
	ids := make([]string, n)
	for i, outcome := range outcomes {
		ids[i] = outcome.Handle.ID
	}
	return ids
}

// faultWorker is a worker whose handlers write into the bed's ledger.
type faultWorker struct {
	*echomq.Worker
	ended chan error
}

// work starts a worker on a client. It is stopped with the test.
func (b *faultBed) work(t *testing.T, client *echomq.Client, opts ...echomq.WorkerOption) *faultWorker {
	t.Helper()
	return b.workWith(t, client, b.ledger.handle, opts...)
}

func (b *faultBed) workWith(t *testing.T, client *echomq.Client, handle func(context.Context, *echomq.Job[chore]) (string, error), opts ...echomq.WorkerOption) *faultWorker {
	t.Helper()
	worker, err := echomq.NewWorker(client, opts, echomq.Serve(b.spec, []echomq.Route{echomq.RouteTo(b.job, handle)}))
	require.NoError(t, err)
	w := &faultWorker{Worker: worker, ended: make(chan error, 1)}
	go func() {
		w.ended <- worker.Run(context.Background())
		close(w.ended)
	}()
	t.Cleanup(func() { w.stop(t) })
	return w
}

// stop ends the worker in an orderly way. It may be called twice.
func (w *faultWorker) stop(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), faultPatience)
	defer cancel()
	assert.NoError(t, w.Stop(ctx))
	assert.NoError(t, <-w.ended)
}

// crash ends the worker without a word to the store.
func (w *faultWorker) crash(t *testing.T) {
	t.Helper()
	w.Kill()
	<-w.ended
}

// ledger is what handlers did.
type ledger struct {
	mu      sync.Mutex
	runs    map[string]int
	running map[string]int
	order   []string
	wrongs  []string
	most    int // how many ran at once
}

// handle does a chore.
func (l *ledger) handle(ctx context.Context, job *echomq.Job[chore]) (string, error) {
	l.enter(job.ID)
	defer l.leave(job.ID)
	if job.Payload.Takes > 0 {
		work := time.NewTimer(job.Payload.Takes)
		defer work.Stop()
		select {
		case <-work.C:
		case <-ctx.Done():
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		if !errors.Is(cause, echomq.ErrShutdown) {
			l.wrong("the context of job %s ended: %v", job.ID, cause)
		}
		return "", cause
	}
	if job.Attempt() <= job.Payload.Fails {
		return "", fmt.Errorf("attempt %d of job %s is to fail", job.Attempt(), job.ID)
	}
	return job.ID, nil
}

func (l *ledger) enter(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[id]++
	l.running[id]++
	l.order = append(l.order, id)
	busy := 0
	for _, n := range l.running {
		busy += n
	}
	l.most = max(l.most, busy)
	if l.running[id] > 1 {
		l.wrongs = append(l.wrongs, fmt.Sprintf("job %s ran twice at the same time", id))
	}
}

func (l *ledger) leave(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running[id]--; l.running[id] == 0 {
		delete(l.running, id)
	}
}

func (l *ledger) wrong(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrongs = append(l.wrongs, fmt.Sprintf(format, args...))
}

// count returns how often handlers were run, and for how many jobs.
func (l *ledger) count() (runs, jobs int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.order), len(l.runs)
}

// busy returns how many handlers run now.
func (l *ledger) busy() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	busy := 0
	for _, n := range l.running {
		busy += n
	}
	return busy
}

// requireRuns asserts that each job's handler ran exactly as often as wanted,
// never twice at once, and that no context ended before its time.
func (l *ledger) requireRuns(t *testing.T, want map[string]int) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	assert.Empty(t, l.wrongs)
	var wrong []string
	for id, n := range want {
		if l.runs[id] != n {
			wrong = append(wrong, fmt.Sprintf("job %s ran %d time(s) instead of %d", id, l.runs[id], n))
		}
	}
	for id, n := range l.runs {
		if _, known := want[id]; !known {
			wrong = append(wrong, fmt.Sprintf("job %s ran %d time(s) and nobody added it", id, n))
		}
	}
	slices.Sort(wrong)
	require.Empty(t, wrong)
}

// eachOnce is what requireRuns wants of jobs that succeed at once.
func eachOnce(ids []string) map[string]int {
	want := make(map[string]int, len(ids))
	for _, id := range ids {
		want[id] = 1
	}
	return want
}

// eventually waits until a condition holds that nothing else signals.
func (b *faultBed) eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); !condition(); {
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			tick.Stop()
			snapshot, err := b.snapshot(context.WithoutCancel(b.ctx))
			require.FailNow(t, "in vain waited until "+what, "%v, %v", snapshot, err)
		}
	}
}

// drain waits until every job of the queue has ended.
func (b *faultBed) drain(t *testing.T, jobs int) {
	t.Helper()
	b.eventually(t, func() bool {
		completed := b.direct.ZCard(b.ctx, b.queue.Key("completed")).Val()
		failed := b.direct.ZCard(b.ctx, b.queue.Key("failed")).Val()
		return int(completed+failed) == jobs
	}, fmt.Sprintf("%d jobs have ended", jobs))
}

// requireUntouched asserts that no job was counted as stalled, and that the
// store counted as many starts as handlers ran.
func (b *faultBed) requireUntouched(t *testing.T, want map[string]int) {
	t.Helper()
	snapshot, err := b.snapshot(b.ctx)
	require.NoError(t, err)
	var wrong []string
	for _, id := range slices.Sorted(maps.Keys(want)) {
		hash := snapshot.hashes[id]
		if hash["stc"] != "" {
			wrong = append(wrong, fmt.Sprintf("job %s: %s stall(s) counted", id, hash["stc"]))
		}
		if hash["ats"] != fmt.Sprint(want[id]) || hash["atm"] != fmt.Sprint(want[id]) {
			wrong = append(wrong, fmt.Sprintf("job %s: %s starts and %s attempts counted instead of %d", id, hash["ats"], hash["atm"], want[id]))
		}
	}
	require.Empty(t, wrong)
}

// calls matches the calls of a script, and of those that are derived from it.
func calls(name string) func(command []string) bool {
	called := map[string]bool{}
	for _, script := range lua.All() {
		if script.Base() == name {
			called[script.SHA1] = true
		}
	}
	if len(called) == 0 {
		panic("no script " + name)
	}
	return func(command []string) bool {
		return len(command) > 1 && command[0] == "evalsha" && called[command[1]]
	}
}

// declares reports whether a pick declares a job: it has more keys than those of
// its queue.
func declares(command []string) bool {
	queue := wire.Queue{}
	return command[2] != fmt.Sprint(len(script.Pick{}.Call(queue).Keys))
}

// first matches what match does, n times.
func first(n int, match func(command []string) bool) func(command []string) bool {
	return func(command []string) bool {
		if n == 0 || !match(command) {
			return false
		}
		n--
		return true
	}
}

func startValkey(t *testing.T, opts ...enginetest.StartOption) *enginetest.Engine {
	t.Helper()
	return enginetest.Start(t, enginetest.Valkey, opts...)
}

func redisZ(score float64, member string) redis.Z { return redis.Z{Score: score, Member: member} }
