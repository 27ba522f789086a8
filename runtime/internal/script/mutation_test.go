package script_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// mutation is a fault in a script: old is replaced by new.
type mutation struct{ script, name, old, new string }

var mutations = []mutation{
	{"add", "an id that is taken is added again", "(taken > 0 and redis.call('EXISTS', KEYS[7 + i]) == 1)", "false"},
	{"add", "a duplicate in the call is added twice", "seen[id] = true", ""},
	{"add", "a new job goes to the front", "redis.call('LPUSH', KEYS[2]", "redis.call('RPUSH', KEYS[2]"},
	{"add", "the priority does not count", "ranked[i] * 4294967296 + counter", "counter"},
	{"add", "no marker for the first job", "redis.call('ZADD', KEYS[6], 0, head)", "head = nil"},
	{"add", "no marker for an earlier due time", "redis.call('ZADD', KEYS[6], 1, '~due')", "head = nil"},
	{"add", "a foreign version is not refused", "version and version ~= 'echomq:2.0.0'", "false"},

	{"pick", "takes from the back", "redis.call('RPOP'", "redis.call('LPOP'"},
	{"pick", "priorities from the end", "redis.call('ZPOPMIN'", "redis.call('ZPOPMAX'"},
	{"pick", "prioritized jobs are not taken", "if #popped < want then", "if false then"},
	{"pick", "a reservation need not be the caller's", "redeemed[i] = owners[c] == ARGV[10 + 2 * i]", "redeemed[i] = owners[c]"},
	{"pick", "reserved is not released", "redis.call('HDEL', KEYS[7], unpack(owned))", ""},
	{"pick", "heads that are not declared are dropped", "if place[popped[p]] == p then", "if false then"},
	{"pick", "no lock", "redis.call('MSET', unpack(locks))", ""},
	{"pick", "no lease", "redis.call('ZADD', KEYS[6], unpack(leases))", ""},
	{"pick", "the start is not counted", "started = started + 1", ""},
	{"pick", "a replay starts again", "if tokens[i] == token then", "if false then"},
	{"pick", "a replay takes more", "        held[i] = true\n        want = 0", "        held[i] = true"},
	{"pick", "the marker stays when nothing is left", "redis.call('DEL', KEYS[9])", ""},
	{"pick", "the marker is not set again", "redis.call('ZADD', KEYS[9], 0, upcoming[1])", ""},
	{"pick", "no quarantine", "    elseif not named then\n      redis.call('ZREM', KEYS[6], id)", "    elseif not named then\n      redis.call('ZREM', KEYS[8], id)"},
	{"pick", "no limit on bytes", "bytes > 0 and bytes + size > limit", "false"},
	{"pick", "the counter is not reset", "redis.call('DEL', KEYS[4])", ""},

	{"settle", "the lock is not checked", "tokens[i] ~= ARGV[a + 2] or seen[id]", "not tokens[i] or seen[id]"},
	{"settle", "a duplicate in the call is settled twice", "seen[id] = i\n", ""},
	{"settle", "stays active", "redis.call('ZREM', KEYS[5], unpack(leaving))", ""},
	{"settle", "the lock stays", "redis.call('DEL', unpack(freed))", ""},
	{"settle", "no stub", "redis.call('PEXPIRE', KEYS[8 + 3 * i], 60000)", "redis.call('DEL', KEYS[8 + 3 * i])"},
	{"settle", "the stub stays for ever", "redis.call('PEXPIRE', KEYS[8 + 3 * i], 60000)", ""},
	{"settle", "the attempts are not written", "'failedReason', ARGV[a + 4], 'delay', ARGV[a + 6], 'atm', ARGV[a + 7],", "'failedReason', ARGV[a + 4], 'delay', ARGV[a + 6],"},
	{"settle", "the settle is not remembered", "'returnvalue', ARGV[a + 4], 'finishedOn', now, 'atm', ARGV[a + 7], 'lst', last", "'returnvalue', ARGV[a + 4], 'finishedOn', now, 'atm', ARGV[a + 7]"},
	{"settle", "given back in the wrong order", "for f = #front, 1, -1 do", "for f = 1, #front do"},
	{"settle", "given back to the back", "redis.call('RPUSH', KEYS[2]", "redis.call('LPUSH', KEYS[2]"},
	{"settle", "a retry is not delayed", "redis.call('ZADD', KEYS[4], unpack(delayed))", ""},
	{"settle", "failed is completed", "redis.call('ZADD', KEYS[7], unpack(failed))", "redis.call('ZADD', KEYS[6], unpack(failed))"},
	{"settle", "logs of a job that is not kept stay", "redis.call('DEL', KEYS[8 + 3 * i], KEYS[10 + 3 * i])", "redis.call('DEL', KEYS[8 + 3 * i])"},
	{"settle", "the event has no reason", "entry[#entry + 1] = string.sub(ARGV[a + 4], 1, 1024)", "entry[#entry + 1] = ''"},
	{"settle", "a replay is lost", "if token == ARGV[a + 2] then", "if false then"},

	{"extend", "the lock is not checked", "tokens[i] == ARGV[2 * i + 1]", "tokens[i]"},
	{"extend", "the lease is not renewed", "leases[#leases + 1] = deadline\n", "leases[#leases + 1] = now\n"},
	{"extend", "cancelled jobs are not told", "local defa = meta[2] and", "local defa = false and"},
	{"leave", "the lock is not checked", "tokens[i] == ARGV[3 * i + 1]", "tokens[i]"},
	{"leave", "the lease goes on", "redis.call('ZADD', KEYS[2], unpack(leases))", ""},
	{"leave", "is told of again", "scores[i] and tonumber(scores[i]) > now and", ""},
	{"extend", "taken out and not put back", "redis.call('ZADD', KEYS[2], unpack(leases))", ""},

	{"promote", "what is early is promoted", "elseif due > now then", "elseif false then"},
	{"promote", "stays delayed", "redis.call('ZREM', KEYS[5], unpack(leaving))", ""},
	{"promote", "a job that ran goes to the back", "elseif started > 0 then", "elseif false then"},
	{"promote", "a new job goes to the front", "redis.call('LPUSH', KEYS[2], unpack(waiting))", "redis.call('RPUSH', KEYS[2], unpack(waiting))"},
	{"promote", "no marker", "redis.call('ZADD', KEYS[7], 0, head)", ""},
	{"promote", "the priority is lost", "tonumber(fields[2] or 0) or 0", "0"},

	{"recover", "a renewed lease is taken", "math.floor(deadline) ~= tonumber(ARGV[3 * i + 1]) or deadline > now", "false"},
	{"recover", "a running lease is taken", "or deadline > now then", "then"},
	{"recover", "stays active", "redis.call('ZREM', KEYS[4], unpack(leaving))", ""},
	{"recover", "the lock stays", "redis.call('DEL', unpack(freed))", ""},
	{"recover", "reserved is not released", "redis.call('HDEL', KEYS[5], unpack(leaving))", ""},
	{"recover", "the stall is not counted", "(tonumber(fields[3] or 0) or 0) + 1", "(tonumber(fields[3] or 0) or 0)"},
	{"recover", "a reserved job counts a stall", "if tokens[i] then", "if true then"},
	{"recover", "never too many stalls", "if counters[i] > allowed then", "if false then"},
	{"recover", "no marker", "redis.call('ZADD', KEYS[7], 0, front[1])", ""},

	{"trim", "what is kept goes", "verdicts[i] = old and 'trimmed' or 'kept'\n    if old then", "verdicts[i] = old and 'trimmed' or 'kept'\n    if true then"},
	{"trim", "the rank is from the wrong end", "rank = redis.call('ZREVRANK', KEYS[2], ids[i])", "rank = redis.call('ZRANK', KEYS[2], ids[i])"},
	{"trim", "the job's keys stay", "redis.call('DEL', unpack(keys))", ""},
	{"trim", "logs stay", "keys[#keys + 1] = KEYS[6 * i]\n", ""},

	{"add", "wakes a worker of a paused queue", "if head and not paused then", "if head then"},
	{"pick", "takes from a paused queue", "if want > 0 and not paused then", "if want > 0 then"},
	{"pick", "wakes a worker of a paused queue", "local upcoming = {}\nif not paused then", "local upcoming = {}\nif true then"},
	{"settle", "wakes a worker of a paused queue", "if #front > 0 and not paused then", "if #front > 0 then"},
	{"promote", "wakes a worker of a paused queue", "if not paused and #ranked", "if #ranked"},
	{"recover", "wakes a worker of a paused queue", "if #front > 0 and not paused then", "if #front > 0 then"},
	{"pause", "the marker stays", "redis.call('DEL', KEYS[3])", ""},
	{"pause", "is not paused", "'paused', '1'", "'paused', '0'"},
	{"pause", "a due time is forgotten", "redis.call('ZADD', KEYS[3], 1, '~due')", ""},
	{"pause", "again is news", "meta[2] ~= '1'", "true"},
	{"resume", "stays paused", "redis.call('HDEL', KEYS[1], 'paused')", ""},
	{"resume", "no marker", "redis.call('ZADD', KEYS[4], 0, head)", ""},
	{"resume", "the last is the head", "redis.call('LINDEX', KEYS[2], -1)", "redis.call('LINDEX', KEYS[2], 0)"},

	{"settle", "a cancelled job waits", "          delay = 0\n", ""},
	{"recover", "a cancelled job fails for its stalls", "and not marked[i] then", "then"},
	{"cancel", "no mark", "redis.call('HSET', KEYS[8 + i], 'defa', mark)", ""},
	{"cancel", "another job's id will do", "verdict = 'mismatch'", "verdict = 'marked'\n      fresh[i] = true"},
	{"cancel", "an ended job is marked", "elseif completed[i] or failed[i] or", "elseif"},
	{"cancel", "a new reason replaces the first", "fresh[i] = not mine and", "fresh[i] ="},
	{"cancel", "a delayed job waits", "redis.call('ZADD', KEYS[2], now, ids[i])", ""},
	{"cancel", "nobody is told of the due time", "redis.call('ZADD', KEYS[7], 1, '~due')", ""},
	{"cancel", "workers are not to look", "redis.call('HSET', KEYS[1], 'cancels', '1')", ""},

	{"due", "one id too many", "score <= now and #due < limit", "score <= now"},
	{"due", "what is early is due", "if score <= now and #expired < 2 * limit then", "if #expired < 2 * limit then"},
	{"progress", "the lock is not checked", "tokens[i] ~= ARGV[4 * i]", "not tokens[i]"},
	{"progress", "it is not kept", "redis.call('HSET', KEYS[1 + 2 * i], 'progress', ARGV[4 * i + 1])", ""},
	{"progress", "it is announced at every level", "level == 'all' and ARGV[4 * i + 2] == '1'", "ARGV[4 * i + 2] == '1'"},
	{"log", "the lock is not checked", "tokens[i] ~= ARGV[4 * i - 1]", "not tokens[i]"},
	{"log", "a line that was recorded is added again", "tonumber(ARGV[4 * i]) > (tonumber(fields[2] or 0) or 0)", "true"},
	{"log", "the oldest stay", "redis.call('LTRIM', KEYS[3 * i + 1], 1 - keep, -1)", ""},
	{"log", "the newest go", "1 - keep, -1)", "0, keep - 2)"},
	{"log", "one more is kept", "1 - keep, -1)", "0 - keep, -1)"},
	{"report", "the newest lines first", "first, first + limit - 1)", "0 - limit, -1)"},
	{"report", "lines that are known come again", "local newer = logged - tonumber(ARGV[1 + 2 * i])", "local newer = logged"},
	{"inspect", "a stub is waiting", "if outcome == 'completed' or outcome == 'failed' then", "if false then"},
	{"inspect", "failed is missed", "elseif redis.call('ZSCORE', KEYS[6], id) then", "elseif false then"},
}

// TestModelFindsFaults plants a fault in a script, one after the other, and
// shows that the model finds it.
func TestModelFindsFaults(t *testing.T) {
	const seeds, steps = 8, 1500
	t.Parallel()
	engine := enginetest.Start(t, enginetest.Valkey)
	for _, m := range mutations {
		t.Run(m.script+"/"+strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			b := newBench(t, engine)
			b.instead = map[string]lua.Script{m.script: m.apply(t)}
			for seed := range uint64(seeds) {
				b.use(t, engine)
				w := newWorld(b, 1000+seed)
				err := w.run(t.Context(), steps, timeOfSeed)
				require.NoError(t, b.clear(t.Context()))
				if err != nil {
					finding, _, _ := strings.Cut(err.Error(), "the last steps:")
					t.Logf("found: %s", finding)
					return
				}
			}
			t.Errorf("the model did not find it in %d seeds of %d steps", seeds, steps)
		})
	}
}

// apply returns the script with the fault in its body.
func (m mutation) apply(t *testing.T) lua.Script {
	t.Helper()
	whole, ok := lua.Lookup(m.script)
	require.True(t, ok)
	require.Equal(t, 1, strings.Count(whole.Source, m.old), "%q must stand in %s.lua once", m.old, m.script)
	source := strings.Replace(whole.Source, m.old, m.new, 1)
	sum := sha1.Sum([]byte(source))
	return lua.Script{Name: whole.Name, Source: source, SHA1: hex.EncodeToString(sum[:])}
}

// TestMutationsAreMany shows that every script has its faults.
func TestMutationsAreMany(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, m := range mutations {
		count[m.script]++
	}
	for _, s := range lua.All() {
		require.GreaterOrEqual(t, count[s.Name], 2, fmt.Sprintf("faults in %s.lua", s.Name))
	}
}
