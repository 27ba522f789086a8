package echomq_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
)

// barrier is a hook of the client library that holds, when it is armed, the next
// round trip that settles and picks.
type barrier struct {
	armed atomic.Bool
	held  chan struct{} // closed when one is held
	open  chan struct{}
}

func (b *barrier) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (b *barrier) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

func (b *barrier) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		picks := slices.ContainsFunc(cmds, func(cmd redis.Cmder) bool { return len(cmd.Args()) > 1 && cmd.Args()[1] == lua.Pick().SHA1 })
		if picks && b.armed.CompareAndSwap(true, false) {
			close(b.held)
			<-b.open
		}
		return next(ctx, cmds)
	}
}

// snag is a [slog.Handler] that holds the first word about settings that cannot be
// read: a lane says it of a job that its pick took, before the job has its slot.
type snag struct {
	caught atomic.Bool
	held   chan struct{} // closed when one is held
	open   chan struct{}
}

func (s *snag) Enabled(context.Context, slog.Level) bool { return true }
func (s *snag) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s *snag) WithGroup(string) slog.Handler            { return s }
func (s *snag) Handle(_ context.Context, record slog.Record) error {
	if record.Message == "a job's settings cannot be read; the defaults hold" && s.caught.CompareAndSwap(false, true) {
		close(s.held)
		<-s.open
	}
	return nil
}

// opener returns what opens a gate, once.
func opener(gate chan<- struct{}) func() { return sync.OnceFunc(func() { close(gate) }) }

// TestStopWhileTheSecondLaneStarts stops a worker at the moment at which its second
// lane knows what its pick took and has begun none of it, and the main lane has
// nothing left to do. All of it is given back, and nothing is left to its lease.
func TestStopWhileTheSecondLaneStarts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const slots, late = 20, 5 // no more than the least that the second lane goes for
		main := &barrier{held: make(chan struct{}), open: make(chan struct{})}
		second := &snag{held: make(chan struct{}), open: make(chan struct{})}
		store := f.programStore(t)
		store.AddHook(main)
		f.client = f.newClient(t, store, echomq.WithLogger(slog.New(second)))
		letMain, letSecond := opener(main.open), opener(second.open)
		first, others := make(chan struct{}), make(chan struct{})
		running := make(chan string, slots+late)
		for n := range slots {
			f.enqueue(t, fmt.Sprint(n))
		}
		var left []echomq.Handle[string]
		for range late {
			left = append(left, f.enqueue(t, "late"))
		}
		w := f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			running <- job.Payload.Name
			if job.Payload.Name == "0" {
				<-first
			} else {
				<-others
			}
			return "done", nil
		}, echomq.Concurrency(slots))
		t.Cleanup(letMain) // also if the test ends before
		t.Cleanup(letSecond)
		for range slots {
			require.NotEqual(t, "late", receive(t, running, "a job"))
		}
		for _, handle := range left {
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "opts", "{").Err())
		}

		main.armed.Store(true)
		close(first)
		receive(t, main.held, "the round trip of the main lane")
		close(others)
		receive(t, second.held, "the start of what the second lane took")
		require.Equal(t, echomq.StateActive, state(t, f, left[late-1]))
		stopped := make(chan error, 1)
		go func() { stopped <- w.Stop(f.ctx) }()
		eventually(t, func() bool { return !w.Ready() }, "the worker is stopping")
		letMain()
		// What was only reserved for the second lane is started by the main one, to be
		// given back with the rest.
		eventually(t, func() bool { return f.store.HLen(f.ctx, f.queue.Key("reserved")).Val() == 0 }, "the main lane has done what there was to do")
		for _, handle := range left {
			require.Equal(t, echomq.StateActive, state(t, f, handle))
		}
		letSecond()

		require.NoError(t, receive(t, stopped, "the end of Stop"))
		require.NoError(t, receive(t, w.done, "the end of Run"))
		w.done <- nil
		require.Empty(t, running, "nothing was begun")
		require.Zero(t, f.store.ZCard(f.ctx, f.queue.Key("active")).Val())
		for _, handle := range left {
			require.Equal(t, echomq.StateWaiting, state(t, f, handle))
			require.Equal(t, 0, f.envelope(t, handle.ID).AttemptsStarted, "the attempt is refunded")
		}
	})
}
