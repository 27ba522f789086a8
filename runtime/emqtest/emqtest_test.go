package emqtest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/emqtest"
)

type welcome struct {
	UserID   int64  `json:"userId"`
	Template string `json:"template"`
	Tags     []string
}

func (w welcome) Validate() error {
	if w.UserID == 0 {
		return errors.New("no user")
	}
	return nil
}

var (
	spec       = echomq.QueueSpec{Name: "mail"}
	welcomeJob = echomq.NewJobType[welcome, string](echomq.JobSpec{Queue: "mail", Name: "Welcome"})
	digestJob  = echomq.NewJobType[string, echomq.None](echomq.JobSpec{Queue: "mail", Name: "Digest"})
	errBusy    = errors.New("mail server is busy")
)

// served is the queue with handlers that do as the payload says.
func served(producer *echomq.Producer) echomq.Served {
	return echomq.Serve(spec, []echomq.Route{
		echomq.RouteTo(welcomeJob, func(ctx context.Context, job *echomq.Job[welcome]) (string, error) {
			switch {
			case job.Payload.Template == "digest":
				_, err := echomq.Enqueue(ctx, producer, digestJob, "from welcome", echomq.In(24*time.Hour))
				return "", err
			case job.Payload.Template == "busy" && job.Attempt() < 4:
				return "", fmt.Errorf("attempt %d: %w", job.Attempt(), errBusy)
			case job.Payload.Template == "never":
				return "", echomq.Snooze(time.Minute)
			case job.Payload.Template == "panic":
				panic("no template")
			}
			return fmt.Sprintf("message-%d", job.Payload.UserID), nil
		}),
		echomq.RouteTo(digestJob, echomq.NoResult(func(context.Context, *echomq.Job[string]) error { return nil })),
	})
}

// fatal is a testing.TB that records what ends the test.
type fatal struct {
	testing.TB
	said string
}

func (f *fatal) Helper() {}

func (f *fatal) Fatalf(format string, args ...any) { f.end(fmt.Sprintf(format, args...)) }
func (f *fatal) Fatal(args ...any)                 { f.end(fmt.Sprint(args...)) }
func (f *fatal) Error(args ...any)                 { f.said = fmt.Sprint(args...) }

func (f *fatal) end(said string) {
	f.said = said
	panic(f)
}

// failure returns what a test that does this is told.
func failure(t *testing.T, do func(t testing.TB)) (said string) {
	t.Helper()
	f := &fatal{TB: t}
	defer func() {
		if reason := recover(); reason != nil && reason != any(f) {
			panic(reason)
		}
		said = f.said
	}()
	do(f)
	return f.said
}

func enqueue(t *testing.T, kit *emqtest.Kit, payload welcome, options ...echomq.EnqueueOption) echomq.Handle[string] {
	t.Helper()
	handle, err := echomq.Enqueue(t.Context(), echomq.NewProducer(kit.Client(), spec), welcomeJob, payload, options...)
	require.NoError(t, err)
	return handle
}

func TestEnqueued(t *testing.T) {
	t.Parallel()
	kit := emqtest.New(t, emqtest.StartAt(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)))
	emqtest.NotEnqueued(kit, welcomeJob)
	first := enqueue(t, kit, welcome{UserID: 7, Template: "hello", Tags: []string{"a"}})
	require.Equal(t, first.ID, emqtest.Enqueued(kit, welcomeJob).ID)
	require.Equal(t, int64(7), emqtest.Enqueued(kit, welcomeJob).Payload.UserID)

	second := enqueue(t, kit, welcome{UserID: 8}, echomq.In(time.Hour), echomq.ID("second"))
	third := enqueue(t, kit, welcome{UserID: 9}, echomq.Priority(3))
	for id, wants := range map[string][]emqtest.Want{
		first.ID: {emqtest.Payload(welcome{UserID: 7, Template: "hello", Tags: []string{"a"}}), emqtest.Priority(0), emqtest.InState(echomq.StateWaiting)},
		"second": {emqtest.ID(second.ID), emqtest.Due(kit.Now().Add(time.Hour), 0)},
		third.ID: {emqtest.Priority(3)},
	} {
		require.Equal(t, id, emqtest.Enqueued(kit, welcomeJob, wants...).ID)
	}
	require.Len(t, emqtest.AllEnqueued(kit, welcomeJob), 3)
	emqtest.NotEnqueued(kit, welcomeJob, emqtest.Priority(4))
	emqtest.NotEnqueued(kit, digestJob)
}

// A failure says which field of which job is not as it should be.
func TestFailuresSayWhatDiffers(t *testing.T) {
	t.Parallel()
	var kit *emqtest.Kit
	told := func(do func()) string {
		return failure(t, func(f testing.TB) {
			kit = emqtest.New(f, emqtest.StartAt(time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)))
			do()
		})
	}
	require.Contains(t, told(func() { emqtest.Enqueued(kit, welcomeJob) }), "want one job Welcome, found 0\n\tno job was enqueued at all")
	said := told(func() {
		enqueue(t, kit, welcome{UserID: 7, Template: "hello", Tags: []string{"a", "b"}}, echomq.ID("one"), echomq.In(time.Minute))
		emqtest.Enqueued(kit, welcomeJob, emqtest.Payload(welcome{UserID: 8, Template: "hello", Tags: []string{"a"}}),
			emqtest.Priority(2), emqtest.Due(kit.Now().Add(time.Hour), time.Second))
	})
	for _, line := range []string{
		`want one job Welcome with payload {"userId":8,"template":"hello","Tags":["a"]}, priority 2, due 2026-01-01T10:00:00Z (within 1s), found 0`,
		`job one is delayed, payload {"userId":7,"template":"hello","Tags":["a","b"]}`,
		"payload.Tags[1]: want nothing, got \"b\"", "payload.userId: want 8, got 7", "priority: want 2, got 0", "which is -59m0s off",
	} {
		require.Contains(t, strings.ReplaceAll(said, "+00:00", "Z"), line)
	}
	require.Contains(t, told(func() {
		enqueue(t, kit, welcome{UserID: 7})
		enqueue(t, kit, welcome{UserID: 8})
		emqtest.Enqueued(kit, welcomeJob)
	}), "found 2")
	require.Contains(t, told(func() {
		enqueue(t, kit, welcome{UserID: 7})
		emqtest.NotEnqueued(kit, welcomeJob)
	}), "want no job Welcome, found 1\n\tjob ")
	require.Contains(t, told(func() {
		enqueue(t, kit, welcome{UserID: 7})
		emqtest.Enqueued(kit, digestJob)
	}), "there are only: Welcome of queue mail")
}

// Delays and retries take no time, and the clock shows when they were.
func TestDrain(t *testing.T) {
	t.Parallel()
	kit := emqtest.New(t)
	start, real := kit.Now(), time.Now()
	producer := echomq.NewProducer(kit.Client(), spec)
	busy := enqueue(t, kit, welcome{UserID: 7, Template: "busy"}, echomq.Retry(echomq.RetrySpec{Backoff: echomq.Fixed, Base: time.Hour, Jitter: echomq.NoJitter}))
	enqueue(t, kit, welcome{UserID: 8, Template: "digest"}, echomq.In(12*time.Hour))
	runs := kit.Drain(served(producer))
	require.Less(t, time.Since(real), 20*time.Second)

	var told []string
	for _, run := range runs {
		told = append(told, fmt.Sprintf("%s %d after %v: %v", run.Name, run.Attempt, run.At.Sub(start).Round(time.Minute), run.Err))
	}
	require.Equal(t, []string{
		"Welcome 1 after 0s: attempt 1: mail server is busy",
		"Welcome 2 after 1h0m0s: attempt 2: mail server is busy",
		"Welcome 3 after 2h0m0s: attempt 3: mail server is busy",
		"Welcome 4 after 3h0m0s: <nil>",
		"Welcome 1 after 12h0m0s: <nil>",
		"Digest 1 after 36h0m0s: <nil>",
	}, told)
	require.ErrorIs(t, runs[0].Err, errBusy)
	result, err := busy.Await(t.Context())
	require.NoError(t, err)
	require.Equal(t, "message-7", result)
	emqtest.NotEnqueued(kit, welcomeJob)
	require.Empty(t, kit.Drain(served(producer)))
}

func TestDrainRefuses(t *testing.T) {
	t.Parallel()
	require.Contains(t, failure(t, func(f testing.TB) {
		kit := emqtest.New(f)
		enqueue(t, kit, welcome{UserID: 7, Template: "never"})
		kit.Drain(served(nil))
	}), "jobs come back again and again; the last runs:\n\tWelcome ")
	require.Contains(t, failure(t, func(f testing.TB) {
		kit := emqtest.New(f)
		enqueue(t, kit, welcome{UserID: 7})
		kit.Drain(echomq.Serve(spec, nil))
	}), "no handler for job Welcome of queue mail")
	require.Contains(t, failure(t, func(f testing.TB) {
		kit := emqtest.New(f)
		enqueue(t, kit, welcome{UserID: 7})
		queue, err := kit.Client().Queue("mail")
		require.NoError(t, err)
		require.NoError(t, queue.Pause(t.Context()))
		kit.Drain(served(nil))
	}), "queue mail is paused, and 1 jobs wait")
}

// A worker that runs sees the clock move.
func TestAdvance(t *testing.T) {
	t.Parallel()
	kit := emqtest.New(t)
	worker, err := echomq.NewWorker(kit.Client(), nil, served(nil))
	require.NoError(t, err)
	go func() { _ = worker.Run(t.Context()) }()
	handle := enqueue(t, kit, welcome{UserID: 7}, echomq.In(time.Hour))
	before := kit.Now()
	require.Equal(t, before.Add(59*time.Minute), kit.Advance(59*time.Minute))
	state, err := handle.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, echomq.StateDelayed, state)
	kit.Advance(time.Minute)
	result, err := handle.Await(t.Context())
	require.NoError(t, err)
	require.Equal(t, "message-7", result)
	require.NoError(t, worker.Stop(t.Context()))
}

func TestPerform(t *testing.T) {
	t.Parallel()
	result, err := emqtest.Perform(t, served(nil), welcomeJob, welcome{UserID: 7})
	require.NoError(t, err)
	require.Equal(t, "message-7", result)
	_, err = emqtest.Perform(t, served(nil), welcomeJob, welcome{UserID: 7, Template: "busy"}, echomq.In(time.Hour))
	require.ErrorIs(t, err, errBusy)
	_, err = emqtest.Perform(t, served(nil), welcomeJob, welcome{UserID: 7, Template: "panic"}, echomq.Retry(echomq.RetrySpec{Attempts: 1}))
	require.ErrorContains(t, err, "no template")
	_, err = emqtest.Perform(t, served(nil), digestJob, "")
	require.NoError(t, err)
	require.Contains(t, failure(t, func(f testing.TB) {
		_, _ = emqtest.Perform(f, served(nil), welcomeJob, welcome{})
	}), "no user")
	require.Contains(t, failure(t, func(f testing.TB) {
		_, _ = emqtest.Perform(f, echomq.Serve(spec, nil), welcomeJob, welcome{UserID: 7})
	}), "no handler for job Welcome")
}

func TestHandlesForFakes(t *testing.T) {
	t.Parallel()
	result, err := emqtest.Completed(t, welcomeJob, "message-7").Await(t.Context())
	require.NoError(t, err)
	require.Equal(t, "message-7", result)
	_, err = emqtest.Failed(t, welcomeJob, errBusy).Await(t.Context())
	var failed *echomq.JobError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, errBusy.Error(), failed.Reason)
	state, err := emqtest.Failed[welcome, string](t, welcomeJob, nil).State(t.Context())
	require.NoError(t, err)
	require.Equal(t, echomq.StateFailed, state)
}
