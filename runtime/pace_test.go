package echomq

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestJobsAreTakenInAdvanceForOneRoundTrip(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pace        pace
		slots, want int
	}{
		"handlers as long as the round trip":  {pace{bound: 48, trip: time.Millisecond, handler: time.Millisecond}, 10, 20},
		"a tenth of it":                       {pace{bound: 48, trip: time.Millisecond, handler: 100 * time.Microsecond}, 3, 33},
		"no more than may be":                 {pace{bound: 48, trip: time.Millisecond, handler: time.Microsecond}, 10, 48},
		"handlers that take longer":           {pace{bound: 48, trip: time.Millisecond, handler: 100 * time.Millisecond}, 10, 10},
		"one slot, handlers somewhat longer":  {pace{bound: 48, trip: time.Millisecond, handler: 8 * time.Millisecond}, 1, 2},
		"one slot, handlers longer than that": {pace{bound: 48, trip: time.Millisecond, handler: 9 * time.Millisecond}, 1, 1},
		"a store that hardly answers":         {pace{bound: 48, trip: time.Hour, handler: 10 * time.Millisecond}, 10, 12},
		"a store that is far":                 {pace{bound: 48, trip: 12 * time.Millisecond, least: 10 * time.Millisecond, handler: 5 * time.Millisecond}, 10, 30},
		"one that is farther":                 {pace{bound: 48, trip: time.Second, least: 100 * time.Millisecond, handler: 20 * time.Millisecond}, 10, 20},
		"one that is busy":                    {pace{bound: 48, trip: 12 * time.Millisecond, least: time.Millisecond, handler: 5 * time.Millisecond}, 10, 14},
		"handlers of which nothing is known":  {pace{bound: 48, trip: time.Hour, handler: unproven}, 40, 40},
		"handlers that take no time":          {pace{bound: 48, trip: time.Millisecond}, 10, 48},
		"more slots than may be taken":        {pace{bound: 48, trip: time.Millisecond, handler: 1}, 100, 100},
		"the most that may be":                {pace{bound: maxPrefetch, trip: time.Hour, handler: 1}, maxPrefetch - 1, maxPrefetch},
		"a queue that has a limit":            {pace{bound: 48, trip: time.Millisecond, handler: 1, bounded: true}, 10, 10},
		"none in advance":                     {pace{bound: 0, trip: time.Millisecond, handler: 1}, 10, 10},
	} {
		require.Equal(t, c.want, c.pace.room(c.slots), name)
	}
}

func TestPaceFollowsWhatHandlersTake(t *testing.T) {
	t.Parallel()
	p := pace{bound: 48, trip: time.Millisecond, handler: unproven}
	short := 0
	for ; p.room(10) < 48; short++ {
		p.handled(50 * time.Microsecond)
	}
	require.InDelta(t, 600, short, 200, "handlers are to be short for a while")
	for range 100 {
		p.handled(200 * time.Millisecond)
	}
	require.Equal(t, 10, p.room(10), "and no longer are")
	p.handler = 1
	require.True(t, p.more(10, 47))
	require.False(t, p.more(10, 48))
	p.slow()
	require.Equal(t, 10, p.room(10))
	require.False(t, p.more(10, 10))
	for range 1000 {
		p.wentRound(time.Microsecond)
	}
	require.Less(t, p.trip, 20*time.Microsecond)
}

func TestPaceFollowsTheShortestRoundTrip(t *testing.T) {
	t.Parallel()
	var p pace
	round := func(trips int, took time.Duration) {
		for n := range trips {
			p.wentRound(took + time.Duration(n)) // none as short as the first
		}
	}
	round(tripsCompared-1, 10*time.Millisecond)
	require.Zero(t, p.least, "nothing is known yet")
	round(1, 30*time.Millisecond)
	require.Equal(t, 10*time.Millisecond, p.least)
	round(1, time.Millisecond)
	require.Equal(t, time.Millisecond, p.least, "a shorter one counts at once")
	round(tripsCompared-1, 10*time.Millisecond)
	require.Equal(t, time.Millisecond, p.least)
	round(tripsCompared, 10*time.Millisecond)
	require.Equal(t, 10*time.Millisecond, p.least, "and no more when it was long ago")
	require.InDelta(t, 10*time.Millisecond, p.trip, float64(2*time.Millisecond))
}
