package lint_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/lua/lint"
)

func TestCommands(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		want         []string
		wrong        string
	}{
		{"none", "return KEYS[1]", nil, ""},
		{"each once, in order", "redis.call('SET', KEYS[1], redis.call('GET', KEYS[1]))\nreturn redis.pcall('GET', KEYS[2])", []string{"GET", "SET"}, ""},
		{"in small letters, through a local", "local rcall = redis.call\nrcall('time')", []string{"TIME"}, ""},
		{"one of two", "local command = ARGV[1] == '1' and 'LPUSH' or 'RPUSH'\nredis.call(command, KEYS[1], 'x')", []string{"LPUSH", "RPUSH"}, ""},
		{"any", "redis.call(ARGV[1], KEYS[1])", nil, "foreign.lua:1:1: it cannot be told what command is called"},
		{"an unknown one", "redis.call('NONE', KEYS[1])", nil, "foreign.lua:1:1: it cannot be told what command is called"},
		{"behind one's back", "local f = _G\nf.redis.call('GET', KEYS[1])", nil, "foreign.lua:1:11: _G: commands that are called through it cannot be told"},
		{"no Lua", "local = 1", nil, "foreign.lua:1:"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := lint.Commands("foreign.lua", []byte(test.script))
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if (err == nil) != (test.wrong == "") || err != nil && !strings.HasPrefix(err.Error(), test.wrong) {
				t.Errorf("got error %v, want %q", err, test.wrong)
			}
		})
	}
}
