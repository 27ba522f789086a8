package echomq_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestUniqueKeyOfALostJobHeals: whatever the conflict, a key whose job is gone
// stands in nobody's way.
func TestUniqueKeyOfALostJobHeals(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for name, conflict := range map[string]echomq.Conflict{
			"existing": echomq.ConflictExisting, "replace": echomq.ConflictReplace, "error": echomq.ConflictError,
		} {
			n := uniquely(f, echomq.UniqueSpec{Conflict: conflict, For: time.Hour}, func(s *echomq.JobSpec) { s.Name = name })
			for _, damage := range []func(key string) error{
				func(key string) error { return f.store.Del(f.ctx, key).Err() },
				func(key string) error { return f.store.Set(f.ctx, key, "strange", 0).Err() },
				func(key string) error { return f.store.HDel(f.ctx, key, "name").Err() },
				func(key string) error { return f.store.HSet(f.ctx, key, "deid", "another").Err() },
			} {
				owner := n.new(t, 1, "first", echomq.In(time.Hour))
				require.NoError(t, damage(f.queue.Key(owner.ID)))
				next := n.new(t, 1, "second", echomq.In(time.Hour))
				require.Contains(t, n.held(t), next.ID)
				require.NoError(t, damage(f.queue.Key(next.ID))) // for the round after
			}
		}
	})
}

func TestUniqueOfTwoProducersOneWins(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{})
		const rounds, producers = 20, 8
		for round := range int64(rounds) {
			handles := make([]echomq.Handle[string], producers)
			var all sync.WaitGroup
			for i := range handles {
				all.Go(func() {
					handle, err := n.try(round, "race")
					assert.NoError(t, err)
					handles[i] = handle
				})
			}
			all.Wait()
			winners := 0
			for _, handle := range handles {
				require.Equal(t, handles[0].ID, handle.ID)
				if !handle.Existing {
					winners++
				}
			}
			require.Equal(t, 1, winners)
		}
		require.EqualValues(t, rounds, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
	})
}

// TestUniqueWithLostAnswers: the answer that comes in the end says what happened
// first.
func TestUniqueWithLostAnswers(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		unique := echomq.UniqueSpec{Until: echomq.UntilStarted, Conflict: echomq.ConflictReplace, For: time.Hour}
		loaded := uniquely(f, unique) // so that no answer is that a script is missing
		loaded.new(t, 9, "first", echomq.In(time.Hour))
		_, err := loaded.try(9, "second", echomq.In(time.Hour))
		require.NoError(t, err)
		for name, keep := range map[string]echomq.Keep{"kept": {}, "stub": {None: true}} {
			proxy := enginetest.NewProxy(t, f.engine)
			lossy := *f
			lossy.client = f.newClient(t, proxy.Store(t))
			lossy.producer = echomq.NewProducer(lossy.client, f.spec)
			n := uniquely(&lossy, unique, func(s *echomq.JobSpec) { s.Keep.Completed = keep })
			lost := proxy.CutBeforeReply(first(1, calls("add")))
			owner := n.new(t, 1, "first")
			require.Equal(t, 1, lost.Hits())

			// The answer to the replacement is lost, and before it is sent again the
			// job has run.
			lost = proxy.CutBeforeReply(first(1, calls("replace")))
			replace, replaced := calls("replace"), 0
			proxy.CutBeforeRequest(func(command []string) bool {
				if !replace(command) {
					return false
				}
				if replaced++; lost.Hits() == 1 {
					w := uniquely(f, unique).work(t, text)
					direct, err := n.job.Handle(f.client, owner.ID)
					require.NoError(t, err)
					reach(t, f, direct, echomq.StateCompleted)
					w.halt(t)
				}
				return false
			})
			handle, err := n.try(1, "second")
			require.NoError(t, err)
			require.Equal(t, 1, lost.Hits())
			require.Equal(t, 1, replaced, "it was sent again")
			require.True(t, handle.Replaced)
			require.Equal(t, owner.ID, handle.ID)
			if name == "kept" {
				require.Equal(t, "second", await(t, f, handle))
			}
			require.Zero(t, f.store.Exists(f.ctx, f.queue.Key("wait")).Val(), "it was not added beside it")
		}
	})
}

// TestUniqueKeyAndRepairs: whatever deletes a job releases its key, and a failed
// job that is to run again takes it only if it is free.
func TestUniqueKeyAndRepairs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		n := uniquely(f, echomq.UniqueSpec{For: time.Hour})
		queue := f.admin(t)
		removed := n.new(t, 1, "to be removed")
		_, err := queue.Remove(f.ctx, removed.ID)
		require.NoError(t, err)
		n.new(t, 1, "to be drained")
		_, err = queue.Drain(f.ctx)
		require.NoError(t, err)
		require.Empty(t, n.held(t))
		require.Zero(t, f.store.Exists(f.ctx, f.queue.Key("dedup-due")).Val())

		g := newGate()
		w := n.work(t, g.handle)
		failed := n.new(t, 1, "first")
		g.end <- echomq.Fail(errFlaky)
		awaitFailure(t, f, failed)
		w.halt(t)
		rival := n.new(t, 1, "rival", echomq.In(time.Hour))
		err = failed.Retry(f.ctx)
		var duplicate *echomq.DuplicateError
		require.ErrorAs(t, err, &duplicate)
		require.Equal(t, &echomq.DuplicateError{Queue: f.spec.Name, Job: failed.ID, Owner: rival.ID}, duplicate)
		require.Equal(t, echomq.StateFailed, state(t, f, failed))

		require.NoError(t, f.store.Del(f.ctx, f.queue.Key(rival.ID)).Err())
		require.NoError(t, f.store.ZRem(f.ctx, f.queue.Key("delayed"), rival.ID).Err())
		require.NoError(t, failed.Retry(f.ctx), "the rival is gone")
		require.Equal(t, []string{failed.ID}, owners(n.held(t)))
		n.same(t, failed, 1)
		n.work(t, text)
		require.Equal(t, "first", await(t, f, failed))
		require.Empty(t, n.held(t))
	})
}
