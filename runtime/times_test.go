package echomq

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLocalTimeOfTheServers(t *testing.T) {
	t.Parallel()
	at := time.Now()
	server := times{now: at.Add(-time.Hour).UnixMilli(), at: at} // an hour behind us
	require.Equal(t, at, server.local(server.now))
	require.Equal(t, at.Add(time.Second), server.local(server.now+1000))
	require.Equal(t, at.Add(-time.Second), server.local(server.now-1000))
	for _, year := range []int{2318, 2600, 9999} { // further away than a Duration reaches
		due := server.local(time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).UnixMilli())
		require.Greater(t, due.Sub(at), 24*time.Hour, "year %d: it must not seem due, or the timer fires all the time", year)
	}
}
