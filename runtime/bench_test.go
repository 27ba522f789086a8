package echomq_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

type benchPayload struct {
	ID   int    `json:"id"`
	Text string `json:"text"`
}

var benchJob = echomq.NewJobType[benchPayload, echomq.None](echomq.JobSpec{Queue: "bench", Name: "bench"})

func benchClient(b *testing.B) *echomq.Client {
	b.Helper()
	engine := enginetest.Start(b, enginetest.Valkey)
	client := echomq.NewClient(engine.Client(b), echomq.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	b.Cleanup(func() { _ = client.Close() })
	return client
}

func BenchmarkEnqueue(b *testing.B) {
	producer := echomq.NewProducer(benchClient(b), echomq.QueueSpec{Name: "bench"})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := echomq.Enqueue(b.Context(), producer, benchJob, benchPayload{ID: i, Text: "hello"}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEnqueueBatch(b *testing.B) {
	producer := echomq.NewProducer(benchClient(b), echomq.QueueSpec{Name: "bench"})
	items := echomq.Items(make([]benchPayload, 500)...)
	b.ReportAllocs()
	jobs := 0
	for b.Loop() {
		if _, err := echomq.EnqueueBatch(b.Context(), producer, benchJob, items); err != nil {
			b.Fatal(err)
		}
		jobs += len(items)
	}
	b.ReportMetric(float64(jobs)/b.Elapsed().Seconds(), "jobs/s")
}

// BenchmarkProcess measures a worker on a queue that is full: one operation is
// one job, taken, handled and settled.
func BenchmarkProcess(b *testing.B) {
	for _, slots := range []int{1, 10, 100} {
		b.Run(map[int]string{1: "concurrency=1", 10: "concurrency=10", 100: "concurrency=100"}[slots], func(b *testing.B) {
			client := benchClient(b)
			producer := echomq.NewProducer(client, echomq.QueueSpec{Name: "bench"})
			for left := b.N; left > 0; left -= min(left, 500) {
				items := make([]benchPayload, min(left, 500))
				if _, err := echomq.EnqueueBatch(b.Context(), producer, benchJob, echomq.Items(items...)); err != nil {
					b.Fatal(err)
				}
			}
			var handled atomic.Int64
			all := make(chan struct{})
			var once sync.Once
			route := echomq.RouteTo(benchJob, echomq.NoResult(func(context.Context, *echomq.Job[benchPayload]) error {
				if handled.Add(1) >= int64(b.N) {
					once.Do(func() { close(all) })
				}
				return nil
			}))
			worker, err := echomq.NewWorker(client, []echomq.WorkerOption{echomq.Concurrency(slots)},
				echomq.Serve(echomq.QueueSpec{Name: "bench"}, []echomq.Route{route}))
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			go func() { _ = worker.Run(context.Background()) }()
			<-all
			_ = worker.Stop(b.Context())
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "jobs/s")
		})
	}
}
