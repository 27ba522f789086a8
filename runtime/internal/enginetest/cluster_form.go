package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// formInterval is the pause between two looks at a cluster that is forming.
const formInterval = 20 * time.Millisecond

// formNodeTimeout is the node timeout while the cluster forms: nodes tell each
// other the news at least twice in it.
const formNodeTimeout = time.Second

// form makes a cluster of nodes that do not know each other: the first half are
// the primaries.
func (c *Cluster) form(ctx context.Context) error {
	nodes := c.all()
	primaries, replicas := nodes[:shards], nodes[shards:]
	for i, node := range nodes {
		err := node.ask(func(client *redis.Client) error {
			if i < shards {
				err := client.ClusterAddSlotsRange(ctx, i*slots/shards, (i+1)*slots/shards-1).Err()
				if err != nil && !strings.Contains(err.Error(), "is already busy") {
					return err
				}
			}
			// A node that answers too late is asked again, and has done it then.
			err := client.Do(ctx, "cluster", "set-config-epoch", i+1).Err()
			if redis.HasErrorPrefix(err, "Node config epoch is already non-zero") {
				return nil
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for i, node := range nodes {
		if err := node.meet(ctx, nodes[i+1:]); err != nil {
			return err
		}
	}
	if err := c.wait(ctx, "all nodes know each other", knows(len(nodes))); err != nil {
		return err
	}
	for i, replica := range replicas {
		id, err := primaries[i].nodeID(ctx)
		if err != nil {
			return err
		}
		err = replica.ask(func(client *redis.Client) error { return client.ClusterReplicate(ctx, id).Err() })
		if err != nil {
			return err
		}
	}
	return c.wait(ctx, "the cluster is ok and its replicas follow", follows)
}

// join makes all nodes of the cluster know one more.
func (c *Cluster) join(ctx context.Context, node *Engine) error {
	nodes := c.all()
	others := slices.DeleteFunc(slices.Clone(nodes), func(other *Engine) bool { return other == node })
	if err := node.meet(ctx, others); err != nil {
		return err
	}
	return c.wait(ctx, "all nodes know the new one", func(ctx context.Context, client *redis.Client) error {
		return errors.Join(knows(len(nodes))(ctx, client), isOK(ctx, client))
	})
}

// meet makes a node known to others.
func (e *Engine) meet(ctx context.Context, others []*Engine) error {
	return e.ask(func(client *redis.Client) error {
		for _, other := range others {
			host, port, err := net.SplitHostPort(other.options.Addr)
			if err != nil {
				return err
			}
			bus, err := other.config(ctx, "cluster-port")
			if err != nil {
				return err
			}
			if err := client.Do(ctx, "cluster", "meet", host, port, bus).Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// wait waits until each node is as it should be.
func (c *Cluster) wait(ctx context.Context, what string, check func(context.Context, *redis.Client) error) error {
	for _, node := range c.all() {
		err := node.ask(func(client *redis.Client) error {
			return poll(ctx, func() error { return check(ctx, client) })
		})
		if err != nil {
			return fmt.Errorf("in vain waited until %s: %w", what, err)
		}
	}
	return nil
}

// poll repeats a check until it finds nothing wrong, or the context ends.
func poll(ctx context.Context, check func() error) error {
	ticker := time.NewTicker(formInterval)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
	}
}

func knows(nodes int) func(context.Context, *redis.Client) error {
	return func(ctx context.Context, client *redis.Client) error {
		lines, err := client.ClusterNodes(ctx).Result()
		if known := strings.Count(lines, "connected"); err == nil && (known < nodes || strings.Contains(lines, "handshake")) {
			return fmt.Errorf("it knows %d node(s) of %d", known, nodes)
		}
		return err
	}
}

func isOK(ctx context.Context, client *redis.Client) error {
	info, err := client.ClusterInfo(ctx).Result()
	if err == nil && !strings.Contains(info, "cluster_state:ok") {
		return errors.New("its state is not ok")
	}
	return err
}

// follows checks a node of a cluster that has been formed.
func follows(ctx context.Context, client *redis.Client) error {
	found, err := client.ClusterShards(ctx).Result()
	if err != nil {
		return err
	}
	for _, shard := range found {
		for _, node := range shard.Nodes {
			if len(shard.Nodes) != 2 || node.Health != online {
				return fmt.Errorf("the shard of %s is not whole yet", node.ID)
			}
		}
	}
	return errors.Join(isOK(ctx, client), linked(ctx, client))
}

// linked checks that a replica has what its primary has.
func linked(ctx context.Context, client *redis.Client) error {
	info, err := client.Info(ctx, "replication").Result()
	if err == nil && strings.Contains(info, "role:slave") && !strings.Contains(info, "master_link_status:up") {
		return errors.New("it does not follow its primary yet")
	}
	return err
}

// configure sets a parameter of all nodes.
func (c *Cluster) configure(ctx context.Context, name string, value any) error {
	for _, node := range c.all() {
		err := node.ask(func(client *redis.Client) error {
			return client.Do(ctx, "config", "set", name, value).Err()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ask calls a function with a client of the engine.
func (e *Engine) ask(question func(*redis.Client) error) error {
	client := redis.NewClient(e.Options())
	defer client.Close()
	if err := question(client); err != nil {
		return fmt.Errorf("%s at %s: %w", e, e.options.Addr, err)
	}
	return nil
}

func (e *Engine) nodeID(ctx context.Context) (id string, err error) {
	err = e.ask(func(client *redis.Client) error {
		id, err = client.ClusterMyID(ctx).Result()
		return err
	})
	return id, err
}

func (e *Engine) config(ctx context.Context, name string) (value string, err error) {
	err = e.ask(func(client *redis.Client) error {
		values, err := client.ConfigGet(ctx, name).Result()
		value = values[name]
		return err
	})
	return value, err
}

// shard returns the nodes that have a slot, as a node sees it that is alive.
func (c *Cluster) shard(t testing.TB, slot int) (primary, replica *Engine) {
	t.Helper()
	var failures []error
	for _, node := range c.all() {
		var found []redis.ClusterShard
		err := node.ask(func(client *redis.Client) (err error) {
			found, err = client.ClusterShards(t.Context()).Result()
			return err
		})
		if err != nil {
			failures = append(failures, err)
			continue
		}
		for _, shard := range found {
			for _, one := range shard.Slots {
				if int(one.Start) <= slot && slot <= int(one.End) {
					return c.members(shard)
				}
			}
		}
	}
	t.Fatalf("no node of the cluster knows who has slot %d: %v", slot, errors.Join(failures...))
	return nil, nil
}

// online is the health of a node that serves.
const online = "online"

// members returns the nodes of a shard that serve.
func (c *Cluster) members(shard redis.ClusterShard) (primary, replica *Engine) {
	for _, member := range shard.Nodes {
		node := c.at(net.JoinHostPort(member.IP, strconv.FormatInt(member.Port, 10)))
		switch {
		case member.Health != online:
		case member.Role == "master":
			primary = node
		default:
			replica = node
		}
	}
	return primary, replica
}

// at returns the node that listens at an address.
func (c *Cluster) at(addr string) *Engine {
	for _, node := range c.all() {
		if node.options.Addr == addr {
			return node
		}
	}
	return nil
}
