package echomq

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// spareOf returns how many goroutines wait for work.
func spareOf(on *goroutines) int {
	on.mu.Lock()
	defer on.mu.Unlock()
	return len(on.spare)
}

// TestWithinUsesGoroutinesAgain: calls one after the other are made on one
// goroutine, and nothing is left of it once nobody needs it.
func TestWithinUsesGoroutinesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on goroutines
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		for n := range 10 {
			got, err := within(ctx, &on, func() int { return n })
			require.NoError(t, err)
			require.Equal(t, n, got)
			require.Equal(t, 1, spareOf(&on))
			time.Sleep(spareTime / 2)
		}
		time.Sleep(2 * spareTime)
		synctest.Wait()
		require.Zero(t, spareOf(&on), "all have ended")
		got, err := within(ctx, &on, func() int { return 7 })
		require.NoError(t, err)
		require.Equal(t, 7, got)
		require.Equal(t, 1, spareOf(&on))
		time.Sleep(2 * spareTime)
		synctest.Wait() // the bubble fails the test if a goroutine is left
	})
}

// TestWithinEndsTheGoroutinesOfACrowd keeps those that are needed, and no others.
func TestWithinEndsTheGoroutinesOfACrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on goroutines
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var crowd sync.WaitGroup
		for range 20 {
			crowd.Go(func() {
				_, err := within(ctx, &on, func() error { time.Sleep(time.Millisecond); return nil })
				require.NoError(t, err)
			})
		}
		crowd.Wait()
		require.Equal(t, 20, spareOf(&on))
		for range 30 {
			_, err := within(ctx, &on, func() error { time.Sleep(time.Millisecond); return nil })
			require.NoError(t, err)
			time.Sleep(spareTime / 10)
		}
		require.Equal(t, 1, spareOf(&on))
		time.Sleep(2 * spareTime)
	})
}

// TestWithinDoesNotOutlastItsContext leaves work that hangs, which ends with its
// goroutine later and is nobody else's answer.
func TestWithinDoesNotOutlastItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on goroutines
		enough := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, enough)
		defer cancel()
		start, ended := time.Now(), false
		got, err := within(ctx, &on, func() int { time.Sleep(time.Minute); ended = true; return 1 })
		require.ErrorIs(t, err, enough)
		require.Zero(t, got)
		require.Equal(t, time.Second, time.Since(start))
		require.Zero(t, spareOf(&on), "it is not used again while it works")

		other, stop := context.WithCancel(t.Context())
		defer stop()
		got, err = within(other, &on, func() int { return 2 })
		require.NoError(t, err)
		require.Equal(t, 2, got)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		require.True(t, ended)
		require.Zero(t, spareOf(&on))
	})
}

// TestWithinWorkThatEndsItsGoroutine does not come back; who waits for it leaves
// when its context ends, and the next call has another goroutine.
func TestWithinWorkThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on goroutines
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := within(ctx, &on, func() int { runtime.Goexit(); return 1 })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		other, stop := context.WithCancel(t.Context())
		defer stop()
		got, err := within(other, &on, func() int { return 2 })
		require.NoError(t, err)
		require.Equal(t, 2, got)
		time.Sleep(2 * spareTime)
	})
}

// TestWithinWithoutEnd runs work where it is.
func TestWithinWithoutEnd(t *testing.T) {
	var on goroutines
	got, err := within(context.Background(), &on, func() int { return 3 })
	require.NoError(t, err)
	require.Equal(t, 3, got)
	require.Zero(t, spareOf(&on))
}

// taskFunc lets a function be work that is started.
type taskFunc func()

func (f taskFunc) do() { f() }

// profileWithin returns the profile of all goroutines that one of on takes.
func profileWithin(t *testing.T, on *goroutines) string {
	t.Helper()
	var profile bytes.Buffer
	err, ended := within(t.Context(), on, func() error { return pprof.Lookup("goroutine").WriteTo(&profile, 1) })
	require.NoError(t, errors.Join(err, ended))
	return profile.String()
}

// A goroutine has no labels of the one whose call it was made for.
func TestGoroutineHasNoLabelsOfItsMaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on goroutines
		pprof.Do(t.Context(), pprof.Labels("request", "of-a-customer"), func(ctx context.Context) {
			_, err := within(ctx, &on, func() error { return nil })
			require.NoError(t, err)
		})
		require.Equal(t, 1, spareOf(&on))
		require.NotContains(t, profileWithin(t, &on), "of-a-customer")
		time.Sleep(2 * spareTime)
	})
}

// TestStartedWorkLeavesNoLabels: what a profile tells of a goroutine is of the work
// that it does now.
func TestStartedWorkLeavesNoLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var on goroutines
		on.start(taskFunc(func() {
			pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("left", "behind")))
		}))
		synctest.Wait()
		require.Equal(t, 1, spareOf(&on))
		require.NotContains(t, profileWithin(t, &on), "behind")
		time.Sleep(2 * spareTime)
	})
}
