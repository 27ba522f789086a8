package echomq_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// names starts a worker of one slot that tells the names of the jobs that it runs.
func (f *fixture) names(t *testing.T) <-chan string {
	t.Helper()
	names := make(chan string, 1000)
	f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		names <- job.Payload.Name
		return "", nil
	}, echomq.Concurrency(1))
	return names
}

func TestJobsRunInOrderOfArrival(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var items []greeting
		for i := range 40 {
			if i%2 == 0 {
				f.enqueue(t, fmt.Sprint(i))
			} else {
				_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(greeting{fmt.Sprint(i)}))
				require.NoError(t, err)
			}
		}
		for i := 40; i < 100; i++ {
			items = append(items, greeting{fmt.Sprint(i)})
		}
		_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(items...), echomq.ChunkSize(25))
		require.NoError(t, err)
		names := f.names(t)
		for i := range 100 {
			require.Equal(t, fmt.Sprint(i), receive(t, names, "a job"))
		}
	})
}

func TestJobsRunByPriority(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, priority := range []int{5, 0, echomq.MaxPriority, 1, 5, 0, 1, echomq.MaxPriority, 5} {
			f.enqueue(t, fmt.Sprint(priority), echomq.Priority(priority))
		}
		names := f.names(t)
		for _, priority := range []int{0, 0, 1, 1, 5, 5, 5, echomq.MaxPriority, echomq.MaxPriority} {
			require.Equal(t, fmt.Sprint(priority), receive(t, names, "a job"))
		}
	})
}

func TestJobsOfOnePriorityRunInOrderOfArrival(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for i := range 30 {
			f.enqueue(t, fmt.Sprint(i), echomq.Priority(3))
		}
		names := f.names(t)
		for i := range 30 {
			require.Equal(t, fmt.Sprint(i), receive(t, names, "a job"))
		}
	})
}

func TestPriorityOfTheSpec(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := f.greet(func(s *echomq.JobSpec) { s.Priority = 4 })
		handle, err := echomq.Enqueue(f.ctx, f.producer, job, greeting{})
		require.NoError(t, err)
		require.Equal(t, echomq.StatePrioritized, state(t, f, handle))
		handle, err = echomq.Enqueue(f.ctx, f.producer, job, greeting{}, echomq.Priority(0))
		require.NoError(t, err)
		require.Equal(t, echomq.StateWaiting, state(t, f, handle), "an option wins over the directive")
	})
}
