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
)

// startCluster starts a cluster of two nodes, of which the first has the lower
// half of the slots, and returns a client of each.
func startCluster(t *testing.T) [2]*redis.Client {
	t.Helper()
	binary := valkeyServer(t)
	var nodes [2]*redis.Client
	for i := range nodes {
		nodes[i] = startNode(t, binary)
	}
	ctx := bounded(t)
	require.NoError(t, nodes[0].ClusterAddSlotsRange(ctx, 0, 8191).Err())
	require.NoError(t, nodes[1].ClusterAddSlotsRange(ctx, 8192, 16383).Err())
	require.NoError(t, nodes[1].Do(ctx, "cluster", "set-config-epoch", 2).Err())
	host, port, err := net.SplitHostPort(nodes[1].Options().Addr)
	require.NoError(t, err)
	bus := nodes[1].ConfigGet(ctx, "cluster-port").Val()["cluster-port"]
	require.NoError(t, nodes[0].Do(ctx, "cluster", "meet", host, port, bus).Err())
	for _, node := range nodes {
		require.Eventually(t, func() bool {
			info := node.ClusterInfo(ctx).Val()
			return fieldOf(info, "cluster_state") == "ok" && fieldOf(info, "cluster_slots_ok") == "16384"
		}, patience, poll)
	}
	return nodes
}

// valkeyServer returns the path of the server, or skips the test, or fails it,
// as every test that needs one.
func valkeyServer(t *testing.T) string {
	t.Helper()
	enginetest.Start(t, enginetest.Valkey)
	binary, err := exec.LookPath("valkey-server")
	require.NoError(t, err)
	return binary
}

// startNode starts a server in cluster mode.
func startNode(t *testing.T, binary string) *redis.Client {
	t.Helper()
	return startServer(t, binary, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(freePort(t)))
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

// TestProbeOfACluster probes queues whose slots lie on different nodes, by the
// address of the first node. The core's keys are on the second one.
func TestProbeOfACluster(t *testing.T) {
	t.Parallel()
	nodes := startCluster(t)
	for queue, owner := range map[string]int{"fills": 0, "payments": 1} {
		report := conformance.Probe(bounded(t), targetOf(t, nodes[0].Options(), queue), goOn)
		require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
		assert.Equal(t, nodes[owner].Options().Addr, report.Nodes[0], "the node that owns the slot")
		for _, step := range report.Steps {
			for _, transition := range step.Transitions {
				assert.Equal(t, nodes[owner].Options().Addr, transition.Node)
			}
		}
		for _, node := range nodes {
			assert.Empty(t, keys(t, node))
		}
	}
}

// A key of another node is refused by a cluster itself, before MONITOR could
// show it.
func TestProbeOfAClusterThatRefuses(t *testing.T) {
	t.Parallel()
	nodes := startCluster(t)
	target := targetOf(t, nodes[1].Options(), "fills")
	target.Bundle = tampered(t, "pick", fmt.Sprintf("redis.call('GET', %q)", "emq:{payments}:stray"))
	report := conformance.Probe(bounded(t), target, goOn)
	assert.Equal(t, conformance.Violates, report.Verdict, report.Reason)
	require.NotNil(t, report.Points[3].First)
	assert.Contains(t, report.Points[3].First.Reason, "pick.lua was answered")
	for _, node := range nodes {
		assert.Empty(t, keys(t, node))
	}
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
