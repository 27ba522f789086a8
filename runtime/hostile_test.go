package echomq_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// hostileError is an error whose own methods panic on a nil pointer.
type hostileError struct{ text string }

func (e *hostileError) Error() string { return e.text }

func TestErrorWhoseMethodsPanic(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Attempt() == 1 {
				var none *hostileError
				return "", none
			}
			return "hello", nil
		})
		require.Equal(t, "hello", await(t, f, f.enqueue(t, "Ada", echomq.Retry(echomq.RetrySpec{Base: time.Millisecond}))))
	})
}

// TestDamagedNumbersHarmTheirJobAlone plants numbers in a record that no script
// takes: the job fails by itself, and what is settled with it is not harmed.
func TestDamagedNumbersHarmTheirJobAlone(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, field := range []string{"priority", "atm", "ats", "ukn"} {
			var handles []echomq.Handle[string]
			for range 6 {
				handles = append(handles, f.enqueue(t, "Ada"))
			}
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handles[3].ID), field, -1).Err())
			w := f.work(t, hello)
			for i, handle := range handles {
				result, err := handle.Await(f.ctx)
				if i == 3 {
					var failed *echomq.JobError
					require.ErrorAs(t, err, &failed, field)
					require.Contains(t, failed.Reason, field+" is -1")
					continue
				}
				require.NoError(t, err, field)
				require.Equal(t, "hello Ada", result)
				require.Equal(t, 1, f.envelope(t, handle.ID).AttemptsMade)
			}
			w.halt(t)
		}
	})
}

func TestNumbersThatNoScriptTakesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for name, opt := range map[string]echomq.EnqueueOption{
			"stalls":   echomq.Retry(echomq.RetrySpec{Stalls: math.MaxInt}),
			"attempts": echomq.Retry(echomq.RetrySpec{Attempts: math.MaxInt}),
			"count":    echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{Count: math.MaxInt}}),
		} {
			_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"Ada"}, opt)
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
	})
}

func TestPayloadLimitThatIsNone(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, hello, echomq.PayloadLimit(math.MaxInt))
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada", echomq.At(time.Unix(-1<<40, 0)))))
	})
}

func TestResultOverTheLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(context.Context, *echomq.Job[greeting]) (string, error) { return string(make([]byte, 2000)), nil },
			echomq.PayloadLimit(1000))
		_, err := f.enqueue(t, "Ada").Await(f.ctx)
		var failed *echomq.JobError
		require.ErrorAs(t, err, &failed)
		require.Contains(t, failed.Reason, "the limit is 1000")
		require.Equal(t, 1, failed.Attempts)
	})
}

func TestIDsThatCannotBeKeysAreSetAside(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.RPush(f.ctx, f.queue.Key("wait"), "meta", "_", "a:b", "metrics").Err())
		f.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")))
		require.EqualValues(t, 4, f.store.ZCard(f.ctx, f.queue.Key("quarantine")).Val())
		require.Zero(t, f.store.ZCard(f.ctx, f.queue.Key("active")).Val())
	})
}
