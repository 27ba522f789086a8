package echomq_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	echomq "github.com/echomq/echomq-go/runtime"
)

// accident is a hook of the client library under which something happens to calls that
// add jobs: what befall says of the n-th one.
type accident struct {
	befall func(n int) (executed bool, answer error)
	calls  int
}

func (a *accident) DialHook(next redis.DialHook) redis.DialHook { return next }

func (a *accident) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (a *accident) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) < 2 || args[1] != lua.Push().SHA1 {
			return next(ctx, cmd)
		}
		executed, answer := a.befall(a.calls)
		a.calls++
		if executed {
			if err := next(ctx, cmd); err != nil {
				return err
			}
		}
		if answer != nil {
			cmd.SetErr(answer)
		}
		return answer
	}
}

// refusal is an error that the server answers with.
type refusal string

func (r refusal) Error() string { return string(r) }
func (refusal) RedisError()     {}

// struck returns a producer whose client has the accident, with the script loaded and
// the queue empty.
func struck(t *testing.T, f *fixture, a *accident) *echomq.Producer {
	t.Helper()
	f.enqueue(t, "the script is loaded")
	_, err := f.admin(t).Drain(f.ctx)
	require.NoError(t, err)
	store := f.programStore(t)
	store.AddHook(a)
	return echomq.NewProducer(f.newClient(t, store), f.spec)
}

// waitingNames are the names of the greetings that wait, in the order in which they
// run.
func waitingNames(t *testing.T, f *fixture) []string {
	t.Helper()
	ids, err := f.store.LRange(f.ctx, f.queue.Key("wait"), 0, -1).Result()
	require.NoError(t, err)
	slices.Reverse(ids)
	names := make([]string, len(ids))
	for n, id := range ids {
		var who greeting
		require.NoError(t, json.Unmarshal([]byte(f.hash(t, id)["data"]), &who))
		names[n] = who.Name
	}
	return names
}

// numbers are the names of the first n people.
func numbers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	return names
}

// TestBatchKeepsItsOrder has calls of a batch be lost before or after they are
// executed, and refused for as long as the server starts.
func TestBatchKeepsItsOrder(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for what, first := range map[string]struct {
			executed bool
			answer   error
		}{
			"all goes well":         {executed: true},
			"an answer is lost":     {executed: true, answer: io.ErrUnexpectedEOF},
			"a call is lost":        {answer: io.ErrUnexpectedEOF},
			"the server is loading": {answer: refusal("LOADING it is loading")},
		} {
			a := &accident{befall: func(n int) (bool, error) {
				if n%2 == 0 {
					return first.executed, first.answer
				}
				return true, nil
			}}
			producer := struck(t, f, a)
			outcomes, err := echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(people(10)...), echomq.ChunkSize(3))
			require.NoError(t, err, what)
			for n, outcome := range outcomes {
				require.NoError(t, outcome.Err, "%s, item %d", what, n)
				require.False(t, outcome.Handle.Existing, "%s, item %d", what, n)
			}
			require.Equal(t, numbers(10), waitingNames(t, f), what)
		}
	})
}

// TestChunkThatFailsIsTheLast has the second of four chunks refused.
func TestChunkThatFailsIsTheLast(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		a := &accident{befall: func(n int) (bool, error) {
			if n == 1 {
				return false, refusal("EMQFULL no memory")
			}
			return true, nil
		}}
		producer := struck(t, f, a)
		outcomes, err := echomq.EnqueueBatch(f.ctx, producer, f.greet(), echomq.Items(people(8)...), echomq.ChunkSize(2))
		require.ErrorIs(t, err, echomq.ErrFull)
		for n, want := range []error{nil, echomq.ErrFull, echomq.ErrNotSent, echomq.ErrNotSent} {
			require.ErrorIs(t, outcomes[2*n].Err, want, "chunk %d", n)
			require.ErrorIs(t, outcomes[2*n+1].Err, want, "chunk %d", n)
		}
		require.Equal(t, 2, a.calls, "nothing is sent after that")
		require.Equal(t, numbers(2), waitingNames(t, f))
	})
}
