package echomq_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// counted puts a proxy between the fixture's client and its engine.
func (f *fixture) counted(t *testing.T) *enginetest.Proxy {
	t.Helper()
	proxy := enginetest.NewProxy(t, f.engine)
	f.client = f.newClient(t, proxy.Store(t))
	f.producer = echomq.NewProducer(f.client, f.spec)
	return proxy
}

func TestEnqueueIsOneCommand(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		f.enqueue(t, "first contact")
		proxy.ResetCounts()
		for range 10 {
			f.enqueue(t, "Ada")
		}
		require.Equal(t, map[string]int{"evalsha": 10}, proxy.Counts())
		require.Equal(t, 10, proxy.RoundTrips())
	})
}

func TestFirstContactIsMadeOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		f.enqueue(t, "Ada")
		f.enqueue(t, "Bob")
		counts := proxy.Counts()
		require.Equal(t, 1, counts["exists"], "the look at the v1 line")
		require.LessOrEqual(t, counts["script"], 1, "the script is loaded once, if at all")
		require.Zero(t, counts["eval"])
	})
}

func TestCommandsOfOneJobAtATime(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		f.work(t, hello)
		f.idle(t, proxy, 1)
		await(t, f, f.enqueue(t, "first contact, scripts, event reader"))
		const jobs = 20
		proxy.ResetCounts()
		for range jobs {
			await(t, f, f.enqueue(t, "Ada"))
		}
		// Enqueue, look, pick, settle; the look after the end; and now and then a
		// pick that finds nothing.
		require.LessOrEqual(t, proxy.Count("evalsha"), 8*jobs)
	})
}

func TestRoundTripsOfAThousandJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(1000)...))
		require.NoError(t, err)
		require.Equal(t, 1000, len(outcomes))
		proxy.ResetCounts()
		f.work(t, hello, echomq.Concurrency(100))
		eventually(t, func() bool { return f.store.ZCard(f.ctx, f.queue.Key("completed")).Val() == 1000 }, "all have ended")
		require.Less(t, proxy.RoundTrips(), 400, "they are picked and settled in batches: %v", proxy.Counts())
	})
}
