package echomq_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// people returns n payloads.
func people(n int) []greeting {
	payloads := make([]greeting, n)
	for i := range payloads {
		payloads[i].Name = fmt.Sprint(i)
	}
	return payloads
}

func TestBatchOutcomesAreInOrder(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(100)...), echomq.ChunkSize(30))
		require.NoError(t, err)
		require.Len(t, outcomes, 100)
		for i, outcome := range outcomes {
			require.NoError(t, outcome.Err)
			require.False(t, outcome.Handle.Existing)
			require.Equal(t, fmt.Sprint("hello ", i), await(t, f, outcome.Handle))
		}
	})
}

func TestBatchWithDuplicates(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "before", echomq.ID("a"))
		item := func(name, id string) echomq.Item[greeting] {
			return echomq.Item[greeting]{Payload: greeting{name}, Options: []echomq.EnqueueOption{echomq.ID(id)}}
		}
		items := []echomq.Item[greeting]{item("1", "a"), item("2", "b"), item("3", "b"), item("4", "c"), item("5", "b")}
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), items, echomq.ChunkSize(3))
		require.NoError(t, err)
		for i, existing := range []bool{true, false, true, false, true} {
			require.Equal(t, existing, outcomes[i].Handle.Existing, "item %d", i)
			require.NoError(t, outcomes[i].Err)
		}
		f.work(t, hello)
		for i, name := range []string{"before", "2", "2", "4", "2"} {
			require.Equal(t, "hello "+name, await(t, f, outcomes[i].Handle), "item %d", i)
		}
		require.EqualValues(t, 3, f.store.ZCard(f.ctx, f.queue.Key("completed")).Val())
	})
}

func TestBatchWithTheIDOfAnotherType(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "Ada", echomq.ID("a"))
		other := echomq.NewJobType[greeting, string](f.jobSpec("other"))
		items := echomq.Items(people(3)...)
		items[1].Options = []echomq.EnqueueOption{echomq.ID("a")}
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, other, items)
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
		require.NoError(t, outcomes[0].Err)
		require.ErrorIs(t, outcomes[1].Err, echomq.ErrJobMismatch)
		require.NoError(t, outcomes[2].Err, "the others of its chunk were added")
		require.Equal(t, echomq.StateWaiting, state(t, f, outcomes[2].Handle))
	})
}

func TestBadItemOfABatch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		items := echomq.Items(people(5)...)
		for _, option := range []echomq.EnqueueOption{echomq.ID("wait"), echomq.Priority(-1), echomq.In(-1)} {
			items[3].Options = []echomq.EnqueueOption{option}
			outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), items, echomq.ChunkSize(1))
			var bad *echomq.BatchError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, 3, bad.Index)
			require.ErrorIs(t, err, echomq.ErrOption)
			require.ErrorContains(t, err, "item 3")
			require.Empty(t, outcomes)
		}
		require.Empty(t, f.keys(t), "nothing was sent")
	})
}

func TestBatchOptions(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		items := echomq.Items(people(3)...)
		items[1].Options = []echomq.EnqueueOption{echomq.Priority(2), echomq.In(0)}
		items[2].Options = []echomq.EnqueueOption{echomq.Priority(3), echomq.Retry(echomq.RetrySpec{Attempts: 4})}
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), items,
			echomq.In(time.Hour), echomq.Priority(9), echomq.Retry(echomq.RetrySpec{Stalls: 5}))
		require.NoError(t, err)
		require.Equal(t, echomq.StateDelayed, state(t, f, outcomes[0].Handle))
		require.Equal(t, echomq.StatePrioritized, state(t, f, outcomes[1].Handle), "an item's options win")
		require.Equal(t, echomq.StateDelayed, state(t, f, outcomes[2].Handle))
		require.Equal(t, 9, f.envelope(t, outcomes[0].Handle.ID).Priority)
		require.Equal(t, 2, f.envelope(t, outcomes[1].Handle.ID).Priority)
		require.Equal(t, 3, f.envelope(t, outcomes[2].Handle.ID).Priority)
		require.JSONEq(t, `{"stalls":5}`, f.envelope(t, outcomes[0].Handle.ID).Opts)
		require.JSONEq(t, `{"attempts":4,"stalls":5}`, f.envelope(t, outcomes[2].Handle.ID).Opts)
	})
}

func TestEmptyBatch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), nil)
		require.NoError(t, err)
		require.Empty(t, outcomes)
		sent, err := f.client.Send(f.ctx)
		require.NoError(t, err)
		require.Empty(t, sent)
		require.Empty(t, f.keys(t))
	})
}

func TestBatchIsCutIntoChunks(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := enginetest.NewProxy(t, f.engine)
		producer := echomq.NewProducer(f.newClient(t, proxy.Store(t)), f.spec)
		_, err := echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(greeting{"first contact"}))
		require.NoError(t, err)
		calls := func(items []greeting, opts ...echomq.BatchOption) int {
			proxy.ResetCounts()
			_, err := echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(items...), opts...)
			require.NoError(t, err)
			return proxy.Count("evalsha")
		}
		require.Equal(t, 1, calls(people(500)))
		require.Equal(t, 2, calls(people(501)))
		require.Equal(t, 1, calls(people(10), echomq.ChunkSize(10)))
		require.Equal(t, 4, calls(people(10), echomq.ChunkSize(3)))
		large := make([]greeting, 9)
		for i := range large {
			large[i].Name = strings.Repeat("x", 1_000_000)
		}
		require.Equal(t, 3, calls(large), "of at most 4 MiB each")
	})
}

func TestChunkSizeIsChecked(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, size := range []int{-1, 0, 501} {
			_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(1)...), echomq.ChunkSize(size))
			require.ErrorIs(t, err, echomq.ErrOption, "size %d", size)
		}
		require.Empty(t, f.keys(t))
	})
}

func TestBatchToAQueueThatIsRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:9").Err())
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(3)...), echomq.ChunkSize(2))
		require.ErrorIs(t, err, echomq.ErrVersion)
		require.ErrorIs(t, outcomes[0].Err, echomq.ErrVersion, "the error of its chunk")
		require.ErrorIs(t, outcomes[1].Err, echomq.ErrVersion)
		require.ErrorIs(t, outcomes[2].Err, echomq.ErrNotSent)
	})
}
