package echomq_test

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// atOnce is far below the 1.2 to 2 s after which an idle worker looks at the
// queue without having been woken.
const atOnce = time.Second

// idle waits until n workers of the fixture's queue wait for the marker.
func (f *fixture) idle(t *testing.T, proxy *enginetest.Proxy, n int) {
	t.Helper()
	eventually(t, func() bool { return proxy.Count("bzpopmin") >= n }, "the workers are idle")
}

func TestIdleWorkerIsWokenByTheMarker(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := enginetest.NewProxy(t, f.engine)
		f.client = f.newClient(t, proxy.Store(t))
		f.work(t, hello)
		for _, opts := range [][]echomq.EnqueueOption{nil, {echomq.Priority(3)}, {echomq.In(30 * time.Millisecond)}, nil} {
			f.idle(t, proxy, 1)
			proxy.ResetCounts() // what it says next, it says after the job
			handle := f.enqueue(t, "Ada", opts...)
			await(t, f, handle)
			job := f.envelope(t, handle.ID)
			require.Less(t, job.ProcessedOn.Time().Sub(job.Timestamp.Time()), atOnce)
		}
	})
}

func TestOneJobWakesOneOfSeveralIdleWorkers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := enginetest.NewProxy(t, f.engine)
		f.client = f.newClient(t, proxy.Store(t))
		gate := make(chan struct{})
		for range 3 {
			f.gated(t, gate, echomq.Concurrency(1))
		}
		f.idle(t, proxy, 3)
		start := time.Now()
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(3)...))
		require.NoError(t, err)
		for _, outcome := range outcomes {
			reach(t, f, outcome.Handle, echomq.StateActive)
		}
		require.Less(t, time.Since(start), atOnce, "whoever is woken leaves the marker for the next")
		close(gate)
	})
}

func TestMarkerStandsWhileThereIsWork(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		marker := func() []redis.Z { return f.store.ZRangeWithScores(f.ctx, f.queue.Key("marker"), 0, -1).Val() }
		require.Empty(t, marker())
		first := f.enqueue(t, "first")
		require.Equal(t, []redis.Z{{Member: first.ID}}, marker(), "it names the head")
		f.enqueue(t, "second")
		require.Len(t, marker(), 1)
		gate := make(chan struct{})
		_, running := f.gated(t, gate, echomq.Concurrency(1))
		require.Equal(t, "first", receive(t, running, "the first job"))
		require.Len(t, marker(), 1, "one job is left")
		gate <- struct{}{}
		require.Equal(t, "second", receive(t, running, "the second job"))
		close(gate)
		eventually(t, func() bool { return len(marker()) == 0 }, "nothing is left to take")
	})
}

func TestIdleWorkerThatStopsLeavesTheMarker(t *testing.T) {
	eachServer(t, func(t *testing.T, f *fixture) {
		for range 10 {
			idle := *f
			blocked := idle.named(t)
			leaving := idle.work(t, hello)
			blocked(1)
			handle := f.enqueue(t, "Ada") // takes the marker to the worker
			require.NoError(t, leaving.Stop(f.ctx))
			if state(t, f, handle) != echomq.StateCompleted {
				marker := f.store.ZRange(f.ctx, f.queue.Key("marker"), 0, -1).Val()
				require.Equal(t, []string{handle.ID}, marker, "another worker takes it at once")
				staying := f.work(t, hello)
				await(t, f, handle)
				staying.halt(t)
			}
		}
	})
}

func TestAnotherWorkerTakesWhatAStoppingOneLeaves(t *testing.T) {
	eachServer(t, func(t *testing.T, f *fixture) {
		blocked := f.named(t)
		leaving := f.work(t, hello)
		blocked(1)
		f.work(t, hello)
		blocked(2)
		start := time.Now()
		handle := f.enqueue(t, "Ada") // takes the marker to the worker that was idle first
		require.NoError(t, leaving.Stop(f.ctx))
		await(t, f, handle)
		require.Less(t, time.Since(start), atOnce)
	})
}

// named gives the fixture's client a name of its own and returns a function that
// waits until the server has n of its readers waiting for the marker. A reader
// that is still under way when its worker stops may take the marker with it, and
// then the next worker comes by itself within 2 s.
func (f *fixture) named(t *testing.T) (blocked func(n int)) {
	t.Helper()
	name := f.engine.QueueName(t)
	f.client = f.newClient(t, f.engine.Store(t, enginetest.ClientName(name)))
	node := f.engine.Node(t, f.queue.Key("marker"))
	return func(n int) {
		t.Helper()
		eventually(t, func() bool {
			waiting := 0
			for client := range strings.Lines(node.ClientList(f.ctx).Val()) {
				if strings.Contains(client, " name="+name+" ") && strings.Contains(client, " cmd=bzpopmin ") &&
					strings.Contains(client, " flags=b") {
					waiting++
				}
			}
			return waiting == n
		}, "the readers of the marker are there")
	}
}
