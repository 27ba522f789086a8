package conformance_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/conformance"
	"github.com/echomq/echomq-go/runtime/internal/childserver"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// valkeyServer returns the path of the server, or skips the test, or fails it,
// as every test that needs one.
func valkeyServer(t *testing.T) string {
	t.Helper()
	enginetest.Start(t, enginetest.Valkey)
	binary, err := exec.LookPath("valkey-server")
	require.NoError(t, err)
	return binary
}

// startServer starts a server with further arguments.
func startServer(t *testing.T, binary string, args ...string) *redis.Client {
	t.Helper()
	dir, err := childserver.TempDir()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	port := strconv.Itoa(freePort(t))
	addr := net.JoinHostPort("127.0.0.1", port)
	child, err := childserver.Start(context.WithoutCancel(t.Context()), childserver.Config{
		Binary: binary, Dir: dir, Network: "tcp", Addr: addr,
		Args: append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--loglevel", "warning"}, args...),
	})
	require.NoError(t, err)
	t.Cleanup(child.Kill)
	client := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// queuesOf returns a queue for each primary of a cluster.
func queuesOf(t *testing.T, cluster *enginetest.Cluster) map[*enginetest.Engine]string {
	t.Helper()
	found := map[*enginetest.Engine]string{}
	for len(found) < len(cluster.Primaries()) {
		name := cluster.QueueName(t)
		if owner := cluster.Owner(t, wire.Slot("{"+name+"}")); found[owner] == "" {
			found[owner] = name
		}
	}
	return found
}

// requireGone requires that nothing of a queue is left on any node.
func requireGone(t *testing.T, cluster *enginetest.Cluster, queue string) {
	t.Helper()
	for _, node := range cluster.Primaries() {
		for _, key := range keys(t, node.Client(t)) {
			assert.NotContains(t, key, queue)
		}
	}
}

// TestProbeOfACluster probes queues whose slots lie on different nodes of a cluster
// of three primaries and three replicas, by the address of one of them.
func TestProbeOfACluster(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	for owner, queue := range queuesOf(t, cluster) {
		t.Run(owner.Options().Addr, func(t *testing.T) {
			t.Parallel()
			for _, asked := range []*enginetest.Engine{cluster.Primaries()[0], cluster.Replica(t, 0)} {
				report := conformance.Probe(bounded(t), targetOf(t, asked.Options(), queue), goOn)
				require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
				assert.Equal(t, owner.Options().Addr, report.Nodes[0], "the node that owns the slot")
				for _, step := range report.Steps {
					for _, transition := range step.Transitions {
						assert.Equal(t, owner.Options().Addr, transition.Node)
					}
				}
				requireGone(t, cluster, queue)
			}
		})
	}
}

// A key of another node is refused by a cluster itself, before MONITOR could
// show it.
func TestProbeOfAClusterThatRefuses(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	queues := queuesOf(t, cluster)
	here, elsewhere := cluster.Primaries()[0], cluster.Primaries()[1]
	target := targetOf(t, elsewhere.Options(), queues[here])
	target.Bundle = tampered(t, "pick", fmt.Sprintf("redis.call('GET', %q)", "emq:{"+queues[elsewhere]+"}:stray"))
	report := conformance.Probe(bounded(t), target, goOn)
	assert.Equal(t, conformance.Violates, report.Verdict, report.Reason)
	require.NotNil(t, report.Points[3].First)
	assert.Contains(t, report.Points[3].First.Reason, "pick.lua was answered")
	requireGone(t, cluster, queues[here])
}

// TestProbeOfASlotThatIsMoved moves the slot of the queue away between two steps:
// what runs then is not seen, and whatever was seen before, the probe says so.
func TestProbeOfASlotThatIsMoved(t *testing.T) {
	t.Parallel()
	cluster := enginetest.SharedCluster(t)
	queue := queuesOf(t, cluster)[cluster.Primaries()[0]]
	steps := 0
	report := conformance.Probe(bounded(t), targetOf(t, cluster.Primaries()[0].Options(), queue), func(*conformance.Report) error {
		if steps++; steps == 2 {
			cluster.BeginMove(t, wire.Slot("{"+queue+"}"), cluster.Primaries()[1]).Finish()
		}
		return nil
	})
	assert.Equal(t, conformance.Unknown, report.Verdict)
	assert.NotEmpty(t, report.Reason)
	for _, point := range report.Points {
		assert.NotEqual(t, conformance.Violates, point.Verdict)
	}
	requireGone(t, cluster, queue)
	t.Log(report.Reason)
}

// TestProbeOfAnEngineThatKnowsNoKeys probes one that has MONITOR and not COMMAND.
func TestProbeOfAnEngineThatKnowsNoKeys(t *testing.T) {
	t.Parallel()
	server := startServer(t, valkeyServer(t), "--rename-command", "COMMAND", "")
	report := conformance.Probe(bounded(t), targetOf(t, server.Options(), "payments"), goOn)
	require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
	require.Len(t, report.Notes, 1)
	assert.Contains(t, report.Notes[0], "was asked instead")
}
