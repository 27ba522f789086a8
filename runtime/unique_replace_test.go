package echomq_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestUniqueReplaceIsDebounce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilStarted, Conflict: echomq.ConflictReplace})
		ran := make(chan string, 10)
		n.work(t, func(_ context.Context, job *echomq.Job[notice]) (string, error) {
			ran <- job.Payload.Text
			return job.Payload.Text, nil
		})
		owner := n.new(t, 1, "first", echomq.In(time.Hour), echomq.Priority(3))
		for _, wait := range []time.Duration{time.Hour, 80 * time.Millisecond} {
			handle, err := n.try(1, "after "+wait.String(), echomq.In(wait), echomq.Retry(echomq.RetrySpec{Attempts: 3}))
			require.NoError(t, err)
			require.Equal(t, [2]bool{true, true}, [2]bool{handle.Existing, handle.Replaced})
			require.Equal(t, owner.ID, handle.ID)
		}
		require.Equal(t, "after 80ms", await(t, f, owner))
		require.Equal(t, "after 80ms", receive(t, ran, "the one run"))
		require.Empty(t, ran)
		envelope := f.envelope(t, owner.ID)
		require.Equal(t, `{"attempts":3}`, envelope.Opts)
		require.Zero(t, envelope.Priority, "the last one has none")
		n.new(t, 1, "again")
	})
}

func TestUniqueReplaceOfAWaitingJobKeepsItsPlace(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Conflict: echomq.ConflictReplace})
		owner := n.new(t, 1, "first")
		n.new(t, 2, "behind it")
		handle, err := n.try(1, "second", echomq.In(time.Hour), echomq.Priority(7))
		require.NoError(t, err)
		require.True(t, handle.Replaced)
		require.Equal(t, echomq.StateWaiting, state(t, f, owner))
		g := newGate()
		n.work(t, g.handle)
		require.ElementsMatch(t, []string{"second", "behind it"}, []string{receive(t, g.begun, "one"), receive(t, g.begun, "two")})
		g.end <- nil
		g.end <- nil
	})
}

// A job that was cancelled ends without being run, so nothing is put into it.
func TestUniqueReplaceOfACancelledJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Conflict: echomq.ConflictReplace})
		owner := n.new(t, 1, "first", echomq.In(time.Hour))
		require.NoError(t, owner.Cancel(f.ctx))
		_, err := n.try(1, "second")
		require.ErrorIs(t, err, echomq.ErrDuplicate, "nobody is there to end it")
		require.Contains(t, f.hash(t, owner.ID)["data"], "first")

		g := newGate()
		n.work(t, g.handle)
		require.ErrorIs(t, awaitFailure(t, f, owner), echomq.ErrCancelled)
		n.new(t, 1, "second")
		require.Equal(t, "second", receive(t, g.begun, "the one that may run"))
		g.end <- nil
	})
}

func TestUniqueReplaceOfWhatCannotBeReplaced(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{Until: echomq.UntilRemoved, Conflict: echomq.ConflictReplace})
		g := newGate()
		n.work(t, g.handle)
		refused := func(owner echomq.Handle[string], state echomq.State) {
			t.Helper()
			_, err := n.try(1, "too late")
			var duplicate *echomq.DuplicateError
			require.ErrorAs(t, err, &duplicate)
			require.Equal(t, &echomq.DuplicateError{Queue: f.spec.Name, Job: "notice", Owner: owner.ID, State: state}, duplicate)
		}
		owner := n.new(t, 1, "first")
		require.Equal(t, "first", receive(t, g.begun, "the first attempt"))
		refused(owner, echomq.StateActive)

		// Between two attempts it can be, and keeps its time.
		g.end <- echomq.RetryAfter(100*time.Millisecond, errFlaky)
		reach(t, f, owner, echomq.StateDelayed)
		handle, err := n.try(1, "second")
		require.NoError(t, err)
		require.True(t, handle.Replaced)
		require.Equal(t, echomq.StateDelayed, state(t, f, owner))
		require.Equal(t, "second", receive(t, g.begun, "the second attempt"))
		g.end <- nil
		require.Equal(t, "second", await(t, f, owner))
		refused(owner, echomq.StateCompleted)
	})
}
