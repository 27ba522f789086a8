package echomq

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Attempts share a deadline if they start together and may run for as long; it ends
// none of them early, and the last one frees it.
func TestDeadlinesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		together := deadlines{jobs: t.Context()}
		first := together.after(time.Now(), time.Second)
		require.Same(t, first, together.after(time.Now(), time.Second))
		endless := together.after(time.Now(), 0)
		require.Zero(t, endless.limit)
		// What comes between two starts, a slow log say, is not of the later one's time.
		time.Sleep(togetherFor + 1)
		late := together.after(time.Now(), 0)
		require.NotSame(t, endless, late)
		last := together.after(time.Now(), time.Second)
		require.Equal(t, time.Second, time.Until(last.limit))
		together.last.release()

		first.release()
		require.NoError(t, first.ctx.Err(), "another one has it still")
		first.release()
		require.ErrorIs(t, first.ctx.Err(), context.Canceled)
		time.Sleep(time.Second + 1)
		require.ErrorIs(t, context.Cause(last.ctx), ErrTimeout)
		require.ErrorIs(t, last.ctx.Err(), context.DeadlineExceeded)
		for _, one := range []*deadline{endless, late, last} {
			one.release()
		}
		for _, one := range []*deadline{first, endless, late, last} {
			require.Zero(t, one.users.Load())
		}
	})
}
