package echomq_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// awaited is what an Await in the background returned.
type awaited struct {
	result string
	err    error
}

// awaitThrough awaits a job in the background, through a proxy.
func (b *faultBed) awaitThrough(t *testing.T, proxy *enginetest.Proxy, id string) <-chan awaited {
	t.Helper()
	handle, err := b.job.Handle(b.through(t, proxy.Client(t)), id)
	require.NoError(t, err)
	got := make(chan awaited, 1)
	go func() {
		result, err := handle.Await(b.ctx)
		got <- awaited{result, err}
	}()
	b.eventually(t, func() bool { return proxy.Count("xread") > 0 }, "the awaiting one listens")
	return got
}

// TestAwaitWhileTheStoreIsAway lets a job end while those who wait for it cannot
// reach the store, and takes the event away before they can.
func TestAwaitWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	engine := startValkey(t)
	meanwhile := map[string]func(b *faultBed) error{
		"events kept":    func(b *faultBed) error { return nil },
		"events trimmed": func(b *faultBed) error { return b.direct.XTrimMaxLen(b.ctx, b.queue.Key("events"), 0).Err() },
		"events deleted": func(b *faultBed) error { return b.direct.Del(b.ctx, b.queue.Key("events")).Err() },
	}
	for name, act := range meanwhile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFaultBed(t, engine)
			proxy := enginetest.NewProxy(t, b.engine)
			id := b.add(t, chore{}).ID
			got := b.awaitThrough(t, proxy, id)
			proxy.Refuse(true)
			proxy.CutAll()
			b.work(t, b.client)
			b.drain(t, 1)
			require.NoError(t, act(b))
			assert.Empty(t, got, "it cannot know")
			proxy.Refuse(false)
			assert.Equal(t, awaited{result: id}, <-got)
		})
	}
}

// TestAwaitWhenTheStreamIsDeleted deletes the stream under one that listens; the
// job ends afterwards.
func TestAwaitWhenTheStreamIsDeleted(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	w := b.work(t, b.client)
	b.add(t, chore{})
	b.drain(t, 1)
	w.stop(t)
	proxy := enginetest.NewProxy(t, b.engine)
	id := b.add(t, chore{}).ID
	got := b.awaitThrough(t, proxy, id)
	require.NoError(t, b.direct.Del(b.ctx, b.queue.Key("events")).Err())
	begun := time.Now()
	b.work(t, b.client)
	assert.Equal(t, awaited{result: id}, <-got)
	t.Logf("after %v", time.Since(begun).Round(time.Millisecond))
}

// TestAwaitWhenTheServerDies kills the server under one that listens; the job
// ends after it is back.
func TestAwaitWhenTheServerDies(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t, enginetest.AOF()))
	proxy := enginetest.NewProxy(t, b.engine)
	id := b.add(t, chore{}).ID
	got := b.awaitThrough(t, proxy, id)
	b.engine.Kill()
	b.engine.Restart()
	b.work(t, b.through(t, b.engine.Client(t)))
	assert.Equal(t, awaited{result: id}, <-got)
}

// TestThousandAwaits waits for a thousand jobs at once, while connections are
// cut: one reader serves them all.
func TestThousandAwaits(t *testing.T) {
	t.Parallel()
	const waiters = 1000
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	client := b.through(t, proxy.Client(t))
	ids := b.addMany(t, waiters, chore{})
	var waiting sync.WaitGroup
	for _, id := range ids {
		handle, err := b.job.Handle(client, id)
		require.NoError(t, err)
		waiting.Go(func() {
			result, err := handle.Await(b.ctx)
			assert.NoError(t, err)
			assert.Equal(t, id, result)
		})
	}
	b.eventually(t, func() bool { return proxy.Count("xread") > 0 }, "someone listens")
	readers := proxy.Count("xread")
	w := b.work(t, b.client, echomq.Concurrency(20))
	for range 3 {
		proxy.CutAll()
		elapse(50 * time.Millisecond) // so that the cuts fall between results
	}
	waiting.Wait()
	w.stop(t)
	b.ledger.requireRuns(t, eachOnce(ids))
	t.Logf("%d reads, %d looks", proxy.Count("xread"), proxy.Count("evalsha"))
	assert.Less(t, proxy.Count("xread")-readers, waiters)
}
