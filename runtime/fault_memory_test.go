package echomq_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestFullStoreDrains fills a server until it refuses jobs, and asserts that a
// refused one leaves nothing behind, that workers take the queue down to nothing
// all the same, and that jobs are taken in again then.
func TestFullStoreDrains(t *testing.T) {
	t.Parallel()
	for _, kind := range []enginetest.Kind{enginetest.Valkey, enginetest.Redis} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			fillAndDrain(t, newFaultBed(t, enginetest.Start(t, kind)))
		})
	}
}

func fillAndDrain(t *testing.T, b *faultBed) {
	const lease = time.Second
	want := map[string]int{}
	abandoned := b.abandon(t, lease)
	for i := range 20 {
		want[b.add(t, chore{Fails: i % 3}, echomq.In(time.Duration(i)*50*time.Millisecond)).ID] = i%3 + 1
		want[b.add(t, chore{Fails: i % 2}, echomq.Priority(1+i%3)).ID] = i%2 + 1
	}
	want[b.add(t, chore{Takes: 3 * lease / 2}).ID] = 1
	for _, id := range b.addMany(t, 300, chore{}) {
		want[id] = 1
	}
	// Kept so briefly that they are to be trimmed while the store is full.
	brief := map[string]int{}
	for range 10 {
		brief[b.add(t, chore{}, echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Age: time.Millisecond}})).ID] = 1
	}
	b.fill(t)
	before := b.requireSound(t)
	for range 3 {
		_, err := echomq.Enqueue(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, chore{}, echomq.ID("refused"))
		require.ErrorIs(t, err, echomq.ErrFull)
	}
	_, err := echomq.EnqueueBatch(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, make([]echomq.Item[chore], 100))
	require.ErrorIs(t, err, echomq.ErrFull)
	after := b.requireSound(t)
	assert.Equal(t, before.hashes, after.hashes, "something was half-written")
	assert.Equal(t, before.places, after.places, "something was half-written")

	// The worker comes when the store is full already.
	worker := b.work(t, b.client, echomq.Lease(lease), echomq.Concurrency(4), echomq.CleanEvery(100*time.Millisecond))
	b.drainFull(t, len(want)+1)
	b.eventually(t, func() bool { return !b.direct.HExists(b.ctx, b.queue.Key(firstOf(brief)), "finishedOn").Val() }, "short-lived jobs are trimmed")
	_, err = echomq.Enqueue(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, chore{})
	require.ErrorIs(t, err, echomq.ErrFull, "the store was to be full until the end")
	worker.stop(t)

	snapshot := b.requireAtRest(t)
	assert.Equal(t, "1", snapshot.hashes[abandoned]["stc"])
	b.requireUntouched(t, want)
	all := map[string]int{abandoned: 1}
	for _, ids := range []map[string]int{want, brief} {
		for id, n := range ids {
			all[id] = n
		}
	}
	b.ledger.requireRuns(t, all)

	require.NoError(t, b.direct.ConfigSet(b.ctx, "maxmemory", "0").Err())
	id := b.add(t, chore{}).ID
	b.work(t, b.client)
	b.eventually(t, func() bool { return b.direct.ZScore(b.ctx, b.queue.Key("completed"), id).Err() == nil }, "a new job runs")
}

// fill lowers the limit of memory below what is in use.
func (b *faultBed) fill(t *testing.T) {
	t.Helper()
	require.NoError(t, b.direct.ConfigSet(b.ctx, "maxmemory-policy", "noeviction").Err())
	require.NoError(t, b.direct.ConfigSet(b.ctx, "maxmemory", "1mb").Err())
}

// drainFull waits until the given number of jobs have completed.
func (b *faultBed) drainFull(t *testing.T, jobs int) {
	t.Helper()
	b.eventually(t, func() bool {
		s, err := b.snapshot(b.ctx)
		if err != nil {
			return false
		}
		require.Empty(t, s.violations(false), s)
		done := 0
		for _, places := range s.places {
			if places[0] == "completed" {
				done++
			}
		}
		return done >= jobs && len(s.places) <= jobs
	}, "the full store is drained")
}

func firstOf(ids map[string]int) string {
	for id := range ids {
		return id
	}
	return ""
}

// logBuffer is a buffer for a logger that several goroutines write to.
type logBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

func TestEvictionPolicyIsWarnedOf(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	for policy, warned := range map[string]bool{"noeviction": false, "allkeys-lru": true, "volatile-ttl": true} {
		require.NoError(t, b.direct.ConfigSet(b.ctx, "maxmemory-policy", policy).Err())
		var log logBuffer
		client := echomq.NewClient(b.direct, echomq.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		worker := b.work(t, client)
		b.eventually(t, worker.Ready, "the worker is ready")
		worker.stop(t)
		require.NoError(t, client.Close())
		assert.Equal(t, warned, strings.Contains(log.String(), "level=WARN") && strings.Contains(log.String(), "maxmemory-policy") && strings.Contains(log.String(), "policy="+policy), log.String())
	}
}
