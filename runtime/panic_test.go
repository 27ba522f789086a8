package echomq_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func explode(reason any) { panic(reason) }

func TestPanicIsAFailureWithItsStack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			switch job.Payload.Name {
			case "panic":
				explode("out of order")
			case "nil":
				explode(nil)
			}
			return "fine", nil
		})
		failure := awaitFailure(t, f, f.enqueue(t, "panic", echomq.Retry(quick(2))))
		require.Equal(t, "handler panicked: out of order", failure.Reason)
		require.Equal(t, 2, failure.Attempts, "it is tried again")
		require.Len(t, failure.Trace, 2)
		for _, entry := range failure.Trace {
			require.Contains(t, entry, "handler panicked: out of order\n")
			require.Contains(t, entry, "explode", "the stack")
			require.Contains(t, entry, "panic_test.go", "the stack")
		}
		failure = awaitFailure(t, f, f.enqueue(t, "nil", echomq.Retry(quick(1))))
		require.Contains(t, failure.Reason, "nil")
		require.Equal(t, "fine", await(t, f, f.enqueue(t, "next")), "the worker goes on")
	})
}

func TestGoexitIsAFailure(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name == "exit" {
				runtime.Goexit()
			}
			return "fine", nil
		}, echomq.Concurrency(1))
		failure := awaitFailure(t, f, f.enqueue(t, "exit", echomq.Retry(quick(2))))
		require.Contains(t, failure.Reason, "Goexit")
		require.Equal(t, 2, failure.Attempts)
		require.Equal(t, "fine", await(t, f, f.enqueue(t, "next")), "its slot is free again")
	})
}
