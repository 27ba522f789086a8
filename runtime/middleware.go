package echomq

import (
	"context"
	"fmt"
	"slices"
)

// EnqueueFunc sends jobs to the store and returns what came of each, in order.
// The error is the first of the results' errors.
type EnqueueFunc func(ctx context.Context, jobs []Prepared) ([]Sent, error)

// EnqueueMiddleware puts functions around every call of a client that adds jobs:
// Enqueue, EnqueueBatch, Send and SendFlow, the first one outermost. A function gets the
// call that it is around, and returns one that does something before and after
// it: measures or counts, changes the context, or refuses the jobs by returning
// an error without calling on. The jobs are validated and encoded already; a
// middleware may leave some out, and then answers for them: it returns one
// result for each job that it was given. Of a flow it gets all jobs at once, the
// parent first, and can leave none out.
//
//	echomq.EnqueueMiddleware(func(next echomq.EnqueueFunc) echomq.EnqueueFunc {
//		return func(ctx context.Context, jobs []echomq.Prepared) ([]echomq.Sent, error) {
//			sent, err := next(ctx, jobs)
//			log.Println(len(jobs), "jobs", err)
//			return sent, err
//		}
//	})
func EnqueueMiddleware(middleware ...func(next EnqueueFunc) EnqueueFunc) ClientOption {
	return clientOption(func(c *clientConfig) { c.middleware = append(c.middleware, middleware...) })
}

// HandlerFunc runs one attempt of a job and returns its encoded result. The
// payload and the result are as they stand in the store, which is sealed where
// [TransformPayloads] is used.
type HandlerFunc func(ctx context.Context, job *Envelope) (result []byte, err error)

// HandlerMiddleware puts functions around every handler of a queue, the first
// one outermost; given to a worker, around those of all its queues, and outside
// of the queue's own. A function gets the handler that it is around, and returns
// one that does something before and after it. What it returns as the error
// decides what becomes of the job, and what it panics with is a failure of the
// job, as in a handler. The job is the middleware's to read and not to change.
//
//	echomq.HandlerMiddleware(func(next echomq.HandlerFunc) echomq.HandlerFunc {
//		return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
//			start := time.Now()
//			result, err := next(ctx, job)
//			slog.InfoContext(ctx, "job ran", "name", job.Name, "took", time.Since(start), "error", err)
//			return result, err
//		}
//	})
func HandlerMiddleware(middleware ...func(next HandlerFunc) HandlerFunc) QueueWorkerOption {
	return func(c *queueConfig) { c.middleware = append(c.middleware, middleware...) }
}

// around returns inner with the middleware around it, the first one outermost.
func around[F any](middleware []func(F) F, inner F) F {
	for i := len(middleware) - 1; i >= 0; i-- {
		inner = middleware[i](inner)
	}
	return inner
}

// checkMiddleware says what is wrong with the client's middleware, if anything is.
func (c *Client) checkMiddleware() error {
	if slices.ContainsFunc(c.middleware, func(m func(EnqueueFunc) EnqueueFunc) bool { return m == nil }) {
		return optionError("EnqueueMiddleware: a function is nil")
	}
	return nil
}

// sendThrough sends jobs through the client's middleware.
func (c *Client) sendThrough(ctx context.Context, jobs []Prepared, limit int) ([]Sent, error) {
	if len(c.middleware) == 0 {
		return c.sendChunks(ctx, c.traced(ctx, jobs), limit)
	}
	if err := c.checkMiddleware(); err != nil {
		return refusedAll(jobs, err), err
	}
	send := func(ctx context.Context, jobs []Prepared) ([]Sent, error) {
		return c.sendChunks(ctx, c.traced(ctx, jobs), limit)
	}
	sent, err := around(c.middleware, EnqueueFunc(send))(ctx, jobs)
	if len(sent) == len(jobs) {
		return sent, err
	}
	if err == nil {
		err = optionError("enqueue middleware returned %d results for %d jobs", len(sent), len(jobs))
	}
	return refusedAll(jobs, fmt.Errorf("echomq: enqueue middleware: %w", err)), err
}

// refusedAll is the results of jobs of which a middleware told nothing.
func refusedAll(jobs []Prepared, err error) []Sent {
	sent := make([]Sent, len(jobs))
	for i := range jobs {
		sent[i] = Sent{ID: jobs[i].ID(), Err: err}
	}
	return sent
}
