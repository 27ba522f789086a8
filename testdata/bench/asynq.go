package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqPeer is asynq: as it is without any option, or tuned, of which it can be
// only how often it looks for jobs while it has none.
type asynqPeer struct {
	addr   string
	tuned  bool
	client *asynq.Client
	store  *redis.Client
	queues int // of the last load
}

func newAsynq(addr string, tuned bool) *asynqPeer {
	return &asynqPeer{
		addr: addr, tuned: tuned,
		client: asynq.NewClient(asynq.RedisClientOpt{Addr: addr}), store: redis.NewClient(&redis.Options{Addr: addr}),
	}
}

func (s *asynqPeer) name() string { return called("asynq", s.tuned) }

// asynqQueue: a program that uses one queue uses the one that needs no option.
func asynqQueue(queue string) string {
	if queue == "bench" {
		return "default"
	}
	return queue
}

func (s *asynqPeer) send(ctx context.Context, p payload, options ...asynq.Option) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = s.client.EnqueueContext(ctx, asynq.NewTask("bench", data), options...)
	return err
}

// enqueue: asynq has no call for many jobs at once, so bulk is as many producers
// as a bulk has jobs, up to 50.
func (s *asynqPeer) enqueue(ctx context.Context, load load) (added, error) {
	s.queues = load.Queues
	filler := text(load.Bytes)
	if load.Bulk > 1 {
		load.Producers, load.Bulk = min(load.Bulk, 50), 1
	}
	return load.spread(func(first, _, queue int) error {
		return s.send(ctx, payload{ID: first, Text: filler}, asynq.Queue(asynqQueue(queueName(queue, load.Queues))))
	})
}

// finished is what has been processed and has not failed.
func (s *asynqPeer) finished(ctx context.Context) (all int, err error) {
	pipe := s.store.Pipeline()
	var counts []*redis.StringCmd
	for _, queue := range queueNames(s.queues) {
		key := "asynq:{" + asynqQueue(queue) + "}:"
		counts = append(counts, pipe.Get(ctx, key+"processed"), pipe.Get(ctx, key+"failed"))
	}
	_, _ = pipe.Exec(ctx)
	for n, count := range counts {
		value, err := count.Int()
		if err != nil && !errors.Is(err, redis.Nil) {
			return 0, err
		}
		all += value * []int{1, -1}[n%2]
	}
	return all, nil
}

func (s *asynqPeer) worker(spec workerSpec) ([]string, error) {
	spec.System, spec.Tuned, spec.Addr, spec.File = "asynq", s.tuned, s.addr, ""
	return ownWorker(spec)
}

type silent struct{}

func (silent) Debug(...any)      {}
func (silent) Info(...any)       {}
func (silent) Warn(...any)       {}
func (silent) Error(...any)      {}
func (silent) Fatal(args ...any) { log.Fatal(args...) }

func (s *asynqPeer) serve(ctx context.Context, spec workerSpec, handle func(payload)) error {
	config := asynq.Config{Concurrency: spec.Slots, Queues: map[string]int{}, Logger: silent{}}
	for _, queue := range queueNames(spec.Queues) {
		config.Queues[asynqQueue(queue)] = 1
	}
	if s.tuned {
		config.TaskCheckInterval = 5 * time.Millisecond
	}
	server := asynq.NewServer(asynq.RedisClientOpt{Addr: s.addr}, config)
	err := server.Start(asynq.HandlerFunc(func(_ context.Context, task *asynq.Task) error {
		var p payload
		if err := json.Unmarshal(task.Payload(), &p); err != nil {
			return err
		}
		handle(p)
		return nil
	}))
	if err != nil {
		return err
	}
	<-ctx.Done()
	server.Shutdown()
	return nil
}

func (s *asynqPeer) add(ctx context.Context, p payload, delay time.Duration) error {
	if delay > 0 {
		return s.send(ctx, p, asynq.ProcessIn(delay))
	}
	return s.send(ctx, p)
}

func (s *asynqPeer) late(ctx context.Context, plan plan) ([]time.Duration, error) {
	return late(ctx, s, plan)
}

func (s *asynqPeer) valkey() *redis.Client { return s.store }

func (s *asynqPeer) memory(ctx context.Context) (int, error) { return usedMemory(ctx, s.store) }

func (s *asynqPeer) clear(ctx context.Context) error { return flush(ctx, s.store) }

func (s *asynqPeer) close() {
	_ = s.client.Close()
	_ = s.store.Close()
}
