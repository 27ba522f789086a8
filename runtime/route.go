package echomq

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Route leads the jobs of one type to their handler. [RouteTo] makes one.
type Route struct {
	name    string
	spec    JobSpec // of a job that is not retired
	version int
	codecs  []string // that it knows beside JSON
	err     error    // of the job type
	retired bool
	result  bool
	run     func(ctx context.Context, envelope Envelope) ([]byte, error)
	// gather, where set, makes run for one worker, whose jobs it gathers.
	gather func(batch BatchSpec, draining <-chan struct{}) func(context.Context, Envelope) ([]byte, error)
	batch  BatchSpec
	// wait, where set, decides how long the job waits before it is tried again; the
	// worker sets it.
	wait func(envelope Envelope, err error, backoff time.Duration) (time.Duration, error)
	// through is run with everything around it; the worker sets it.
	through HandlerFunc
}

// knows reports whether the route reads payloads in an encoding, empty for JSON.
func (r Route) knows(encoding string) bool {
	return encoding == "" || slices.Contains(r.codecs, encoding)
}

// sealed returns what runs the handler with the payload opened, and its result
// sealed as the payload was.
func (r Route) sealed(transforms transforms, queue string) HandlerFunc {
	if r.retired {
		return func(ctx context.Context, job *Envelope) ([]byte, error) { return r.run(ctx, *job) }
	}
	return func(ctx context.Context, job *Envelope) ([]byte, error) {
		data, err := transforms.open(queue, job.Name, job.Codec, job.Data)
		if err != nil {
			return nil, Fail(fmt.Errorf("payload cannot be opened: %w", err))
		}
		opened := *job
		opened.Data = data
		result, err := r.run(ctx, opened)
		if err != nil || !r.result {
			return result, err
		}
		result, err = transforms.sealResult(queue, job.Name, job.Codec, result)
		if err != nil {
			// The handler's effect has happened, so it must not run again.
			return nil, Fail(fmt.Errorf("result cannot be sealed: %w", err))
		}
		return result, nil
	}
}

// RouteTo returns the route of a job type to its handler. A handler of a job
// without a result goes through [NoResult].
//
// A handler runs on a goroutine that serves others after it, so one that calls
// [runtime.LockOSThread] unlocks the thread before it returns, as it found it.
func RouteTo[T, R any](job JobType[T, R], handle func(context.Context, *Job[T]) (R, error)) Route {
	var result R
	_, none := any(result).(None)
	err := job.codecs.check()
	if handle == nil {
		err = errNilHandler
	}
	return Route{
		name:    job.spec.Name,
		spec:    job.spec,
		version: job.Version(),
		result:  !none,
		codecs:  job.encodings(),
		err:     err,
		run:     handling(job, handle),
	}
}

var errNilHandler = optionError("its handler is nil")

// handling returns a typed handler as one of encoded payloads and results.
func handling[T, R any](job JobType[T, R], handle func(context.Context, *Job[T]) (R, error)) func(context.Context, Envelope) ([]byte, error) {
	return func(ctx context.Context, envelope Envelope) ([]byte, error) {
		payload, err := job.payloadOf(&envelope)
		if err != nil {
			return nil, Fail(fmt.Errorf("payload cannot be decoded: %w", err))
		}
		result, err := handle(ctx, &Job[T]{Payload: payload, Envelope: envelope, reporter: reporterFrom(ctx)})
		if err != nil {
			return nil, err
		}
		encoded, err := job.codecs.encodeResult(envelope.Codec, result)
		if err != nil {
			// The handler's effect has happened, so it must not run again.
			return nil, Fail(fmt.Errorf("result cannot be encoded: %w", err))
		}
		return encoded, nil
	}
}

// NoResult turns a handler that returns only an error into one for [RouteTo].
func NoResult[T any](handle func(context.Context, *Job[T]) error) func(context.Context, *Job[T]) (None, error) {
	if handle == nil {
		return nil
	}
	return func(ctx context.Context, job *Job[T]) (None, error) {
		return None{}, handle(ctx, job)
	}
}

// Served is a queue with the handlers of its jobs, for [NewWorker]. The
// function that emqgen writes for a queue, such as MailQueue, returns one.
type Served struct {
	spec     QueueSpec
	routes   []Route
	opts     []QueueOption
	repeated []Repeated
	err      error // why it cannot be served
}

// Serve returns the queue that spec describes with the handlers of its jobs.
func Serve(spec QueueSpec, routes []Route, opts ...QueueOption) Served {
	return Served{spec: spec, routes: routes, opts: opts}
}

// NoHandler returns a queue without handlers, which [NewWorker] and [Worker.Add]
// refuse with [ErrOption]. The code that emqgen writes returns it for a nil
// handler.
func NoHandler(spec QueueSpec) Served {
	return Served{spec: spec, err: optionError("queue %q: its handler is nil", spec.Name)}
}
