package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// asked is what a function of RetryWaits was called with.
type asked struct {
	payload greeting
	id      string
	attempt int
	err     error
	backoff time.Duration
}

// waiting returns an option that answers with the next of the waits, and what it
// was asked.
func waiting(job echomq.JobType[greeting, string], waits ...time.Duration) (echomq.QueueWorkerOption, <-chan asked) {
	calls := make(chan asked, 100)
	return echomq.RetryWaits(job, func(job *echomq.Job[greeting], err error, backoff time.Duration) time.Duration {
		calls <- asked{job.Payload, job.ID, job.Attempt(), err, backoff}
		if job.Attempt() > len(waits) {
			return backoff
		}
		return waits[job.Attempt()-1]
	}), calls
}

func TestRetryWaitsDecide(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		// The backoff would be an hour: what brings the job back is the function.
		option, calls := waiting(f.greet(), 70*time.Millisecond, -time.Hour, time.Microsecond, 2*time.Hour)
		starts := make(chan time.Time, 10)
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			starts <- job.ProcessedOn.Time()
			job.Payload.Name = "changed by the handler"
			return "", fmt.Errorf("attempt %d: %w", job.Attempt(), errFlaky)
		}, option)
		handle := f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{Backoff: echomq.Fixed, Base: time.Hour, Jitter: echomq.NoJitter}))
		for attempt := 1; attempt <= 4; attempt++ {
			call := receive(t, calls, "the question")
			require.Equal(t, greeting{"Ada"}, call.payload, "as it is stored")
			require.Equal(t, handle.ID, call.id)
			require.Equal(t, attempt, call.attempt)
			require.ErrorIs(t, call.err, errFlaky)
			require.Equal(t, time.Hour, call.backoff)
		}
		first, second := receive(t, starts, "an attempt"), receive(t, starts, "an attempt")
		require.GreaterOrEqual(t, second.Sub(first), 70*time.Millisecond)
		reach(t, f, handle, echomq.StateDelayed)
		require.Equal(t, "7200000", f.hash(t, handle.ID)["delay"], "beyond the cap of the backoff")
	})
}

// TestRetryWaitsAreNotAskedInVain has errors that decide by themselves, and last
// attempts.
func TestRetryWaitsAreNotAskedInVain(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		option, calls := waiting(f.greet())
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			switch {
			case job.AttemptsStarted == 1:
				return "", echomq.Snooze(time.Millisecond)
			case job.Attempt() == 1:
				return "", echomq.RetryAfter(time.Millisecond, errFlaky)
			case job.Payload.Name == "fail":
				return "", echomq.Fail(errFlaky)
			}
			return "", errFlaky // its last
		}, option)
		for _, name := range []string{"fail", "last"} {
			require.Equal(t, 2, awaitFailure(t, f, f.enqueue(t, name, echomq.Retry(quick(2)))).Attempts)
		}
		require.Empty(t, calls)
	})
}

// TestRetryWaitsThatFail have functions that panic or end their goroutine: the
// backoff holds, and the worker goes on.
func TestRetryWaitsThatFail(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return "", errFlaky },
			echomq.Concurrency(1),
			echomq.RetryWaits(f.greet(), func(job *echomq.Job[greeting], _ error, _ time.Duration) time.Duration {
				if job.Payload.Name == "panic" {
					panic("out of order")
				}
				runtime.Goexit()
				return time.Hour
			}))
		for _, name := range []string{"panic", "exit"} {
			failure := awaitFailure(t, f, f.enqueue(t, name, echomq.Retry(quick(3))))
			require.Equal(t, 3, failure.Attempts)
			require.Equal(t, "flaky", failure.Reason, "the failure stays the handler's")
		}
	})
}

// TestRetryWaitsOfWhatElseFails asks about a panic, a timeout, the jobs of a batch,
// and a payload that was sealed.
func TestRetryWaitsOfWhatElseFails(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f = f.through(t, compressed{})
		many := echomq.NewJobType[greeting, string](f.jobSpec("many"))
		option, calls := waiting(f.greet(), 0)
		batches, batchCalls := waiting(many, 0)
		f.serve(t, []echomq.Route{
			echomq.RouteTo(f.greet(), func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
				switch {
				case job.Attempt() > 1:
					return "done", nil
				case job.Payload.Name == "panic":
					panic("out of order")
				}
				<-ctx.Done()
				return "", ctx.Err()
			}),
			echomq.RouteToBatch(many, func(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
				errs := make(echomq.JobErrors, len(jobs))
				for i, job := range jobs {
					if job.Attempt() == 1 {
						errs[i] = errors.New(job.Payload.Name)
					}
				}
				return make([]string, len(jobs)), errs
			}),
		}, option, batches, echomq.Batches(many, echomq.BatchSpec{Size: 2, Wait: 20 * time.Millisecond}))
		slow := echomq.Retry(echomq.RetrySpec{Base: time.Hour})
		panicking := f.enqueue(t, "panic", slow)
		call := receive(t, calls, "the question")
		assert.Equal(t, greeting{"panic"}, call.payload)
		assert.ErrorContains(t, call.err, "out of order")
		late := f.enqueue(t, "late", slow, echomq.Timeout(5*time.Millisecond))
		assert.ErrorIs(t, receive(t, calls, "the question").err, echomq.ErrTimeout)
		require.Equal(t, "done", await(t, f, panicking))
		require.Equal(t, "done", await(t, f, late))
		for _, name := range []string{"a", "b"} {
			handle, err := echomq.Enqueue(f.ctx, f.producer, many, greeting{name}, slow)
			require.NoError(t, err)
			call := receive(t, batchCalls, "the question")
			assert.Equal(t, greeting{name}, call.payload)
			assert.EqualError(t, call.err, name)
			await(t, f, handle)
		}
	})
}

func TestRetryWaitsThatMakeNoSense(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		routes := []echomq.Route{echomq.RouteTo(f.greet(), hello)}
		fine, _ := waiting(f.greet())
		other, _ := waiting(f.greet(func(s *echomq.JobSpec) { s.Name = "other" }))
		elsewhere, _ := waiting(f.greet(func(s *echomq.JobSpec) { s.Queue = "elsewhere" }))
		nothing := echomq.RetryWaits(f.greet(), nil)
		try := func(opts []echomq.WorkerOption, queue ...echomq.QueueOption) error {
			_, err := echomq.NewWorker(f.client, opts, echomq.Serve(f.spec, routes, queue...))
			return err
		}
		require.NoError(t, try(nil, fine))
		require.NoError(t, try([]echomq.WorkerOption{fine, elsewhere}), "another of the worker's queues")
		require.NoError(t, try(nil, fine, echomq.QueueName("another-name")))
		for _, option := range []echomq.QueueWorkerOption{other, elsewhere, nothing} {
			require.ErrorIs(t, try(nil, option), echomq.ErrOption)
		}
		require.ErrorIs(t, try([]echomq.WorkerOption{other}), echomq.ErrOption)
		require.ErrorIs(t, try([]echomq.WorkerOption{nothing}), echomq.ErrOption)
	})
}
