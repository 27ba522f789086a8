package echomq_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// spoiling is a middleware that changes the job which it is to leave alone.
func spoiling(change func(*echomq.Envelope)) echomq.QueueWorkerOption {
	return echomq.HandlerMiddleware(func(next echomq.HandlerFunc) echomq.HandlerFunc {
		return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
			change(job)
			defer func() { go change(job) }() // for the race detector
			return next(ctx, job)
		}
	})
}

func TestMiddlewareThatChangesItsJobChangesNoOutcome(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var runs atomic.Int32
		asked := make(chan string, 1)
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			runs.Add(1)
			return "", errFlaky
		}, spoiling(func(job *echomq.Envelope) {
			job.AttemptsMade, job.Priority, job.ParentKey = 0, 7, "emq:{other}:parent"
			job.Data = []byte(`{"name":"changed"}`)
		}), echomq.RetryWaits(f.greet(), func(job *echomq.Job[greeting], _ error, _ time.Duration) time.Duration {
			asked <- job.Payload.Name
			return 0
		}))
		failure := awaitFailure(t, f, f.enqueue(t, "as it was", echomq.Retry(quick(2))))
		require.Equal(t, 2, failure.Attempts)
		require.EqualValues(t, 2, runs.Load())
		require.Equal(t, "as it was", <-asked)
	})
}

// A context that outlives its handler, for work in the background say, does not keep
// the job's payload.
func TestKeptContextKeepsNoPayload(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 20
		var mu sync.Mutex
		var kept []context.Context
		var freed atomic.Int32
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			kept = append(kept, context.WithoutCancel(ctx))
			return "", nil
		}, echomq.HandlerMiddleware(func(next echomq.HandlerFunc) echomq.HandlerFunc {
			return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
				runtime.AddCleanup(&job.Data[0], func(int) { freed.Add(1) }, 0)
				return next(ctx, job)
			}
		}))
		for range jobs {
			await(t, f, f.enqueue(t, strings.Repeat("x", 10_000)))
		}
		eventually(t, func() bool {
			runtime.GC()
			return freed.Load() >= jobs-1
		}, "the payloads are freed")
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, kept, jobs)
	})
}

// exitError ends the goroutine of whoever asks what it says.
type exitError struct{}

func (exitError) Error() string {
	runtime.Goexit()
	return ""
}

func TestErrorThatExitsIsAFailure(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name == "exit" {
				return "", exitError{}
			}
			return "fine", nil
		}, echomq.Concurrency(1))
		failure := awaitFailure(t, f, f.enqueue(t, "exit", echomq.Retry(quick(1))))
		require.Contains(t, failure.Reason, "its error's own methods called runtime.Goexit")
		require.Equal(t, "fine", await(t, f, f.enqueue(t, "next")), "its slot is free again")
	})
}

func TestPropagationThatBreaksIsAFailure(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.client = f.newClient(t, f.programStore(t), echomq.Propagate(
			func(_ context.Context, carrier map[string]string) { carrier["traceparent"] = traceParent },
			func(ctx context.Context, carrier map[string]string) context.Context {
				switch carrier["tracestate"] {
				case "a=panic":
					panic("extract")
				case "a=exit":
					runtime.Goexit()
				}
				return ctx
			}))
		f.producer = echomq.NewProducer(f.client, f.spec)
		f.work(t, hello, echomq.Concurrency(1))
		for _, test := range []struct{ state, reason string }{
			{"a=panic", "handler panicked: extract"}, {"a=exit", "handler called runtime.Goexit"},
		} {
			producer := echomq.NewProducer(f.newClient(t, f.programStore(t)), f.spec)
			traced := echomq.ContextWithTrace(f.ctx, echomq.TraceContext{Parent: traceParent, State: test.state})
			handle, err := echomq.Enqueue(traced, producer, f.greet(), greeting{"Ada"}, echomq.Retry(quick(1)))
			require.NoError(t, err)
			require.Equal(t, test.reason, awaitFailure(t, f, handle).Reason)
		}
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")), "the worker goes on")
	})
}

// A panic with nil looks, where a program asks for that, like no panic at all.
func TestPanicOfNilEndsAnAttemptOnce(t *testing.T) {
	t.Setenv("GODEBUG", "panicnil=1")
	f := newFixture(t, enginetest.Start(t, enginetest.Valkey))
	var running, most atomic.Int32
	slow := make(chan struct{})
	f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		if job.Payload.Name == "nil" {
			panic(nil) //nolint:govet // that is the test
		}
		now := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); now > seen && !most.CompareAndSwap(seen, now); seen = most.Load() {
		}
		if job.Payload.Name == "slow" {
			<-slow
		} else {
			for range 50 { // for as long as a job of a free slot takes to start
				require.NoError(t, f.store.Ping(f.ctx).Err())
			}
		}
		return "", nil
	}, echomq.Concurrency(2))
	first := f.enqueue(t, "slow")
	require.Error(t, errorOf(first.Await(withTimeout(t, f, 50*time.Millisecond))))
	awaitFailure(t, f, f.enqueue(t, "nil", echomq.Retry(quick(1))))
	var handles []echomq.Handle[string]
	for range 6 {
		handles = append(handles, f.enqueue(t, "short"))
	}
	for _, handle := range handles {
		await(t, f, handle)
	}
	close(slow)
	await(t, f, first)
	require.LessOrEqual(t, most.Load(), int32(2))
}

func errorOf[T any](_ T, err error) error { return err }

func withTimeout(t *testing.T, f *fixture, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeoutCause(f.ctx, d, errors.New("as meant"))
	t.Cleanup(cancel)
	return ctx
}
