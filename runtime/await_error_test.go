package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestAwaitOfAMissingJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle, err := f.greet().Handle(f.client, "nobody")
		require.NoError(t, err)
		_, err = handle.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMissing)
		require.Equal(t, echomq.StateMissing, state(t, f, handle))
	})
}

func TestAwaitOfAJobThatIsRemoved(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		ended := awaiting(f.ctx, handle)
		f.listening(t, handle)
		require.NoError(t, f.store.Del(f.ctx, f.queue.Key(handle.ID)).Err())
		f.work(t, hello) // finds the orphan and says so
		require.ErrorIs(t, receive(t, ended, "the end of Await"), echomq.ErrJobMissing)
	})
}

func TestHandleOfAnotherJobsID(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		id := f.enqueue(t, "Ada").ID
		other, err := echomq.NewJobType[greeting, string](f.jobSpec("other")).Handle(f.client, id)
		require.NoError(t, err)
		_, err = other.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
		_, err = other.State(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
	})
}

func TestAwaitAsAnotherResult(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello)
		handle := f.enqueue(t, "Ada")
		await(t, f, handle)
		number, err := echomq.NewJobType[greeting, int](f.jobSpec("greet")).Handle(f.client, handle.ID)
		require.NoError(t, err)
		result, err := number.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrResult)
		require.Zero(t, result)
		hostile, err := echomq.NewJobType[greeting, hostile](f.jobSpec("greet")).Handle(f.client, handle.ID)
		require.NoError(t, err)
		_, err = hostile.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrResult, "a panic of the result's own code is an error too")
	})
}

func TestHostileHandleIDs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, id := range []string{"", "wait", "a:lock", "a b", "{a}"} {
			_, err := f.greet().Handle(f.client, id)
			require.ErrorIs(t, err, echomq.ErrName, "id %q", id)
		}
		_, err := f.greet().Handle(f.client, "a", echomq.QueueName("{a}"))
		require.ErrorIs(t, err, echomq.ErrName)
	})
}

func TestZeroHandle(t *testing.T) {
	t.Parallel()
	var handle echomq.Handle[string]
	_, err := handle.Await(t.Context())
	require.ErrorIs(t, err, echomq.ErrOption)
	_, err = handle.State(t.Context())
	require.ErrorIs(t, err, echomq.ErrOption)
	require.Empty(t, handle.Queue())
}

func TestClientIsClosedDuringAwait(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		client := f.newClient(t, f.store)
		handle, err := f.greet().Handle(client, f.enqueue(t, "Ada").ID)
		require.NoError(t, err)
		ended := awaiting(f.ctx, handle)
		f.listening(t, handle)
		start := time.Now()
		require.NoError(t, client.Close())
		require.ErrorIs(t, receive(t, ended, "the end of Await"), echomq.ErrClosed)
		require.Less(t, time.Since(start), time.Second)

		_, err = handle.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrClosed)
		_, err = handle.State(f.ctx)
		require.ErrorIs(t, err, echomq.ErrClosed)
		_, err = echomq.Enqueue(f.ctx, echomq.NewProducer(client, f.spec), f.greet(), greeting{})
		require.ErrorIs(t, err, echomq.ErrClosed)
		require.NoError(t, client.Close(), "closing twice")
		require.NoError(t, f.store.Ping(f.ctx).Err(), "the store stays the caller's")
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
		defer cancel()
		_, err := handle.Await(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, echomq.ErrAwaitLimit)

		why := errors.New("nobody wants it any more")
		withCause, end := context.WithCancelCause(f.ctx)
		ended := awaiting(withCause, handle)
		f.listening(t, handle)
		end(why)
		require.ErrorIs(t, receive(t, ended, "the end of Await"), why)

		ended = awaiting(withCause, handle) // its context has ended before
		require.ErrorIs(t, receive(t, ended, "the end of Await"), why)
	})
}

func TestAwaitLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		client := f.newClient(t, f.store, echomq.AwaitAtMost(50*time.Millisecond))
		handle, err := f.greet().Handle(client, f.enqueue(t, "Ada").ID)
		require.NoError(t, err)
		_, err = handle.Await(context.Background())
		require.ErrorIs(t, err, echomq.ErrAwaitLimit)
		_, err = handle.Await(context.WithValue(context.Background(), greeting{}, ""))
		require.ErrorIs(t, err, echomq.ErrAwaitLimit)

		cancelled, cancel := context.WithCancel(context.Background())
		cancel()
		_, err = handle.Await(cancelled)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// awaiting awaits a job in the background and returns a channel with the error.
func awaiting[R any](ctx context.Context, handle echomq.Handle[R]) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := handle.Await(ctx)
		ended <- err
	}()
	return ended
}

// listening waits until somebody reads the events of the fixture's queue: an
// Await that was begun before will miss nothing.
func (f *fixture) listening(t *testing.T, handle echomq.Handle[string]) {
	t.Helper()
	eventually(t, func() bool { return echomq.Waiting(handle) > 0 }, "somebody awaits the job")
}

// hostile is a type whose own code panics.
type hostile struct{}

func (*hostile) UnmarshalJSON([]byte) error  { panic("hostile") }
func (hostile) MarshalJSON() ([]byte, error) { panic("hostile") }
