package echomq_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestKilledServerLosesNothingAcknowledged kills a server that writes each
// change to disk, under load, and starts it again. Producers and workers go on
// by themselves.
func TestKilledServerLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	const kills, producers = 2, 3
	b := newFaultBed(t, startValkey(t, enginetest.AOF()))
	var running []*faultWorker
	for range 3 {
		running = append(running, b.work(t, b.through(t, b.engine.Client(t)), echomq.Concurrency(5)))
	}

	var mu sync.Mutex
	acknowledged := map[string]int{}
	finished := make(chan struct{})
	var enqueuing sync.WaitGroup
	for range producers {
		producer := echomq.NewProducer(b.through(t, b.engine.Client(t)), b.spec)
		enqueuing.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-finished:
					return
				default:
				}
				// The context has a deadline, so the call waits for the server.
				payload := chore{Fails: n % 2, Takes: 3 * time.Millisecond}
				handle, err := echomq.Enqueue(b.ctx, producer, b.job, payload)
				if !assert.NoError(t, err) {
					return
				}
				assert.False(t, handle.Existing)
				mu.Lock()
				acknowledged[handle.ID] = payload.Fails + 1
				mu.Unlock()
			}
		})
	}
	progress := func(beyond int) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			_, jobs := b.ledger.count()
			return len(acknowledged) > beyond && jobs > beyond
		}
	}
	for range kills {
		_, jobs := b.ledger.count()
		b.eventually(t, progress(jobs+60), "jobs come and go")
		b.engine.Kill()
		b.whileAway(t)
		b.engine.Restart()
		b.eventually(t, func() bool { return b.direct.Ping(b.ctx).Err() == nil }, "the server is back")
		b.requireSound(t)
	}
	_, jobs := b.ledger.count()
	b.eventually(t, progress(jobs+60), "jobs come and go again")
	close(finished)
	enqueuing.Wait()
	b.drain(t, len(acknowledged))
	for _, w := range running {
		w.stop(t)
	}
	b.ledger.requireRuns(t, acknowledged)
	b.requireUntouched(t, acknowledged)
	b.requireAtRest(t)
	t.Logf("%d jobs, %d kills", len(acknowledged), kills)
}

// whileAway asserts what enqueueing does while the server is away: without a
// deadline it fails soon, and says whether the job may have been added; with
// one it waits until then.
func (b *faultBed) whileAway(t *testing.T) {
	t.Helper()
	producer := echomq.NewProducer(b.client, b.spec)
	begun := time.Now()
	_, err := echomq.Enqueue(context.Background(), producer, b.job, chore{}, echomq.ID("never"))
	assert.Less(t, time.Since(begun), 5*time.Second)
	var unknown *echomq.UnknownOutcomeError
	switch {
	case errors.As(err, &unknown):
		assert.Equal(t, []string{"never"}, unknown.IDs)
	default:
		assert.ErrorIs(t, err, echomq.ErrUnreachable)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	begun = time.Now()
	_, err = echomq.Enqueue(ctx, producer, b.job, chore{}, echomq.ID("never"))
	assert.GreaterOrEqual(t, time.Since(begun), 250*time.Millisecond)
	assert.True(t, errors.Is(err, echomq.ErrUnreachable) || errors.Is(err, echomq.ErrOutcomeUnknown), err)
}

// TestEnqueueWithoutDeadlineFailsSoonWhenItsAnswerIsLost: the call was sent, the
// server died, and there is nobody to ask. A context without a deadline does not
// wait out the whole time in which a call may be sent again.
func TestEnqueueWithoutDeadlineFailsSoonWhenItsAnswerIsLost(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	producer := echomq.NewProducer(b.through(t, proxy.Client(t)), b.spec)
	_, err := echomq.Enqueue(b.ctx, producer, b.job, chore{})
	require.NoError(t, err)
	proxy.CutBeforeReply(func(command []string) bool {
		if !calls("add")(command) {
			return false
		}
		go proxy.Refuse(true)
		return true
	})
	begun := time.Now()
	_, err = echomq.Enqueue(context.Background(), producer, b.job, chore{}, echomq.ID("known"))
	assert.Less(t, time.Since(begun), 10*time.Second)
	var unknown *echomq.UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
	assert.ErrorIs(t, err, echomq.ErrOutcomeUnknown)
	assert.Equal(t, []string{"known"}, unknown.IDs)

	// Under the same id it is safe to try again: the job is there already.
	handle, err := echomq.Enqueue(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, chore{}, echomq.ID("known"))
	require.NoError(t, err)
	assert.True(t, handle.Existing)
	assert.EqualValues(t, 2, b.direct.LLen(b.ctx, b.queue.Key("wait")).Val())
}
