package lua54_test

import (
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/echomq/echomq-go/runtime/internal/lua54"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sandbox returns an engine of a few canned replies.
func sandbox(t *testing.T) *lua54.Dragonfly {
	t.Helper()
	if os.Getenv("EMQ_ENGINES") == "embedded" {
		t.Skip("EMQ_ENGINES leaves out what has to be installed")
	}
	interpreter, err := lua54.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, interpreter.Close()) })
	return &lua54.Dragonfly{
		Interpreter: interpreter,
		Sites:       map[lua54.Site]bool{},
		Keys: func(command []string) ([]string, error) {
			if slices.Contains([]string{"TIME", "ECHO"}, command[0]) {
				return nil, nil
			}
			return command[1:2], nil
		},
		Do: func(command []string) (any, error) {
			switch command[0] {
			case "TIME":
				return []any{"1700000000", "123456"}, nil
			case "ECHO":
				return command[1], nil
			case "ZSCORE":
				return "3", nil
			case "ZRANGE":
				return []any{"a", "1", "b", "2.5"}, nil
			case "SET":
				return "OK", nil
			case "LPUSH":
				return nil, errors.New("WRONGTYPE Operation against a key holding the wrong kind of value")
			}
			return nil, nil
		},
	}
}

// TestDialect shows what is different from Lua 5.1 in Redis and Valkey.
func TestDialect(t *testing.T) {
	t.Parallel()
	d := sandbox(t)
	for _, test := range []struct {
		name, source string
		want         any
	}{
		{"an integer", `return 7`, int64(7)},
		{"a whole float is a string", `return 10 / 2`, "5"},
		{"and not cut off", `return 42.9`, "42.899999999999999"},
		{"math.floor makes an integer", `return math.floor(10 / 2)`, int64(5)},
		{"a concatenated float has its point", `return '' .. 10 / 2`, "5.0"},
		{"an argument has not", `return redis.call('ECHO', 10 / 2)`, "5"},
		{"a large integer argument", `return redis.call('ECHO', 9007199254740991)`, "9007199254740991"},
		{"a score is a number", `return math.type(redis.call('ZSCORE', KEYS[1], 'a'))`, "integer"},
		{"and so with scores", `return redis.call('ZRANGE', KEYS[1], 0, 1, 'WITHSCORES')`, []any{"a", int64(1), "b", "2.5"}},
		{"the time is in integers, of milliseconds", `return redis.call('TIME')`, []any{int64(1700000000), int64(123000)}},
		{"an array goes on after a hole", `return { 1, nil, 3 }`, []any{int64(1), nil, int64(3)}},
		{"a missing value is false", `return redis.call('GET', KEYS[1]) == false`, int64(1)},
		{"a status is a table", `return redis.call('SET', KEYS[1], 1).ok`, "OK"},
		{"true is 1, false is nothing", `return { true, false }`, []any{int64(1), nil}},
		{"pcall gives the error with a dash", `return redis.pcall('LPUSH', KEYS[1], 1).err`, "-WRONGTYPE Operation against a key holding the wrong kind of value"},
		{"an empty string", `return redis.call('ECHO', '')`, ""},
		{"unpack is global", `return { unpack(ARGV) }`, []any{"x", "y\n\x00"}},
		{"nothing", `local a = 1`, nil},
	} {
		got, err := d.Call(test.source, []string{"k"}, []string{"x", "y\n\x00"})
		require.NoError(t, err, test.name)
		assert.Equal(t, test.want, got, test.name)
	}
	assert.True(t, d.Sites[lua54.Site{Line: 1, Command: "ZSCORE"}])
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	d := sandbox(t)
	for _, test := range []struct{ name, source, want string }{
		{"a key that is built", `return redis.call('GET', KEYS[1] .. 'x')`, "script tried accessing undeclared key, key: kx"},
		{"from an argument", `return redis.call('GET', ARGV[1])`, "undeclared key, key: x"},
		{"seen by pcall", `return redis.pcall('GET', 'y')`, "-ERR script tried accessing undeclared key, key: y"},
		{"a walk through the store", `return redis.call('SCAN', 0)`, "not allowed from script"},
		{"an error reply", `return redis.error_reply('EMQARGS no')`, "EMQARGS no"},
		{"an error of the engine", `return redis.call('LPUSH', KEYS[1], 1)`, "WRONGTYPE"},
		{"cjson", `return cjson.encode({})`, "global variable cjson"},
		{"os", `return os.time()`, "global variable os"},
		{"require", `return require('x')`, "global variable require"},
		{"a global", `x = 1`, "sets the global variable x"},
		{"a shebang", "#!lua\nreturn 1", "unexpected symbol"},
		{"goto as a name", `local goto = 1`, "goto"},
		{"a table as an argument", `return redis.call('GET', {})`, "must be strings or integers"},
		{"chunk arguments", `return ...`, "..."},
		{"format of a fraction", `return string.format('%d', 3.7)`, "no integer representation"},
	} {
		_, err := d.Call(test.source, []string{"k"}, []string{"x"})
		assert.ErrorContains(t, err, test.want, test.name)
	}
}
