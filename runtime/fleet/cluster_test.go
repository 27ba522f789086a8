package fleet_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/fleet"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// TestPairsOnAClusterThatMovesSlots gives the runtimes a node of a cluster of three
// primaries and three replicas. The slot of every queue is moved to another
// primary while it is used.
func TestPairsOnAClusterThatMovesSlots(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	peers, stock := fleet.TestPeers(t.Context(), root)
	for _, peer := range peers {
		require.NoError(t, peer.Err)
	}
	bundle := t.TempDir()
	require.NoError(t, fleet.WriteBundle(bundle))
	type outcome struct {
		report *fleet.Report
		err    error
	}
	ended := make(chan outcome, 1)
	go func() {
		report, err := fleet.Run(t.Context(), fleet.Config{
			Address: "redis://" + cluster.Owner(t, 0).Options().Addr, Bundle: bundle, Peers: peers, Stock: stock,
		})
		ended <- outcome{report, err}
	}()
	moves := moveQueues(t, cluster, ended)
	found := <-ended
	require.NoError(t, found.err)
	requirePassed(t, found.report)
	require.Equal(t, fleet.Passed, found.report.Verdict)
	require.Len(t, found.report.Pairs, 9)
	assert.Regexp(t, `^valkey \S+, a cluster of 3 primaries and 3 replicas$`, found.report.Engine)
	assert.Greater(t, moves, 20, "queues were moved while they were used")
	assert.Contains(t, found.report.Runtimes[5].Note, "shown", "stock BullMQ was asked")
	for _, node := range cluster.Primaries() {
		left, err := node.Client(t).Keys(t.Context(), "*").Result()
		require.NoError(t, err)
		for _, key := range left {
			assert.Equal(t, wire.StoreVersionKey, key, "the queues are removed")
		}
	}
	t.Logf("%d slots were moved", moves)
}

// moveQueues moves the slot of each queue that comes to be, until something is
// there, and returns how many it moved.
func moveQueues[V any](t *testing.T, cluster *enginetest.Cluster, until chan V) int {
	t.Helper()
	client, primaries := cluster.Client(t), cluster.Primaries()
	moved := map[string]bool{}
	for len(until) == 0 {
		queues, err := client.SMembers(t.Context(), wire.StoreQueuesKey).Result()
		require.NoError(t, err)
		for _, name := range queues {
			if moved[name] {
				continue
			}
			moved[name] = true
			queue, err := wire.ParseQueue(name)
			require.NoError(t, err)
			slot := wire.Slot(queue.Key("meta"))
			to := primaries[len(moved)%len(primaries)]
			if to == cluster.Owner(t, slot) {
				to = primaries[(len(moved)+1)%len(primaries)]
			}
			move := cluster.BeginMove(t, slot, to)
			for range 3 {
				move.Step(1)
				time.Sleep(10 * time.Millisecond) // the move takes its time; that is what is tested
			}
			move.Finish()
		}
		time.Sleep(time.Millisecond)
	}
	return len(moved)
}
