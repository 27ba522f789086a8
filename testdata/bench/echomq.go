package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
)

// echoMQ is this project, as it is without any option.
type echoMQ struct {
	addr     string
	client   *echomq.Client
	store    *redis.Client
	producer *echomq.Producer
}

var (
	benchQueue = echomq.QueueSpec{Name: "bench"}
	benchJob   = echomq.NewJobType[payload, echomq.None](echomq.JobSpec{Queue: "bench", Name: "bench"})
)

func newEchoMQ(addr string) *echoMQ {
	store := redis.NewClient(&redis.Options{Addr: addr})
	client := echomq.NewClient(store, echomq.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	return &echoMQ{addr: addr, client: client, store: store, producer: echomq.NewProducer(client, benchQueue)}
}

func (s *echoMQ) name() string { return "echomq" }

func (s *echoMQ) enqueue(ctx context.Context, load load) (time.Duration, error) {
	filler := text(load.Bytes)
	return load.spread(func(first, jobs int) error {
		if load.Bulk == 1 {
			_, err := echomq.Enqueue(ctx, s.producer, benchJob, payload{ID: first, Text: filler})
			return err
		}
		all := make([]payload, jobs)
		for n := range all {
			all[n] = payload{ID: first + n, Text: filler}
		}
		_, err := echomq.EnqueueBatch(ctx, s.producer, benchJob, echomq.Items(all...))
		return err
	})
}

func (s *echoMQ) finished(ctx context.Context) (int, error) {
	n, err := s.store.ZCard(ctx, "emq:{bench}:completed").Result()
	return int(n), err
}

func (s *echoMQ) worker(concurrency int) ([]string, error) {
	return ownWorker("echomq", s.addr, concurrency)
}

// ownWorker is this program as a worker process.
func ownWorker(system, addr string, concurrency int) ([]string, error) {
	self, err := os.Executable()
	return []string{self, "worker", system, addr, strconv.Itoa(concurrency)}, err
}

func (s *echoMQ) serve(ctx context.Context, concurrency int, handle func(payload)) error {
	route := echomq.RouteTo(benchJob, echomq.NoResult(func(_ context.Context, job *echomq.Job[payload]) error {
		handle(job.Payload)
		return nil
	}))
	worker, err := echomq.NewWorker(s.client, []echomq.WorkerOption{echomq.Concurrency(concurrency)},
		echomq.Serve(benchQueue, []echomq.Route{route}))
	if err != nil {
		return err
	}
	return worker.Run(ctx)
}

func (s *echoMQ) idle(ctx context.Context, jobs int) ([]time.Duration, error) {
	return idleOf(ctx, jobs, s.serve, func(p payload) error {
		_, err := echomq.Enqueue(ctx, s.producer, benchJob, p)
		return err
	})
}

// idleOf measures the latency of a system whose worker runs in this process.
func idleOf(ctx context.Context, jobs int, serve func(context.Context, int, func(payload)) error, enqueue func(payload) error) ([]time.Duration, error) {
	arrived := make(chan time.Duration, 1)
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- serve(serving, 10, func(p payload) { arrived <- time.Since(time.Unix(0, p.Sent)) })
	}()
	// The first finds the worker starting, and does not count.
	all, err := latencies(ctx, jobs+1, arrived, enqueue)
	stop()
	if ended := <-ended; err == nil && ended != nil {
		err = fmt.Errorf("worker: %w", ended)
	}
	if err != nil {
		return nil, err
	}
	return all[1:], nil
}

func (s *echoMQ) clear(ctx context.Context) error { return s.store.FlushAll(ctx).Err() }

func (s *echoMQ) close() {
	_ = s.client.Close()
	_ = s.store.Close()
}
