package lint_test

import (
	"strings"
	"testing"
)

func TestTypesAndFields(t *testing.T) {
	t.Parallel()
	run(t, []plant{
		{"hash command on a list", `redis.call('HLEN', KEYS[2])`, []string{
			"sample.lua:42:20: type: HLEN works on a hash, but wait is declared as a list",
		}},
		{"list command on a hash", "for i = 1, count do\n  redis.call('LLEN', KEYS[3 + 2 * i])\nend", []string{
			"sample.lua:43:22: type: LLEN works on a list, but job is declared as a hash",
		}},
		{"string command on unpacked hashes", `redis.call('MGET', unpack(jobs))`, []string{
			"sample.lua:42:20: type: MGET works on a string, but job is declared as a hash",
		}},
		{"field that is not declared", `redis.call('HGET', KEYS[1], 'features')`, []string{
			`sample.lua:42:29: field: HGET uses the field "features" of meta, which is not declared; write @field features meta`,
		}},
		{"second field", `redis.call('HMGET', KEYS[1], 'version', 'features')`, []string{
			`sample.lua:42:41: field: HMGET uses the field "features" of meta, which is not declared; write @field features meta`,
		}},
		{"second field of HSET", `redis.call('HSET', KEYS[1], 'version', 'x', 'features', 'y')`, []string{
			`sample.lua:42:45: field: HSET uses the field "features" of meta, which is not declared; write @field features meta`,
		}},
		{"field of a job", "for i = 1, count do\n  redis.call('HDEL', KEYS[3 + 2 * i], 'atm')\nend", []string{
			`sample.lua:43:39: field: HDEL uses the field "atm" of job, which is not declared; write @field atm job`,
		}},
		{"field by a local", "local field = 'paused'\nredis.call('HGET', KEYS[1], field)", []string{
			`sample.lua:43:29: field: HGET uses the field "paused" of meta, which is not declared; write @field paused meta`,
		}},
		{"field from an argument", `redis.call('HGET', KEYS[1], ARGV[1])`, []string{
			"sample.lua:42:29: field: HGET uses a field of meta that is not a constant: ARGV[1]; only a hash with @field * meta has such fields",
		}},
		{"unpacked fields", `redis.call('HMGET', KEYS[1], unpack(ids))`, []string{
			"sample.lua:42:30: field: HMGET uses a field of meta that is not a constant: unpack(ids); only a hash with @field * meta has such fields",
		}},
		{"unpacked behind a field", `redis.call('HSET', KEYS[1], 'version', unpack(ids))`, []string{
			"sample.lua:42:40: field: HSET uses a field of meta that is not a constant: unpack(ids); only a hash with @field * meta has such fields",
		}},
	})
}

func TestDialect(t *testing.T) {
	t.Parallel()
	run(t, []plant{
		{"a global", `leak = 1`, []string{
			"sample.lua:42:1: dialect: leak is assigned as a global; write local leak",
		}},
		{"a global function", "function leak() end", []string{
			"sample.lua:42:10: dialect: the function leak is a global; write local function",
		}},
		{"an unknown global", `results[1] = cjson`, []string{
			"sample.lua:42:14: dialect: the global cjson is not used here: take plain arguments",
		}},
		{"goto", "goto done\n::done::", []string{
			"sample.lua:42:1: dialect: goto and labels are not in Lua 5.1",
			"sample.lua:43:1: dialect: goto and labels are not in Lua 5.1",
		}},
		{"varargs", "local function f(...) end", []string{
			"sample.lua:42:17: dialect: ... is not used; name the parameters",
		}},
		{"chunk varargs", "local a = ...", []string{
			"sample.lua:42:11: dialect: ... is not used; name the parameters",
		}},
		{"while", "while version do version = nil end", []string{
			"sample.lua:42:1: dialect: a while or repeat loop has no bound that can be seen; use for i = 1, n",
		}},
		{"repeat", "repeat until version", []string{
			"sample.lua:42:1: dialect: a while or repeat loop has no bound that can be seen; use for i = 1, n",
		}},
		{"pairs", "for k in pairs(ids) do results[1] = k end", []string{
			"sample.lua:42:1: dialect: a for loop runs over numbers, ipairs or string.gmatch",
			"sample.lua:42:10: dialect: the global pairs is not used here: its order differs; walk an array",
		}},
		{"error", "error('x')", []string{
			"sample.lua:42:1: dialect: the global error is not used here: return redis.error_reply('EMQ… text')",
		}},
		{"a library", "results[1] = os.time()", []string{
			"sample.lua:42:14: dialect: the global os is not used here: take the time from TIME",
		}},
		{"a missing function", "results[1] = math.pow(2, 3)", []string{
			"sample.lua:42:14: dialect: math.pow is not used: it is missing on an engine, or differs there",
		}},
		{"power", "results[1] = 2 ^ 3", []string{
			"sample.lua:42:14: dialect: ^ gives a float in Lua 5.4; multiply",
		}},
		{"division", "results[1] = lease / 2", []string{
			"sample.lua:42:14: dialect: / gives a float in Lua 5.4; write math.floor(lease / 2)",
		}},
		{"modulo zero", "results[1] = lease % 0", []string{
			"sample.lua:42:14: dialect: division by zero differs between the dialects",
		}},
		{"exponent", "results[1] = 1e3", []string{
			"sample.lua:42:14: dialect: write the number 1e3 in plain decimals",
		}},
		{"whole float", "results[1] = 1.0", []string{
			"sample.lua:42:14: dialect: write the number 1.0 in plain decimals",
		}},
		{"large integer", "results[1] = 9007199254740992", []string{
			"sample.lua:42:14: dialect: 9007199254740992 is not below 2^53, where integers are exact",
		}},
		{"computed number joined", "results[1] = 'x' .. now", []string{
			"sample.lua:42:21: dialect: the number now is joined to a string; write string.format('%.0f', now)",
		}},
		{"tostring of a number", "results[1] = tostring(lease)", []string{
			"sample.lua:42:23: dialect: the number lease is made a string; write string.format('%.0f', lease)",
		}},
		{"format %d", "results[1] = string.format('%d', lease)", []string{
			"sample.lua:42:34: dialect: %d differs for what is not a whole number; write %.0f",
		}},
		{"format %q", "results[1] = string.format('%q', version)", []string{
			"sample.lua:42:28: dialect: %q of string.format differs between the dialects",
		}},
		{"format a number as %s", "results[1] = string.format('%s', now)", []string{
			"sample.lua:42:34: dialect: the number now is formatted by %s; write string.format('%.0f', now)",
		}},
		{"format of a variable", "results[1] = string.format(version)", []string{
			"sample.lua:42:28: dialect: the layout of string.format is not a constant",
		}},
		{"concat of numbers", "local n = { now }\nresults[1] = table.concat(n)", []string{
			"sample.lua:42:13: dialect: the number now is joined to a string; write string.format('%.0f', now)",
		}},
		{"frontier", "results[1] = string.find('x', '%f[a]')", []string{
			"sample.lua:42:31: dialect: the frontier pattern %f differs on the embedded server",
		}},
		{"method", "results[1] = version:upper()", []string{
			"sample.lua:42:14: dialect: a method call; write string.upper(version, …)",
		}},
		{"escape", `results[1] = '\x41'`, []string{
			"sample.lua:42:14: dialect: the escape \\x does not mean the same in every Lua",
		}},
		{"argument in arithmetic", "results[1] = ARGV[1] + 1", []string{
			"sample.lua:42:14: dialect: ARGV[1] is a string; write tonumber(ARGV[1])",
		}},
		{"argument compared", "if ARGV[1] < 5 then results[1] = 'lost' end", []string{
			"sample.lua:42:4: dialect: ARGV[1] is a string; write tonumber(ARGV[1])",
		}},
		{"compared with nil", "if redis.call('GET', KEYS[6]) == nil then results[1] = 'lost' end", []string{
			"sample.lua:42:4: dialect: what is missing is answered as false and not as nil; write not redis.call('GET', KEYS[6])",
			"sample.lua:42:22: key: the key of GET is not a declared one: it is KEYS[6], but the header declares 4 @key; a key of an item is KEYS[2*i + 3], KEYS[2*i + 4] in a loop over the items",
		}},
		{"lower case command", `redis.call('del', KEYS[2])`, []string{
			"sample.lua:42:12: dialect: write the command's name in capitals: DEL",
		}},
		{"command that differs", `redis.call('SUNION', KEYS[2])`, []string{
			"sample.lua:42:12: dialect: SUNION does not mean the same on every engine; use another command",
			"sample.lua:42:22: type: SUNION works on a set, but wait is declared as a list",
		}},
		{"too few operands", `redis.call('HGET', KEYS[1])`, []string{
			"sample.lua:42:1: dialect: HGET takes 2 operands, not 1",
		}},
		{"too many operands", `redis.call('LLEN', KEYS[2], 1)`, []string{
			"sample.lua:42:1: dialect: LLEN takes 1 operands, not 2",
		}},
		{"the clock twice", `redis.call('TIME')`, []string{
			"sample.lua:42:1: dialect: TIME is read a second time; read the clock once",
		}},
		{"KEYS assigned", "KEYS[1] = 'x'", []string{
			"sample.lua:42:1: dialect: KEYS[1] is assigned; KEYS, ARGV and the libraries stay as they are",
		}},
		{"named element in a reply", "if version then return { err = 'x' } end", []string{
			"sample.lua:42:32: dialect: a reply is an array without named elements",
		}},
		{"nil in a reply", "if version then return { nil, 1 } end", []string{
			"sample.lua:42:26: dialect: nil ends an array; answer false",
		}},
	})
}

func TestEnding(t *testing.T) {
	t.Parallel()
	text := strings.Replace(sample, "return { now, results }\n", "results[1] = { now }\n", 1)
	compare(t, checkText(text), []string{"sample.lua:46:20: dialect: the last statement is not a return"})
	text = strings.Replace(sample, "return { now, results }\n", "return now, results\n", 1)
	compare(t, checkText(text), []string{"sample.lua:46:1: dialect: the script returns 2 values; return one"})
}

// memory checks a script that begins with a write.
func memory(declared, body string) []string {
	text := strings.Replace(sample, "@memory drains", "@memory "+declared, 1)
	text = strings.Replace(text, "redis.call('DEL', KEYS[2])\nredis.call('MSET', unpack(sets))\n-- HERE\n", body+"\n", 1)
	var found []string
	for _, finding := range checkText(text) {
		if strings.Contains(finding, ": memory: ") {
			found = append(found, finding)
		}
	}
	return found
}

const tail = "redis.call('MSET', unpack(sets))"

func TestMemory(t *testing.T) {
	t.Parallel()
	// filled is a table that a script fills together with others, and asks
	// for before it writes.
	const filled = `local leaving = {}
local front = {}
local verdicts = {}
local reasons = {}
local head
for i = 1, count do
  if redis.call('HEXISTS', KEYS[3 + 2 * i], 'name') == 1 then
    leaving[#leaving + 1] = ids[i]
    front[#front + 1] = ids[i]
    verdicts[i] = 'done'
    reasons[i] = 'x'
    head = ids[i]
  else
    verdicts[i] = 'lost'
  end
end
if #leaving > 0 then
  redis.call('ZREM', KEYS[3], unpack(leaving))
end
`
	// overwritten sets a word first and corrects it.
	const overwritten = `local leaving = {}
local front = {}
local verdicts = {}
for i = 1, count do
  verdicts[i] = 'done'
  if redis.call('HEXISTS', KEYS[3 + 2 * i], 'name') == 0 then
    verdicts[i] = 'lost'
  else
    leaving[#leaving + 1] = ids[i]
  end
end
if #leaving > 0 then
  redis.call('ZREM', KEYS[3], unpack(leaving))
end
`
	const end = "\nredis.call('DEL', KEYS[2])\n" + tail
	tests := []struct {
		name, memory, body string
		want               []string
	}{
		{"grows where it drains", "drains", tail, []string{
			"sample.lua:40:1: memory: MSET may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"frees where it is refused", "refused", "redis.call('DEL', KEYS[2])\n" + tail, []string{
			"sample.lua:40:1: memory: DEL may be the first write here; with maxmemory reached the engine lets it pass and refuses none after it, but the header says @memory refused: begin with a write that grows (HSET, ZADD …)",
		}},
		{"grows where it is refused", "refused", tail, nil},
		{"writes where it reads", "reads", tail, []string{
			"sample.lua:40:1: memory: MSET writes, but the header says @memory reads",
		}},
		{"frees on one branch only", "drains", "if version then\n  redis.call('DEL', KEYS[2])\nend\n" + tail, []string{
			"sample.lua:43:1: memory: MSET may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"frees on both branches", "drains", "if version then\n  redis.call('DEL', KEYS[2])\nelse\n  redis.call('LPOP', KEYS[2])\nend\n" + tail, nil},
		{"frees in a loop only", "drains", "for i = 1, count do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend\n" + tail, []string{
			"sample.lua:43:1: memory: MSET may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"frees behind and", "drains", "local freed = version and redis.call('DEL', KEYS[2])\n" + tail, []string{
			"sample.lua:41:1: memory: MSET may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"frees, or returns", "drains", "if version then\n  redis.call('DEL', KEYS[2])\nelse\n  return 1\nend\n" + tail, nil},
		{"in a function", "drains", "redis.call('DEL', KEYS[2])\nlocal function f()\n  redis.call('LPUSH', KEYS[2], 'x')\nend\n" + tail, []string{
			"sample.lua:42:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"a length that goes along", "drains", filled + "if #front > 0 then\n  redis.call('LPUSH', KEYS[2], unpack(front))\nend" + end, nil},
		{"a word that goes along", "drains", filled + "for i = 1, count do\n  if verdicts[i] == 'done' then\n    redis.call('LPUSH', KEYS[2], ids[i])\n  end\nend" + end, nil},
		{"a word that does not", "drains", filled + "for i = 1, count do\n  if verdicts[i] == 'lost' then\n    redis.call('LPUSH', KEYS[2], ids[i])\n  end\nend" + end, []string{
			"sample.lua:61:5: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"an element that goes along", "drains", filled + "if reasons[1] then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, nil},
		{"an element that does not", "drains", filled + "if verdicts[1] then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, []string{
			"sample.lua:60:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"a local that goes along", "drains", filled + "if head then\n  redis.call('LPUSH', KEYS[2], head)\nend" + end, nil},
		{"either of two", "drains", filled + "if head or version then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, []string{
			"sample.lua:60:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"both of two", "drains", filled + "if version and head then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, nil},
		{"a loop over a length", "drains", filled + "for f = 1, #front do\n  redis.call('LPUSH', KEYS[2], front[f])\nend" + end, nil},
		{"a word that is overwritten", "drains", overwritten + "for i = 1, count do\n  if verdicts[i] == 'done' then\n    redis.call('LPUSH', KEYS[2], ids[i])\n  end\nend" + end, nil},
		{"a word that may stand", "drains", strings.Replace(overwritten, "    verdicts[i] = 'lost'\n", "", 1) + "for i = 1, count do\n  if verdicts[i] == 'done' then\n    redis.call('LPUSH', KEYS[2], ids[i])\n  end\nend" + end, []string{
			"sample.lua:55:5: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"a word that is read before", "drains", strings.Replace(overwritten, "  if redis", "  if verdicts[i] == 'done' then\n    front[#front + 1] = ids[i]\n  end\n  if redis", 1) + "if #front > 0 then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, []string{
			"sample.lua:58:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"a push that may be nil", "drains", strings.Replace(filled, "leaving[#leaving + 1] = ids[i]", "leaving[#leaving + 1] = version", 1) + "if #front > 0 then\n  redis.call('LPUSH', KEYS[2], unpack(front))\nend" + end, []string{
			"sample.lua:60:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"a break between", "drains", strings.Replace(filled, "    front[#front + 1] = ids[i]\n", "", 1) + "for i = 1, count do\n  front[#front + 1] = ids[i]\nend\nif #front > 0 then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, []string{
			"sample.lua:62:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
		{"a way out before the push", "drains", strings.Replace(filled, "    leaving[#leaving + 1] = ids[i]\n    front[#front + 1] = ids[i]\n", "    front[#front + 1] = ids[i]\n    if version then\n      break\n    end\n    leaving[#leaving + 1] = ids[i]\n", 1) + "if #front > 0 then\n  redis.call('LPUSH', KEYS[2], 'x')\nend" + end, []string{
			"sample.lua:63:3: memory: LPUSH may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			compare(t, memory(test.memory, test.body), test.want)
		})
	}
}

func TestUnusedAndArity(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, old, new string
		want           []string
	}{
		{"key", "redis.call('ZADD', KEYS[3], now + lease, ids[1])", "", []string{
			"sample.lua:6:10: unused: key delayed is declared and no command uses it",
		}},
		{"argument", "tonumber(ARGV[1])", "5", []string{
			"sample.lua:10:10: unused: argument lease is declared and not used",
		}},
		{"item", "ARGV[2 * i + 1]", "'x'", []string{
			"sample.lua:12:11: unused: argument token is declared and not used",
		}},
		{"field", "--- @field name job", "--- @field name job\n--- @field atm job", []string{
			`sample.lua:15:12: unused: field "atm" of job is declared and not used`,
		}},
		{"word", "word(done|lost)", "word(done|lost|gone)", []string{
			`sample.lua:18:21: unused: the word "gone" of verdict is never answered`,
		}},
		{"error", "--- @error EMQARGS", "--- @error EMQFULL no memory\n--- @error EMQARGS", []string{
			"sample.lua:19:12: unused: the error EMQFULL is declared and never answered",
		}},
		{"undeclared error", "'EMQARGS malformed'", "'EMQOTHER malformed'", []string{
			"sample.lua:19:12: unused: the error EMQARGS is declared and never answered",
			"sample.lua:24:10: error: the error EMQOTHER is answered and not declared; write @error EMQOTHER TEXT",
		}},
		{"error without a code", "'EMQARGS malformed'", "version .. 'x'", []string{
			"sample.lua:19:12: unused: the error EMQARGS is declared and never answered",
			"sample.lua:24:10: error: the error's code is not a constant: begin with 'EMQ… '",
		}},
		{"count of keys", "(#KEYS - 4) / 2", "(#KEYS - 3) / 2", []string{
			"sample.lua:8:11: unused: key job is declared and no command uses it",
			"sample.lua:9:11: unused: key lock is declared and no command uses it",
			"sample.lua:21:26: arity: (#KEYS - 3) / 2 is not the number of items: by the header, #KEYS is 4 + 2 for each item",
			"sample.lua:33:35: key: the key of HGET is not a declared one: it is KEYS[3 + 2 * i], where the loop over i ends at count, which is not the number of items, math.floor((#KEYS - 4) / 2)",
			"sample.lua:41:20: key: the key of MSET is not a declared one: it is unpacked from sets, which is filled at line 35 with what is KEYS[4 + 2 * i], where the loop over i ends at count, which is not the number of items, math.floor((#KEYS - 4) / 2)",
			"sample.lua:45:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is filled at line 34 with what is KEYS[3 + 2 * i], where the loop over i ends at count, which is not the number of items, math.floor((#KEYS - 4) / 2)",
		}},
		{"compared keys", "#KEYS ~= 4 + 2 * count", "#KEYS ~= 5 + 2 * count", []string{
			"sample.lua:23:18: arity: #KEYS is compared with 5 + 2 for each item, but by the header it is 4 + 2 for each item",
		}},
		{"compared arguments", "#ARGV ~= 1 + 2 * count", "#ARGV ~= 1 + 3 * count", []string{
			"sample.lua:23:44: arity: #ARGV is compared with 1 + 3 for each item, but by the header it is 1 + 2 for each item",
		}},
		{"no look at the arguments", "or #ARGV ~= 1 + 2 * count ", "", []string{
			"sample.lua:20:1: arity: the script never looks at #ARGV; a malformed call must be refused before anything is written",
		}},
		{"argument beyond the last", "ids[i] = ARGV[2 * i]", "ids[i] = ARGV[2 * i + 2]", []string{
			"sample.lua:37:12: arity: ARGV[2 * i + 2] is not an argument: by the header, #ARGV is 1 + 2 for each item",
		}},
		{"syntax", "return { now, results }", "return { now, results", []string{
			`sample.lua:47:1: syntax: syntax error near "results"`,
		}},
		{"header", "--- @memory drains", "--- @memory drain", []string{
			`sample.lua:3:13: header: unknown @memory "drain" (did you mean "drains"?); it is one of refused, drains, reads`,
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(sample, test.old) {
				t.Fatalf("the sample has no %q", test.old)
			}
			compare(t, checkText(strings.Replace(sample, test.old, test.new, 1)), test.want)
		})
	}
}
