package echomq_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestLeaseIsRenewedWhileAJobRuns(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		_, running := f.gated(t, gate, echomq.Lease(shortLease))
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		f.work(t, mustNotRun(t), echomq.Lease(shortLease)) // would recover it
		deadline := func() float64 { return f.store.ZScore(f.ctx, f.queue.Key("active"), handle.ID).Val() }
		first := deadline()
		eventually(t, func() bool { return deadline() > first+2*float64(shortLease.Milliseconds()) }, "the lease was renewed")
		close(gate)
		await(t, f, handle)
		require.Equal(t, 0, f.envelope(t, handle.ID).StalledCounter)
	})
}

func TestLostLeaseEndsTheJobsContext(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		causes := make(chan error, 1)
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name == "next" {
				return "hello next", nil
			}
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return "too late", nil
		}, echomq.Lease(shortLease))
		handle := f.enqueue(t, "Ada")
		reach(t, f, handle, echomq.StateActive)
		// Another worker has it now.
		require.NoError(t, f.store.Set(f.ctx, f.queue.Key(handle.ID+":lock"), "other:1", 0).Err())
		far := due(handle.ID)
		far.Score = float64(f.serverTime(t).Add(time.Hour).UnixMilli())
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("active"), far).Err())
		require.ErrorIs(t, receive(t, causes, "the end of the job's context"), echomq.ErrLeaseLost)
		require.Equal(t, "hello next", await(t, f, f.enqueue(t, "next")))
		require.Equal(t, echomq.StateActive, state(t, f, handle), "a late settle changes nothing")
		require.Empty(t, f.hash(t, handle.ID)["returnvalue"])
	})
}

func TestRunningJobIsRemovedByHand(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		gate := make(chan struct{})
		_, running := f.gated(t, gate)
		handle := f.enqueue(t, "Ada")
		receive(t, running, "the job")
		require.NoError(t, f.store.Del(f.ctx, f.queue.Key(handle.ID)).Err())
		close(gate)
		require.Equal(t, "hello next", await(t, f, f.enqueue(t, "next")))
		eventually(t, func() bool { return f.store.ZCard(f.ctx, f.queue.Key("active")).Val() == 0 }, "nothing of it is left")
		require.Equal(t, echomq.StateMissing, state(t, f, handle))
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key(handle.ID+":lock")).Val())
	})
}
