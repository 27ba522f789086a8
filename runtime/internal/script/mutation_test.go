package script_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// mutation is a fault in a script: old is replaced by new.
type mutation struct{ script, name, old, new string }

var mutations = []mutation{
	{"add", "an id that is taken is added again", "(taken > 0 and redis.call('EXISTS', KEYS[13 + 2 * i]) == 1)", "false"},
	{"add", "a duplicate in the call is added twice", "seen[id] = true", ""},
	{"add", "a new job goes to the front", "redis.call('LPUSH', KEYS[2]", "redis.call('RPUSH', KEYS[2]"},
	{"add", "the priority does not count", "ranked[i] * 4294967296 + counter", "counter"},
	{"add", "no marker for the first job", "redis.call('ZADD', KEYS[6], 0, head)", "head = nil"},
	{"add", "no marker for an earlier due time", "redis.call('ZADD', KEYS[6], 1, '~due')", "head = nil"},
	{"add", "a foreign version is not refused", "version and version ~= 'echomq:2.0.0'", "false"},

	{"add", "a parent does not wait", "if ARGV[a + 12] ~= '0' then", "if false then"},
	{"add", "a parent does not know its children", "      if #edges > 0 then\n", "      if false then\n"},
	{"add", "the parent is forgotten", "'parentKey', ARGV[a + 10], 'parent', ARGV[a + 11]", "'parentKey', ARGV[a + 10]"},
	{"add", "nobody brings the children", "redis.call('ZADD', KEYS[9], unpack(entries))", ""},
	{"add", "a key that another holds is given away", "key ~= '' and owner[key]", "false"},
	{"add", "a key is held for ever", "over[keyed[k]] = ends[k] and tonumber(ends[k]) <= now", ""},
	{"add", "a key whose time is over stays so", "redis.call('ZREM', KEYS[12], unpack(endless))", ""},
	{"add", "two of a call have one key", "      owner[key] = id\n", ""},
	{"add", "the job does not know its key", "redis.call('HSET', KEYS[13 + 2 * i], 'deid', key, 'deu', ARGV[a + 16])", ""},
	{"add", "the key has no time", "redis.call('ZADD', KEYS[12], unpack(terms))", ""},

	{"pick", "takes from the back", "redis.call('RPOP'", "redis.call('LPOP'"},
	{"pick", "priorities from the end", "redis.call('ZPOPMIN'", "redis.call('ZPOPMAX'"},
	{"pick", "prioritized jobs are not taken", "if #lists < quota then", "if false then"},
	{"pick", "a reservation need not be the caller's", "redeemed[i] = owners[c] == ARGV[17 + 2 * i]", "redeemed[i] = owners[c]"},
	{"pick", "reserved is not released", "redis.call('HDEL', KEYS[7], unpack(owned))", ""},
	{"pick", "heads that are not declared are dropped", "if place[popped[p]] == p then", "if false then"},
	{"pick", "no lock", "redis.call('MSET', unpack(locks))", ""},
	{"pick", "no lease", "redis.call('ZADD', KEYS[6], unpack(leases))", ""},
	{"pick", "the start is not counted", "started = started + 1", ""},
	{"pick", "a replay starts again", "if tokens[i] == token then", "if false then"},
	{"pick", "a replay takes more", "        held[i] = true\n        want = 0", "        held[i] = true"},
	{"pick", "the marker stays when nothing is left", "redis.call('DEL', KEYS[9])", ""},
	{"pick", "the marker is not set again", "redis.call('ZADD', KEYS[9], 0, upcoming[1])", ""},
	{"pick", "no quarantine", "    elseif not named then\n      lost[#lost + 1] = id\n      redis.call('ZREM', KEYS[6], id)", "    elseif not named then\n      lost[#lost + 1] = id\n      redis.call('ZREM', KEYS[8], id)"},
	{"pick", "no limit on bytes", "bytes > 0 and bytes + size > limit", "false"},
	{"pick", "the counter is not reset", "redis.call('DEL', KEYS[4])", ""},

	{"pick", "the key stays", "redis.call('HDEL', KEYS[12], unpack(free))", ""},
	{"pick", "the key of another is released", "owners[k] == holders[k]", "true"},
	{"pick", "every key is released", "unique and release == 'started'", "unique"},

	{"settle", "the lock is not checked", "tokens[i] ~= ARGV[a + 2] or seen[id]", "not tokens[i] or seen[id]"},
	{"settle", "a duplicate in the call is settled twice", "seen[id] = i\n", ""},
	{"settle", "stays active", "redis.call('ZREM', KEYS[5], unpack(leaving))", ""},
	{"settle", "the lock stays", "redis.call('DEL', unpack(freed))", ""},
	{"settle", "no stub", "redis.call('PEXPIRE', KEYS[15 + 3 * i], 60000)", "redis.call('DEL', KEYS[15 + 3 * i])"},
	{"settle", "the stub stays for ever", "redis.call('PEXPIRE', KEYS[15 + 3 * i], 60000)", ""},
	{"settle", "the stub goes before the end is reported", "if ARGV[a + 14] == '' then\n        redis", "if true then\n        redis"},
	{"settle", "nothing is reported", "if ended and ARGV[a + 14] ~= '' then", "if false then"},
	{"settle", "what is no end is reported", "if ended and ARGV[a + 14] ~= '' then", "if ARGV[a + 14] ~= '' then"},
	{"settle", "a report without its value", "'\\n' .. ARGV[a + 4]", "'\\n'"},
	{"settle", "the attempts are not written", "'failedReason', ARGV[a + 4], 'delay', ARGV[a + 6], 'atm', ARGV[a + 7],", "'failedReason', ARGV[a + 4], 'delay', ARGV[a + 6],"},
	{"settle", "the settle is not remembered", "'returnvalue', ARGV[a + 4], 'finishedOn', now, 'atm', ARGV[a + 7], 'lst', last", "'returnvalue', ARGV[a + 4], 'finishedOn', now, 'atm', ARGV[a + 7]"},
	{"settle", "given back in the wrong order", "for f = #front, 1, -1 do", "for f = 1, #front do"},
	{"settle", "given back to the back", "redis.call('RPUSH', KEYS[2]", "redis.call('LPUSH', KEYS[2]"},
	{"settle", "a retry is not delayed", "redis.call('ZADD', KEYS[4], unpack(delayed))", ""},
	{"settle", "failed is completed", "redis.call('ZADD', KEYS[7], unpack(failed))", "redis.call('ZADD', KEYS[6], unpack(failed))"},
	{"settle", "logs of a job that is not kept stay", "redis.call('DEL', KEYS[15 + 3 * i], KEYS[17 + 3 * i])", "redis.call('DEL', KEYS[15 + 3 * i])"},
	{"settle", "the event has no reason", "string.sub(ARGV[a + 4], 1, 1024), 'attempt', ARGV[a + 7])\n", "'', 'attempt', ARGV[a + 7])\n"},
	{"settle", "a job of a group counts as one of none", "if ARGV[a + 16] ~= '1' then", "if false then"},
	{"push", "a new job goes to the front", "redis.call('LPUSH', KEYS[2]", "redis.call('RPUSH', KEYS[2]"},
	{"push", "a duplicate in the call is added twice", "seen[id] = true", ""},
	{"push", "no marker for the first job", "redis.call('ZADD', KEYS[3], 0, head)", "head = nil"},
	{"push", "wakes a worker of a paused queue", "if head and not stopped then", "if head then"},
	{"post", "a new job goes to the front", "redis.call('LPUSH', KEYS[2]", "redis.call('RPUSH', KEYS[2]"},
	{"post", "the codec is forgotten", "redis.call('HSET', KEYS[3 + i], 'cdc', ARGV[a + 4])", ""},
	{"post", "the version is forgotten", "redis.call('HSET', KEYS[3 + i], 'ver', ARGV[a + 5])", ""},
	{"complete", "anybody settles", "tokens[i] ~= ARGV[a + 2] or seen[id]", "seen[id]"},
	{"complete", "the lock stays", "redis.call('DEL', unpack(freed))", ""},
	{"complete", "no event", "level == 'all' or level == 'final'", "level == 'all'"},
	{"complete", "the attempt is not counted", "'atm', ARGV[a + 4], ", ""},
	{"settle", "a replay is lost", "if token == ARGV[a + 2] then", "if false then"},

	{"settle", "the key stays", "redis.call('HDEL', KEYS[13], unpack(free))", ""},
	{"settle", "the key's time stays", "redis.call('ZREM', KEYS[14], unpack(free))", ""},
	{"settle", "the key of another is released", "owners[k] == holders[k]", "true"},

	{"extend", "the lock is not checked", "tokens[i] == ARGV[2 * i + 1]", "tokens[i]"},
	{"extend", "the lease is not renewed", "leases[#leases + 1] = deadline\n", "leases[#leases + 1] = now\n"},
	{"extend", "cancelled jobs are not told", "local defa = meta[2] and", "local defa = false and"},
	{"leave", "the lock is not checked", "tokens[i] == ARGV[3 * i + 1]", "tokens[i]"},
	{"leave", "the lease goes on", "redis.call('ZADD', KEYS[2], unpack(leases))", ""},
	{"leave", "is told of again", "(tonumber(scores[i] or 0) or 0) > now and", ""},
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
	{"recover", "never too many stalls", "if counters[i] > allowed and not marked[i] then", "if false then"},
	{"recover", "no marker", "redis.call('ZADD', KEYS[7], 0, front[1])", ""},

	{"trim", "what is kept goes", "verdicts[i] = old and 'trimmed' or 'kept'\n    if old then", "verdicts[i] = old and 'trimmed' or 'kept'\n    if true then"},
	{"trim", "the rank is from the wrong end", "rank = redis.call('ZREVRANK', KEYS[2], ids[i])", "rank = redis.call('ZRANK', KEYS[2], ids[i])"},
	{"trim", "the job's keys stay", "redis.call('DEL', unpack(keys))", ""},
	{"trim", "logs stay", "keys[#keys + 1] = KEYS[6 * i + 3]\n", ""},
	{"trim", "what is not reported goes", "if unreported[i] then", "if false then"},

	{"trim", "the key stays", "redis.call('HDEL', KEYS[5], unpack(free))", ""},
	{"trim", "the key of another is released", "owners[k] == holders[k]", "true"},

	{"heal", "a key that is held is released", "fields[1] and fields[2] == keyed[i]", "false"},
	{"heal", "a job without a name holds", "fields[1] and fields[2] == keyed[i]", "fields[2] == keyed[i]"},
	{"heal", "the key of another is released", "owners[i] == ARGV[2 * i - 1]", "owners[i]"},
	{"heal", "the key stays", "redis.call('HDEL', KEYS[2], unpack(free))", ""},
	{"prune", "what is not over is released", "tonumber(terms[f + 1]) > now", "false"},
	{"prune", "the key stays", "redis.call('HDEL', KEYS[2], unpack(free))", ""},
	{"replace", "what is active is replaced", "elseif leases[i] then", "elseif false then"},
	{"replace", "what is reserved is replaced", "elseif tokens[i] then", "elseif false then"},
	{"replace", "what was cancelled is replaced", "elseif fields[5] then", "elseif false then"},
	{"replace", "what has completed is replaced", "elseif successes[i] then", "elseif false then"},
	{"replace", "what has failed is replaced", "elseif failures[i] then", "elseif false then"},
	{"replace", "the job of another key is replaced", "fields[2] ~= keyed[i]", "false"},
	{"replace", "a replay replaces again", "fields[3] == ARGV[2 + 13 * (i - 1) + 2]", "false"},
	{"replace", "the replacement is not remembered", ", 'rpb', ARGV[a + 2]))", "))"},
	{"settle", "a stub forgets by whom it was replaced", "redis.call('HSET', KEYS[15 + 3 * i], 'rpb', fields[2])", ""},
	{"replace", "old settings stay", "redis.call('HDEL', KEYS[10 + i], 'opts')", ""},
	{"replace", "the old time stays", "redis.call('ZADD', KEYS[2], unpack(timed))", ""},
	{"replace", "a backoff is cut short", "delays[i] and not started[i]", "delays[i]"},
	{"replace", "a job that waits gets a time", "delays[i] and not started[i]", "not started[i]"},
	{"replace", "the key's old time stays", "redis.call('ZREM', KEYS[10], keyed[i])", ""},
	{"replace", "no marker for an earlier due time", "redis.call('ZADD', KEYS[7], 1, '~due')", ""},

	{"deliver", "a report counts twice", "ARGV[4 * i]) == 1\n", "ARGV[4 * i]) >= 0\n"},
	{"deliver", "results are lost", "redis.call('HSET', KEYS[4 + 4 * i], ARGV[4 * i], ARGV[4 * i + 2])", "redis.call('EXISTS', KEYS[4 + 4 * i])"},
	{"deliver", "what is removed is recorded", "elseif counts and policy[i] ~= 'remove' then", "elseif counts then"},
	{"deliver", "the parent does not fail", "deferred[id] = deferred[id] or child[i]", "hasty[id] = true"},
	{"deliver", "an ignored failure lets the parent run", "elseif policy[i] == 'continue' then", "else"},
	{"deliver", "the parent waits for ever", "or redis.call('EXISTS', KEYS[3 + 4 * i]) == 0) and", ") and"},
	{"deliver", "the parent does not wait for all", "or redis.call('EXISTS', KEYS[3 + 4 * i]) == 0) and", "or true) and"},
	{"deliver", "the parent stands twice", "redis.call('ZREM', KEYS[2], unpack(released))", ""},
	{"deliver", "nobody is woken", "redis.call('ZADD', KEYS[4], 1, '~due')", ""},
	{"deliver", "a delay is forgotten", "if moment > now and", "if false and"},
	{"deliver", "what a lost parent had stays", "redis.call('DEL', KEYS[3 + 4 * i], KEYS[4 + 4 * i], KEYS[5 + 4 * i])", ""},

	{"collect", "what was taken is gone", "redis.call('ZADD', KEYS[2], unpack(again))", ""},
	{"collect", "tried again too soon", "math.max(least, math.min(most, age))", "least"},
	{"collect", "no limit on bytes", "if sizes > 0 and sizes + size > bytes then", "if false then"},
	{"collect", "parents whose children are to be delivered", "if not redis.call('ZSCORE', KEYS[2], waiting[w] .. ':children') then", "if true then"},
	{"collect", "a parent is looked for once", "redis.call('ZADD', KEYS[4], unpack(again))", ""},

	{"acknowledge", "delivered again and again", "redis.call('ZREM', KEYS[2], entries[i]) == 1", "redis.call('ZSCORE', KEYS[2], entries[i])"},
	{"acknowledge", "the body stays", "redis.call('HDEL', KEYS[3], unpack(entries))", ""},
	{"acknowledge", "the stub stays for ever", "redis.call('PEXPIRE', KEYS[3 + i], 60000)", ""},
	{"acknowledge", "a job goes as if it were a stub", "if not added then", "if true then"},

	{"verify", "a report is not seen", "if size > 0 then", "if false then"},
	{"verify", "another's child", "elseif fields[2] ~= ARGV[2 * i + 1] then", "elseif false then"},
	{"verify", "what is gone is pending", "state = 'missing'", "state = 'pending'"},

	{"add", "wakes a worker of a paused queue", "if head and not stopped then", "if head then"},
	{"pick", "takes from a paused queue", "if room > 0 and not paused then", "if room > 0 then"},
	{"pick", "wakes a worker of a paused queue", "local upcoming = {}\nif not paused then", "local upcoming = {}\nif true then"},
	{"settle", "wakes a worker of a paused queue", "if #front > 0 and not stopped then", "if #front > 0 then"},
	{"promote", "wakes a worker of a paused queue", "if not stopped and #ranked", "if #ranked"},
	{"recover", "wakes a worker of a paused queue", "if #front > 0 and not stopped then", "if #front > 0 then"},
	{"declare", "versions are one", "'contract:' .. ARGV[a + 2] .. ':'", "'contract:1:'"},
	{"declare", "names are one", "':' .. ARGV[a + 1]", "':mail'"},
	{"declare", "the second of a call replaces the first", "entered[fields[i]] or found[i]", "found[i]"},
	{"declare", "what stood there agrees", "if hash == ARGV[a + 3] then", "if hash ~= '' then"},
	{"declare", "a part of a hash is replaced", "' ' .. hash .. ' ', 1, true", "hash, 1, true"},
	{"declare", "nothing is replaced", "verdict = 'replaced'", ""},
	{"declare", "nothing is entered", "verdict == 'declared' or", ""},
	{"declare", "the program is not entered", "ARGV[a + 3] .. ' ' .. ARGV[a + 4]", "ARGV[a + 3]"},
	{"pause", "the marker stays", "redis.call('DEL', KEYS[3])", ""},
	{"pause", "is not paused", "'paused', '1'", "'paused', '0'"},
	{"pause", "a due time is forgotten", "redis.call('ZADD', KEYS[3], 1, '~due')", ""},
	{"pause", "again is news", "meta[2] ~= '1'", "true"},
	{"resume", "stays paused", "redis.call('HDEL', KEYS[1], 'paused', 'blocked')", ""},
	{"resume", "no marker", "redis.call('ZADD', KEYS[4], 0, head)", ""},
	{"resume", "the last is the head", "redis.call('LINDEX', KEYS[2], -1)", "redis.call('LINDEX', KEYS[2], 0)"},

	{"trim", "a stub forgets by whom it was replaced", "redis.call('HSET', KEYS[6 * i + 1], 'rpb', stubs[i][4])", ""},
	{"trim", "no stub", "redis.call('HSET', KEYS[6 * i + 1], 'name', stubs[i][1], 'lst', stubs[i][2])", ""},
	{"trim", "the stub stays for ever", "redis.call('PEXPIRE', KEYS[6 * i + 1], stubs[i][3])", ""},

	{"counts", "reserved is active", "redis.call('HLEN', KEYS[6])", "redis.call('ZCARD', KEYS[5])"},
	{"counts", "failed is completed", "redis.call('ZCARD', KEYS[8])", "redis.call('ZCARD', KEYS[7])"},
	{"list", "the last id comes again", "if after(id, last) or (falling and id == last) then", "if after(id, last) or id == last then"},
	{"list", "the place among equal scores is not found", "rank = middle + 1", "rank = middle"},
	{"list", "those before the last id come again", "from = from + #before - b + 1", "from = from + #before - b"},
	{"list", "falling begins one too late", "redis.call('ZCARD', set) - rank or 0", "redis.call('ZCARD', set) - rank + 1 or 0"},
	{"view", "a stub is waiting", "if state == 'waiting' and (outcome", "if false and (outcome"},
	{"view", "no limit on bytes", "if bytes > 0 and bytes + size > limit then", "if false then"},
	{"remove", "an active job is removed", "elseif leases[i] then", "elseif false then"},
	{"remove", "the list is left", "redis.call('LREM', KEYS[2], -1, id)", ""},
	{"remove", "the marker is left", "local told = redis.call('ZREM', KEYS[10], unpack(leaving))", "local told = 0"},
	{"remove", "logs stay", "keys[#keys + 1] = KEYS[6 * i + 15]\n", ""},
	{"remove", "nobody is told", "redis.call('ZADD', KEYS[13], unpack(entries))", ""},
	{"remove", "the key stays", "redis.call('HDEL', KEYS[15], unpack(free))", ""},
	{"remove", "the key of another is released", "owners[k] == holders[k]", "true"},
	{"retry", "takes a key that another holds", "if rivals[i] then", "if false then"},
	{"retry", "a key is held for ever", "over = term and tonumber(term) <= now", ""},
	{"retry", "does not take its key", "redis.call('HSET', KEYS[9], unpack(holds))", ""},
	{"retry", "two of a call have one key", "        holders[key] = id\n", ""},
	{"retry", "a key whose time is over stays so", "redis.call('ZREM', KEYS[10], unpack(endless))", ""},
	{"retry", "the attempts stay", "'atm', 0, 'lst'", "'lst'"},
	{"retry", "the reason stays", "'finishedOn', 'failedReason')", "'finishedOn')"},
	{"retry", "it still seems to have ended", "tokens[i] .. ' retry'", "tokens[i] .. ' failed'"},
	{"retry", "to the front", "redis.call('LPUSH', KEYS[2]", "redis.call('RPUSH', KEYS[2]"},
	{"retry", "stays failed", "redis.call('ZREM', KEYS[5], unpack(leaving))", "redis.call('ZREM', KEYS[6], unpack(leaving))"},
	{"retry", "the marker while paused", "if #ranked + #waiting + #joining > 0 and not stopped then", "if #ranked + #waiting > 0 then"},
	{"drain", "others are dropped", "redis.call('RPUSH', KEYS[2], unpack(back))", ""},
	{"drain", "others of a set are dropped", "redis.call('ZADD', set, unpack(placed))", ""},
	{"drain", "others are turned round", "for p = #popped, 1, -1 do", "for p = 1, #popped do"},
	{"drain", "the job stays", "redis.call('DEL', unpack(keys))", ""},
	{"expel", "what is a job's goes", "verdict = 'kept'\n  elseif", "verdict = 'kept'\n  end\n  if"},
	{"expel", "it is lost", "redis.call('ZADD', KEYS[7], unpack(broken))", ""},
	{"erase", "the queue need not be paused", "if not paused then", "if false then"},
	{"drain", "the key stays", "redis.call('HDEL', KEYS[9], unpack(free))", ""},
	{"erase", "the key stays", "redis.call('HDEL', KEYS[10], unpack(free))", ""},
	{"erase", "reserved stays", "redis.call('HDEL', KEYS[5], unpack(ids))", ""},
	{"obliterate", "the queue need not be paused", "if not paused then", "if false then"},
	{"obliterate", "jobs are no reason", "KEYS[13], KEYS[17], KEYS[21]) > 0 then", "KEYS[13], KEYS[17], KEYS[21]) > 9 then"},
	{"sweep", "it is everybody's turn", "(meta[2] ~= worker and ends > now)", "false"},
	{"sweep", "the rest is no rest", "redis.call('HSET', KEYS[1], 'turnEnds', ends)", ""},
	{"sweep", "the place is forgotten", ", 'sweptFailed', from)", ")"},

	{"schedule", "a passed slot is taken for the next", "elseif tonumber(ARGV[a + 3]) > now then", "elseif tonumber(ARGV[a + 3]) > 0 then"},
	{"schedule", "what is set already is set again", "if present and fields[1] == ARGV[a + 2] then", "if false then"},
	{"schedule", "a change loses the next slot", "elseif present and timed and present < 9007199254740991 then", "elseif false then"},
	{"schedule", "another zone keeps the slot", "and fields[4] == ARGV[a + 7]", ""},
	{"schedule", "the count goes on", "'cnt', 0, ", ""},
	{"schedule", "the earliest slot is not told", "redis.call('HSET', KEYS[1], 'slot', soonest)", ""},
	{"schedule", "nobody is woken for an earlier slot", "redis.call('ZADD', KEYS[3], 1, '~due')", ""},

	{"unschedule", "stays", "redis.call('ZREM', KEYS[2], unpack(ids))", ""},
	{"unschedule", "its hash stays", "redis.call('DEL', unpack(records))", ""},
	{"unschedule", "the earliest slot stays", "redis.call('HDEL', KEYS[1], 'slot')", ""},

	{"tick", "stands elsewhere and fires", "elseif present ~= tonumber(ARGV[a + 4]) or fields[1] ~= ARGV[a + 3] then", "elseif fields[1] ~= ARGV[a + 3] then"},
	{"tick", "was changed and fires", "or fields[1] ~= ARGV[a + 3] then", "then"},
	{"tick", "fires early", "elseif tonumber(ARGV[a + 5]) > now then", "elseif false then"},
	{"tick", "twice in a call", "elseif seen[ids[i]] then", "elseif false then"},
	{"tick", "a job that exists is overwritten", "elseif redis.call('EXISTS', KEYS[4 + 2 * i]) == 1 then", "elseif false then"},
	{"tick", "a replay is not known", "redis.call('HSET', KEYS[5 + 2 * i], 'frm', ARGV[a + 4], 'lsl'", "redis.call('HSET', KEYS[5 + 2 * i], 'lsl'"},
	{"tick", "the slot does not move on", "nexts[i] = tonumber(ARGV[a + 6])", "nexts[i] = tonumber(ARGV[a + 4])"},
	{"tick", "the limit does not hold", "if limit > 0 and counts[i] >= limit then", "if false then"},
	{"tick", "whose job it is is not written", "'timestamp', now, 'rjk', ids[i])", "'timestamp', now)"},
	{"tick", "nobody is woken", "redis.call('ZADD', KEYS[3], 1, '~due')", ""},
	{"tick", "the earliest slot is not told", "redis.call('HSET', KEYS[1], 'slot', slot)", ""},
	{"pick", "the earliest slot is not answered", "math.floor(tonumber(meta[6] or 0) or 0)", "0"},
	{"settle", "a cancelled job waits", "          delay = 0\n", ""},
	{"recover", "a cancelled job fails for its stalls", "and not marked[i] then", "then"},
	{"cancel", "no mark", "redis.call('HSET', KEYS[9 + i], 'defa', mark)", ""},
	{"cancel", "a parent waits on", "elseif parents[i] or", "elseif"},
	{"cancel", "a parent stands twice", "redis.call('ZREM', KEYS[9], ids[i])", ""},
	{"cancel", "another job's id will do", "verdict = 'mismatch'", "verdict = 'marked'\n      fresh[i] = true"},
	{"cancel", "an ended job is marked", "elseif completed[i] or failed[i] or", "elseif"},
	{"cancel", "a stub is marked", "or outcome == 'completed' or outcome == 'failed' then", "then"},
	{"cancel", "a new reason replaces the first", "fresh[i] = not mine and", "fresh[i] ="},
	{"cancel", "a delayed job waits", "redis.call('ZADD', KEYS[2], now, ids[i])", ""},
	{"cancel", "nobody is told of the due time", "redis.call('ZADD', KEYS[7], 1, '~due')", ""},
	{"cancel", "workers are not to look", "redis.call('HSET', KEYS[1], 'cancels', '1')", ""},
	{"change", "a replay changes again", "elseif fields[5] == by then", "elseif false then"},
	{"change", "what is active is changed", "elseif leases[i] then", "elseif false then"},
	{"change", "what has ended is changed", "elseif completed[i] or failed[i] or outcome == 'completed' or outcome == 'failed' then", "elseif completed[i] then"},
	{"change", "what is to fail is changed", "elseif fields[2] then", "elseif false then"},
	{"change", "a parent has a time", "elseif parents[i] and timed then", "elseif false then"},
	{"change", "another job's id will do", "ARGV[6 + 2 * i] ~= name then", "false then"},
	{"change", "a pick is not told the priority", "redis.call('HSET', KEYS[14 + i], 'chp', wanted)", ""},
	{"change", "a pick is not told the time", "redis.call('HSET', KEYS[14 + i], 'chd', due, 'delay', due - now)", ""},
	{"change", "a pick is told of what is over", "redis.call('HDEL', KEYS[14 + i], 'chd', 'delay')", ""},
	{"change", "stays in prioritized without a priority", "redis.call('ZREM', KEYS[3], unpack(waiting))", ""},
	{"change", "goes to the front of those that wait", "redis.call('LPUSH', KEYS[2]", "redis.call('RPUSH', KEYS[2]"},
	{"change", "stays in prioritized until it is due", "redis.call('ZREM', KEYS[3], unpack(leaving))", ""},
	{"change", "goes before those of its priority", "counter = counter + 1", "counter = counter - 1"},
	{"change", "the marker tells of what has left", "redis.call('ZREM', KEYS[11], unpack(gone))", "0"},
	{"change", "no marker for an earlier due time", "redis.call('ZADD', KEYS[11], 1, '~due')", ""},
	{"change", "the time is not changed", "redis.call('ZADD', KEYS[5], unpack(delayed))", ""},
	{"pick", "a changed job is started", "((later or 0) > now or (priority or 0) > 0)", "false"},
	{"pick", "a changed job is moved for ever", "redis.call('HDEL', KEYS[15 + 2 * i], 'chp', 'chd')\n      if", "if"},
	{"pick", "a job that was put off is ranked", "if (later or 0) > now then", "if false then"},
	{"pick", "a changed job stays active", "redis.call('ZREM', KEYS[6], id)\n      redis.call('HDEL'", "redis.call('HDEL'"},
	{"pick", "a cancelled job is put off", "not held[i] and not doomed and", "not held[i] and"},
	{"sweep", "nobody is told of deliveries", "redis.call('EXISTS', KEYS[4], KEYS[5])", "0"},
	{"collect", "nothing is left", "math.min(redis.call('EXISTS', KEYS[2], KEYS[4]), 1)", "0"},

	{"due", "one id too many", "score <= now and #due < limit", "score <= now"},
	{"due", "what is early is due", "if score <= now and #expired < 2 * limit then", "if #expired < 2 * limit then"},
	{"add", "the event tells no wait", "ARGV[a + 2], 'delay', wait)", "ARGV[a + 2], 'delay', 0)"},
	{"pick", "the event tells the attempt before", "'attempt', made + 1", "'attempt', made"},
	{"recover", "the event tells no stalls", "'stalls', string.format('%.0f', counters[i])", "'stalls', '0'"},
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

// allMutations are the faults of every script.
func allMutations() []mutation { return slices.Concat(mutations, limitMutations, groupMutations) }

// The model must find a fault within so many seeds of so many steps: those that
// it finds last it finds in every second seed.
const (
	seedsOfFault = 32
	stepsOfFault = 2000
)

// TestModelFindsFaults plants a fault in a script, one after the other, and shows
// that the model finds it. Under the race detector, with which it takes five times
// as long and which has nothing to find, it is one fault of each script, another
// each time; all of them take part without it, as in make test-model.
func TestModelFindsFaults(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t, enginetest.Valkey)
	all := allMutations()
	planted := all
	if underRace {
		planted = oneOfEach(all)
	}
	t.Logf("%d of %d faults are planted", len(planted), len(all))
	for _, m := range planted {
		t.Run(m.script+"/"+strings.ReplaceAll(m.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			require.True(t, m.found(t, engine), "the model did not find it in %d seeds of %d steps", seedsOfFault, stepsOfFault)
		})
	}
}

// oneOfEach returns a mutation of each script, whichever.
func oneOfEach(all []mutation) []mutation {
	all = slices.Clone(all)
	rand.Shuffle(len(all), func(i, k int) { all[i], all[k] = all[k], all[i] })
	seen := map[string]bool{}
	return slices.DeleteFunc(all, func(m mutation) bool {
		again := seen[m.script]
		seen[m.script] = true
		return again
	})
}

// found reports whether the model finds the fault, and logs how.
func (m mutation) found(t *testing.T, engine *enginetest.Engine) bool {
	b := newBench(t, engine)
	b.instead = map[string]lua.Script{m.script: m.apply(t)}
	for seed := range uint64(seedsOfFault) {
		b.use(t, engine)
		w := newWorld(b, 1000+seed, m.script)
		w.limited = slices.Contains(limitMutations, m)
		err := w.run(t.Context(), stepsOfFault, timeOfSeed)
		require.NoError(t, b.clear(t.Context()))
		if err != nil {
			finding, _, _ := strings.Cut(err.Error(), "the last steps:")
			t.Logf("found: %s", finding)
			return true
		}
	}
	return false
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

// TestMutationsAreMany shows that every script has its faults, and that each can
// be planted.
func TestMutationsAreMany(t *testing.T) {
	t.Parallel()
	count := map[string]int{}
	for _, m := range allMutations() {
		m.apply(t)
		count[m.script]++
	}
	for _, s := range lua.All() {
		require.GreaterOrEqual(t, count[s.Name], 2, fmt.Sprintf("faults in %s.lua", s.Name))
	}
}
