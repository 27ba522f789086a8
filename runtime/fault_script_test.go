package echomq_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// afterSettle matches a pick that follows a settle: the second call of the
// round trip that does both.
func afterSettle() func(command []string) bool {
	settle, pick := calls("settle"), calls("pick")
	settled := false
	return func(command []string) bool {
		if pick(command) {
			return settled
		}
		if command[0] == "evalsha" {
			settled = settle(command)
		}
		return false
	}
}

// uncalled are scripts that the life of these jobs has no call of. Those of
// operators, contracts, schedules and unique keys go through [echomq.Client] the same way,
// and have tests of lost answers of their own.
var uncalled = []string{
	"cancel", "change", "counts", "declare", "drain", "erase", "expel", "heal", "leave", "list", "obliterate", "override", "prune", "remove", "replace", "retry",
	"schedule", "tick", "unschedule", "view",
}

// TestEveryCallSurvivesLostConnections runs a queue through everything that it
// can do while calls of one script are cut off, some before the request arrives
// and some before the answer does, and asserts that the jobs ended as if nothing
// had happened.
func TestEveryCallSurvivesLostConnections(t *testing.T) {
	t.Parallel()
	engine := startValkey(t)
	targets := map[string]func() func([]string) bool{"pick after settle": afterSettle}
	for _, script := range lua.All() {
		if script.Of != "" || slices.Contains(uncalled, script.Name) { // calls of Of are of both
			continue
		}
		targets[script.Name] = func() func([]string) bool { return calls(script.Name) }
	}
	for name, match := range targets {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lostCalls(t, newFaultBed(t, engine), match())
		})
	}
}

// reporting does a chore and tells of it.
func (l *ledger) reporting(ctx context.Context, job *echomq.Job[chore]) (string, error) {
	if err := errors.Join(job.Progress(ctx, job.Attempt()), job.Log(ctx, "begins")); err != nil {
		l.wrong("job %s cannot report: %v", job.ID, err)
	}
	return l.handle(ctx, job)
}

// lostCalls is the scenario: the queue is paused and resumed; a worker dies with a job, whose recovery another
// must make; jobs run longer than a renewal interval, fail, are delayed, have
// priorities, report and are awaited; ended ones are trimmed.
func lostCalls(t *testing.T, b *faultBed, match func(command []string) bool) {
	// The lease must not run out while a call is tried again: the pauses before
	// the first three tries come to 280 ms at most.
	const lease = time.Second
	proxy := enginetest.NewProxy(t, b.engine)
	client := b.through(t, proxy.Client(t))

	stalled := b.add(t, chore{Takes: time.Hour}, echomq.Timeout(echomq.NoTimeout), echomq.ID("lost-job"))
	crashing := b.work(t, b.client, echomq.Lease(lease))
	b.eventually(t, func() bool { return b.ledger.busy() == 1 }, "the job runs")
	crashing.crash(t)
	require.NoError(t, b.direct.HSet(b.ctx, b.queue.Key("lost-job"), "data", `{}`).Err())

	lost := proxy.CutBeforeRequest(first(1, match))
	unanswered := proxy.CutBeforeReply(first(2, match))
	want := map[string]int{}
	producer := echomq.NewProducer(client, b.spec)
	var handles []echomq.Handle[string]
	enqueue := func(payload chore, opts ...echomq.EnqueueOption) {
		handle, err := echomq.Enqueue(b.ctx, producer, b.job, payload, opts...)
		require.NoError(t, err)
		assert.False(t, handle.Existing)
		want[handle.ID] = payload.Fails + 1
		handles = append(handles, handle)
	}
	for i := range 10 {
		enqueue(chore{Fails: i % 3})
		enqueue(chore{}, echomq.In(time.Duration(i)*30*time.Millisecond))
		enqueue(chore{}, echomq.Priority(1+i%2))
	}
	enqueue(chore{Takes: 3 * lease / 2})
	parent, relatives := b.sendLossyFlow(t, client)
	handles = append(handles, parent)
	for _, id := range relatives {
		want[id] = 1
	}
	queue, err := client.Queue(b.spec.Name)
	require.NoError(t, err)
	require.NoError(t, queue.Pause(b.ctx))
	worker := b.workWith(t, client, b.ledger.reporting, echomq.Lease(lease), echomq.Concurrency(3), echomq.CleanEvery(100*time.Millisecond), carryOften())
	require.NoError(t, queue.Resume(b.ctx))
	for _, handle := range handles {
		result, err := handle.Await(b.ctx)
		require.NoError(t, err)
		assert.Equal(t, handle.ID, result)
		b.requireSound(t)
	}
	_, err = stalled.Await(b.ctx)
	require.NoError(t, err)
	for _, handle := range handles {
		lines, err := handle.Logs(b.ctx, 0)
		require.NoError(t, err)
		assert.Len(t, lines, want[handle.ID], "each attempt's line stands there once")
	}
	snapshot := b.requireSound(t)
	assert.Equal(t, "1", snapshot.hashes["lost-job"]["stc"])

	// One job more, after which all but the newest two are to go.
	short, err := echomq.Enqueue(b.ctx, producer, b.job, chore{}, echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}}))
	require.NoError(t, err)
	want[short.ID] = 1
	// A stub, without the payload, stands for what was trimmed a moment ago.
	b.eventually(t, func() bool { return !b.direct.HExists(b.ctx, b.queue.Key(short.ID), "data").Val() }, "the job is trimmed")
	b.eventually(t, func() bool { return lost.Hits() == 1 && unanswered.Hits() >= 1 }, "the faults were met")
	worker.stop(t)

	want["lost-job"] = 2
	b.ledger.requireRuns(t, want)
	delete(want, "lost-job")
	delete(want, short.ID)
	b.requireUntouched(t, want)
	b.requireAtRest(t)
}

// TestShortReadTimeoutDoesNotDisturbTheWait: a program may have a read timeout
// below the time for which a worker waits for the marker.
func TestShortReadTimeoutDoesNotDisturbTheWait(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	options := proxy.Options()
	options.ReadTimeout = 300 * time.Millisecond
	store := redis.NewClient(options)
	t.Cleanup(func() { _ = store.Close() })
	worker := b.work(t, b.through(t, store))
	b.eventually(t, worker.Ready, "the worker is ready")
	b.eventually(t, func() bool { return proxy.Count("bzpopmin") >= 3 }, "the marker was waited for")
	assert.LessOrEqual(t, proxy.Count("hello"), 4, "connections were given up while nothing was wrong")
}
