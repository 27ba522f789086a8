package main

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// riverPeer is River on PostgreSQL: as it is without any option, or tuned as its
// own benchmark is.
type riverPeer struct {
	url    string
	tuned  bool
	pool   *pgxpool.Pool
	client *river.Client[pgx.Tx]
}

type benchArgs struct{ payload }

func (benchArgs) Kind() string { return "bench" }

type benchWorker struct {
	river.WorkerDefaults[benchArgs]
	handle func(payload)
}

func (w *benchWorker) Work(_ context.Context, job *river.Job[benchArgs]) error {
	w.handle(job.Args.payload)
	return nil
}

func newRiver(ctx context.Context, url string, tuned bool) (*riverPeer, error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, err
	}
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return nil, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	return &riverPeer{url: url, tuned: tuned, pool: pool, client: client}, err
}

func (s *riverPeer) name() string { return called("river", s.tuned) }

// riverQueue: a program that uses one queue uses the one that needs no option.
func riverQueue(queue string) string {
	if queue == "bench" {
		return river.QueueDefault
	}
	return queue
}

func (s *riverPeer) enqueue(ctx context.Context, load load) (added, error) {
	filler := text(load.Bytes)
	return load.spread(func(first, jobs, queue int) error {
		options := &river.InsertOpts{Queue: riverQueue(queueName(queue, load.Queues))}
		if load.Bulk == 1 {
			_, err := s.client.Insert(ctx, benchArgs{payload{ID: first, Text: filler}}, options)
			return err
		}
		many := make([]river.InsertManyParams, jobs)
		for n := range many {
			many[n] = river.InsertManyParams{Args: benchArgs{payload{ID: first + n, Text: filler}}, InsertOpts: options}
		}
		_, err := s.client.InsertMany(ctx, many)
		return err
	})
}

func (s *riverPeer) finished(ctx context.Context) (n int, err error) {
	err = s.pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state = 'completed'").Scan(&n)
	return n, err
}

func (s *riverPeer) worker(spec workerSpec) ([]string, error) {
	spec.System, spec.Tuned, spec.Addr, spec.File = "river", s.tuned, s.url, ""
	return ownWorker(spec)
}

func (s *riverPeer) serve(ctx context.Context, spec workerSpec, handle func(payload)) error {
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &benchWorker{handle: handle}); err != nil {
		return err
	}
	config := &river.Config{
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), Workers: workers, Queues: map[string]river.QueueConfig{},
	}
	for _, queue := range queueNames(spec.Queues) {
		config.Queues[riverQueue(queue)] = river.QueueConfig{MaxWorkers: spec.Slots / max(spec.Queues, 1)}
	}
	if s.tuned { // as "river bench" sets it
		config.FetchCooldown, config.FetchPollInterval = 2*time.Millisecond, 20*time.Millisecond
	}
	client, err := river.NewClient(riverpgxv5.New(s.pool), config)
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return client.Stop(stopping)
}

func (s *riverPeer) add(ctx context.Context, p payload, delay time.Duration) error {
	var options *river.InsertOpts
	if delay > 0 {
		options = &river.InsertOpts{ScheduledAt: time.Now().Add(delay)}
	}
	_, err := s.client.Insert(ctx, benchArgs{p}, options)
	return err
}

func (s *riverPeer) late(ctx context.Context, plan plan) ([]time.Duration, error) {
	return late(ctx, s, plan)
}

func (s *riverPeer) valkey() *redis.Client { return nil }

func (s *riverPeer) memory(ctx context.Context) (n int, err error) {
	err = s.pool.QueryRow(ctx, "SELECT pg_total_relation_size('river_job')").Scan(&n)
	return n, err
}

func (s *riverPeer) clear(ctx context.Context) error {
	_, err := s.pool.Exec(ctx, "TRUNCATE river_job")
	return err
}

func (s *riverPeer) close() { s.pool.Close() }
