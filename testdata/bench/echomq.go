package main

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
)

// echoMQ is this project: as it is without any option, or tuned, which is without
// events and without a record of what has ended.
type echoMQ struct {
	addr      string
	tuned     bool
	client    *echomq.Client
	store     *redis.Client
	producers map[string]*echomq.Producer
	added     atomic.Int64
	queues    int // of the last load
}

func newEchoMQ(addr string, tuned bool) *echoMQ {
	store := redis.NewClient(&redis.Options{Addr: addr})
	client := echomq.NewClient(store, echomq.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	s := &echoMQ{addr: addr, tuned: tuned, client: client, store: store, producers: map[string]*echomq.Producer{}}
	for _, queues := range []int{1, manyQueues} {
		for _, queue := range queueNames(queues) {
			s.producers[queue] = echomq.NewProducer(client, s.queue(queue))
		}
	}
	return s
}

func (s *echoMQ) name() string { return called("echomq", s.tuned) }

func (s *echoMQ) queue(name string) echomq.QueueSpec {
	spec := echomq.QueueSpec{Name: name}
	if s.tuned {
		spec.Events = echomq.EventsNone
	}
	return spec
}

func (s *echoMQ) job(queue string) echomq.JobType[payload, echomq.None] {
	spec := echomq.JobSpec{Queue: queue, Name: "bench"}
	if s.tuned {
		spec.Keep = echomq.KeepSpec{Completed: echomq.Keep{None: true}, Logs: echomq.NoLogs}
	}
	return echomq.NewJobType[payload, echomq.None](spec)
}

func (s *echoMQ) enqueue(ctx context.Context, load load) (added, error) {
	s.queues = load.Queues
	filler := text(load.Bytes)
	var jobs []echomq.JobType[payload, echomq.None]
	for _, queue := range queueNames(load.Queues) {
		jobs = append(jobs, s.job(queue))
	}
	did, err := load.spread(func(first, count, queue int) error {
		producer := s.producers[queueName(queue, load.Queues)]
		if load.Bulk == 1 {
			_, err := echomq.Enqueue(ctx, producer, jobs[queue], payload{ID: first, Text: filler})
			return err
		}
		all := make([]payload, count)
		for n := range all {
			all[n] = payload{ID: first + n, Text: filler}
		}
		_, err := echomq.EnqueueBatch(ctx, producer, jobs[queue], echomq.Items(all...))
		return err
	})
	s.added.Add(int64(did.jobs))
	return did, err
}

// finished is what has been added and is nowhere but among the completed jobs, of
// which old ones are trimmed meanwhile. The order of the counts makes it too few if
// a job moves between them, never too many.
func (s *echoMQ) finished(ctx context.Context) (int, error) {
	left, err := sum(ctx, s.store, s.queues, func(pipe redis.Pipeliner, queue string) []*redis.IntCmd {
		key := "emq:{" + queue + "}:"
		return []*redis.IntCmd{pipe.LLen(ctx, key+"wait"), pipe.ZCard(ctx, key+"active"), pipe.ZCard(ctx, key+"delayed"), pipe.ZCard(ctx, key+"failed")}
	})
	return int(s.added.Load()) - left, err
}

// sum adds up what the commands for each queue return, in one round trip.
func sum(ctx context.Context, store *redis.Client, queues int, ask func(redis.Pipeliner, string) []*redis.IntCmd) (n int, err error) {
	pipe := store.Pipeline()
	var counts []*redis.IntCmd
	for _, queue := range queueNames(queues) {
		counts = append(counts, ask(pipe, queue)...)
	}
	_, err = pipe.Exec(ctx)
	for _, count := range counts {
		n += int(count.Val())
	}
	return n, err
}

func (s *echoMQ) worker(spec workerSpec) ([]string, error) {
	spec.System, spec.Tuned = "echomq", s.tuned
	if spec.Addr == "" {
		spec.Addr = s.addr
	}
	return ownWorker(spec)
}

func (s *echoMQ) serve(ctx context.Context, spec workerSpec, handle func(payload)) error {
	var served []echomq.Served
	for _, queue := range queueNames(spec.Queues) {
		route := echomq.RouteTo(s.job(queue), echomq.NoResult(func(_ context.Context, job *echomq.Job[payload]) error {
			handle(job.Payload)
			return nil
		}))
		served = append(served, echomq.Serve(s.queue(queue), []echomq.Route{route}))
	}
	options := []echomq.WorkerOption{echomq.Concurrency(spec.Slots / max(spec.Queues, 1))}
	worker, err := echomq.NewWorker(s.client, options, served...)
	if err != nil {
		return err
	}
	return worker.Run(ctx)
}

func (s *echoMQ) add(ctx context.Context, p payload, delay time.Duration) error {
	var options []echomq.EnqueueOption
	if delay > 0 {
		options = append(options, echomq.In(delay))
	}
	_, err := echomq.Enqueue(ctx, s.producers["bench"], s.job("bench"), p, options...)
	return err
}

func (s *echoMQ) late(ctx context.Context, plan plan) ([]time.Duration, error) {
	return late(ctx, s, plan)
}

func (s *echoMQ) valkey() *redis.Client { return s.store }

func (s *echoMQ) memory(ctx context.Context) (int, error) { return usedMemory(ctx, s.store) }

func (s *echoMQ) clear(ctx context.Context) error {
	s.added.Store(0)
	return flush(ctx, s.store)
}

func (s *echoMQ) close() {
	_ = s.client.Close()
	_ = s.store.Close()
}
