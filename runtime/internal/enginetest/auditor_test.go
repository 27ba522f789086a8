package enginetest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// audited runs test on a private engine under an auditor of its own, and returns
// what that found.
func audited(t *testing.T, check func(t *testing.T, report enginetest.Report), test func(t *testing.T, client *redis.Client)) {
	t.Helper()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		auditor := enginetest.Audit(t, e)
		test(t, e.Client(t))
		report, err := auditor.Report(t.Context())
		require.NoError(t, err)
		check(t, report)
	})
}

func TestAuditorPassesDeclaredKeys(t *testing.T) {
	t.Parallel()
	script := redis.NewScript(`
		redis.call('SET', KEYS[1], ARGV[1])
		redis.call('hset', KEYS[2], 'a', 1, 'b', 2)
		redis.call('HSET', KEYS[2], 'a', 1)
		redis.call('ZADD', KEYS[3], 1, 'm')
		redis.call('ZMPOP', 1, KEYS[3], 'MIN')
		redis.call('XADD', KEYS[4], '*', 'f', ARGV[1])
		redis.call('XREAD', 'COUNT', 1, 'STREAMS', KEYS[4], 0)
		redis.call('XGROUP', 'CREATE', KEYS[4], 'g', '0')
		redis.call('TIME')
		redis.call('PUBLISH', 'emq:{q}:control', ARGV[1])
		redis.call('DEL', unpack(KEYS))
		redis.call('DEL', KEYS[1])
		return 1`)
	queue, err := wire.ParseQueue("q")
	require.NoError(t, err)
	keys := []string{queue.Key("pc"), queue.Key("meta"), queue.Key("wait"), queue.Key("events")}
	payload := "\x00\xff\r\n\t\a\b\"\\ ]} [0 lua] \"" + strings.Repeat("payload ", 30<<10)

	audited(t, func(t *testing.T, report enginetest.Report) {
		assert.NoError(t, report.Err())
		assert.Equal(t, 12, report.Calls) // one EVALSHA was answered NOSCRIPT
		assert.Equal(t, 12, report.Counted)
		assert.Equal(t, 11*12, report.Commands)
		assert.Len(t, report.Scripts, 2) // by its digest, and by its body
		assert.Contains(t, report.String(), "0 violations")
	}, func(t *testing.T, client *redis.Client) {
		for range 11 {
			require.NoError(t, script.Run(t.Context(), client, keys, payload).Err())
		}
	})
}

func TestAuditorCatchesPlantedFaults(t *testing.T) {
	t.Parallel()
	for _, fault := range []struct {
		name, body string
		keys       []string
		want       string
	}{
		{"built in Lua", `return redis.call('GET', 'emq:{q}:' .. 'pc')`, []string{"emq:{q}:wait"}, `key "emq:{q}:pc" is not one of KEYS`},
		{"from ARGV", `return redis.call('SET', ARGV[1], 1)`, []string{"emq:{q}:wait"}, `key "emq:{q}:job" is not one of KEYS`},
		{"one of many", `return redis.call('DEL', KEYS[1], ARGV[1])`, []string{"emq:{q}:wait"}, `key "emq:{q}:job" is not one of KEYS`},
		{"by its arguments", `return redis.call('ZMPOP', 2, KEYS[1], ARGV[1], 'MIN')`, []string{"emq:{q}:delayed"}, `key "emq:{q}:job" is not one of KEYS`},
		{"of a subcommand", `return redis.call('XGROUP', 'CREATE', ARGV[1], 'g', '0', 'MKSTREAM')`, []string{"emq:{q}:delayed"}, `key "emq:{q}:job" is not one of KEYS`},
		{"of another type", `return redis.pcall('LPUSH', KEYS[1], 'x') and redis.pcall('HGET', ARGV[1], 'f')`, []string{"emq:{q}:wait"}, `key "emq:{q}:job" is not one of KEYS`},
		{"after a good call of the same shape", `redis.call('GET', KEYS[1]) return redis.call('GET', ARGV[1])`, []string{"emq:{q}:pc"}, `key "emq:{q}:job" is not one of KEYS`},
		{"foreign key", `return redis.call('GET', KEYS[1])`, []string{"bull:q:id"}, `does not begin with "emq:`},
		{"no braces", `return redis.call('GET', KEYS[1])`, []string{"emq:q:pc"}, `does not begin with "emq:" and a hash tag`},
		{"two tags", `return redis.call('GET', KEYS[1])`, []string{"emq:{q}:pc", "emq:{r}:pc"}, "has another hash tag"},
	} {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			audited(t, func(t *testing.T, report enginetest.Report) {
				assert.Equal(t, 1, report.Violated)
				assert.ErrorContains(t, report.Err(), fault.want)
				assert.ErrorContains(t, report.Err(), fault.keys[0])
			}, func(t *testing.T, client *redis.Client) {
				err := client.Eval(t.Context(), fault.body, fault.keys, "emq:{q}:job").Err()
				if err != nil {
					require.ErrorIs(t, err, redis.Nil)
				}
			})
		})
	}
}

func TestAuditorSeesTransactionsAndPipelines(t *testing.T) {
	t.Parallel()
	audited(t, func(t *testing.T, report enginetest.Report) {
		assert.Equal(t, 20, report.Violated)
		assert.Equal(t, 40, report.Calls)
	}, func(t *testing.T, client *redis.Client) {
		for _, pipeline := range []redis.Pipeliner{client.Pipeline(), client.TxPipeline()} {
			for range 10 {
				pipeline.Eval(t.Context(), `return redis.call('INCR', KEYS[1])`, []string{"emq:{q}:pc"})
				pipeline.Eval(t.Context(), `return redis.call('INCR', 'stray')`, []string{"emq:{q}:pc"})
			}
			_, err := pipeline.Exec(t.Context())
			require.NoError(t, err)
		}
	})
}

func TestAuditThatSawNothingFails(t *testing.T) {
	t.Parallel()
	audited(t, func(t *testing.T, report enginetest.Report) {
		assert.ErrorContains(t, report.Err(), "proves nothing")
	}, func(t *testing.T, client *redis.Client) {
		require.NoError(t, client.Set(t.Context(), "k", "v", 0).Err())
	})
}

func TestAuditorKeepsUpWithLoad(t *testing.T) {
	t.Parallel()
	const callers, calls, keys = 8, 150, 40
	script := redis.NewScript(`
		for i = 2, #KEYS do redis.call('HSET', KEYS[i], 'data', ARGV[1], 'name', i) end
		redis.call('LPUSH', KEYS[1], unpack(KEYS))
		return #KEYS`)
	audited(t, func(t *testing.T, report enginetest.Report) {
		assert.NoError(t, report.Err())
		assert.GreaterOrEqual(t, report.Calls, callers*calls)
		assert.Equal(t, callers*calls*(keys+1), report.Commands)
	}, func(t *testing.T, client *redis.Client) {
		payload := strings.Repeat("0123456789", 10)
		var group sync.WaitGroup
		for caller := range callers {
			group.Go(func() {
				names := []string{fmt.Sprintf("emq:{q%d}:wait", caller)}
				for i := range keys {
					names = append(names, fmt.Sprintf("emq:{q%d}:job%d", caller, i))
				}
				for range calls {
					assert.NoError(t, script.Run(context.Background(), client, names, payload).Err())
				}
			})
		}
		group.Wait()
	})
}

func TestAuditorReportsALostConnection(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		auditor := enginetest.Audit(t, e)
		require.NoError(t, e.Client(t).Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
		_, err := auditor.Report(t.Context())
		assert.Error(t, err)
	})
}

// The shared engines are audited during the whole run, and the verdict needs a
// script to judge.
func TestSharedEnginesAreAudited(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		queue, err := wire.ParseQueue(e.QueueName(t))
		require.NoError(t, err)
		script := redis.NewScript(`return redis.call('INCR', KEYS[1])`)
		require.NoError(t, script.Run(t.Context(), e.Client(t), []string{queue.Key("pc")}).Err())
	})
}
