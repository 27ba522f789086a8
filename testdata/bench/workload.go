package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// workload is one thing that every system is measured at.
type workload struct {
	name, unit string
	// less says that a smaller number is better.
	less bool
	// own says that only this project is measured, and once that it is in the
	// first round alone.
	own, once bool
	measure   func(ctx context.Context, s system) (float64, error)
}

func workloads(set settings) []workload {
	rate := func(load load) func(context.Context, system) (float64, error) {
		return func(ctx context.Context, s system) (float64, error) {
			took, err := s.enqueue(ctx, load)
			return float64(load.Jobs) / took.Seconds(), err
		}
	}
	process := func(load load, processes, concurrency int) func(context.Context, system) (float64, error) {
		return func(ctx context.Context, s system) (float64, error) {
			return processed(ctx, s, load, processes, concurrency, set.atMost)
		}
	}
	bulk := func(jobs, bytes int) load { return load{Jobs: jobs, Producers: 1, Bulk: min(jobs, 1000), Bytes: bytes} }
	const many = 40_000
	all := []workload{
		{name: "enqueue, one after the other", unit: "jobs/s", measure: rate(load{Jobs: 3000, Producers: 1, Bulk: 1, Bytes: 100})},
		{name: "enqueue, 50 at once", unit: "jobs/s", measure: rate(load{Jobs: 20_000, Producers: 50, Bulk: 1, Bytes: 100})},
		{name: "enqueue, in bulk of 1000", unit: "jobs/s", measure: rate(bulk(50_000, 100))},
		{name: "enqueue, in bulk, 10 KiB each", unit: "jobs/s", measure: rate(bulk(2000, 10<<10))},
	}
	for _, slots := range []int{1, 10, 100, 1000} {
		all = append(all, workload{name: fmt.Sprintf("process, %d at once", slots), unit: "jobs/s", measure: process(bulk(many, 100), 1, slots)})
	}
	return append(all,
		workload{name: "process, 100 at once, 10 KiB each", unit: "jobs/s", measure: process(bulk(4000, 10<<10), 1, 100)},
		workload{name: "process, 96 at once in 1 process", unit: "jobs/s", measure: process(bulk(many, 100), 1, 96)},
		workload{name: "process, 12 at once in each of 8 processes", unit: "jobs/s", measure: process(bulk(many, 100), 8, 12)},
		workload{name: "idle, from enqueue to handler, p50", unit: "ms", less: true, once: true, measure: idle(0.5)},
		workload{name: "idle, from enqueue to handler, p99", unit: "ms", less: true, once: true, measure: idle(0.99)},
		workload{name: "memory of a waiting job", unit: "bytes", less: true, once: true, measure: memory},
		workload{name: "process, 100 at once, 1,000 waiting", unit: "jobs/s", own: true, measure: refilled(1000, set.atMost)},
		workload{name: "process, 100 at once, 1,000,000 waiting", unit: "jobs/s", own: true, once: true, measure: process(bulk(1_000_000, 100), 1, 100)},
	)
}

// processed fills the queue, starts workers, and returns how many jobs a second
// they finish, from the first that is seen finished to the last, or until time is
// up.
func processed(ctx context.Context, s system, load load, processes, concurrency int, atMost time.Duration) (float64, error) {
	if _, err := s.enqueue(ctx, load); err != nil {
		return 0, err
	}
	stop, err := start(ctx, s, processes, concurrency)
	if err != nil {
		return 0, err
	}
	defer stop()
	return watch(ctx, s, load.Jobs, atMost)
}

// start starts worker processes, which stop ends and waits for.
func start(ctx context.Context, s system, processes, concurrency int) (stop func(), err error) {
	var ends []func()
	stop = func() {
		for _, end := range ends {
			end()
		}
	}
	for range processes {
		line, err := s.worker(concurrency)
		if err != nil {
			return stop, err
		}
		cmd := exec.CommandContext(ctx, line[0], line[1:]...)
		cmd.Stderr = os.Stderr
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		in, err := cmd.StdinPipe()
		if err != nil {
			return stop, err
		}
		if err := cmd.Start(); err != nil {
			return stop, err
		}
		ends = append(ends, func() {
			_ = in.Close()
			gone := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			gone.Stop()
		})
	}
	return stop, nil
}

// watch looks at how many jobs have been finished, and returns the rate.
func watch(ctx context.Context, s system, jobs int, atMost time.Duration) (float64, error) {
	var first, last int
	var end time.Time
	begin := time.Now()
	for patience := time.Now().Add(30 * time.Second); ; time.Sleep(4 * time.Millisecond) {
		n, err := s.finished(ctx)
		if err != nil {
			return 0, err
		}
		now := time.Now()
		if n > 0 && first == 0 && n < jobs/2 {
			first, begin = n, now
		}
		if n > last {
			last, end = n, now
		}
		switch {
		case last == jobs, last > first && now.Sub(begin) > atMost:
			return float64(last-first) / end.Sub(begin).Seconds(), nil
		case now.After(patience):
			return 0, fmt.Errorf("%d of %d jobs were finished in 30 s", last, jobs)
		}
	}
}

// refilled measures processing while about so many jobs wait: a producer adds as
// many as are finished.
func refilled(waiting int, atMost time.Duration) func(context.Context, system) (float64, error) {
	return func(ctx context.Context, s system) (float64, error) {
		added := 2 * waiting
		if _, err := s.enqueue(ctx, load{Jobs: added, Producers: 1, Bulk: 1000, Bytes: 100}); err != nil {
			return 0, err
		}
		stop, err := start(ctx, s, 1, 100)
		if err != nil {
			return 0, err
		}
		defer stop()
		var begin time.Time
		var first int
		for {
			n, err := s.finished(ctx)
			if err != nil {
				return 0, err
			}
			if n > 0 && begin.IsZero() {
				begin, first = time.Now(), n
			}
			if !begin.IsZero() && time.Since(begin) > atMost {
				return float64(n-first) / time.Since(begin).Seconds(), nil
			}
			if added-n < waiting {
				if _, err := s.enqueue(ctx, load{Jobs: waiting, Producers: 1, Bulk: waiting, Bytes: 100}); err != nil {
					return 0, err
				}
				added += waiting
			}
			time.Sleep(time.Millisecond)
		}
	}
}

func idle(quantile float64) func(context.Context, system) (float64, error) {
	return func(ctx context.Context, s system) (float64, error) {
		jobs := 300
		if s.name() == "asynq" {
			jobs = 40 // each takes it about a second
		}
		all, err := s.idle(ctx, jobs)
		if err != nil {
			return 0, err
		}
		slices.Sort(all)
		return float64(all[int(quantile*float64(len(all)-1)+0.5)].Microseconds()) / 1000, nil
	}
}

// memory returns what a waiting job takes in Valkey.
func memory(ctx context.Context, s system) (float64, error) {
	var store *redis.Client
	switch s := s.(type) {
	case *echoMQ:
		store = s.store
	case *asynqPeer:
		store = s.store
	case *bullMQ:
		store = s.store
	default:
		return 0, errNotMeasured
	}
	const jobs = 20_000
	used := func() (n int, err error) {
		info, err := store.InfoMap(ctx, "memory").Result()
		if err == nil {
			_, err = fmt.Sscan(info["Memory"]["used_memory_dataset"], &n)
		}
		return n, err
	}
	before, err := used()
	if err != nil {
		return 0, err
	}
	if _, err := s.enqueue(ctx, load{Jobs: jobs, Producers: 1, Bulk: 1000, Bytes: 100}); err != nil {
		return 0, err
	}
	after, err := used()
	return float64(after-before) / jobs, err
}
