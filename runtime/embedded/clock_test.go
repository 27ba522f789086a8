package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/embedded"
)

// A clock that stands moves when it is told to, and so do times to live.
func TestStandingClock(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	server, err := embedded.Start(t.Context(), embedded.StandingClock(start))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	store := server.Redis()
	require.NoError(t, store.Set(t.Context(), "key", "value", time.Hour).Err())
	shows := func() time.Time {
		now, err := store.Time(t.Context()).Result()
		require.NoError(t, err)
		return now.UTC()
	}
	require.Equal(t, start, shows())
	now, err := server.Advance(59 * time.Minute)
	require.NoError(t, err)
	require.Equal(t, start.Add(59*time.Minute), now.UTC())
	require.Equal(t, now.UTC(), shows())
	require.Equal(t, "value", store.Get(t.Context(), "key").Val())
	now, err = server.Advance(-time.Hour)
	require.NoError(t, err)
	require.Equal(t, shows(), now.UTC())
	_, err = server.Advance(time.Minute)
	require.NoError(t, err)
	require.Zero(t, store.Exists(t.Context(), "key").Val())

	going, err := embedded.Start(t.Context(), embedded.InMemory())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, going.Close()) })
	_, err = going.Advance(time.Minute)
	require.ErrorIs(t, err, embedded.ErrClock)
}
