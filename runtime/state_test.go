package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestStates(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		waiting := f.enqueue(t, "waiting")
		prioritized := f.enqueue(t, "prioritized", echomq.Priority(1))
		delayed := f.enqueue(t, "delayed", echomq.In(time.Hour))
		ranked := f.enqueue(t, "delayed with a priority", echomq.In(time.Hour), echomq.Priority(1))
		require.Equal(t, echomq.StateWaiting, state(t, f, waiting))
		require.Equal(t, echomq.StatePrioritized, state(t, f, prioritized))
		require.Equal(t, echomq.StateDelayed, state(t, f, delayed))
		require.Equal(t, echomq.StateDelayed, state(t, f, ranked))

		gate := make(chan struct{})
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			<-gate
			if job.Payload.Name == "prioritized" {
				return "", echomq.Fail(errors.New("no"))
			}
			return "", nil
		})
		reach(t, f, waiting, echomq.StateActive)
		reach(t, f, prioritized, echomq.StateActive)
		close(gate)
		reach(t, f, waiting, echomq.StateCompleted)
		reach(t, f, prioritized, echomq.StateFailed)
	})
}

func TestStateBetweenTwoAttempts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) {
			return "", echomq.RetryAfter(time.Hour, errors.New("later"))
		})
		handle := f.enqueue(t, "Ada")
		reach(t, f, handle, echomq.StateDelayed)
	})
}

func TestStatesThatEnded(t *testing.T) {
	t.Parallel()
	for _, ended := range []echomq.State{echomq.StateCompleted, echomq.StateFailed} {
		require.True(t, ended.Ended(), ended)
	}
	for _, open := range []echomq.State{
		echomq.StateMissing, echomq.StateWaiting, echomq.StatePrioritized, echomq.StateDelayed,
		echomq.StateActive, echomq.StateQuarantined,
	} {
		require.False(t, open.Ended(), open)
	}
}
