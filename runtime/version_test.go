package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// The payloads of a job over three versions; the one of the third is greeting.
type (
	greetingV1 struct{ First, Last string }
	greetingV2 struct{ Names []string }
)

func upgradeV1(old greetingV1) (greetingV2, error) {
	if old.First == "" {
		return greetingV2{}, errors.New("nobody")
	}
	return greetingV2{Names: []string{old.First, old.Last}}, nil
}

func upgradeV2(old greetingV2) (greeting, error) {
	return greeting{Name: fmt.Sprint(old.Names)}, nil
}

// version returns the job as a program of an older version has it.
func version[T any](f *fixture, number int) echomq.JobType[T, string] {
	spec := f.jobSpec("greet")
	spec.Version = number
	return echomq.NewJobType[T, string](spec)
}

// third is the job as the newest program has it.
func (f *fixture) third(changes ...func(*echomq.JobSpec)) echomq.JobType[greeting, string] {
	return f.greet(append([]func(*echomq.JobSpec){func(s *echomq.JobSpec) { s.Version = 3 }}, changes...)...).
		Reads(echomq.Upgrade(2, upgradeV2), echomq.Upgrade(1, echomq.Then(upgradeV1, upgradeV2)))
}

func enqueueAs[T any](t *testing.T, f *fixture, job echomq.JobType[T, string], payload T, opts ...echomq.EnqueueOption) echomq.Handle[string] {
	t.Helper()
	handle, err := echomq.Enqueue(f.ctx, f.producer, job, payload, opts...)
	require.NoError(t, err)
	return handle
}

func TestOlderPayloadsAreUpgraded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first := enqueueAs(t, f, version[greetingV1](f, 1), greetingV1{"Ada", "Lovelace"})
		second := enqueueAs(t, f, version[greetingV2](f, 2), greetingV2{[]string{"Grace"}})
		third := enqueueAs(t, f, version[greeting](f, 3), greeting{"Alan"})
		f.serve(t, []echomq.Route{echomq.RouteTo(f.third(), hello)})
		require.Equal(t, "hello [Ada Lovelace]", await(t, f, first))
		require.Equal(t, "hello [Grace]", await(t, f, second))
		require.Equal(t, "hello Alan", await(t, f, third))
	})
}

// TestUpgradeOfABatch holds the same for a handler of many jobs, and for the
// function that decides how long a job waits.
func TestUpgradeOfABatch(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first := enqueueAs(t, f, version[greetingV1](f, 1), greetingV1{"Ada", "Lovelace"})
		waited := make(chan string, 1)
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteToBatch(f.third(), func(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
			if jobs[0].AttemptsMade == 0 {
				return nil, errors.New("not yet")
			}
			return []string{jobs[0].Payload.Name}, nil
		})}, echomq.Batches(f.third(), echomq.BatchSpec{Size: 1}), echomq.RetryWaits(f.third(), func(job *echomq.Job[greeting], _ error, _ time.Duration) time.Duration {
			waited <- job.Payload.Name
			return 0
		}))
		f.run(t, nil, served)
		require.Equal(t, "[Ada Lovelace]", await(t, f, first))
		require.Equal(t, "[Ada Lovelace]", <-waited)
	})
}

func TestPayloadThatCannotBeUpgraded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		nobody := enqueueAs(t, f, version[greetingV1](f, 1), greetingV1{})
		damaged := enqueueAs(t, f, version[[]int](f, 1), []int{1})
		panics := enqueueAs(t, f, version[int](f, 2), 2)
		job := f.greet(func(s *echomq.JobSpec) { s.Version = 3 }).Reads(
			echomq.Upgrade(1, echomq.Then(upgradeV1, upgradeV2)),
			echomq.Upgrade(2, func(int) (greeting, error) { panic("no") }))
		f.serve(t, []echomq.Route{echomq.RouteTo(job, hello)})
		for handle, reason := range map[echomq.Handle[string]]string{
			nobody:  "payload cannot be decoded: it cannot be upgraded from version 1: nobody",
			damaged: "payload cannot be decoded: json: cannot unmarshal array into Go value of type echomq_test.greetingV1",
			panics:  "payload cannot be decoded: its own code panicked: no",
		} {
			_, err := handle.Await(f.ctx)
			var failure *echomq.JobError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, reason, failure.Reason)
			require.Equal(t, 1, failure.Attempts, "it is not tried again")
			require.NotEmpty(t, f.envelope(t, handle.ID).Data, "the bytes are kept")
		}
	})
}

func TestVersionThatHasEnded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first := enqueueAs(t, f, version[greetingV1](f, 1), greetingV1{"Ada", "Lovelace"})
		second := enqueueAs(t, f, version[greetingV2](f, 2), greetingV2{[]string{"Grace"}})
		seen := make(chan error, 2)
		f.serve(t, []echomq.Route{echomq.RouteTo(f.third(func(s *echomq.JobSpec) { s.Oldest = 2 }), hello)},
			echomq.HandlerMiddleware(func(next echomq.HandlerFunc) echomq.HandlerFunc {
				return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
					result, err := next(ctx, job)
					seen <- err
					return result, err
				}
			}))
		_, err := first.Await(f.ctx)
		require.ErrorContains(t, err, "job greet has version 1: payload version is no longer read; the oldest one is 2")
		require.JSONEq(t, `{"First":"Ada","Last":"Lovelace"}`, string(f.envelope(t, first.ID).Data), "the bytes are kept")
		require.Equal(t, "hello [Grace]", await(t, f, second))

		var ended *echomq.VersionError
		for range 2 {
			if err := <-seen; err != nil {
				require.ErrorIs(t, err, echomq.ErrVersionEnded)
				require.ErrorAs(t, err, &ended)
			}
		}
		require.Equal(t, &echomq.VersionError{Job: "greet", Version: 1, Oldest: 2}, ended)
	})
}

func TestJobThatWasRenamed(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		old := f.enqueue(t, "Ada")
		spec := f.jobSpec("salute")
		spec.Was = []string{f.spec.Name + "/greet", "elsewhere/hail"}
		salute := echomq.NewJobType[greeting, string](spec)
		f.serve(t, []echomq.Route{echomq.RouteTo(salute, hello)})
		require.Equal(t, "hello Ada", await(t, f, old))
		require.Equal(t, "hello Grace", await(t, f, enqueueAs(t, f, salute, greeting{"Grace"})))

		// The old program awaits its job by its name, the new one by the new one.
		handle, err := salute.Handle(f.client, old.ID)
		require.NoError(t, err)
		require.Equal(t, "hello Ada", await(t, f, handle))
		other := f.jobSpec("hail")
		handle, err = echomq.NewJobType[greeting, string](other).Handle(f.client, old.ID)
		require.NoError(t, err)
		_, err = handle.State(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
	})
}

func TestJobThatWasMoved(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		old := f.enqueue(t, "Ada")
		spec := echomq.JobSpec{Queue: "elsewhere", Name: "salute", Was: []string{f.spec.Name + "/greet"}}
		salute := echomq.NewJobType[greeting, string](spec)
		other := echomq.NewJobType[greeting, string](f.jobSpec("salute"))
		foreign := enqueueAs(t, f, other, greeting{"Grace"})
		w := f.serve(t, []echomq.Route{echomq.RouteTo(salute, hello)})
		require.Equal(t, "hello Ada", await(t, f, old))
		f.givenBack(t, foreign.ID, 1) // its name is the job's in another queue only
		w.halt(t)
	})
}

func TestTwoHandlersOfOneName(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		spec := f.jobSpec("salute")
		spec.Was = []string{f.spec.Name + "/greet"}
		routes := []echomq.Route{echomq.RouteTo(f.greet(), hello), echomq.RouteTo(echomq.NewJobType[greeting, string](spec), hello)}
		_, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, routes))
		require.ErrorIs(t, err, echomq.ErrOption)
		require.ErrorContains(t, err, `job "greet" has two handlers`)
	})
}

func TestRetiredJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		newer := enqueueAs(t, f, version[greeting](f, 7), greeting{"Ada"})
		foreign := f.enqueue(t, "Grace")
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(foreign.ID), "cdc", "unheard of").Err())
		thrown := enqueueAs(t, f, echomq.NewJobType[greeting, string](f.jobSpec("discarded")), greeting{"Alan"})
		f.serve(t, []echomq.Route{echomq.Retired("greet", echomq.RetireFailed), echomq.Retired("discarded", echomq.RetireDiscard)})
		for _, handle := range []echomq.Handle[string]{newer, foreign} {
			_, err := handle.Await(f.ctx)
			var failure *echomq.JobError
			require.ErrorAs(t, err, &failure)
			require.Equal(t, "job was retired", failure.Reason)
			require.NotEmpty(t, f.envelope(t, handle.ID).Data)
		}
		_, err := thrown.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrNotKept)
		require.Empty(t, f.hash(t, thrown.ID)["data"], "it was deleted")
	})
}

// TestFailureHidesARedactedValue holds that what is kept, and logged, of a payload
// that does not decode is not its value.
func TestFailureHidesARedactedValue(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		type small struct {
			Age int8 `json:"age"`
		}
		handle := enqueueAs(t, f, version[map[string]int](f, 1), map[string]int{"age": 54321})
		spec := f.jobSpec("greet")
		spec.Redact = []string{"/age"}
		f.serve(t, []echomq.Route{echomq.RouteTo(echomq.NewJobType[small, string](spec), func(context.Context, *echomq.Job[small]) (string, error) { return "", nil })})
		failure := awaitFailure(t, f, handle)
		require.Contains(t, failure.Reason, "cannot unmarshal number into Go struct field")
		require.NotContains(t, failure.Reason+f.hash(t, handle.ID)["stacktrace"], "54321")
	})
}
