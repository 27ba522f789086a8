package main

import (
	"context"
	"fmt"
	"time"
)

// A system is a job queue that is measured: what puts jobs into it, and what sees
// from outside how many it has finished for good.
type system interface {
	name() string
	// enqueue adds jobs by so many producers at once, one call each for bulk 1,
	// and returns how long that took.
	enqueue(ctx context.Context, load load) (time.Duration, error)
	// finished returns how many jobs have been finished durably.
	finished(ctx context.Context) (int, error)
	// worker returns the command line of a worker process.
	worker(concurrency int) ([]string, error)
	// idle returns how long each of so many jobs took from the call that
	// enqueued it to its handler, on a worker that had nothing else to do.
	idle(ctx context.Context, jobs int) ([]time.Duration, error)
	// clear deletes all jobs.
	clear(ctx context.Context) error
	close()
}

// load is what producers do.
type load struct {
	Jobs      int `json:"jobs"`
	Producers int `json:"producers"`
	Bulk      int `json:"bulk"`
	Bytes     int `json:"bytes"` // of a payload
}

func (l load) String() string {
	return fmt.Sprintf("%d jobs of %d bytes by %d producers, %d a call", l.Jobs, l.Bytes, l.Producers, l.Bulk)
}

// payload is what every system's jobs carry.
type payload struct {
	ID   int    `json:"id"`
	Sent int64  `json:"sent"` // Unix time in ns, of the enqueue
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

// spread has producers share the calls of a load, and returns how long all took.
func (l load) spread(call func(first, jobs int) error) (time.Duration, error) {
	calls := make(chan int)
	failures := make(chan error, l.Producers)
	begin := time.Now()
	for range l.Producers {
		go func() {
			var failure error
			for first := range calls {
				if failure == nil {
					failure = call(first, min(l.Bulk, l.Jobs-first))
				}
			}
			failures <- failure
		}()
	}
	for first := 0; first < l.Jobs; first += l.Bulk {
		calls <- first
	}
	close(calls)
	var failure error
	for range l.Producers {
		if err := <-failures; err != nil {
			failure = err
		}
	}
	return time.Since(begin), failure
}

// latencies collects how long jobs took to their handlers.
func latencies(ctx context.Context, jobs int, arrived <-chan time.Duration, enqueue func(payload) error) ([]time.Duration, error) {
	var all []time.Duration
	for n := range jobs {
		select {
		case <-time.After(15 * time.Millisecond): // until it is idle again
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if err := enqueue(payload{ID: n, Sent: time.Now().UnixNano(), Text: text(100)}); err != nil {
			return nil, err
		}
		select {
		case took := <-arrived:
			all = append(all, took)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return all, nil
}
