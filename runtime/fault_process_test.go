package echomq_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// workerProcessVariable makes the test binary a worker: it holds the unix
// socket of the store and the queue's name.
const workerProcessVariable = "EMQ_FAULT_WORKER"

// processLease is the lease in the tests of processes that are killed. A worker
// that waits for jobs asks for the next lease that ends every 2 s, so a lease
// below that would be noticed late.
const processLease = 2100 * time.Millisecond

// Lost jobs run again within the lease and two renewal intervals. The margin is
// for a machine that does other things as well.
const (
	recoveryBound  = processLease + 2*processLease/3
	recoveryMargin = 3 * time.Second
)

// TestWorkerProcess is no test but the worker that the others start as a
// process: it runs jobs that never end, until it is killed.
func TestWorkerProcess(t *testing.T) {
	socket, queue := "", ""
	if _, err := fmt.Sscanf(os.Getenv(workerProcessVariable), "%s %s", &socket, &queue); err != nil {
		t.Skip("the tests of killed workers run this in a process of its own")
	}
	store := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	job := echomq.NewJobType[chore, string](echomq.JobSpec{Queue: queue, Name: "chore"})
	worker, err := echomq.NewWorker(echomq.NewClient(store, quiet()),
		[]echomq.WorkerOption{echomq.Lease(processLease), echomq.Concurrency(4), echomq.WorkerName("doomed")},
		echomq.Serve(echomq.QueueSpec{Name: queue}, []echomq.Route{echomq.RouteTo(job,
			func(ctx context.Context, _ *echomq.Job[chore]) (string, error) {
				<-ctx.Done()
				return "", context.Cause(ctx)
			})}))
	require.NoError(t, err)
	require.NoError(t, worker.Run(context.Background()))
}

// startProcess starts a worker in a process of its own, which goes through a
// proxy, and returns what kills it.
func (b *faultBed) startProcess(t *testing.T, proxy *enginetest.Proxy) (kill func()) {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestWorkerProcess$", "-test.timeout=2m")
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s", workerProcessVariable, proxy.Options().Addr, b.queue))
	require.NoError(t, command.Start())
	killed := false
	kill = func() {
		if !killed {
			killed = true
			_ = command.Process.Kill()
			_ = command.Wait()
		}
	}
	t.Cleanup(kill)
	return kill
}

// recovers asserts that the jobs of a process that was just killed are run by
// the others within the lease and two renewal intervals.
func (b *faultBed) recovers(t *testing.T, want map[string]int) {
	t.Helper()
	begun := time.Now()
	b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs == len(want) }, "the others have run all jobs")
	took := time.Since(begun)
	assert.Less(t, took, recoveryBound+recoveryMargin)
	t.Logf("recovered after %v; the lease and two renewals are %v", took.Round(time.Millisecond), recoveryBound)
	b.drain(t, len(want))
	b.ledger.requireRuns(t, want)
}

// survivor starts a worker in this process, with a lease like the killed one's.
func (b *faultBed) survivor(t *testing.T) {
	t.Helper()
	w := b.work(t, b.through(t, b.engine.Client(t)), echomq.Lease(processLease), echomq.Concurrency(4))
	b.eventually(t, w.Ready, "the survivor is ready")
}

// stalls returns the jobs of which a stall was counted.
func (s *queueSnapshot) stalls() (ids []string) {
	for id, hash := range s.hashes {
		if hash["stc"] != "" {
			ids = append(ids, id)
		}
	}
	return ids
}

func TestKilledProcessInMidJob(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	doomed := b.addMany(t, 4, chore{})
	kill := b.startProcess(t, proxy)
	b.eventually(t, func() bool { return len(b.requireSound(t).locks) == len(doomed) }, "the process runs its jobs")

	// What others hold and what waits is not touched.
	b.survivor(t)
	others := b.addMany(t, 50, chore{Takes: time.Millisecond})
	b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs == len(others) }, "the survivor has run what was free")
	kill()
	b.recovers(t, eachOnce(append(doomed, others...)))
	snapshot := b.requireSound(t)
	assert.ElementsMatch(t, doomed, snapshot.stalls())
	for _, id := range doomed {
		assert.Equal(t, "1", snapshot.hashes[id]["stc"])
		assert.Equal(t, "1", snapshot.hashes[id]["atm"], "a stall is no attempt")
	}
}

// TestKilledProcessInMidPick kills a worker whose pick was executed and whose
// answer never came. The jobs that the script started count as stalled: the
// store cannot know that no handler ran.
func TestKilledProcessInMidPick(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	// A pick that declares jobs is one that starts them.
	rule := proxy.CutBeforeReply(func(command []string) bool {
		return calls("pick")(command) && declares(command)
	})
	doomed := b.addMany(t, 30, chore{})
	kill := b.startProcess(t, proxy)
	<-rule.Hit()
	kill()
	snapshot := b.requireSound(t)
	started, reserved := len(snapshot.locks), len(snapshot.reserved)
	require.NotZero(t, started)
	b.survivor(t)
	b.recovers(t, eachOnce(doomed))
	assert.Len(t, b.requireSound(t).stalls(), started)
	t.Logf("%d jobs were started and %d reserved", started, reserved)
}

// TestKilledProcessWithReservations kills a worker that holds jobs which it has
// not begun to start. They come back without a stall.
func TestKilledProcessWithReservations(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	// The first pick knows no id, so it reserves; the second never arrives.
	rule := proxy.CutBeforeRequest(func(command []string) bool {
		return calls("pick")(command) && declares(command)
	})
	doomed := b.addMany(t, 30, chore{})
	kill := b.startProcess(t, proxy)
	<-rule.Hit()
	kill()
	snapshot := b.requireSound(t)
	require.NotEmpty(t, snapshot.reserved)
	require.Empty(t, snapshot.locks)
	b.survivor(t)
	b.recovers(t, eachOnce(doomed))
	assert.Empty(t, b.requireSound(t).stalls())
	b.requireUntouched(t, eachOnce(doomed))
}

// TestLargeKilledWorkerIsRecoveredInTime: a worker that dies with more jobs
// than are recovered in one call.
func TestLargeKilledWorkerIsRecoveredInTime(t *testing.T) {
	t.Parallel()
	const jobs = 1300
	b := newFaultBed(t, startValkey(t))
	ids := b.addMany(t, jobs, chore{})
	w := b.workWith(t, b.client, func(ctx context.Context, _ *echomq.Job[chore]) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}, echomq.Lease(processLease), echomq.Concurrency(jobs))
	b.eventually(t, func() bool { return len(b.requireSound(t).locks) == jobs }, "all jobs run")
	w.crash(t)
	proxy := enginetest.NewProxy(t, b.engine)
	survivor := b.work(t, b.through(t, proxy.Client(t)), echomq.Lease(processLease), echomq.Concurrency(50))
	begun := time.Now()
	b.eventually(t, func() bool { return b.direct.ZCard(b.ctx, b.queue.Key("active")).Val() <= 50 }, "the jobs were taken back")
	assert.Less(t, time.Since(begun), recoveryBound+recoveryMargin)
	b.drain(t, jobs)
	survivor.stop(t)
	b.ledger.requireRuns(t, eachOnce(ids))
	assert.Len(t, b.requireSound(t).stalls(), jobs)
	t.Logf("recovered after %v", time.Since(begun).Round(time.Millisecond))
	t.Logf("%d script calls", proxy.Count("evalsha"))
	assert.Less(t, proxy.Count("evalsha"), 500, "the worker asks over and over")
}
