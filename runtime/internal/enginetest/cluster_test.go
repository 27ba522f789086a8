package enginetest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

func TestClusterHasPrimariesWithReplicas(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	assert.Same(t, cluster, enginetest.SharedCluster(t))
	assert.Panics(t, cluster.Owner(t, 0).Kill, "nobody kills what others use")
	seen := map[*enginetest.Engine]bool{}
	for _, slot := range []int{0, 8000, 16383} {
		seen[cluster.Owner(t, slot)] = true
		replica := cluster.Replica(t, slot)
		seen[replica] = true
		assert.Contains(t, replica.Client(t).Info(t.Context(), "replication").Val(), "role:slave")
	}
	assert.Len(t, seen, 6)
	assert.Equal(t, 12739, cluster.Slot(t, "123456789"))
}

func TestMoveOfASlot(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	client := cluster.Client(t)
	const keys = 100
	name := func(i int) string { return fmt.Sprintf("{move}:%d", i) }
	for i := range keys {
		require.NoError(t, client.Set(t.Context(), name(i), i, 0).Err())
	}
	slot := cluster.Slot(t, name(0))
	from, to := cluster.Owner(t, slot), cluster.AddPrimary(t)

	move := cluster.BeginMove(t, slot, to)
	move.Take(name(7))
	move.Take("{move}:none")
	mixed := func(values ...string) error { return client.MGet(t.Context(), values...).Err() }
	assert.True(t, redis.HasErrorPrefix(mixed(name(1), name(7)), "TRYAGAIN"))
	assert.NoError(t, mixed(name(7)))
	assert.Equal(t, 10, move.Step(10))
	assert.Same(t, from, cluster.Owner(t, slot))
	move.Finish()
	require.Eventually(t, func() bool { return cluster.Owner(t, slot) == to }, 10*time.Second, 10*time.Millisecond)
	for i := range keys {
		assert.Equal(t, fmt.Sprint(i), client.Get(t.Context(), name(i)).Val())
	}
	assert.EqualValues(t, keys, to.Client(t).DBSize(t.Context()).Val())
}

func TestReplicaIsPromoted(t *testing.T) {
	t.Parallel()
	s := enginetest.StartSentinels(t, time.Second)
	client := s.Client(t)
	require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
	require.EqualValues(t, 1, client.Wait(t.Context(), 1, time.Second).Val())
	s.Primary.Kill()
	require.Eventually(t, func() bool { return client.Set(t.Context(), "l", "w", 0).Err() == nil }, 30*time.Second, 20*time.Millisecond)
	assert.Equal(t, "v", s.Replica.Client(t).Get(t.Context(), "k").Val())
}
