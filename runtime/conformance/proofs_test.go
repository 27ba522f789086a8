package conformance_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/lua/lint"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/lua54"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/monitor"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// The four independent proofs that every key is declared. The second, by
// MONITOR, also watches every other test of this project that uses a shared
// engine.

func TestProofBySyntax(t *testing.T) {
	t.Parallel()
	for _, script := range lua.All() {
		assert.Empty(t, lint.Check(script.Name+".lua", []byte(script.Source)), script.Name)
	}
}

// TestProofsByRunning makes every call in every situation: on the engine under
// the eyes of MONITOR, as a user who may touch the declared keys of that call
// only, and in Lua 5.4. Each must come out the same.
func TestProofsByRunning(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		auditor := enginetest.Audit(t, e)
		client := e.Client(t)
		want := everyCase(t, e, client, directly(client))
		report, err := auditor.Report(t.Context())
		require.NoError(t, err)
		require.NoError(t, report.Err())
		assert.Len(t, report.Scripts, len(lua.All()))
		t.Logf("%s", report)

		requireSame(t, want, everyCase(t, e, client, guard(t, e)))
		if e.Kind == enginetest.Valkey {
			run, d := dragonfly(t, e)
			reached := map[string]bool{}
			requireSame(t, want, everyCase(t, e, client, noting(run, d, reached)))
			requireReached(t, reached)
			full(t, e, run)
		}
	})
}

// noting returns a lane that notes from where each script sends commands.
func noting(run lane, d *lua54.Dragonfly, reached map[string]bool) lane {
	return func(ctx context.Context, call script.Call) (any, error) {
		d.Sites = map[lua54.Site]bool{}
		reply, err := run(ctx, call)
		for site := range d.Sites {
			reached[fmt.Sprintf("%s.lua:%d %s", call.Script.Name, site.Line, site.Command)] = true
		}
		return reply, err
	}
}

// requireReached requires that the cases reach every command of every script.
func requireReached(t *testing.T, reached map[string]bool) {
	t.Helper()
	for _, script := range lua.All() {
		for number, line := range strings.Split(script.Source, "\n") {
			for _, match := range commandName.FindAllStringSubmatch(line, -1) {
				place := fmt.Sprintf("%s.lua:%d %s", script.Name, number+1, match[1])
				assert.True(t, reached[place], "no case reaches %s", place)
			}
		}
	}
}

// commandName finds the commands in a line of a script.
var commandName = regexp.MustCompile(`redis\.p?call\('([A-Z]+)'`)

// full compares what add does on an engine without memory.
func full(t *testing.T, e *enginetest.Engine, run lane) {
	t.Helper()
	admin := e.Client(t)
	limited := func(run lane) lane {
		return func(ctx context.Context, call script.Call) (any, error) {
			require.NoError(t, admin.ScriptLoad(ctx, call.Script.Source).Err())
			require.NoError(t, admin.ConfigSet(ctx, "maxmemory", "1").Err())
			defer func() { require.NoError(t, admin.ConfigSet(ctx, "maxmemory", "0").Err()) }()
			return run(ctx, call)
		}
	}
	for _, situation := range []string{"nothing", "waiting"} {
		add := calls()["add of one"]
		want := try(t, e, admin, limited(directly(admin)), situations[situation], add, nil)
		got := try(t, e, admin, limited(run), situations[situation], add, nil)
		require.Equal(t, want, got)
		require.Equal(t, "error EMQFULL", got.reply)
	}
}

// plants are undeclared accesses, planted in every script.
var plants = map[string]string{
	"a key that is built":   `redis.call('EXISTS', (string.gsub(KEYS[1], 'meta', 'shadow')))`,
	"a key from a reply":    `redis.call('GET', redis.call('TIME')[1])`,
	"a key of another slot": `redis.call('SET', 'emq:{other}:stray', 1)`,
	"one of several keys":   `redis.call('EXISTS', KEYS[1], KEYS[1] .. 'x')`,
}

// firstCalls are calls that run each script.
func firstCalls() map[string]model.Caller {
	all := calls()
	return map[string]model.Caller{
		"push": all["add of plain jobs"], "post": all["add of coded jobs"], "complete": all["settle as completed"],
		"add": all["add"], "pick": all["pick of one"], "settle": all["settle completed"], "extend": all["extend"],
		"promote": all["promote"], "recover": all["recover"], "due": all["due"], "inspect": all["inspect"], "trim": all["trim by age"],
		"schedule": all["schedule"], "unschedule": all["unschedule"], "tick": all["tick"],
		"declare": all["declare"], "pause": all["pause"], "resume": all["resume"],
		"progress": all["progress"], "log": all["log"], "report": all["report"],
		"counts": all["counts"], "list": all["list on"], "view": all["view"], "remove": all["remove"], "retry": all["retry"],
		"drain": all["drain"], "expel": all["expel"], "erase": all["erase"], "obliterate": all["obliterate"], "sweep": all["sweep"],
		"deliver": all["deliver"], "collect": all["collect"], "acknowledge": all["acknowledge"], "verify": all["verify"],
		"override": all["override"],
		"heal":     all["heal"], "prune": all["prune"], "replace": all["replace"],
		"cancel": all["cancel"], "change": all["change"], "leave": all["leave"],
	}
}

// TestProofsCatchPlantedFaults plants undeclared keys in every script: each of
// the four proofs must find each of them.
func TestProofsCatchPlantedFaults(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		client := e.Client(t)
		lanes := map[string]lane{"access rules": guard(t, e)}
		if e.Kind == enginetest.Valkey {
			lanes["Lua 5.4"], _ = dragonfly(t, e)
		}
		first := firstCalls()
		for _, own := range lua.All() {
			require.NotNil(t, first[own.Name], "no call of %s", own.Name)
			for name, statement := range plants {
				faulty := withFault(t, own.Name, statement)
				about := own.Name + ".lua with " + name

				found := lint.Check(own.Name+".lua", []byte(faulty.Source))
				assert.True(t, slices.ContainsFunc(found, func(f lint.Finding) bool { return f.Rule == lint.RuleKey }),
					"the proof by syntax misses %s: %v", about, found)

				auditor := enginetest.Audit(t, e)
				try(t, e, client, directly(client), situations["active"], first[own.Name], map[string]lua.Script{own.Name: faulty})
				report, err := auditor.Report(t.Context())
				require.NoError(t, err)
				assert.Equal(t, 1, report.Violated, "the proof by MONITOR, of %s", about)

				for lane, run := range lanes {
					result := try(t, e, client, run, situations["active"], first[own.Name], map[string]lua.Script{own.Name: faulty})
					assert.Regexp(t, refusal, result.reply, "the proof by %s misses %s", lane, about)
				}
			}
		}
		require.NoError(t, client.Del(t.Context(), "emq:{other}:stray").Err())
	})
}

// refusal is what engines, and the sandbox, say of an undeclared key.
var refusal = regexp.MustCompile(`^error .*(can't access at least one of the keys|No permissions to access a key|script tried accessing undeclared key)`)

// TestLua54FindsDialect plants what means something else in Lua 5.4: the
// comparison with Valkey must find it.
func TestLua54FindsDialect(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Valkey)
	client := e.Client(t)
	run, _ := dragonfly(t, e)
	for name, statement := range map[string]string{
		"a quotient that is returned":     `if true then return { 10 / 2, {}, {}, 0, 0 } end`,
		"a quotient that is concatenated": `if '' .. 10 / 2 ~= '5' then return redis.error_reply('EMQARGS odd') end`,
		"a score that must be a string":   `if redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')[2] ~= '1000' then return redis.error_reply('EMQARGS odd') end`,
		"a time that must be a string":    `if type(redis.call('TIME')[1]) ~= 'string' then return redis.error_reply('EMQARGS odd') end`,
		"a hole in the reply":             `if true then return { 1, nil, {}, 0, 0 } end`,
		"a library of Redis's":            `cjson.encode({})`,
		"a function of Lua 5.1":           `loadstring('return 1')()`,
	} {
		faulty := withFault(t, "due", statement)
		scripts := map[string]lua.Script{"due": faulty}
		want := try(t, e, client, directly(client), situations["due"], calls()["due"], scripts)
		got := try(t, e, client, run, situations["due"], calls()["due"], scripts)
		assert.NotEqual(t, want, got, name)
	}
}

// resp2 returns a client that speaks RESP2.
func resp2(t *testing.T, e *enginetest.Engine) *redis.Client {
	t.Helper()
	options := e.Options()
	options.Protocol = 2
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// keysOf returns a function that tells the keys of a command.
func keysOf(client *redis.Client) func(context.Context, []string) ([]string, error) {
	known := monitor.NewKeys(client)
	return func(ctx context.Context, command []string) ([]string, error) {
		keys, err := known.OfCommand(ctx, command)
		names := make([]string, len(keys))
		for i, key := range keys {
			names[i] = key.Name
		}
		return names, err
	}
}
