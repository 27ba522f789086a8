package echomq

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShares(t *testing.T) {
	t.Parallel()
	p := newPool(12)
	woken := map[string]int{}
	join := func(name string, weight int) *share { return p.join(weight, func() { woken[name]++ }) }
	a, b, c := join("a", 3), join("b", 1), join("c", 2)

	// Alone, a queue gets everything.
	require.Equal(t, 12, a.grant(100))
	a.hold(12, true)
	require.Zero(t, b.grant(5))

	// What is freed goes to the one that is in want of it, up to its share.
	a.release()
	require.Equal(t, 1, woken["b"])
	require.Zero(t, a.grant(1))
	require.Equal(t, 1, b.grant(5))
	b.hold(1, true)
	for range 3 {
		a.release()
	}
	require.Equal(t, 1, a.grant(3), "9 of 12 are its share of two, of which it has 8")
	a.hold(9, true)
	require.Equal(t, 2, b.grant(5))
	b.hold(3, true)
	require.Zero(t, b.grant(2))
	require.Zero(t, a.grant(1))

	// A third with work comes to its share as slots are freed.
	require.Zero(t, c.grant(4))
	for range 3 {
		a.release()
		require.Zero(t, a.grant(1))
		require.Equal(t, 1, c.grant(1))
	}
	require.Equal(t, 6, a.taken)
	b.release()
	require.Zero(t, a.grant(3))
	require.Equal(t, 1, c.grant(3))
	require.Equal(t, []int{6, 2, 4}, []int{a.taken, b.taken, c.taken})

	// One that has no work leaves its share to the others, and one that cannot ask
	// does not stand in their way.
	b.hold(0, false)
	c.rest()
	require.Equal(t, 2, a.grant(10))
	require.Zero(t, a.grant(10))
	before := woken["a"]
	c.leave()
	require.Greater(t, woken["a"], before)
	require.Equal(t, 4, a.grant(10))
	require.Equal(t, 12, a.taken)
	require.Len(t, p.shares, 2)
}

func TestNoPool(t *testing.T) {
	t.Parallel()
	s := newPool(0).join(1, nil)
	require.Nil(t, s)
	require.Equal(t, 7, s.grant(7))
	s.hold(3, true)
	s.release()
	s.rest()
	s.leave()
}
