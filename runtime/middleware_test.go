package echomq_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// steps is what happened, in order.
type steps struct {
	mu   sync.Mutex
	done []string
}

func (s *steps) add(step string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, step)
}

func (s *steps) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := s.done
	s.done = nil
	return done
}

func (s *steps) onEnqueue(name string) func(echomq.EnqueueFunc) echomq.EnqueueFunc {
	return func(next echomq.EnqueueFunc) echomq.EnqueueFunc {
		return func(ctx context.Context, jobs []echomq.Prepared) ([]echomq.Sent, error) {
			s.add(name + " " + jobs[0].Name())
			return next(ctx, jobs)
		}
	}
}

func (s *steps) onHandle(name string) func(echomq.HandlerFunc) echomq.HandlerFunc {
	return func(next echomq.HandlerFunc) echomq.HandlerFunc {
		return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
			s.add(name + " before")
			result, err := next(ctx, job)
			s.add(name + " after " + string(result))
			return result, err
		}
	}
}

func TestMiddlewareOrder(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var s steps
		f.client = f.newClient(t, f.programStore(t), echomq.EnqueueMiddleware(s.onEnqueue("a"), s.onEnqueue("b")), echomq.EnqueueMiddleware(s.onEnqueue("c")))
		f.producer = echomq.NewProducer(f.client, f.spec)
		f.run(t, []echomq.WorkerOption{echomq.HandlerMiddleware(s.onHandle("1"), s.onHandle("2"))},
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
				s.add("handler")
				return hello(ctx, job)
			})}, echomq.HandlerMiddleware(s.onHandle("3"))))

		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")))
		require.Equal(t, []string{
			"a greet", "b greet", "c greet", "1 before", "2 before", "3 before", "handler",
			`3 after "hello Ada"`, `2 after "hello Ada"`, `1 after "hello Ada"`,
		}, s.take())

		// Batches and prepared jobs go the same way, whole.
		_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(greeting{"x"}, greeting{"y"}), echomq.ChunkSize(1))
		require.NoError(t, err)
		prepared, err := echomq.Prepare(f.producer, f.greet(), greeting{"z"})
		require.NoError(t, err)
		_, err = f.client.Send(f.ctx, prepared)
		require.NoError(t, err)
		seen := slices.DeleteFunc(s.take(), func(step string) bool { return step != "a greet" })
		require.Len(t, seen, 2)
	})
}

var errRefused = errors.New("not today")

func TestEnqueueMiddlewareRefuses(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		results := -1
		client := f.newClient(t, f.programStore(t), echomq.EnqueueMiddleware(func(next echomq.EnqueueFunc) echomq.EnqueueFunc {
			return func(ctx context.Context, jobs []echomq.Prepared) ([]echomq.Sent, error) {
				if results < 0 {
					return nil, errRefused
				}
				sent, err := next(ctx, jobs)
				return sent[:results], err
			}
		}))
		producer := echomq.NewProducer(client, f.spec)
		_, err := echomq.Enqueue(f.ctx, producer, f.greet(), greeting{"Ada"})
		require.ErrorIs(t, err, errRefused)
		outcomes, err := echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(greeting{"x"}, greeting{"y"}))
		require.ErrorIs(t, err, errRefused)
		require.Len(t, outcomes, 2)
		require.ErrorIs(t, outcomes[1].Err, errRefused)
		require.Empty(t, f.keys(t))

		// One that does not answer for a job is a fault that is told.
		results = 1
		_, err = echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(greeting{"x"}, greeting{"y"}))
		require.ErrorIs(t, err, echomq.ErrOption)
	})
}

func TestHandlerMiddlewareDecides(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		fault := func(next echomq.HandlerFunc) echomq.HandlerFunc {
			return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
				switch job.ID {
				case "panics":
					panic("middleware gave up")
				case "refused":
					return nil, echomq.Fail(errRefused)
				}
				result, err := next(ctx, job)
				if err != nil && job.Attempt() == 1 {
					return nil, echomq.RetryAfter(0, err)
				}
				return result, err
			}
		}
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Attempt() == 1 {
				return "", errFlaky
			}
			return "hello", nil
		}, echomq.HandlerMiddleware(fault))
		once := echomq.Retry(echomq.RetrySpec{Attempts: 1})
		require.Contains(t, awaitFailure(t, f, f.enqueue(t, "Ada", echomq.ID("panics"), once)).Reason, "middleware gave up")
		require.Equal(t, "not today", awaitFailure(t, f, f.enqueue(t, "Ada", echomq.ID("refused"))).Reason)
		require.Equal(t, "hello", await(t, f, f.enqueue(t, "Ada", echomq.ID("retried"))))
	})
}
