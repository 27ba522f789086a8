package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// shards is how many primaries a cluster has, each with one replica.
const shards = 3

// slots is how many slots a cluster has.
const slots = 16384

// Cluster is a Valkey Cluster on loopback: three primaries, each with a replica.
type Cluster struct {
	mu    sync.Mutex
	nodes []*Engine
	args  []string
}

// StartCluster starts a cluster that belongs to this test alone, and ends it
// with the test. A node that does not answer for nodeTimeout is taken for dead;
// the shorter, the sooner a replica takes over, also from a node that is only
// slow. Like [Start] it skips the test if EMQ_ENGINES leaves out Valkey.
func StartCluster(t testing.TB, nodeTimeout time.Duration) *Cluster {
	t.Helper()
	requireKind(t, Valkey)
	cluster, err := startCluster(t.Context(), nodeTimeout)
	if err != nil {
		t.Fatal(err)
	}
	cluster.own(t)
	t.Cleanup(func() {
		if err := cluster.close(); err != nil {
			t.Errorf("close the cluster: %v", err)
		}
	})
	return cluster
}

// sharedNodeTimeout is long enough that no node of the shared cluster is taken
// for dead because the machine is busy.
const sharedNodeTimeout = 6 * time.Second

// SharedCluster returns the cluster that all tests of the package share. It is
// started once: use [Cluster.QueueName], move the slots of those queues only,
// and kill nothing.
func SharedCluster(t testing.TB) *Cluster {
	t.Helper()
	requireKind(t, Valkey)
	suite.mu.Lock()
	running := suite.running
	suite.mu.Unlock()
	if !running {
		t.Fatal(errNoMain)
	}
	engine, err := suite.cluster.get()
	if err != nil {
		t.Fatal(err)
	}
	return engine.cluster
}

// sharedCluster is a cluster that is started when the first test asks for it.
type sharedCluster struct {
	once   sync.Once
	engine *Engine
	err    error
}

func (s *sharedCluster) get() (*Engine, error) {
	s.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		s.engine, s.err = start(ctx, ValkeyCluster)
	})
	return s.engine, s.err
}

func startCluster(ctx context.Context, nodeTimeout time.Duration) (*Cluster, error) {
	cluster := &Cluster{args: []string{
		"--cluster-enabled", "yes",
		"--cluster-node-timeout", strconv.FormatInt(formNodeTimeout.Milliseconds(), 10),
		"--cluster-replica-validity-factor", "0",
		"--repl-diskless-sync-delay", "0",
		"--repl-ping-replica-period", "1", // a replica counts once it has heard something
	}}
	var group sync.WaitGroup
	errs := make([]error, 2*shards)
	for i := range errs {
		group.Go(func() { _, errs[i] = cluster.startNode(ctx) })
	}
	group.Wait()
	err := errors.Join(errs...)
	if err == nil {
		err = cluster.form(ctx)
	}
	if err == nil {
		err = cluster.configure(ctx, "cluster-node-timeout", nodeTimeout.Milliseconds())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start a cluster: %w", err), cluster.close())
	}
	return cluster, nil
}

// startNode starts a node that knows no other.
func (c *Cluster) startNode(ctx context.Context) (*Engine, error) {
	node, err := startProcess(ctx, Valkey, &startConfig{tcp: true, bus: true, args: c.args})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.nodes = append(c.nodes, node)
	c.mu.Unlock()
	return node, nil
}

// all returns the nodes, the first ones being those that it was started with.
func (c *Cluster) all() []*Engine {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes)
}

func (c *Cluster) close() error {
	var errs []error
	for _, node := range c.all() {
		errs = append(errs, node.close())
	}
	return errors.Join(errs...)
}

// QueueName returns a name as [Engine.QueueName] does.
func (c *Cluster) QueueName(t testing.TB) string {
	t.Helper()
	return c.all()[0].QueueName(t)
}

// Options returns options for a client of the cluster: the client library's own,
// but without noise in the handshake.
func (c *Cluster) Options() *redis.ClusterOptions {
	options := optionsFor("tcp", "")
	var addrs []string
	for _, node := range c.all()[:2*shards] {
		addrs = append(addrs, node.options.Addr)
	}
	return &redis.ClusterOptions{
		Addrs:                    addrs,
		DisableIdentity:          options.DisableIdentity,
		MaintNotificationsConfig: options.MaintNotificationsConfig,
	}
}

// Client returns a new client of the cluster, closed when the test ends.
func (c *Cluster) Client(t testing.TB) *redis.ClusterClient {
	t.Helper()
	client := redis.NewClusterClient(c.Options())
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// Slot returns the slot of a key.
func (c *Cluster) Slot(t testing.TB, key string) int {
	t.Helper()
	slot, err := c.all()[0].Client(t).ClusterKeySlot(t.Context(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return int(slot)
}

// Owner returns the primary that has a slot, as a node sees it that is alive.
func (c *Cluster) Owner(t testing.TB, slot int) *Engine {
	t.Helper()
	primary, _ := c.shard(t, slot)
	return primary
}

// Replica returns the replica of the primary that has a slot.
func (c *Cluster) Replica(t testing.TB, slot int) *Engine {
	t.Helper()
	_, replica := c.shard(t, slot)
	if replica == nil {
		t.Fatalf("slot %d has no replica", slot)
	}
	return replica
}

// AddPrimary starts another primary, which has no slot, and waits until all
// nodes know it.
func (c *Cluster) AddPrimary(t testing.TB) *Engine {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	node, err := c.startNode(ctx)
	if err == nil {
		err = c.join(ctx, node)
	}
	if err != nil {
		t.Fatalf("add a primary: %v", err)
	}
	return node
}

// Primaries returns the primaries that the cluster began with. After a fail-over
// one of them may be a replica.
func (c *Cluster) Primaries() []*Engine { return c.all()[:shards] }
