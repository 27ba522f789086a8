package enginetest_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// impatient returns a client through the proxy that sends nothing twice.
func impatient(t *testing.T, proxy *enginetest.Proxy) *redis.Client {
	options := proxy.Options()
	options.MaxRetries = -1
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// eachProxy runs test with a proxy before every engine, with a client that goes
// through it and one that does not, and a key of the test's own.
func eachProxy(t *testing.T, test func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string)) {
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		proxy := enginetest.NewProxy(t, e)
		test(t, proxy, impatient(t, proxy), e.Client(t), e.QueueName(t))
	})
}

func TestProxyPassesEverythingOn(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		large := strings.Repeat("\r\n*1\r\n$4\r\nPING\r\n\x00", 20<<10)
		require.NoError(t, through.Set(t.Context(), key, large, 0).Err())
		assert.Equal(t, large, through.Get(t.Context(), key).Val())
		assert.ErrorIs(t, through.Get(t.Context(), key+".missing").Err(), redis.Nil)
		assert.ErrorContains(t, through.LPush(t.Context(), key, "x").Err(), "WRONGTYPE")
		require.NoError(t, through.HSet(t.Context(), key+".hash", "a", 1, "b", "").Err())
		assert.Equal(t, map[string]string{"a": "1", "b": ""}, through.HGetAll(t.Context(), key+".hash").Val())
		assert.Equal(t, 3, proxy.Count("get")+proxy.Count("HGETALL"))
		assert.Equal(t, 1, proxy.Count("hello"))
	})
}

func TestProxyCountsPipelinesAsOneRoundTrip(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		pipeline := func() {
			replies, err := through.Pipelined(t.Context(), func(pipeline redis.Pipeliner) error {
				for range 500 {
					pipeline.Incr(t.Context(), key)
				}
				return nil
			})
			require.NoError(t, err)
			require.Len(t, replies, 500)
		}
		pipeline() // connects as well
		proxy.Delay(20 * time.Millisecond)
		proxy.ResetCounts()
		pipeline()
		assert.Equal(t, map[string]int{"incr": 500}, proxy.Counts())
		assert.Equal(t, 1, proxy.RoundTrips())
		assert.Equal(t, 1000, must(direct.Get(t.Context(), key).Int()))
	})
}

func must(n int, err error) int {
	if err != nil {
		panic(err)
	}
	return n
}

func TestProxyPassesMessages(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		subscription := through.Subscribe(t.Context(), key)
		defer subscription.Close()
		_, err := subscription.Receive(t.Context())
		require.NoError(t, err)
		for range 10 {
			require.NoError(t, direct.Publish(t.Context(), key, "hello").Err())
			message, err := subscription.ReceiveMessage(t.Context())
			require.NoError(t, err)
			assert.Equal(t, "hello", message.Payload)
		}
	})
}

func TestCutBeforeReply(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		rule := proxy.CutBeforeReply(enginetest.Once(func(command []string) bool {
			return command[0] == "incr" && command[1] == key
		}))
		assert.ErrorIs(t, through.Incr(t.Context(), key).Err(), io.EOF)
		<-rule.Hit()
		assert.Equal(t, 1, rule.Hits())
		assert.Equal(t, 1, must(direct.Get(t.Context(), key).Int()), "the command ran")

		assert.Equal(t, int64(2), through.Incr(t.Context(), key).Val())
		assert.Equal(t, 1, rule.Hits())
	})
}

func TestCutBeforeReplyOfOneInAPipeline(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		proxy.Delay(2 * time.Millisecond)
		rule := proxy.CutBeforeReply(enginetest.Command("ECHO"))
		pipeline := through.Pipeline()
		before := pipeline.Incr(t.Context(), key)
		lost := pipeline.Echo(t.Context(), "x")
		after := pipeline.Incr(t.Context(), key)
		_, err := pipeline.Exec(t.Context())
		require.Error(t, err)
		assert.Equal(t, int64(1), before.Val())
		assert.Error(t, lost.Err())
		assert.Error(t, after.Err())
		assert.Equal(t, 1, rule.Hits())
	})
}

func TestCutBeforeReplyMakesTheClientSendAgain(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		proxy := enginetest.NewProxy(t, e)
		key := e.QueueName(t)
		rule := proxy.CutBeforeReply(enginetest.Once(enginetest.Command("incr")))
		assert.Equal(t, int64(2), proxy.Client(t).Incr(t.Context(), key).Val(), "the client hides that it ran twice")
		assert.Equal(t, 1, rule.Hits())
		assert.Equal(t, 2, proxy.Count("incr"))
	})
}

func TestCutBeforeRequest(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		rule := proxy.CutBeforeRequest(enginetest.Command("incr"))
		assert.ErrorIs(t, through.Incr(t.Context(), key).Err(), io.EOF)
		assert.ErrorIs(t, direct.Get(t.Context(), key).Err(), redis.Nil, "the command did not run")
		assert.Equal(t, 1, rule.Hits())

		rule.Remove()
		assert.Equal(t, int64(1), through.Incr(t.Context(), key).Val())
	})
}

func TestCutBeforeRequestInAPipeline(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		proxy.Delay(2 * time.Millisecond)
		proxy.CutBeforeRequest(enginetest.Command("echo"))
		pipeline := through.Pipeline()
		before := pipeline.Incr(t.Context(), key)
		pipeline.Echo(t.Context(), "x")
		pipeline.Incr(t.Context(), key)
		_, err := pipeline.Exec(t.Context())
		require.Error(t, err)
		assert.Equal(t, int64(1), before.Val(), "what came before is answered")
		assert.Equal(t, 1, must(direct.Get(t.Context(), key).Int()), "what came after did not run")
	})
}

func TestDelay(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		require.NoError(t, through.Ping(t.Context()).Err())
		const oneWay = 60 * time.Millisecond
		proxy.Delay(oneWay)
		begin := time.Now()
		require.NoError(t, through.Ping(t.Context()).Err())
		assert.GreaterOrEqual(t, time.Since(begin), 2*oneWay)

		// 40 callers at once, and 40 commands in a row, are under way together.
		begin = time.Now()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				_, err := through.Pipelined(t.Context(), func(pipeline redis.Pipeliner) error {
					for range 40 {
						pipeline.RPush(t.Context(), key, "x")
					}
					return nil
				})
				assert.NoError(t, err)
			})
		}
		group.Wait()
		assert.Less(t, time.Since(begin), 40*oneWay)

		_, err := through.Pipelined(t.Context(), func(pipeline redis.Pipeliner) error {
			for i := range 40 {
				pipeline.RPush(t.Context(), key+".order", i)
			}
			return nil
		})
		require.NoError(t, err)
		assert.Equal(t, "39", direct.LIndex(t.Context(), key+".order", -1).Val())
		assert.Equal(t, "0", direct.LIndex(t.Context(), key+".order", 0).Val())
	})
}

func TestRefuse(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		proxy.Refuse(true)
		proxy.Refuse(true)
		var refused *net.OpError
		require.ErrorAs(t, through.Ping(t.Context()).Err(), &refused)
		assert.ErrorContains(t, refused, "connection refused")

		proxy.Refuse(false)
		proxy.Refuse(false)
		require.NoError(t, through.Ping(t.Context()).Err())

		proxy.Refuse(true)
		assert.NoError(t, through.Ping(t.Context()).Err(), "connections that exist stay")
	})
}

func TestCutAll(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		failed := make(chan error, 3)
		for range 3 {
			go func() { failed <- through.BLPop(context.Background(), 0, key).Err() }()
		}
		require.Eventually(t, func() bool { return proxy.Count("blpop") == 3 }, 5*time.Second, time.Millisecond)
		assert.Equal(t, 3, proxy.Connections())
		proxy.CutAll()
		for range 3 {
			assert.Error(t, <-failed)
		}
		require.Eventually(t, func() bool { return proxy.Connections() == 0 }, 5*time.Second, time.Millisecond)
		require.NoError(t, direct.RPush(t.Context(), key, "x").Err())
		assert.Equal(t, int64(1), direct.LLen(t.Context(), key).Val(), "nobody waits at the engine any more")
	})
}

func TestClientThatLeavesIsForgotten(t *testing.T) {
	t.Parallel()
	eachProxy(t, func(t *testing.T, proxy *enginetest.Proxy, through, direct *redis.Client, key string) {
		require.NoError(t, through.Ping(t.Context()).Err())
		require.NoError(t, through.Close())
		require.Eventually(t, func() bool { return proxy.Connections() == 0 }, 5*time.Second, time.Millisecond)
	})
}

func TestEngineThatDiesBehindTheProxy(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		proxy := enginetest.NewProxy(t, e)
		client := impatient(t, proxy)
		require.NoError(t, client.Ping(t.Context()).Err())
		e.Kill()
		require.Error(t, client.Ping(t.Context()).Err())
		require.Error(t, client.Ping(t.Context()).Err())
		e.Restart()
		require.Eventually(t, func() bool { return client.Ping(t.Context()).Err() == nil }, 5*time.Second, time.Millisecond)
	})
}

func TestOnceAndCommand(t *testing.T) {
	t.Parallel()
	match := enginetest.Once(enginetest.Command("EvalSha", "eval"))
	assert.False(t, match([]string{"get", "k"}))
	assert.True(t, match([]string{"EVALSHA", "x"}))
	assert.False(t, match([]string{"eval", "x"}))
}
