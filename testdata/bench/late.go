package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// idleGap is how long a worker has nothing to do before the next job comes: longer
// than River rests between two fetches.
const idleGap = 110 * time.Millisecond

// plan says which jobs are looked at, and how late their handlers begin.
type plan struct {
	// Kind is idle: one job after the other, each on a worker that has nothing
	// else to do; steady: so many a second; or delayed: all at once, the first due
	// in half a second and then so many a second. Lateness counts from the call
	// that enqueues, and of delayed jobs from when they are due.
	Kind      string
	Jobs      int
	Slots     int
	PerSecond int
}

// due is when job n of a plan that began then is to be sent, or due.
func (p plan) due(begin time.Time, n int) time.Time {
	return begin.Add(time.Duration(n) * time.Second / time.Duration(p.PerSecond))
}

// server is a system whose worker and producers can run in this process.
type server interface {
	// serve handles jobs until the context ends.
	serve(ctx context.Context, spec workerSpec, handle func(payload)) error
	// add adds one job to the queue, to be run after a delay.
	add(ctx context.Context, p payload, delay time.Duration) error
}

// late carries out a plan in this process.
func late(ctx context.Context, s server, plan plan) ([]time.Duration, error) {
	type arrival struct {
		id   int
		late time.Duration
	}
	arrived := make(chan arrival, plan.Jobs+1)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() {
		ended <- s.serve(serving, workerSpec{Slots: plan.Slots}, func(p payload) {
			arrived <- arrival{p.ID, time.Since(time.Unix(0, p.Sent))}
		})
	}()
	all := make([]time.Duration, plan.Jobs)
	count := 0
	next := func() error {
		select {
		case a := <-arrived:
			if a.id >= 0 {
				all[a.id] = a.late
				count++
			}
			return nil
		case err := <-ended:
			return fmt.Errorf("the worker ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("%d of %d jobs reached a handler: %w", count, plan.Jobs, ctx.Err())
		}
	}
	send := func(id int) error {
		return s.add(ctx, payload{ID: id, Sent: time.Now().UnixNano(), Text: text(100)}, 0)
	}
	// The first finds the worker starting, and does not count.
	if err := send(-1); err != nil {
		return nil, err
	}
	if err := next(); err != nil {
		return nil, err
	}
	begin := time.Now()
	switch plan.Kind {
	case "idle":
		for n := range plan.Jobs {
			time.Sleep(idleGap)
			if err := send(n); err != nil {
				return nil, err
			}
			if err := next(); err != nil {
				return nil, err
			}
		}
	case "steady":
		if err := plan.steadily(begin, send); err != nil {
			return nil, err
		}
	case "delayed":
		begin = begin.Add(500 * time.Millisecond)
		for n := range plan.Jobs {
			due := plan.due(begin, n)
			if err := s.add(ctx, payload{ID: n, Sent: due.UnixNano(), Text: text(100)}, time.Until(due)); err != nil {
				return nil, err
			}
		}
	default:
		return nil, fmt.Errorf("no kind %q of plan", plan.Kind)
	}
	for count < plan.Jobs {
		if err := next(); err != nil {
			return nil, err
		}
	}
	stop()
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("the worker ended: %w", err)
	}
	return all, nil
}

// steadily sends each job at its time, by up to 50 producers.
func (p plan) steadily(begin time.Time, send func(int) error) error {
	const producers = 50
	jobs := make(chan int)
	failures := make(chan error, producers)
	for range producers {
		go func() {
			var failure error
			for n := range jobs {
				if failure == nil {
					failure = send(n)
				}
			}
			failures <- failure
		}()
	}
	for n := range p.Jobs {
		time.Sleep(time.Until(p.due(begin, n)))
		jobs <- n
	}
	close(jobs)
	var all []error
	for range producers {
		all = append(all, <-failures)
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	took, wanted := time.Since(begin), p.due(begin, p.Jobs).Sub(begin)
	if took > wanted*11/10 {
		return fmt.Errorf("%d jobs took %v to be enqueued instead of %v", p.Jobs, took, wanted)
	}
	return nil
}
