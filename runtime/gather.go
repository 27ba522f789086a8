package echomq

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultBatchSize is how many jobs a batch handler gets at most.
	DefaultBatchSize = 100
	// DefaultBatchWait is how long the first job of a batch waits for others.
	DefaultBatchWait = time.Second

	maxBatchSize = 10_000
	maxBatchWait = time.Hour
)

// BatchSpec says how the jobs of a type are gathered for a batch handler. Zero
// values stand for the defaults.
type BatchSpec struct {
	// Size is how many jobs the handler gets at most; default 100.
	Size int
	// Wait is how long the first job of a batch waits for others; default 1 s.
	Wait time.Duration
}

// over returns batch with the fields that it leaves at zero taken from base.
func (b BatchSpec) over(base BatchSpec) BatchSpec {
	b.Size = orDefault(b.Size, base.Size)
	b.Wait = orDefault(b.Wait, base.Wait)
	return b
}

func (b BatchSpec) check() error {
	switch {
	case b.Size < 0 || b.Size > maxBatchSize:
		return optionError("batch size %d: it must be from 1 to %d", b.Size, maxBatchSize)
	case b.Wait < 0 || belowMillisecond(b.Wait) || b.Wait > maxBatchWait:
		return optionError("batch wait %v: it must be from 1ms to %v", b.Wait, maxBatchWait)
	}
	return nil
}

// Batches says how the jobs of a type are gathered for its batch handler. Zero
// fields leave the directive's values as they are.
func Batches[T, R any](job JobType[T, R], batch BatchSpec) QueueWorkerOption {
	return func(c *queueConfig) {
		if c.batches == nil {
			c.batches = make(map[string]BatchSpec)
		}
		c.batches[job.spec.Name] = batch.over(c.batches[job.spec.Name])
	}
}

// JobErrors is the error of a batch handler whose jobs did not all end alike: one
// error for each job, in order, and nil for a job that succeeded. Each decides
// what becomes of its job as the error of a single job's handler does. An empty
// one says that all succeeded; with any other number than there are jobs, all
// failed, and are tried again.
type JobErrors []error

func (e JobErrors) Error() string {
	failed := 0
	for _, err := range e {
		if err != nil {
			failed++
		}
	}
	return fmt.Sprintf("%d of %d jobs of the batch failed", failed, len(e))
}

// Unwrap returns the errors of the jobs that failed.
func (e JobErrors) Unwrap() []error {
	var failed []error
	for _, err := range e {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// RouteToBatch returns the route of a job type to a handler that takes many jobs
// at once: up to the size of the job's [BatchSpec], or those that came within its
// wait of the first. Each job takes a slot of the worker while it waits and while
// the handler runs, and the wait counts towards its timeout.
//
// The handler returns one result for each job, in order, and a nil error; an
// error that holds for all jobs; or [JobErrors]. Its context has the values of the
// first job's, and ends when those of all jobs have ended: at the timeout, when
// the leases are lost, when the jobs are cancelled, and when the worker stops. A
// handler of a job without a result goes through [NoResults].
func RouteToBatch[T, R any](job JobType[T, R], handle func(context.Context, []*Job[T]) ([]R, error)) Route {
	route := RouteTo(job, func(context.Context, *Job[T]) (R, error) {
		panic("echomq: a batch handler was called for a single job")
	})
	route.batch = job.spec.Batch
	if handle == nil {
		route.err = errNilHandler
	}
	route.gather = func(batch BatchSpec, draining <-chan struct{}) func(context.Context, Envelope) ([]byte, error) {
		g := &gatherer[T, R]{
			size: orDefault(batch.Size, DefaultBatchSize), wait: orDefault(batch.Wait, DefaultBatchWait),
			handle: handle, draining: draining,
		}
		return handling(job, g.join)
	}
	return route
}

// NoResults turns a batch handler that returns only an error into one for
// [RouteToBatch].
func NoResults[T any](handle func(context.Context, []*Job[T]) error) func(context.Context, []*Job[T]) ([]None, error) {
	if handle == nil {
		return nil
	}
	return func(ctx context.Context, jobs []*Job[T]) ([]None, error) {
		return make([]None, len(jobs)), handle(ctx, jobs)
	}
}

// gatherer forms batches of the jobs of one type that one runner holds. Each job
// is an attempt of its own, which joins a batch and waits for its outcome: so
// leases, timeouts, slots and settlement know nothing of batches.
type gatherer[T, R any] struct {
	size     int
	wait     time.Duration
	handle   func(context.Context, []*Job[T]) ([]R, error)
	draining <-chan struct{} // closed when the worker is to end: nothing more comes

	mu   sync.Mutex
	open *gathering[T, R] // the one that can be joined, if there is one
}

// gathering is a batch. Its jobs are the gatherer's to guard until it is closed,
// and then nobody changes them.
type gathering[T, R any] struct {
	jobs    []*Job[T] // nil for one that left again
	ctxs    []context.Context
	present int           // jobs that did not leave
	full    chan struct{} // closed when it has its size, or nobody
	closed  bool          // nobody can join or leave; the handler is called
	ended   chan struct{} // closed when the outcomes are there
	results []R
	errs    []error
}

// join runs one job as a part of a batch.
func (g *gatherer[T, R]) join(ctx context.Context, job *Job[T]) (R, error) {
	batch, place := g.enter(ctx, job)
	select {
	case <-batch.ended:
	case <-ctx.Done():
		if g.leave(batch, place) {
			var none R
			return none, context.Cause(ctx)
		}
		<-batch.ended // its slot is not free while the handler runs
	}
	return batch.results[place], batch.errs[place]
}

func (g *gatherer[T, R]) enter(ctx context.Context, job *Job[T]) (*gathering[T, R], int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	batch := g.open
	if batch == nil {
		batch = &gathering[T, R]{full: make(chan struct{}), ended: make(chan struct{})}
		g.open = batch
		go g.run(batch)
	}
	batch.jobs, batch.ctxs = append(batch.jobs, job), append(batch.ctxs, ctx)
	if batch.present++; batch.present == g.size {
		g.seal(batch)
	}
	return batch, len(batch.jobs) - 1
}

// seal has nobody join a batch any more, and ends its wait. The caller holds the
// lock.
func (g *gatherer[T, R]) seal(batch *gathering[T, R]) {
	if g.open == batch {
		g.open = nil
		close(batch.full)
	}
}

// leave takes a job out of a batch whose handler was not called yet.
func (g *gatherer[T, R]) leave(batch *gathering[T, R], place int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if batch.closed {
		return false
	}
	batch.jobs[place] = nil
	if batch.present--; batch.present == 0 {
		g.seal(batch) // whoever comes next waits from then on
	}
	return true
}

// run waits until a batch is complete and calls the handler.
func (g *gatherer[T, R]) run(batch *gathering[T, R]) {
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case <-batch.full:
	case <-timer.C:
	case <-g.draining:
	}
	g.mu.Lock()
	if g.open == batch {
		g.open = nil
	}
	batch.closed = true
	g.mu.Unlock()

	var jobs []*Job[T]
	var ctxs []context.Context
	var places []int
	for place, job := range batch.jobs {
		if job != nil {
			jobs, ctxs, places = append(jobs, job), append(ctxs, batch.ctxs[place]), append(places, place)
		}
	}
	batch.results, batch.errs = make([]R, len(batch.jobs)), make([]error, len(batch.jobs))
	defer close(batch.ended)
	if len(jobs) == 0 {
		return
	}
	ctx, cancel := shared(ctxs)
	defer cancel()
	results, err := g.call(ctx, jobs)
	for i, place := range places {
		batch.results[place], batch.errs[place] = outcome(results, err, i, len(jobs))
	}
}

// call calls the handler. What it panics with is the error of all its jobs.
func (g *gatherer[T, R]) call(ctx context.Context, jobs []*Job[T]) (results []R, err error) {
	returned := make(chan struct{})
	// In a goroutine of its own, so that one which calls runtime.Goexit ends no
	// other.
	go func() {
		defer close(returned)
		err = errors.New("handler called runtime.Goexit")
		defer func() {
			if reason := recover(); reason != nil {
				err = &panicError{reason: reason, stack: debug.Stack()}
			}
		}()
		results, err = g.handle(ctx, jobs)
	}()
	<-returned
	return results, err
}

// outcome returns what a handler's results and error say about the i-th of its
// count jobs.
func outcome[R any](results []R, err error, i, count int) (R, error) {
	var none R
	var each JobErrors
	if errors.As(err, &each) && len(each) == 0 {
		err = nil // none has failed; a nil JobErrors is no nil error
	}
	switch {
	case len(each) > 0 && len(each) != count:
		// Its text alone: what one of its errors decides is not for all jobs.
		return none, fmt.Errorf("batch handler returned %d errors for %d jobs: %v", len(each), count, err)
	case len(each) > 0 && each[i] != nil:
		return none, each[i]
	case len(each) == 0 && err != nil:
		return none, err
	case len(results) != count:
		// The handler's effect has happened, so it must not run again.
		return none, Fail(fmt.Errorf("batch handler returned %d results for %d jobs", len(results), count))
	}
	return results[i], nil
}

// shared returns a context that ends when all of ctxs have, with the cause of the
// last, and has the values of the first.
func shared(ctxs []context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctxs[0]))
	var left atomic.Int64
	left.Store(int64(len(ctxs)))
	stops := make([]func() bool, len(ctxs))
	for i, each := range ctxs {
		stops[i] = context.AfterFunc(each, func() {
			if left.Add(-1) == 0 {
				cancel(context.Cause(each))
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}
