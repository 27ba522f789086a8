package lint_test

import "testing"

func TestKeyFaults(t *testing.T) {
	t.Parallel()
	run(t, []plant{
		{"concatenated", `redis.call('DEL', KEYS[1] .. ':x')`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is concatenated: KEYS[1] .. ':x'",
		}},
		{"concatenated from an argument", `redis.call('DEL', 'emq:{q}:' .. ARGV[2])`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is concatenated: 'emq:{q}:' .. ARGV[2]",
			"sample.lua:42:33: arity: ARGV[2] is not an argument: by the header, #ARGV is 1 + 2 for each item",
		}},
		{"formatted", `redis.call('DEL', string.format('emq:%s', ids[1]))`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is made by a function: string.format('emq:%s', ids[1])",
		}},
		{"constant", `redis.call('DEL', 'emq:{q}:wait')`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is the constant 'emq:{q}:wait'",
		}},
		{"from an argument", `redis.call('DEL', ARGV[1])`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is taken from ARGV: ARGV[1]",
		}},
		{"from a reply", `redis.call('DEL', redis.call('LINDEX', KEYS[2], 0))`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is the reply of LINDEX: redis.call('LINDEX', KEYS[2], 0)",
		}},
		{"from an element of a reply", "local page = redis.call('LRANGE', KEYS[2], 0, 1)\nredis.call('DEL', page[1])", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is taken from the reply of LRANGE: page[1]",
		}},
		{"through a local", "local key = KEYS[1] .. 'x'\nredis.call('DEL', key)", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is local key, which is concatenated: KEYS[1] .. 'x'",
		}},
		{"through two locals", "local one = ARGV[1]\nlocal two = one\nredis.call('DEL', two)", []string{
			"sample.lua:44:19: key: the key of DEL is not a declared one: it is local two, which is local one, which is taken from ARGV: ARGV[1]",
		}},
		{"a reassigned local", "local key = KEYS[2]\nkey = KEYS[3]\nredis.call('DEL', key)", []string{
			"sample.lua:44:19: key: the key of DEL is not a declared one: it is local key, which is assigned more than once",
		}},
		{"a local assigned in a branch", "local key = KEYS[2]\nif version then\n  key = ARGV[1]\nend\nredis.call('DEL', key)", []string{
			"sample.lua:46:19: key: the key of DEL is not a declared one: it is local key, which is assigned more than once",
		}},
		{"a local assigned by a closure", "local key = KEYS[2]\nlocal function change()\n  key = ARGV[1]\nend\nchange()\nredis.call('DEL', key)", []string{
			"sample.lua:47:19: key: the key of DEL is not a declared one: it is local key, which is assigned more than once",
		}},
		{"a local without a value", "local key\nredis.call('DEL', key)", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is local key, whose value cannot be told",
		}},
		{"the second of two results", "local _, key = string.find('a', 'b')\nredis.call('DEL', key)", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is local key, whose value cannot be told",
		}},
		{"a branch", `redis.call('DEL', version and KEYS[1] or KEYS[2])`, nil},
		{"a branch to a key of another type", `redis.call('LLEN', version and KEYS[1] or KEYS[2])`, []string{
			"sample.lua:42:20: type: LLEN works on a list, but meta is declared as a hash",
		}},
		{"a branch to what was read", `redis.call('DEL', version and KEYS[1] or version)`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is local version, which is the reply of HGET: redis.call('HGET', KEYS[1], 'version')",
		}},
		{"a branch to a constant", `redis.call('DEL', version and KEYS[1] or 'x')`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is the constant 'x'",
		}},
		{"a parameter", "local function drop(key)\n  redis.call('DEL', key)\nend\ndrop(KEYS[1])", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is the parameter key of a function",
		}},
		{"an element of a table", "local keys = { KEYS[1] }\nredis.call('DEL', keys[1])", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is an element of a table: keys[1]",
		}},
		{"a named element", "local keys = { wait = KEYS[2] }\nredis.call('DEL', keys.wait)", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is an element of a table: keys.wait",
		}},
		{"a variable of ipairs", "for _, key in ipairs(jobs) do\n  redis.call('DEL', key)\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is the loop variable key",
		}},
		{"a shadowed KEYS", "local KEYS = { 'x' }\nredis.call('DEL', KEYS[1])", []string{
			"sample.lua:6:10: unused: key delayed is declared and no command uses it",
			"sample.lua:7:10: unused: key reserved is declared and no command uses it",
			`sample.lua:15:12: unused: field "*" of reserved is declared and not used`,
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is an element of a table: KEYS[1]",
			"sample.lua:44:20: key: the key of ZADD is not a declared one: it is an element of a table: KEYS[3]",
			"sample.lua:45:20: key: the key of HSET is not a declared one: it is an element of a table: KEYS[4]",
		}},
		{"second of two keys", `redis.call('LMOVE', KEYS[2], ARGV[1], 'LEFT', 'RIGHT')`, []string{
			"sample.lua:42:30: key: the key of LMOVE is not a declared one: it is taken from ARGV: ARGV[1]",
		}},
		{"last of many keys", `redis.call('DEL', KEYS[1], KEYS[2], 'x')`, []string{
			"sample.lua:42:37: key: the key of DEL is not a declared one: it is the constant 'x'",
		}},
		{"third operand of MSET", `redis.call('MSET', KEYS[6], 'a', 'x', 'b')`, []string{
			"sample.lua:42:20: key: the key of MSET is not a declared one: it is KEYS[6], but the header declares 4 @key; a key of an item is KEYS[2*i + 3], KEYS[2*i + 4] in a loop over the items",
			"sample.lua:42:34: key: the key of MSET is not a declared one: it is the constant 'x'",
		}},
		{"in a condition", `if redis.call('EXISTS', 'x') == 1 then results[1] = 'lost' end`, []string{
			"sample.lua:42:25: key: the key of EXISTS is not a declared one: it is the constant 'x'",
		}},
		{"in an operand of another", `redis.call('LPUSH', KEYS[2], redis.call('GET', 'x'))`, []string{
			"sample.lua:42:48: key: the key of GET is not a declared one: it is the constant 'x'",
		}},
		{"in a table", `results[1] = { redis.pcall('GET', 'x') }`, []string{
			"sample.lua:42:35: key: the key of GET is not a declared one: it is the constant 'x'",
		}},
		{"in a function that is never called", "local function hidden()\n  return redis.call('GET', 'x')\nend", []string{
			"sample.lua:43:28: key: the key of GET is not a declared one: it is the constant 'x'",
		}},
		{"in an else branch", "if version then\n  results[1] = 'lost'\nelse\n  redis.call('DEL', 'x')\nend", []string{
			"sample.lua:45:21: key: the key of DEL is not a declared one: it is the constant 'x'",
		}},
	})
}

func TestIndexFaults(t *testing.T) {
	t.Parallel()
	run(t, []plant{
		{"zero", `redis.call('DEL', KEYS[0])`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is KEYS[0], but the header declares 4 @key",
		}},
		{"beyond the fixed keys", `redis.call('DEL', KEYS[5])`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is KEYS[5], but the header declares 4 @key; a key of an item is KEYS[2*i + 3], KEYS[2*i + 4] in a loop over the items",
		}},
		{"computed", `redis.call('DEL', KEYS[tonumber(ARGV[1])])`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is KEYS[tonumber(ARGV[1])], whose index is neither a constant nor of the form a*i + b",
		}},
		{"one too low", "for i = 1, count do\n  redis.call('DEL', KEYS[2 + 2 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[2 + 2 * i], which is KEYS[4] for the first item; its keys are KEYS[2*i + 3], KEYS[2*i + 4]",
		}},
		{"one too high", "for i = 1, count do\n  redis.call('DEL', KEYS[5 + 2 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[5 + 2 * i], which is KEYS[7] for the first item; its keys are KEYS[2*i + 3], KEYS[2*i + 4]",
		}},
		{"wrong stride", "for i = 1, count do\n  redis.call('DEL', KEYS[4 + i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[4 + i], whose stride is 1, but an item brings 2 keys; they are KEYS[2*i + 3], KEYS[2*i + 4]",
		}},
		{"from zero", "for i = 0, count do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i begins at 0 and not at 1",
		}},
		{"to one more", "for i = 1, count + 1 do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i ends at count + 1, which is not the number of items, math.floor((#KEYS - 4) / 2)",
		}},
		{"to another local", "local many = #ids\nfor i = 1, many do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:44:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i ends at many, which is not the number of items, math.floor((#KEYS - 4) / 2)",
		}},
		{"to all keys", "for i = 1, #KEYS do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i ends at #KEYS, which is not the number of items, math.floor((#KEYS - 4) / 2)",
		}},
		{"to a count of arguments", "local many = math.floor((#ARGV - 1) / 2)\nfor i = 1, many do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:44:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i ends at many, which is not the number of items, math.floor((#KEYS - 4) / 2)",
		}},
		{"to a reassigned local", "local many = math.floor((#KEYS - 4) / 2)\nmany = 5\nfor i = 1, many do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:45:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i ends at many, which is assigned more than once",
		}},
		{"stepping down", "for i = 1, count, -1 do\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], where the loop over i does not step by a positive constant",
		}},
		{"an assigned variable", "for i = 1, count do\n  i = i + 1\n  redis.call('DEL', KEYS[4 + 2 * i])\nend", []string{
			"sample.lua:44:21: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], whose index is neither a constant nor of the form a*i + b",
		}},
		{"a local that is no loop", "local i = lease\nredis.call('DEL', KEYS[4 + 2 * i])", []string{
			"sample.lua:43:19: key: the key of DEL is not a declared one: it is KEYS[4 + 2 * i], whose index is neither a constant nor of the form a*i + b",
		}},
		{"two variables", "for i = 1, count do\n  for j = 1, count do\n    redis.call('DEL', KEYS[2 + i + j])\n  end\nend", []string{
			"sample.lua:44:23: key: the key of DEL is not a declared one: it is KEYS[(2 + i) + j], whose index varies with more than the variable of one loop",
		}},
		{"half a stride", "for i = 1, count do\n  redis.call('DEL', KEYS[4 + 0.5 * i])\nend", []string{
			"sample.lua:43:21: key: the key of DEL is not a declared one: it is KEYS[4 + 0.5 * i], whose index is neither a constant nor of the form a*i + b",
		}},
	})
}

func TestTableFaults(t *testing.T) {
	t.Parallel()
	run(t, []plant{
		{"another element", "jobs[#jobs + 1] = ARGV[1]", []string{
			"sample.lua:45:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is filled at line 42 with what is taken from ARGV: ARGV[1]",
		}},
		{"an element by number", "jobs[1] = 'x'", []string{
			"sample.lua:45:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is filled at line 42 with what is the constant 'x'",
		}},
		{"handed to a function", "local function spoil(t)\n  t[1] = 'x'\nend\nspoil(jobs)", []string{
			"sample.lua:48:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 45",
		}},
		{"by another name", "local alias = jobs\nalias[1] = 'x'", []string{
			"sample.lua:46:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 42",
		}},
		{"in another table", "local box = { jobs }\nbox[1][1] = 'x'", []string{
			"sample.lua:46:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 42",
		}},
		{"returned by a function", "local function leak()\n  return jobs\nend\nleak()[1] = 'x'", []string{
			"sample.lua:48:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 43",
		}},
		{"returned in a table by a function", "local function leak()\n  return { jobs }\nend\nleak()[1][1] = 'x'", []string{
			"sample.lua:48:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 43",
		}},
		{"answered by ipairs", "local _, alias = ipairs(jobs)\nalias[1] = 'x'", []string{
			"sample.lua:46:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 42",
		}},
		{"a function as an element", "function jobs.spoil() end", []string{
			"sample.lua:45:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is handed on at line 42",
		}},
		{"inserted", "table.insert(jobs, 'x')", []string{
			"sample.lua:45:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is filled at line 42 with what is the constant 'x'",
		}},
		{"filled by a function", "local function spoil()\n  jobs[1] = KEYS[1]\nend\nspoil()", []string{
			"sample.lua:48:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which a function fills at line 43",
		}},
		{"assigned in a list", "jobs[1], ids[9] = string.find('a', 'b')", []string{
			"sample.lua:45:22: key: the key of EXISTS is not a declared one: it is unpacked from jobs, which is filled with what cannot be told",
		}},
		{"not the only operand", `redis.call('HSET', unpack(jobs))`, []string{
			"sample.lua:42:20: key: the key of HSET is not a declared one: it is unpacked where only one key can stand: unpack(jobs)",
		}},
		{"a reply", `redis.call('DEL', unpack(redis.call('LRANGE', KEYS[2], 0, 9)))`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is unpacked from redis.call('LRANGE', KEYS[2], 0, 9), which is not a local table that is filled with keys",
		}},
		{"a range", `redis.call('DEL', unpack(jobs, 1, 9))`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is unpacked with a range: unpack(jobs, 1, 9)",
		}},
		{"before the last", `redis.call('DEL', unpack(jobs), KEYS[1])`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is unpacked where only one key can stand: unpack(jobs)",
		}},
		{"KEYS itself", `redis.call('DEL', unpack(KEYS))`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is unpacked from KEYS, which is not a local table that is filled with keys",
			"sample.lua:42:26: dialect: KEYS is handed around; use it only where it stands",
		}},
		{"arguments", `redis.call('DEL', unpack(ARGV))`, []string{
			"sample.lua:42:19: key: the key of DEL is not a declared one: it is unpacked from ARGV, which is not a local table that is filled with keys",
			"sample.lua:42:26: dialect: ARGV is handed around; use it only where it stands",
		}},
		{"MSET from a table of keys", `redis.call('MSET', unpack(jobs))`, []string{
			"sample.lua:42:20: key: the key of MSET is not a declared one: it is unpacked from jobs, which is not filled with a key and a value in two consecutive statements (KEYS[3 + 2 * i] at line 34)",
		}},
		{"MSET with a key alone", "sets[#sets + 1] = KEYS[6]", []string{
			"sample.lua:9:11: unused: key lock is declared and no command uses it",
			"sample.lua:41:20: key: the key of MSET is not a declared one: it is unpacked from sets, which is not filled with a key and a value in two consecutive statements (KEYS[6] at line 42)",
		}},
		{"MSET with value and key", "sets[#sets + 1] = lease\nsets[#sets + 1] = KEYS[1]", []string{
			"sample.lua:9:11: unused: key lock is declared and no command uses it",
			"sample.lua:41:20: key: the key of MSET is not a declared one: it is unpacked from sets, which is filled at line 42 with what is local lease, which is made by a function: tonumber(ARGV[1])",
		}},
		{"MSET with a value that may be nil", "sets[#sets + 1] = KEYS[1]\nsets[#sets + 1] = version", []string{
			"sample.lua:9:11: unused: key lock is declared and no command uses it",
			"sample.lua:41:20: key: the key of MSET is not a declared one: it is unpacked from sets, whose value version at line 43 may be nil",
		}},
		{"MSET with a statement between", "sets[#sets + 1] = KEYS[1]\nresults[1] = 'lost'\nsets[#sets + 1] = 'x'", []string{
			"sample.lua:9:11: unused: key lock is declared and no command uses it",
			"sample.lua:41:20: key: the key of MSET is not a declared one: it is unpacked from sets, which is not filled with a key and a value in two consecutive statements (KEYS[1] at line 42)",
		}},
		{"MSET from the second operand", `redis.call('MSET', KEYS[1], unpack(sets))`, []string{
			"sample.lua:42:20: type: MSET works on a string, but meta is declared as a hash",
			"sample.lua:42:29: key: the key of MSET is not a declared one: it is unpacked where a value must come first: unpack(sets)",
		}},
	})
}

func TestHiddenCalls(t *testing.T) {
	t.Parallel()
	run(t, []plant{
		{"aliased", "local call = redis.call\ncall('DEL', 'x')", []string{
			"sample.lua:42:14: dialect: redis.call is handed around; call it only where it stands",
			"sample.lua:43:13: key: the key of DEL is not a declared one: it is the constant 'x'",
		}},
		{"aliased library", "local r = redis\nr.call('DEL', 'x')", []string{
			"sample.lua:42:11: dialect: redis is handed around; use it only where it stands",
			"sample.lua:43:15: key: the key of DEL is not a declared one: it is the constant 'x'",
		}},
		{"by index", `redis['call']('DEL', KEYS[1])`, []string{
			"sample.lua:42:1: dialect: write a function of redis as redis.name",
		}},
		{"by variable", `redis[ARGV[1]]('DEL', KEYS[1])`, []string{
			"sample.lua:42:1: dialect: write a function of redis as redis.name",
		}},
		{"handed on", "local function go(f)\n  f('DEL', 'x')\nend\ngo(redis.call)", []string{
			"sample.lua:45:4: dialect: redis.call is handed around; call it only where it stands",
		}},
		{"library handed on", "local function go(r)\n  r.call('DEL', 'x')\nend\ngo(redis)", []string{
			"sample.lua:45:4: dialect: redis is handed around; use it only where it stands",
		}},
		{"name from a variable", "local name = ARGV[1]\nredis.call(name, KEYS[1])", []string{
			"sample.lua:43:12: key: the command's name is not a constant (name), so its keys cannot be told",
		}},
		{"name joined", `redis.call('D' .. 'EL', KEYS[1])`, []string{
			"sample.lua:42:12: key: the command's name is not a constant ('D' .. 'EL'), so its keys cannot be told",
		}},
		{"unknown command", `redis.call('HGETT', KEYS[1], 'version')`, []string{
			`sample.lua:42:12: key: unknown command HGETT, so its keys cannot be told (did you mean "HGET"?)`,
		}},
		{"no name", `redis.call()`, []string{
			"sample.lua:42:1: key: a command without a name",
		}},
		{"unpacked name", `redis.call(unpack(ids))`, []string{
			"sample.lua:42:12: key: the command's name is not a constant (unpack(ids)), so its keys cannot be told",
		}},
		{"loadstring", `loadstring('redis.call("DEL", "x")')()`, []string{
			"sample.lua:42:1: dialect: the global loadstring does not exist on every engine",
		}},
		{"environment", `_G.redis.call('DEL', 'x')`, []string{
			"sample.lua:42:1: dialect: the global _G does not exist on every engine",
		}},
	})
}
