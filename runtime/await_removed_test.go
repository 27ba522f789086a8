package echomq_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// TestAwaitOfARemovedJobEnds: what removes jobs tells so, whatever the level of
// their queue is, and wakes those who wait, in other processes too.
func TestAwaitOfARemovedJobEnds(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.Events = echomq.EventsNone
		f.producer = echomq.NewProducer(f.client, f.spec)
		queue := f.admin(t)
		elsewhere := f.newClient(t, f.programStore(t))
		for _, remove := range []func(id string) error{
			func(id string) error {
				_, err := queue.Remove(f.ctx, id)
				return err
			},
			func(string) error {
				_, err := queue.Drain(f.ctx)
				return err
			},
			func(id string) error { // of all, in one event without a job
				require.NoError(t, f.store.LRem(f.ctx, f.queue.Key("wait"), 1, id).Err())
				require.NoError(t, f.store.Del(f.ctx, f.queue.Key(id)).Err())
				return f.store.XAdd(f.ctx, &redis.XAddArgs{Stream: f.queue.Key("events"), Values: []any{"event", "ended"}}).Err()
			},
		} {
			id := f.enqueue(t, "Ada").ID
			there, err := f.greet().Handle(elsewhere, id)
			require.NoError(t, err)
			ended := awaiting(f.ctx, there)
			f.listening(t, there)
			begun := time.Now()
			require.NoError(t, remove(id))
			require.ErrorIs(t, receive(t, ended, "the end of Await"), echomq.ErrJobMissing)
			require.Less(t, time.Since(begun), 20*time.Second, "it was woken, and did not look by itself")
		}
	})
}

// TestAwaitOfAJobThatIsTrimmedAsItEnds: whoever comes for the result of a job
// that is kept for no time gets it or learns that it is gone; nobody waits on.
func TestAwaitOfAJobThatIsTrimmedAsItEnds(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada", echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Count: 1, Age: 1_000_000}}))
		ended := awaiting(f.ctx, handle)
		f.listening(t, handle)
		f.run(t, []echomq.WorkerOption{echomq.CleanEvery(1)}, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
		if err := receive(t, ended, "the end of Await"); err != nil {
			require.True(t, isOneOf(err, echomq.ErrJobMissing, echomq.ErrNotKept), "%v", err)
		}
		eventually(t, func() bool {
			_, err := handle.Await(f.ctx)
			return isOneOf(err, echomq.ErrJobMissing, echomq.ErrNotKept)
		}, "it is gone")
	})
}

func isOneOf(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
