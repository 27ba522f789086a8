package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// raw is the limit: the writes that this project's scripts make, of values as long
// as theirs, sent as plain pipelines by a program that loses jobs when it dies.
type raw struct {
	addr  string
	store *redis.Client
	added int // the jobs' ids are numbers
}

// rawToken is as long as what holds a job.
const rawToken = "544f15a0-4485-488b-99e4-42b8f622df3c:1234"

// rawID is an id as long as this project's.
func rawID(n int) string { return fmt.Sprintf("01a22bbd-24b7-7320-822d-%012d", n) }

func newRaw(addr string) *raw {
	return &raw{addr: addr, store: redis.NewClient(&redis.Options{Addr: addr})}
}

func (s *raw) name() string { return "limit" }

func (s *raw) enqueue(ctx context.Context, load load) (added, error) {
	filler := text(load.Bytes)
	from := s.added
	did, err := load.spread(func(first, jobs, _ int) error {
		first += from
		pipe := s.store.Pipeline()
		ids := make([]any, jobs)
		for n := range jobs {
			data, err := json.Marshal(payload{ID: first + n, Text: filler})
			if err != nil {
				return err
			}
			id := rawID(first + n)
			ids[n] = id
			pipe.HSet(ctx, "raw:{bench}:"+id, "name", "bench", "data", data, "timestamp", time.Now().UnixMilli())
		}
		pipe.LPush(ctx, "raw:{bench}:wait", ids...)
		pipe.ZAdd(ctx, "raw:{bench}:marker", redis.Z{Member: "0"})
		_, err := pipe.Exec(ctx)
		return err
	})
	s.added += did.jobs
	return did, err
}

func (s *raw) finished(ctx context.Context) (int, error) {
	n, err := s.store.ZCard(ctx, "raw:{bench}:completed").Result()
	return int(n), err
}

func (s *raw) worker(spec workerSpec) ([]string, error) {
	spec.System, spec.Addr, spec.File = "limit", s.addr, ""
	return ownWorker(spec)
}

func (s *raw) serve(ctx context.Context, spec workerSpec, handle func(payload)) error {
	var done []string
	for ctx.Err() == nil {
		// What ended is written with the next take, as this project does.
		pipe := s.store.Pipeline()
		if len(done) > 0 {
			var keys []string
			var ended []redis.Z
			var members []any
			for _, id := range done {
				key := "raw:{bench}:" + id
				pipe.HSet(ctx, key, "finishedOn", time.Now().UnixMilli(), "atm", 1, "lst", rawToken+" completed", "returnvalue", "null")
				pipe.XAdd(ctx, &redis.XAddArgs{Stream: "raw:{bench}:events", MaxLen: 10000, Approx: true, Values: []any{"event", "completed", "jobId", id, "name", "bench", "attempt", 1}})
				keys = append(keys, key+":lock")
				ended = append(ended, redis.Z{Score: float64(time.Now().UnixMilli()), Member: id})
				members = append(members, id)
			}
			pipe.ZRem(ctx, "raw:{bench}:active", members...)
			pipe.Del(ctx, keys...)
			pipe.ZAdd(ctx, "raw:{bench}:completed", ended...)
		}
		taken := pipe.RPopCount(ctx, "raw:{bench}:wait", spec.Slots)
		_, err := pipe.Exec(ctx)
		if err != nil && err != redis.Nil {
			return err
		}
		done = taken.Val()
		if len(done) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		pipe = s.store.Pipeline()
		var locks []any
		var active []redis.Z
		bodies := make([]*redis.MapStringStringCmd, len(done))
		for n, id := range done {
			key := "raw:{bench}:" + id
			locks = append(locks, key+":lock", rawToken)
			active = append(active, redis.Z{Score: float64(time.Now().UnixMilli() + 15000), Member: id})
			bodies[n] = pipe.HGetAll(ctx, key)
			pipe.HSet(ctx, key, "ats", 1, "processedOn", time.Now().UnixMilli(), "pb", "host:12345")
		}
		pipe.ZAdd(ctx, "raw:{bench}:active", active...)
		pipe.MSet(ctx, locks...)
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
		for _, body := range bodies {
			var p payload
			if err := json.Unmarshal([]byte(body.Val()["data"]), &p); err != nil {
				return err
			}
			handle(p)
		}
	}
	return nil
}

func (s *raw) late(context.Context, plan) ([]time.Duration, error) {
	return nil, fmt.Errorf("the limit has no wake-up: %w", errNotMeasured)
}

func (s *raw) valkey() *redis.Client { return s.store }

func (s *raw) memory(ctx context.Context) (int, error) { return usedMemory(ctx, s.store) }

func (s *raw) clear(ctx context.Context) error {
	s.added = 0
	return flush(ctx, s.store)
}

func (s *raw) close() { _ = s.store.Close() }
