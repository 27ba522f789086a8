package enginetest_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

func TestEachRunsEveryEngine(t *testing.T) {
	ran := make(chan enginetest.Kind, 3)
	t.Run("each", func(t *testing.T) {
		enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
			assert.NoError(t, e.Client(t).Ping(t.Context()).Err())
			assert.Contains(t, e.String(), string(e.Kind))
			ran <- e.Kind
		})
	})
	close(ran)
	var kinds []enginetest.Kind
	for kind := range ran {
		kinds = append(kinds, kind)
	}
	if os.Getenv("EMQ_ENGINES") == "" {
		assert.ElementsMatch(t, []enginetest.Kind{enginetest.Miniredis, enginetest.Valkey, enginetest.Redis}, kinds)
	}
	assert.NotEmpty(t, kinds)
}

func TestQueueNamesAreValidAndUnique(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		seen := map[string]bool{}
		for _, name := range []string{"plain", "with space, ünïcode/and {braces}", strings.Repeat("long", 60)} {
			t.Run(name, func(t *testing.T) {
				for range 2 {
					queue := e.QueueName(t)
					_, err := wire.ParseQueue(queue)
					assert.NoError(t, err)
					assert.False(t, seen[queue])
					seen[queue] = true
				}
			})
		}
	})
}

func TestPrivateEnginesAreSeparate(t *testing.T) {
	t.Parallel()
	for _, kind := range []enginetest.Kind{enginetest.Miniredis, enginetest.Valkey, enginetest.Redis} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			for range 2 {
				client := enginetest.Start(t, kind).Client(t)
				assert.Equal(t, int64(1), client.Incr(t.Context(), "n").Val())
			}
		})
	}
}

func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]enginetest.StartOption{
		"unix": {enginetest.AOF()},
		"tcp":  {enginetest.AOF(), enginetest.TCP()},
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
				client := e.Client(t)
				require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
				before := e.Pid()

				e.Kill()
				require.Error(t, client.Ping(t.Context()).Err())
				assert.Error(t, syscall.Kill(before, 0))

				e.Restart()
				assert.NotEqual(t, before, e.Pid())
				assert.Equal(t, "v", client.Get(t.Context(), "k").Val())
			}, opts...)
		})
	}
}

func TestRestartWithoutAOFIsEmpty(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		client := e.Client(t)
		require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
		e.Restart()
		assert.ErrorIs(t, client.Get(t.Context(), "k").Err(), redis.Nil)
	})
}

func TestStopAndCont(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		options := e.Options()
		options.ReadTimeout, options.MaxRetries = 50*time.Millisecond, -1
		client := redis.NewClient(options)
		defer client.Close()
		require.NoError(t, client.Ping(t.Context()).Err())

		e.Stop()
		require.ErrorContains(t, client.Ping(t.Context()).Err(), "timeout")
		e.Cont()
		require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 5*time.Second, time.Millisecond)
	})
}

func TestMaxMemory(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		client := e.Client(t)
		var err error
		for i := 0; err == nil && i < 100; i++ {
			err = client.Set(t.Context(), fmt.Sprint(i), strings.Repeat("x", 1<<20), 0).Err()
		}
		require.Error(t, err)
		assert.True(t, redis.HasErrorPrefix(err, "OOM"), err)
	}, enginetest.MaxMemory(8<<20))
}

func TestRequirePass(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		require.NoError(t, e.Client(t).Ping(t.Context()).Err())
		e.Restart()
		require.NoError(t, e.Client(t).Ping(t.Context()).Err())

		options := e.Options()
		options.Password = ""
		client := redis.NewClient(options)
		defer client.Close()
		assert.ErrorContains(t, client.Ping(context.Background()).Err(), "NOAUTH")
	}, enginetest.RequirePass("secret"))
}

func TestManyPortsAtOnce(t *testing.T) {
	t.Parallel()
	for range 6 {
		t.Run("start", func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, enginetest.Redis, enginetest.TCP())
			assert.NoError(t, e.Client(t).Ping(t.Context()).Err())
		})
	}
}

func TestSharedEngineCannotBeKilled(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		assert.Panics(t, e.Kill)
		assert.Panics(t, e.Stop)
		assert.Panics(t, e.Restart)
	})
}
