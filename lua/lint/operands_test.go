package lint_test

import (
	"strings"
	"testing"

	"github.com/echomq/echomq-go/lua/lint"
)

func TestOperands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		want         []string
	}{
		{"declared, in many ways", "local rcall = redis.call\nlocal wait, paused = KEYS[1], KEYS[2]\nlocal target = wait\nif ARGV[1] then target = paused end\nlocal function push(key, id)\n  rcall('lpush', key, id)\nend\npush(target, ARGV[2])\npush(ARGV[1] and KEYS[1] or KEYS[2], 'x')\nfor i, key in ipairs(KEYS) do rcall('DEL', key) end\nreturn rcall('EXISTS', unpack(KEYS))", nil},
		{"a job's key from a base", "local rcall = redis.call\nlocal prefix = ARGV[1]\nlocal id = rcall('RPOP', KEYS[1])\nlocal jobKey = prefix .. id\nrcall('HSET', jobKey, 'a', 'b')", []string{
			"foreign.lua:5:15: HSET: jobKey is not declared: local jobKey, which is concatenated: prefix .. id",
		}},
		{"through a function", "local function store(key)\n  redis.call('HSET', key, 'a', 'b')\nend\nstore(KEYS[1])\nstore(ARGV[1] .. ':x')", []string{
			"foreign.lua:2:22: HSET: key is not declared: the parameter key of store, called at line 5 with what is concatenated: ARGV[1] .. ':x'",
		}},
		{"through two functions", "local function inner(key)\n  redis.call('DEL', key)\nend\nlocal function outer(key)\n  inner(key)\nend\nouter(redis.call('GET', KEYS[1]))", []string{
			"foreign.lua:2:21: DEL: key is not declared: the parameter key of inner, called at line 5 with what is the parameter key of outer, called at line 7 with what is the reply of GET: redis.call('GET', KEYS[1])",
		}},
		{"a recursive function", "local function f(key)\n  redis.call('DEL', key)\n  f(key)\nend\nf(KEYS[1])", nil},
		{"a function that is handed on", "local function f(key)\n  redis.call('DEL', key)\nend\nreturn table.sort({}, f)", []string{
			"foreign.lua:2:21: DEL: key is not declared: the parameter key of a function",
		}},
		{"by number of keys", "redis.call('ZUNIONSTORE', KEYS[1], 2, KEYS[2], 'x')", []string{
			"foreign.lua:1:48: ZUNIONSTORE: 'x' is not declared: the constant 'x'",
		}},
		{"by an unknown number of keys", "redis.call('ZUNION', ARGV[1], KEYS[2])", []string{
			"foreign.lua:1:1: ZUNION: redis.call('ZUNION', ARGV[1], KEYS[2]) is not declared: one of a number that is not a constant: redis.call('ZUNION', ARGV[1], KEYS[2])",
		}},
		{"the library handed on", "local function f(r) r.call('DEL', 'x') end\nf(redis)", []string{
			"foreign.lua:2:3: a command: redis is not declared: commands that are called through it cannot be told",
		}},
		{"the function in a table", "local t = { call = redis.call }\nt.call('DEL', 'x')", []string{
			"foreign.lua:1:20: a command: redis.call is not declared: commands that are called through it cannot be told",
		}},
		{"the function by another name", "local r = redis\nlocal c = r.call\nc('DEL', 'x')", []string{
			"foreign.lua:3:10: DEL: 'x' is not declared: the constant 'x'",
		}},
		{"compiled", "return loadstring(ARGV[1])()", []string{
			"foreign.lua:1:8: a command: loadstring is not declared: commands that are called through it cannot be told",
		}},
		{"a command by name", "redis.call(ARGV[1], KEYS[1])", []string{
			"foreign.lua:1:1: a command: redis.call(ARGV[1], KEYS[1]) is not declared: the command's name is not a constant, so its keys cannot be told",
		}},
		{"an unknown command", "redis.call('MODULE.DO', KEYS[1])", []string{
			"foreign.lua:1:1: MODULE.DO: redis.call('MODULE.DO', KEYS[1]) is not declared: the command is not known, so its keys cannot be told",
		}},
		{"KEYS changed", "KEYS[1] = 'x'\nredis.call('DEL', KEYS[1])", []string{
			"foreign.lua:2:19: DEL: KEYS[1] is not declared: an element of KEYS, which the script changes: KEYS[1]",
		}},
		{"KEYS handed on", "local function f(k) k[1] = 'x' end\nf(KEYS)\nredis.call('DEL', KEYS[1])", []string{
			"foreign.lua:3:19: DEL: KEYS[1] is not declared: an element of KEYS, which the script changes: KEYS[1]",
		}},
		{"a table of keys", "local keys = {}\nfor i = 1, #KEYS do table.insert(keys, KEYS[i]) end\nfor _, key in ipairs(keys) do redis.call('DEL', key) end\nredis.call('DEL', keys[1])", nil},
		{"a recursive function of something else", "local function f(key)\n  redis.call('DEL', key)\n  f(key)\nend\nf('x')", []string{
			"foreign.lua:2:21: DEL: key is not declared: the parameter key of f, called at line 5 with what is the constant 'x'",
		}},
		{"a local that is assigned to itself", "local key = KEYS[1]\nkey = key\nredis.call('DEL', key)", nil},
		{"formatted", "redis.call('DEL', string.format('%s:x', KEYS[1]))", []string{
			"foreign.lua:1:19: DEL: string.format('%s:x', KEYS[1]) is not declared: made by a function: string.format('%s:x', KEYS[1])",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			operands, err := lint.Operands("foreign.lua", []byte(test.script))
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, operand := range operands {
				if !operand.IsDeclared() {
					found = append(found, operand.String())
				}
			}
			compare(t, found, test.want)
		})
	}
}

func TestOperandsTellsDeclaredOnes(t *testing.T) {
	t.Parallel()
	operands, err := lint.Operands("foreign.lua", []byte("redis.call('LMOVE', KEYS[1], KEYS[2], 'LEFT', 'RIGHT')"))
	if err != nil {
		t.Fatal(err)
	}
	if len(operands) != 2 || !operands[0].IsDeclared() || !operands[1].IsDeclared() || operands[1].Expression != "KEYS[2]" {
		t.Errorf("operands are %v", operands)
	}
}

func TestOperandsRefusesWhatIsNoScript(t *testing.T) {
	t.Parallel()
	_, err := lint.Operands("foreign.lua", []byte("local x = \n return"))
	if err == nil || !strings.HasPrefix(err.Error(), "foreign.lua:2:7: ") {
		t.Errorf("error is %v", err)
	}
}
