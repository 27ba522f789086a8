package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// errNotMeasured says that a system has nothing to be measured for a workload.
var errNotMeasured = errors.New("not measured")

// A system is a job queue that is measured: what puts jobs into it, and what sees
// from outside how many it has finished for good.
type system interface {
	name() string
	// enqueue adds jobs until there are enough of them or the time is over.
	enqueue(ctx context.Context, load load) (added, error)
	// finished returns how many jobs have been finished durably.
	finished(ctx context.Context) (int, error)
	// worker returns the command line of a worker process.
	worker(spec workerSpec) ([]string, error)
	// late returns how late the handlers of jobs began.
	late(ctx context.Context, plan plan) ([]time.Duration, error)
	// valkey returns what looks at its server, which counts commands; nil if that
	// is another one.
	valkey() *redis.Client
	// memory returns how many bytes its server holds for all jobs.
	memory(ctx context.Context) (int, error)
	// clear deletes all jobs.
	clear(ctx context.Context) error
	close()
}

// base is a system's name without what tells its configurations apart.
func base(name string) string { return strings.TrimSuffix(name, " tuned") }

func called(base string, tuned bool) string {
	if tuned {
		return base + " tuned"
	}
	return base
}

// fastest is a number of jobs a second that a system with so many slots surely
// does not exceed, which says how many have to wait for a measurement.
func fastest(name string, slots int) int {
	limit := map[string]int{"asynq": 20_000, "bullmq": 20_000, "river": slots * 15, "river tuned": 30_000, "limit": 80_000}[name]
	if limit == 0 {
		limit = 50_000
	}
	if slots == 1 {
		limit = min(limit, 20_000)
	}
	return limit
}

// load is what producers do.
type load struct {
	Jobs      int           `json:"jobs"`
	Producers int           `json:"producers"`
	Bulk      int           `json:"bulk"`   // jobs of a call
	Bytes     int           `json:"bytes"`  // of a payload, about
	Queues    int           `json:"queues"` // among which the calls take turns
	AtMost    time.Duration `json:"atMost"` // 0 for as long as it takes
}

// added is what producers did.
type added struct {
	jobs int
	took time.Duration
	cpu  float64 // µs of the program that enqueued
}

// payload is what every system's jobs carry.
type payload struct {
	ID int `json:"id"`
	// Sent is the Unix time in ns from which it counts how late the handler is.
	Sent int64  `json:"sent"`
	Text string `json:"text"`
}

// text fills a payload up to a number of bytes.
func text(bytes int) string {
	all := make([]byte, max(bytes-40, 1))
	for i := range all {
		all[i] = 'a' + byte(i%26)
	}
	return string(all)
}

// queueName returns the name of one of so many queues.
func queueName(n, queues int) string {
	if queues <= 1 {
		return "bench"
	}
	return fmt.Sprintf("bench%d", n%queues)
}

// queueNames returns the names of them all.
func queueNames(queues int) (names []string) {
	for n := range max(queues, 1) {
		names = append(names, queueName(n, queues))
	}
	return names
}

// spread has producers share the calls of a load.
func (l load) spread(call func(first, jobs, queue int) error) (added, error) {
	type result struct {
		jobs    int
		failure error
	}
	calls := make(chan int)
	results := make(chan result, l.Producers)
	before, begin := ownCPU(), time.Now()
	for range l.Producers {
		go func() {
			var r result
			for first := range calls {
				if r.failure == nil {
					jobs := min(l.Bulk, l.Jobs-first)
					if r.failure = call(first, jobs, first/l.Bulk%max(l.Queues, 1)); r.failure == nil {
						r.jobs += jobs
					}
				}
			}
			results <- r
		}()
	}
	for first := 0; first < l.Jobs; first += l.Bulk {
		if l.AtMost > 0 && time.Since(begin) > l.AtMost {
			break
		}
		calls <- first
	}
	close(calls)
	var all added
	var failure error
	for range l.Producers {
		r := <-results
		all.jobs += r.jobs
		if r.failure != nil {
			failure = r.failure
		}
	}
	all.took, all.cpu = time.Since(begin), ownCPU()-before
	return all, failure
}
