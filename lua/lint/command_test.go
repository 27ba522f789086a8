package lint

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// TestCommandsAreTheServers compares the table of commands with what a server
// says of itself.
func TestCommandsAreTheServers(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"valkey-server", "redis-server"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			client := start(t, server)
			known, err := client.Command(t.Context()).Result()
			if err != nil {
				t.Fatal(err)
			}
			for name, c := range commands {
				info := known[strings.ToLower(name)]
				if info == nil {
					t.Errorf("%s has no command %s", server, name)
					continue
				}
				has := func(flag string) bool {
					for _, f := range info.Flags {
						if f == flag {
							return true
						}
					}
					return false
				}
				effect := reads
				switch {
				case has("write") && has("denyoom"):
					effect = grows
				case has("write"):
					effect = frees
				}
				sameArity := c.arity == int(info.Arity) || info.Arity < 0 && c.arity == -int(info.Arity)
				if c.effect != effect || !sameArity {
					t.Errorf("%s: effect %d and arity %d; %s says %d and %d", name, c.effect, c.arity, server, effect, info.Arity)
				}
				if has("noscript") {
					t.Errorf("%s cannot be called in a script", name)
				}
				if c.first != int(info.FirstKeyPos) || c.last != int(info.LastKeyPos) || c.step != int(info.StepCount) {
					t.Errorf("%s: keys %d, %d, %d; %s says %d, %d, %d", name, c.first, c.last, c.step, server, info.FirstKeyPos, info.LastKeyPos, info.StepCount)
				}
				if (c.numkeys > 0) != has("movablekeys") {
					t.Errorf("%s: numkeys is %d; %s says movable keys: %t", name, c.numkeys, server, has("movablekeys"))
				}
			}
		})
	}
}

// start runs a server on a unix socket until the test ends. One that is not
// installed fails the test, unless EMQ_ENGINES leaves it out.
func start(t *testing.T, server string) *redis.Client {
	t.Helper()
	path, err := exec.LookPath(server)
	if err != nil {
		engines := os.Getenv("EMQ_ENGINES")
		if engines != "" && !strings.Contains(engines, strings.TrimSuffix(server, "-server")) {
			t.Skipf("EMQ_ENGINES leaves out %s", server)
		}
		t.Fatalf("%s is not installed: run make install, or set EMQ_ENGINES=embedded", server)
	}
	dir, err := os.MkdirTemp("", "lint") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	socket := filepath.Join(dir, "s")
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait()
	})
	client := redis.NewClient(&redis.Options{
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialUntilUp(ctx, socket)
		},
		DialTimeout: 10 * time.Second,
	})
	t.Cleanup(func() { client.Close() })
	return client
}

// dialUntilUp waits for the server's socket.
func dialUntilUp(ctx context.Context, socket string) (net.Conn, error) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := net.Dial("unix", socket)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick.C:
		}
	}
}
