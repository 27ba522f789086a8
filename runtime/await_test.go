package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestAwaitFromAnotherClient(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		here := f.enqueue(t, "Ada")
		elsewhere := f.newClient(t, f.engine.Store(t))
		there, err := f.greet().Handle(elsewhere, here.ID)
		require.NoError(t, err)
		require.False(t, there.Existing)
		result := make(chan string, 1)
		go func() {
			value, err := there.Await(f.ctx)
			result <- fmt.Sprint(value, err)
		}()
		f.work(t, hello)
		require.Equal(t, "hello Ada<nil>", receive(t, result, "the result in another process"))
	})
}

func TestAwaitAfterTheEnd(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		handle := f.enqueue(t, "Ada")
		reach(t, f, handle, echomq.StateCompleted)
		for range 3 {
			require.Equal(t, "hello Ada", await(t, f, handle))
		}
	})
}

func TestManyAwaitsOfOneJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		other := f.newClient(t, f.engine.Store(t))
		var waiting sync.WaitGroup
		failures := make(chan error, 100)
		for i := range cap(failures) {
			client := f.client
			if i%2 == 1 {
				client = other
			}
			again, err := f.greet().Handle(client, handle.ID)
			require.NoError(t, err)
			waiting.Go(func() {
				if result, err := again.Await(f.ctx); err != nil || result != "hello Ada" {
					failures <- fmt.Errorf("result %q: %w", result, err)
				}
			})
		}
		f.work(t, hello)
		waiting.Wait()
		require.Empty(t, failures)
	})
}

func TestAwaitManyJobsThroughOneConnection(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 50
		var waiting sync.WaitGroup
		failures := make(chan error, jobs)
		for i := range jobs {
			handle := f.enqueue(t, fmt.Sprint(i))
			waiting.Go(func() {
				if result, err := handle.Await(f.ctx); err != nil || result != fmt.Sprint("hello ", i) {
					failures <- fmt.Errorf("job %d: result %q: %w", i, result, err)
				}
			})
		}
		f.work(t, hello)
		waiting.Wait()
		require.Empty(t, failures)
	})
}

func TestAwaitOfAFailedJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			return "", fmt.Errorf("attempt %d went wrong", job.Attempt())
		})
		handle := f.enqueue(t, "Ada", echomq.Retry(quick(3)))
		failure := awaitFailure(t, f, handle)
		require.Equal(t, handle.ID, failure.ID)
		require.Equal(t, f.spec.Name, failure.Queue)
		require.Equal(t, "attempt 3 went wrong", failure.Reason)
		require.Equal(t, 3, failure.Attempts)
		require.Equal(t, []string{"attempt 1 went wrong", "attempt 2 went wrong", "attempt 3 went wrong"}, failure.Trace)
		require.Contains(t, failure.Error(), "attempt 3 went wrong")
		require.Equal(t, echomq.StateFailed, state(t, f, handle))
	})
}

func TestResultsOfAllSorts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		type node struct {
			Text string
			Next *node `json:",omitempty"`
		}
		job := echomq.NewJobType[int, *node](f.jobSpec("node"))
		results := []*node{nil, {}, {Text: "\x00\u2028é\"", Next: &node{Text: "x"}}}
		f.serve(t, []echomq.Route{echomq.RouteTo(job, func(_ context.Context, job *echomq.Job[int]) (*node, error) {
			if job.Payload >= len(results) {
				return nil, echomq.Fail(errors.New("out of range"))
			}
			return results[job.Payload], nil
		})})
		for i, want := range results {
			handle, err := echomq.Enqueue(f.ctx, f.producer, job, i)
			require.NoError(t, err)
			require.Equal(t, want, await(t, f, handle))
		}
	})
}
