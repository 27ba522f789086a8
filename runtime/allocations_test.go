package echomq_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// The most allocations that a job may cost this process, those of the client
// library among them. A change that raises one of them has to say why.
const (
	allocationsOfAnEnqueue   = 34 // by one call
	allocationsInABatch      = 9  // in batches of 500
	allocationsOfAHandledJob = 62 // by a worker of 100 slots, its settling included
)

// TestAllocations counts what a job costs this process.
func TestAllocations(t *testing.T) {
	slack := 1.0
	if underRace {
		slack = 1.5 // the detector makes pools forget
	}
	engine := enginetest.Start(t, enginetest.Valkey)
	client := echomq.NewClient(engine.Client(t), quiet())
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	spec := echomq.QueueSpec{Name: "bench"}
	producer := echomq.NewProducer(client, spec)

	single := allocations(500, func() {
		for range 500 {
			_, err := echomq.Enqueue(t.Context(), producer, benchJob, benchPayload{ID: 1, Text: "hello"})
			require.NoError(t, err)
		}
	})
	items := echomq.Items(make([]benchPayload, 500)...)
	batch := allocations(3000, func() {
		for range 6 {
			_, err := echomq.EnqueueBatch(t.Context(), producer, benchJob, items)
			require.NoError(t, err)
		}
	})
	const jobs = 3500
	var handled atomic.Int64
	all := make(chan struct{})
	route := echomq.RouteTo(benchJob, echomq.NoResult(func(context.Context, *echomq.Job[benchPayload]) error {
		if handled.Add(1) == jobs {
			close(all)
		}
		return nil
	}))
	worker, err := echomq.NewWorker(client, []echomq.WorkerOption{echomq.Concurrency(100)}, echomq.Serve(spec, []echomq.Route{route}))
	require.NoError(t, err)
	ended := make(chan error, 1)
	job := allocations(jobs, func() {
		go func() { ended <- worker.Run(context.Background()) }()
		<-all
		require.NoError(t, worker.Stop(t.Context()))
		require.NoError(t, <-ended)
	})
	t.Logf("allocations: %.1f an enqueue, %.1f a job in a batch of 500, %.1f a handled job", single, batch, job)
	require.LessOrEqual(t, single, slack*allocationsOfAnEnqueue)
	require.LessOrEqual(t, batch, slack*allocationsInABatch)
	require.LessOrEqual(t, job, slack*allocationsOfAHandledJob)
}

// allocations returns how many allocations what work does makes for each of its
// jobs, in all goroutines.
func allocations(jobs int, work func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	work()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(jobs)
}
