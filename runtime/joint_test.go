package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
)

// turnstile is a hook of the client library that counts the calls which add jobs,
// and holds them until they are let through.
type turnstile struct {
	open chan struct{}

	mu    sync.Mutex
	calls int
	jobs  int
}

func (s *turnstile) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *turnstile) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *turnstile) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) > 1 && args[1] == lua.Push().SHA1 {
			s.mu.Lock()
			s.calls++
			s.jobs += args[2].(int) - fixedKeys
			s.mu.Unlock()
			<-s.open
		}
		return next(ctx, cmd)
	}
}

func (s *turnstile) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *turnstile) jobsOut() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.jobs
}

// fixedKeys is how many keys a call that adds plain jobs has beside one for each.
const fixedKeys = 3

// crowded returns a producer of a client of its own, whose calls that add jobs are
// held.
func crowded(t *testing.T, f *fixture, opts ...echomq.ClientOption) (*echomq.Producer, *echomq.Client, *turnstile) {
	t.Helper()
	_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"the script is loaded"})
	require.NoError(t, err)
	held := &turnstile{open: make(chan struct{})}
	store := f.programStore(t)
	store.AddHook(held)
	client := f.newClient(t, store, opts...)
	return echomq.NewProducer(client, f.spec), client, held
}

// TestEnqueuesAtOnceShareCalls adds jobs by many callers while a call is out.
func TestEnqueuesAtOnceShareCalls(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const callers = 40
		producer, client, held := crowded(t, f, echomq.HoldAtMost(patience))
		type came struct {
			name   string
			handle echomq.Handle[string]
			err    error
		}
		all := make(chan came, 2*callers)
		add := func(name string, opts ...echomq.EnqueueOption) {
			handle, err := echomq.Enqueue(f.ctx, producer, f.greet(), greeting{name}, opts...)
			all <- came{name, handle, err}
		}
		go add("first")
		eventually(t, func() bool { return held.count() == 1 }, "a call is out")
		for n := range callers {
			go add(fmt.Sprint(n))
		}
		go add("twin", echomq.ID("twin"))
		go add("twin", echomq.ID("twin"))
		eventually(t, func() bool { return held.count() == 2 && held.jobsOut()+echomq.InWait(client) == callers+3 }, "one more call is out, for many, and the others wait")
		close(held.open)
		existing := 0
		for range callers + 3 {
			one := receive(t, all, "an enqueue")
			require.NoError(t, one.err)
			if one.handle.Existing {
				existing++
			}
			require.Equal(t, fmt.Sprintf(`{"name":%q}`, one.name), f.hash(t, one.handle.ID)["data"], "each caller has the handle of its own job")
		}
		require.Equal(t, 1, existing, "one of two with the same id")
		require.LessOrEqual(t, held.count(), 4, "calls for %d jobs", callers+3)
		require.EqualValues(t, 1+callers+2, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
	})
}

// TestWaitingEnqueueIsCancelled ends the contexts of callers: of one that waits for
// a call and of one that is out.
func TestWaitingEnqueueIsCancelled(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		producer, client, held := crowded(t, f, echomq.HoldAtMost(patience))
		enough := errors.New("enough")
		add := func(name string) (cancel context.CancelCauseFunc, came chan error) {
			ctx, cancel := context.WithCancelCause(f.ctx)
			came = make(chan error, 1)
			go func() {
				_, err := echomq.Enqueue(ctx, producer, f.greet(), greeting{name}, echomq.ID(name))
				came <- err
			}()
			return cancel, came
		}
		cancelOut, out := add("out")
		eventually(t, func() bool { return held.count() == 1 }, "a call is out")
		cancelWaiting, waiting := add("waiting")
		_, patient := add("patient")
		eventually(t, func() bool { return echomq.InWait(client) == 2 }, "two wait")

		cancelWaiting(enough)
		err := receive(t, waiting, "the one that waited")
		require.ErrorIs(t, err, echomq.ErrNotSent)
		require.ErrorIs(t, err, enough)
		cancelOut(enough)
		err = receive(t, out, "the one that was out")
		require.ErrorIs(t, err, echomq.ErrOutcomeUnknown)
		require.ErrorIs(t, err, enough)

		close(held.open)
		require.NoError(t, receive(t, patient, "the one that goes on"))
		require.Empty(t, f.hash(t, "waiting"), "what was not sent")
	})
}

// TestHungCallHoldsUpNobody adds jobs behind a call that does not come back.
func TestHungCallHoldsUpNobody(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		producer, _, held := crowded(t, f)
		came := make(chan error, 3)
		for n := range 3 {
			go func() {
				_, err := echomq.Enqueue(f.ctx, producer, f.greet(), greeting{"behind"})
				came <- err
			}()
			eventually(t, func() bool { return held.count() == n+1 }, "it is sent, whatever became of those before it")
		}
		close(held.open)
		for range 3 {
			require.NoError(t, receive(t, came, "an enqueue"))
		}
		require.EqualValues(t, 1+3, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
	})
}

// TestHungCallsHoldUpNobody adds more, behind calls that do not come back, than one
// call takes: no caller waits for more than one of them.
func TestHungCallsHoldUpNobody(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		producer, _, held := crowded(t, f)
		const callers, jobs = 4, 400
		results := make(chan error, callers)
		for range callers {
			go func() {
				_, err := echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(make([]greeting, jobs)...))
				results <- err
			}()
		}
		eventually(t, func() bool { return held.jobsOut() == callers*jobs }, "all have been sent")
		close(held.open)
		for range callers {
			require.NoError(t, receive(t, results, "the answer"))
		}
	})
}

// TestRefusedCallIsOfNobodyElse has a call refused that is for many, and one of the
// reasons go away for the calls after it.
func TestRefusedCallIsOfNobodyElse(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		producer, client, held := crowded(t, f, echomq.HoldAtMost(patience))
		came := make(chan error, 6)
		add := func() {
			_, err := echomq.Enqueue(f.ctx, producer, f.greet(), greeting{"late"})
			came <- err
		}
		go add()
		eventually(t, func() bool { return held.count() == 1 }, "a call is out")
		for range 5 {
			go add()
		}
		eventually(t, func() bool { return echomq.InWait(client) == 5 }, "five wait")
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		close(held.open)
		for range 6 {
			err := receive(t, came, "an enqueue")
			require.ErrorIs(t, err, echomq.ErrVersion)
			require.ErrorContains(t, err, "echomq:3.0.0")
		}
		require.Equal(t, 2+5, held.count(), "each was tried by itself")
		require.EqualValues(t, 1, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:2.0.0").Err())
	})
}
