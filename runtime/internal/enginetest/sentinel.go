package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// StartReplica starts a replica of an engine that has a TCP port, and waits
// until it has what its primary has.
func StartReplica(t testing.TB, primary *Engine) *Engine {
	t.Helper()
	replica := Start(t, primary.Kind, TCP())
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	host, port, err := net.SplitHostPort(primary.options.Addr)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		primary.ask(func(client *redis.Client) error {
			return client.ConfigSet(ctx, "repl-diskless-sync-delay", "0").Err()
		}),
		replica.ask(func(client *redis.Client) error {
			if err := client.Do(ctx, "replicaof", host, port).Err(); err != nil {
				return err
			}
			return poll(ctx, func() error { return linked(ctx, client) })
		}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return replica
}

// masterName is under which name the sentinels know the primary.
const masterName = "main"

// Sentinels are a primary with a replica, and three sentinels that watch them.
type Sentinels struct {
	Primary, Replica *Engine

	sentinels []*Engine
}

// StartSentinels starts a primary, its replica and their sentinels, which take a
// server for dead that does not answer for downAfter. They end with the test. It
// runs on Valkey, as [StartCluster].
func StartSentinels(t testing.TB, downAfter time.Duration) *Sentinels {
	t.Helper()
	s := &Sentinels{Primary: Start(t, Valkey, TCP())}
	s.Replica = StartReplica(t, s.Primary)
	host, port, err := net.SplitHostPort(s.Primary.options.Addr)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("sentinel monitor %[1]s %[2]s %[3]s 2\n"+
		"sentinel down-after-milliseconds %[1]s %[4]d\n"+
		"sentinel failover-timeout %[1]s 5000\n", masterName, host, port, downAfter.Milliseconds())
	dir := t.TempDir()
	for i := range 3 {
		file := filepath.Join(dir, strconv.Itoa(i)+".conf")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		s.sentinels = append(s.sentinels, Start(t, Valkey, TCP(), func(c *startConfig) {
			c.file, c.args = file, []string{"--sentinel"}
		}))
	}
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	for _, sentinel := range s.sentinels {
		if err := poll(ctx, func() error { return sentinel.watches(ctx) }); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// watches checks that a sentinel knows the primary, its replica and the other
// sentinels.
func (e *Engine) watches(ctx context.Context) error {
	client := redis.NewSentinelClient(e.Options())
	defer client.Close()
	primary, err := client.Master(ctx, masterName).Result()
	if err != nil {
		return err
	}
	if primary["num-slaves"] != "1" || primary["num-other-sentinels"] != "2" {
		return fmt.Errorf("a sentinel knows %s replica(s) and %s other sentinel(s)", primary["num-slaves"], primary["num-other-sentinels"])
	}
	return nil
}

// Client returns a new client of whichever server is the primary, closed when
// the test ends.
func (s *Sentinels) Client(t testing.TB) *redis.Client {
	t.Helper()
	options := redis.FailoverOptions{MasterName: masterName, DisableIdentity: true}
	for _, sentinel := range s.sentinels {
		options.SentinelAddrs = append(options.SentinelAddrs, sentinel.options.Addr)
	}
	client := redis.NewFailoverClient(&options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
