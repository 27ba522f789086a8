package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// asynqPeer is asynq, as it is without any option.
type asynqPeer struct {
	addr   string
	client *asynq.Client
	store  *redis.Client
}

func newAsynq(addr string) *asynqPeer {
	return &asynqPeer{addr: addr, client: asynq.NewClient(asynq.RedisClientOpt{Addr: addr}), store: redis.NewClient(&redis.Options{Addr: addr})}
}

func (s *asynqPeer) name() string { return "asynq" }

func (s *asynqPeer) add(p payload) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = s.client.Enqueue(asynq.NewTask("bench", data))
	return err
}

// enqueue: asynq has no call for many jobs at once, so bulk is as many producers
// as a bulk has jobs, up to 50.
func (s *asynqPeer) enqueue(_ context.Context, load load) (time.Duration, error) {
	filler := text(load.Bytes)
	if load.Bulk > 1 {
		load.Producers, load.Bulk = min(load.Bulk, 50), 1
	}
	return load.spread(func(first, _ int) error { return s.add(payload{ID: first, Text: filler}) })
}

func (s *asynqPeer) finished(ctx context.Context) (int, error) {
	n, err := s.store.Get(ctx, "asynq:{default}:processed").Int()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return n, err
}

func (s *asynqPeer) worker(concurrency int) ([]string, error) {
	return ownWorker("asynq", s.addr, concurrency)
}

type silent struct{}

func (silent) Debug(...any) {}
func (silent) Info(...any)  {}
func (silent) Warn(...any)  {}
func (silent) Error(args ...any) {
	log.New(io.Discard, "", 0).Print(args...)
}
func (silent) Fatal(args ...any) { log.Fatal(args...) }

func (s *asynqPeer) serve(ctx context.Context, concurrency int, handle func(payload)) error {
	server := asynq.NewServer(asynq.RedisClientOpt{Addr: s.addr}, asynq.Config{Concurrency: concurrency, Logger: silent{}})
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

func (s *asynqPeer) idle(ctx context.Context, jobs int) ([]time.Duration, error) {
	return idleOf(ctx, jobs, s.serve, s.add)
}

func (s *asynqPeer) clear(ctx context.Context) error { return s.store.FlushAll(ctx).Err() }

func (s *asynqPeer) close() {
	_ = s.client.Close()
	_ = s.store.Close()
}
