package echomq_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// stubborn starts a worker with one slot whose first attempts ignore the end of
// their contexts until the gate is opened; what it logs is returned.
func (f *fixture) stubborn(t *testing.T, gate <-chan struct{}) (running <-chan string, log *logBuffer) {
	t.Helper()
	log = &logBuffer{}
	client := f.newClient(t, f.programStore(t), echomq.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	begun := make(chan string, 10)
	own := *f
	own.client = client
	own.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		begun <- job.Payload.Name
		if job.AttemptsStarted == 1 {
			<-gate
		}
		return "late", nil
	}, echomq.Concurrency(1), echomq.Lease(shortLease), echomq.StuckAfter(50*time.Millisecond))
	f.requireListener(t)
	return begun, log
}

// events returns the events of the queue that are called so.
func (f *fixture) eventsCalled(t *testing.T, name string) (ids []string) {
	t.Helper()
	entries, err := f.store.XRange(f.ctx, f.queue.Key("events"), "-", "+").Result()
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.Values["event"] == name {
			id, _ := entry.Values["jobId"].(string)
			ids = append(ids, id)
		}
	}
	return ids
}

// TestStuckHandlerLosesItsJobAndKeepsItsSlot lets handlers ignore a timeout, a
// cancellation and a lost lease.
func TestStuckHandlerLosesItsJobAndKeepsItsSlot(t *testing.T) {
	for cause, end := range map[string]func(t *testing.T, f *fixture, handle echomq.Handle[string]){
		"job timed out": nil,
		"cancelled: for a test": func(t *testing.T, f *fixture, handle echomq.Handle[string]) {
			require.NoError(t, handle.Cancel(f.ctx, "for a test"))
		},
		"job's lease was lost": func(t *testing.T, f *fixture, handle echomq.Handle[string]) {
			require.NoError(t, f.store.Set(f.ctx, f.queue.Key(handle.ID+":lock"), "other:1", 0).Err())
		},
	} {
		t.Run(strings.ReplaceAll(cause, " ", "_"), func(t *testing.T) {
			each(t, func(t *testing.T, f *fixture) {
				gate := make(chan struct{})
				running, log := f.stubborn(t, gate)
				timeout := time.Hour
				if end == nil {
					timeout = time.Millisecond
				}
				handle := f.enqueue(t, "Ada", echomq.Timeout(timeout))
				receive(t, running, "the job")
				next := f.enqueue(t, "next")
				if end != nil {
					end(t, f, handle)
				}
				eventually(t, func() bool { return strings.Contains(log.String(), "a handler is stuck") }, "it is told")
				require.Contains(t, log.String(), cause)
				require.Contains(t, log.String(), handle.ID)
				require.Equal(t, echomq.StateWaiting, state(t, f, next), "the slot is taken")
				require.Empty(t, running)
				// The job is another's to take, and the worker's own handler has no
				// say any more.
				f.work(t, hello, echomq.Lease(shortLease))
				require.Equal(t, "hello next", await(t, f, next))
				if cause == "cancelled: for a test" {
					requireCancelled(t, f, handle, "cancelled: for a test")
				} else {
					require.Equal(t, "hello Ada", await(t, f, handle))
					require.Equal(t, 1, f.envelope(t, handle.ID).StalledCounter)
				}
				if cause != "job's lease was lost" { // of which recover has told
					require.Equal(t, []string{handle.ID}, f.eventsCalled(t, "stuck"))
				}
				close(gate)
				eventually(t, func() bool { return strings.Contains(log.String(), "came too late") }, "the late outcome is told")
				require.Equal(t, 1, strings.Count(log.String(), "a handler is stuck"), "it is told once")
			})
		})
	}
}

func TestStuckAfterMustBePositive(t *testing.T) {
	t.Parallel()
	spec := echomq.QueueSpec{Name: "mail"}
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet"})
	for _, after := range []time.Duration{0, -time.Second} {
		served := echomq.Serve(spec, []echomq.Route{echomq.RouteTo(job, hello)}, echomq.StuckAfter(after))
		_, err := echomq.NewWorker(nil, nil, served)
		require.ErrorIs(t, err, echomq.ErrOption)
	}
}

// TestHandlerThatEndsInTimeIsNotStuck lets a handler take a while over its end.
func TestHandlerThatEndsInTimeIsNotStuck(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			<-ctx.Done()
			time.Sleep(3 * shortLease / 2)
			return "late", nil
		}, echomq.Lease(shortLease))
		handle := f.enqueue(t, "Ada", echomq.Timeout(time.Millisecond))
		require.Equal(t, "late", await(t, f, handle))
		require.Zero(t, f.envelope(t, handle.ID).StalledCounter)
		require.Empty(t, f.eventsCalled(t, "stuck"))
	})
}
