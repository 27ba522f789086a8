package echomq_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// TestNilIsRefused has nothing that is nil panic, nor fail only as jobs run.
func TestNilIsRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		batch := echomq.RouteToBatch[greeting, string](f.greet(), nil)
		silent := echomq.NewJobType[greeting, echomq.None](f.jobSpec("silent"))
		good := echomq.RouteTo(f.greet(), hello)
		for name, served := range map[string]echomq.Served{
			"handler of a queue":    echomq.NoHandler(f.spec),
			"handler":               echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo[greeting, string](f.greet(), nil)}),
			"batch handler":         echomq.Serve(f.spec, []echomq.Route{batch}),
			"handler of no results": echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(silent, echomq.NoResult[greeting](nil))}),
			"batches of no results": echomq.Serve(f.spec, []echomq.Route{echomq.RouteToBatch(silent, echomq.NoResults[greeting](nil))}),
			"middleware":            echomq.Serve(f.spec, []echomq.Route{good}, echomq.HandlerMiddleware(nil)),
		} {
			_, err := echomq.NewWorker(f.client, nil, served)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		_, err := echomq.NewWorker(nil, nil, echomq.Serve(f.spec, []echomq.Route{good}))
		require.ErrorIs(t, err, echomq.ErrOption)

		w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{good}))
		require.NoError(t, err)
		require.ErrorIs(t, w.Add(f.ctx, echomq.NoHandler(echomq.QueueSpec{Name: f.spec.Name + "-2"})), echomq.ErrOption)

		_, err = echomq.Enqueue(f.ctx, echomq.NewProducer(nil, f.spec), f.greet(), greeting{})
		require.ErrorIs(t, err, echomq.ErrOption)
		storeless := echomq.NewClient(nil, echomq.WithLogger(nil))
		_, err = echomq.Enqueue(f.ctx, echomq.NewProducer(storeless, f.spec), f.greet(), greeting{})
		require.ErrorIs(t, err, echomq.ErrOption)
		_, err = storeless.Queues(f.ctx)
		require.ErrorIs(t, err, echomq.ErrOption)
		require.NoError(t, storeless.Close())

		client := f.newClient(t, f.store, echomq.EnqueueMiddleware(nil))
		job, err := echomq.Prepare(echomq.NewProducer(client, f.spec), f.greet(), greeting{})
		require.NoError(t, err)
		_, err = client.Send(f.ctx, job)
		require.ErrorIs(t, err, echomq.ErrOption)
		child, err := echomq.Prepare(echomq.NewProducer(client, f.spec), f.greet(), greeting{})
		require.NoError(t, err)
		_, err = echomq.SendFlow(f.ctx, client, f.greet(), echomq.NewFlow(job, echomq.Child(child)))
		require.ErrorIs(t, err, echomq.ErrOption)
		require.Empty(t, f.keys(t), "nothing was written")
	})
}

// TestMiddlewareCannotMixUpAFlow: each of its jobs has its place.
func TestMiddlewareCannotMixUpAFlow(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		client := f.newClient(t, f.store, echomq.EnqueueMiddleware(func(next echomq.EnqueueFunc) echomq.EnqueueFunc {
			return func(ctx context.Context, jobs []echomq.Prepared) ([]echomq.Sent, error) {
				jobs[0], jobs[1] = jobs[1], jobs[0]
				return next(ctx, jobs)
			}
		}))
		producer := echomq.NewProducer(client, f.spec)
		parent, err := echomq.Prepare(producer, f.greet(), greeting{"parent"})
		require.NoError(t, err)
		child, err := echomq.Prepare(producer, f.greet(), greeting{"child"})
		require.NoError(t, err)
		_, err = echomq.SendFlow(f.ctx, client, f.greet(), echomq.NewFlow(parent, echomq.Child(child)))
		require.ErrorIs(t, err, echomq.ErrOption)
		require.Empty(t, f.keys(t), "nothing was written")
	})
}
