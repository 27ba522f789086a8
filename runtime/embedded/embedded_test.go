//go:build unix

package embedded_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/echomq/echomq-go/runtime/embedded"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kinds are the ways to run a server. One that runs a process fails where none
// is installed, unless EMQ_ENGINES=embedded asks for what needs nothing.
func kinds() map[string][]embedded.Option {
	kinds := map[string][]embedded.Option{
		"miniredis": {embedded.InMemory()},
		"fallback":  {embedded.LookPath(missing)},
	}
	if os.Getenv("EMQ_ENGINES") != "embedded" {
		for _, binary := range []string{"valkey-server", "redis-server"} {
			kinds[binary] = []embedded.Option{embedded.Process(), embedded.LookPath(only(binary))}
		}
	}
	return kinds
}

func each(t *testing.T, test func(t *testing.T, opts ...embedded.Option)) {
	for name, opts := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, append(opts, embedded.Logger(nil))...)
		})
	}
}

func missing(name string) (string, error) { return "", &exec.Error{Name: name, Err: exec.ErrNotFound} }

func only(binary string) func(string) (string, error) {
	return func(name string) (string, error) {
		if name != binary {
			return missing(name)
		}
		return exec.LookPath(name)
	}
}

func needsProcess(t *testing.T) {
	if os.Getenv("EMQ_ENGINES") == "embedded" {
		t.Skip("EMQ_ENGINES=embedded leaves out what needs an installed server")
	}
}

func start(t *testing.T, opts ...embedded.Option) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.Context(), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return server
}

func TestServerAnswers(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		server := start(t, opts...)
		client := server.Redis()

		require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
		assert.Equal(t, "v", client.Get(t.Context(), "k").Val())

		second := redis.NewClient(server.Options())
		defer second.Close()
		assert.Equal(t, "v", second.Get(t.Context(), "k").Val())

		sum, err := redis.NewScript(`return redis.call('INCRBY', KEYS[1], ARGV[1])`).Run(t.Context(), client, []string{"n"}, 2).Int()
		require.NoError(t, err)
		assert.Equal(t, 2, sum)
	})
}

func TestKeysExpire(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		client := start(t, opts...).Redis()
		require.NoError(t, client.Set(t.Context(), "k", "v", 150*time.Millisecond).Err())
		require.Eventually(t, func() bool {
			return client.Exists(t.Context(), "k").Val() == 0
		}, 5*time.Second, 10*time.Millisecond)
	})
}

func TestLargePipelines(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		client := start(t, opts...).Redis()
		value := strings.Repeat("x", 100<<10)
		_, err := client.Pipelined(t.Context(), func(pipeline redis.Pipeliner) error {
			for i := range 100 {
				pipeline.Set(t.Context(), strconv.Itoa(i), value, 0)
			}
			return nil
		})
		require.NoError(t, err)
		replies, err := client.Pipelined(t.Context(), func(pipeline redis.Pipeliner) error {
			for i := range 100 {
				pipeline.Get(t.Context(), strconv.Itoa(i))
			}
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, value, replies[99].(*redis.StringCmd).Val())
	})
}

func TestServersAreSeparate(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				server, err := embedded.Start(t.Context(), opts...)
				if !assert.NoError(t, err) {
					return
				}
				assert.Equal(t, int64(1), server.Redis().Incr(t.Context(), "n").Val())
				assert.NoError(t, server.Close())
			})
		}
		group.Wait()
	})
}

func TestCloseEndsEverything(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		server := start(t, opts...)
		require.NoError(t, server.Redis().Ping(t.Context()).Err())
		gone := goneCheck(t, server)

		var group sync.WaitGroup
		for range 3 {
			group.Go(func() { assert.NoError(t, server.Close()) })
		}
		group.Wait()

		assert.True(t, gone())
		assert.ErrorIs(t, server.Redis().Ping(context.Background()).Err(), redis.ErrClosed)
	})
}

func TestCloseEndsBlockedReaders(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		server := start(t, opts...)
		options := server.Options()
		options.MaxRetries = -1
		reader := redis.NewClient(options)
		defer reader.Close()

		result := make(chan error, 1)
		go func() { result <- reader.BLPop(t.Context(), 0, "k").Err() }()
		pushed := func() bool { return server.Redis().LPush(t.Context(), "k", "v").Val() == 1 }
		require.Eventually(t, pushed, 5*time.Second, time.Millisecond)
		require.NoError(t, <-result)

		go func() { result <- reader.BLPop(t.Context(), 0, "k").Err() }()
		require.NoError(t, server.Close())
		require.Error(t, <-result)
	})
}

func TestContextEndsEverything(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		ctx, cancel := context.WithCancel(t.Context())
		server, err := embedded.Start(ctx, opts...)
		require.NoError(t, err)
		gone := goneCheck(t, server)

		cancel()
		require.Eventually(t, gone, 5*time.Second, time.Millisecond)
		assert.NoError(t, server.Close())
	})
}

// goneCheck returns a function that reports whether neither the directory nor,
// where there was one, the process of server exists any more.
func goneCheck(t *testing.T, server *embedded.Server) func() bool {
	t.Helper()
	dir := filepath.Dir(server.Options().Addr)
	require.DirExists(t, dir)
	pid := serverPid(server)
	return func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err) && (pid == 0 || !processExists(pid))
	}
}

// serverPid returns the id of the server's process, or 0 for miniredis.
func serverPid(server *embedded.Server) int {
	info, err := server.Redis().Info(context.Background(), "server").Result()
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(info, "process_id:")
	digits, _, _ := strings.Cut(rest, "\r\n")
	pid, _ := strconv.Atoi(digits)
	return pid
}

func TestEngineIsNamedAndAnnounced(t *testing.T) {
	t.Parallel()
	for name, opts := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			server := start(t, append(opts, embedded.Logger(slog.New(slog.NewTextHandler(&log, nil))))...)

			want := `^miniredis( \d+\.\d+\.\d+)? \(in process\)$`
			if engine, isProcess := strings.CutSuffix(name, "-server"); isProcess {
				want = `^` + engine + ` \d+\.\d+\.\d+ \(private process\)$`
			}
			assert.Regexp(t, want, server.Engine())
			assert.Contains(t, log.String(), server.Engine())
			assert.Contains(t, log.String(), "nothing is kept")
		})
	}
}

func TestStartUnderAnEndedContext(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, opts ...embedded.Option) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := embedded.Start(ctx, opts...)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

func TestSocketPathIsShort(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("d", 120)))
	require.NoError(t, os.MkdirAll(os.Getenv("TMPDIR"), 0o700))
	server := start(t, embedded.InMemory(), embedded.Logger(nil))
	assert.LessOrEqual(t, len(server.Options().Addr), 103)
	assert.NoError(t, server.Redis().Ping(t.Context()).Err())
}
