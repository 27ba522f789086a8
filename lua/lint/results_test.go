package lint_test

import (
	"testing"

	"github.com/echomq/echomq-go/lua/lint"
)

// TestOperandsFollowsFunctions holds what is followed through functions, and
// that nothing which is not a key comes through with it.
func TestOperandsFollowsFunctions(t *testing.T) {
	t.Parallel()
	const choose = "local function choose(one, other)\n  if ARGV[1] then return one, other end\n  return other\nend\n"
	tests := []struct {
		name, script string
		want         []lint.Origin // of the operands, in order
	}{
		{"a result", choose + "redis.call('GET', (choose(KEYS[1], KEYS[2])))", []lint.Origin{lint.Declared}},
		{"a result of this call, whatever others get", choose + "local other = choose('x', 'y')\nlocal key = choose(KEYS[1], KEYS[2])\nredis.call('GET', key)\nredis.call('GET', other)", []lint.Origin{lint.Declared, lint.Constant}},
		{"a second result", choose + "local _, key = choose(KEYS[1], KEYS[2])\nredis.call('GET', key)", []lint.Origin{lint.Declared}},
		{"a second result that is none", choose + "local _, key = choose(KEYS[1], ARGV[2])\nredis.call('GET', key)", []lint.Origin{lint.Argument}},
		{"all results for operands", choose + "redis.call('DEL', choose(KEYS[1], KEYS[2]))", []lint.Origin{lint.Computed}},
		{"all results into a table", choose + "local keys = { choose(KEYS[1], ARGV[1]) }\nredis.call('DEL', unpack(keys))", []lint.Origin{lint.Unpacked}},
		{"all results inserted", choose + "local keys = {}\ntable.insert(keys, choose(KEYS[1], ARGV[1]))\nredis.call('DEL', unpack(keys))", []lint.Origin{lint.Unpacked}},
		{"a result for a parameter", choose + "local function get(a, b) return redis.call('GET', b) end\nget(choose(KEYS[1], ARGV[2]))", []lint.Origin{lint.Argument}},
		{"within itself", choose + "redis.call('GET', (choose(choose(KEYS[1], KEYS[2]), KEYS[1])))", []lint.Origin{lint.Declared}},
		{"within itself, with something else", choose + "local key = choose(choose(KEYS[1], 'x'), KEYS[1])\nlocal bad = choose(choose('x', KEYS[1]), KEYS[1])\nredis.call('GET', bad)\nredis.call('GET', key)", []lint.Origin{lint.Constant, lint.Constant}},
		{"of a function that calls itself", "local function f(k) if ARGV[1] then return f('x') end return k end\nredis.call('GET', (f(KEYS[1])))", []lint.Origin{lint.Computed}},
		{"nothing", "local function f(k) if ARGV[1] then return nil end return k end\nlocal key = f(KEYS[1])\nredis.call('GET', key)", []lint.Origin{lint.Declared}},
		{"kept from another call", "local kept\nlocal function keep(k) kept = k return kept end\nkeep('x')\nlocal key = keep(KEYS[1])\nredis.call('GET', key)", []lint.Origin{lint.Constant}},
		{"kept by an inner function", "local function outer(k)\n  local function inner() return k end\n  return inner()\nend\nouter('x')\nlocal key = outer(KEYS[1])\nredis.call('GET', key)", []lint.Origin{lint.Constant}},
		{"declared first and defined later", "local get\nget = function(key) return redis.call('GET', key) end\nget(KEYS[1])", []lint.Origin{lint.Declared}},
		{"defined later by its name", "local get\nfunction get(key) return redis.call('GET', key) end\nget(ARGV[1])", []lint.Origin{lint.Argument}},
		{"defined twice", "local get\nfunction get(key) return redis.call('GET', key) end\nfunction get(key) return redis.call('GET', 'x') end\nget(KEYS[1])", []lint.Origin{lint.Parameter, lint.Constant}},
		{"the second of two locals", "local function f() return 1, ARGV[1] end\nlocal a, key = f()\nif a then key = KEYS[1] end\nredis.call('GET', key)", []lint.Origin{lint.Argument}},
		{"more locals than a command replies", "local a, key = redis.call('TIME')\nif a then key = KEYS[1] end\nredis.call('GET', key)", []lint.Origin{lint.Declared}},
		{"of any number", "local function f(...) local key = ... redis.call('GET', key) end\nf(KEYS[1])", []lint.Origin{lint.Unknown}},
		{"never called", "local function f(key) redis.call('GET', key .. 'x') end", nil},
		{"called by what is never called", "local function f(key) redis.call('GET', key .. 'x') end\nlocal function g() f(ARGV[1]) g() end", nil},
		{"called by what is called", "local function f(key) redis.call('GET', key) end\nlocal function g() f(ARGV[1]) end\ng()", []lint.Origin{lint.Argument}},
		{"handed on", "local function f(key) redis.call('GET', key) end\nreturn { f }", []lint.Origin{lint.Parameter}},
		{"a dead call", "local function f(key) redis.call('GET', key) end\nlocal function g() f('x') end\nf(KEYS[1])", []lint.Origin{lint.Declared}},
		{"joined to a key", "redis.call('GET', KEYS[1] .. ':' .. ARGV[1])", []lint.Origin{lint.Extended}},
		{"joined to what is joined", "local function f(key) local lock = key .. ':lock' redis.call('GET', lock .. 's') end\nf(KEYS[1])", []lint.Origin{lint.Extended}},
		{"joined to a key or else", "local function f(key) redis.call('GET', key .. ':lock') end\nf(KEYS[1])\nf(ARGV[1])", []lint.Origin{lint.Concatenated}},
		{"joined, or an argument", "local key = KEYS[1] .. 'x'\nif ARGV[1] then key = ARGV[1] end\nredis.call('GET', key)", []lint.Origin{lint.Argument}},
		{"joined, or a key", "local key = ARGV[1] and KEYS[1] .. 'x' or KEYS[1]\nredis.call('GET', key)", []lint.Origin{lint.Extended}},
		{"growing", "local key = KEYS[1]\nfor i = 1, 3 do key = key .. 'x' end\nredis.call('GET', key)", []lint.Origin{lint.Extended}},
		{"a key joined to something", "redis.call('GET', 'x' .. KEYS[1])", []lint.Origin{lint.Concatenated}},
		{"one of some commands", "local how = 'LPUSH'\nif ARGV[1] then how = 'RPUSH' end\nredis.call(how, KEYS[1], 'x')", []lint.Origin{lint.Declared}},
		{"commands of other keys", "local how = ARGV[1] and 'COPY' or 'GET'\nredis.call(how, KEYS[1], 'x')", []lint.Origin{lint.Declared, lint.Constant}},
		{"one of what is no command", "local how = ARGV[1] and 'NOTHING' or 'GET'\nredis.call(how, KEYS[1])", []lint.Origin{lint.Unknown}},
		{"a command that is handed in", "local function f(how) redis.call(how, KEYS[1]) end\nf('GET')\nf('DEL')", []lint.Origin{lint.Declared}},
		{"a command from an argument", "local function f(how) redis.call(how, KEYS[1]) end\nf('GET')\nf(ARGV[1])", []lint.Origin{lint.Unknown}},
		{"a command that is read", "redis.call(redis.call('GET', KEYS[1]), KEYS[1])", []lint.Origin{lint.Unknown, lint.Declared}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			operands, err := lint.Operands("foreign.lua", []byte(test.script))
			if err != nil {
				t.Fatal(err)
			}
			var found, want []string
			for _, operand := range operands {
				found = append(found, string(operand.Origin))
			}
			for _, origin := range test.want {
				want = append(want, string(origin))
			}
			compare(t, found, want)
		})
	}
}
