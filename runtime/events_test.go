package echomq_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestEventLevels(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for level, want := range map[echomq.EventLevel][3][]string{
			echomq.EventsNone:    {{"completed"}, {"failed"}, nil},
			echomq.EventsFinal:   {{"completed"}, {"failed"}, {"completed"}},
			echomq.EventsDefault: {{"completed"}, {"failed"}, {"completed"}},
			echomq.EventsAll: {
				{"added", "active", "completed"},
				{"added", "active", "retry", "active", "failed"},
				{"added", "active", "completed"},
			},
		} {
			queue := newFixture(t, f.engine)
			queue.spec.Events = level
			queue.producer = echomq.NewProducer(queue.client, queue.spec)
			note := echomq.NewJobType[greeting, echomq.None](queue.jobSpec("note"))
			w := queue.serve(t, []echomq.Route{
				echomq.RouteTo(queue.greet(), func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
					if job.Payload.Name == "bad" && job.Attempt() == 1 {
						return "", echomq.RetryAfter(0, errFlaky)
					}
					return completedOrFailed(context.Background(), job)
				}),
				echomq.RouteTo(note, echomq.NoResult(func(context.Context, *echomq.Job[greeting]) error { return nil })),
			})
			good, bad := queue.enqueue(t, "good"), queue.enqueue(t, "bad")
			quiet, err := echomq.Enqueue(queue.ctx, queue.producer, note, greeting{})
			require.NoError(t, err)
			await(t, queue, good) // at every level, because it has a result
			awaitFailure(t, queue, bad)
			reach(t, queue, quiet, echomq.StateCompleted)
			w.halt(t)
			for i, id := range []string{good.ID, bad.ID, quiet.ID} {
				require.Equal(t, want[i], queue.events(t, id), "level %d, job %d", level, i)
			}
		}
	})
}

func TestEventOptionWinsOverTheSpec(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.producer = echomq.NewProducer(f.client, f.spec, echomq.Events(echomq.EventsAll))
		handle := f.enqueue(t, "Ada")
		require.Equal(t, []string{"added"}, f.events(t, handle.ID))
		f.work(t, hello, echomq.Events(echomq.EventsAll))
		await(t, f, handle)
		require.Equal(t, []string{"added", "active", "completed"}, f.events(t, handle.ID))
	})
}

func TestUnknownJobIsOneEvent(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		w := f.strange(t)
		f.givenBack(t, handle.ID, 2)
		w.halt(t)
		require.Len(t, f.events(t, handle.ID), 1, "one at first, and then about one an hour")
	})
}
