package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLintStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		files  map[string]string
		paths  []string
		status int
		errs   string
	}{
		{"no path", nil, nil, exitUnknown, "emq: give one or more folders or files of Lua scripts\n"},
		{"a path that is not there", nil, []string{"gone"}, exitUnknown, "emq: 1 path gave no script\n"},
		{"a folder without scripts", map[string]string{"a.txt": "return 1"}, []string{"."}, exitUnknown, "emq: 1 path gave no script\n"},
		{"a file by itself, whatever its name", map[string]string{"a.txt": "return redis.call('GET', KEYS[1])"}, []string{"a.txt"}, exitWell, ""},
		{"a script without operands", map[string]string{"a.lua": "return 1"}, []string{"."}, exitWell, ""},
		{"an empty script", map[string]string{"a-0.lua": ""}, []string{"."}, exitWell, ""},
		{"one that is not Lua", map[string]string{"a.lua": "return (", "b.lua": "return 1"}, []string{"."}, exitUnknown, "emq: 1 script could not be judged\n"},
		{"untold weighs more than undeclared", map[string]string{"a.lua": "return (", "b.lua": "return redis.call('GET', 'x')"}, []string{"."}, exitUnknown, "emq: 1 script could not be judged\n"},
		{"a folder and its script are one", map[string]string{"a.lua": "return redis.call('GET', 'x')"}, []string{".", "a.lua"}, exitNot, ""},
		{"a piece by itself", map[string]string{"a-1.lua": "--- @include 'b'\nreturn f(KEYS[1])", "b.lua": "local function f(key) return redis.call('GET', key .. 'x') end"}, []string{"b.lua"}, exitWell, ""},
		{"a piece where it is included", map[string]string{"a-1.lua": "--- @include 'b'\nreturn f(KEYS[1])", "b.lua": "local function f(key) return redis.call('GET', key .. 'x') end"}, []string{"."}, exitNot, ""},
		{"a cycle that nothing else leads to", map[string]string{"a.lua": "--- @include 'b'", "b.lua": "--- @include 'a'"}, []string{"."}, exitUnknown, "emq: 1 script could not be judged\n"},
		{"faults of dialect do not count", map[string]string{"a-1.lua": "return redis.call('get', KEYS[1], cjson.decode(ARGV[1]))"}, []string{"."}, exitWell, ""},
		{"faults of a header do", map[string]string{"a.lua": "--- a has a header\n---\n--- @memory reads\n--- @key meta hash settings\nreturn redis.call('HLEN', KEYS[1])"}, []string{"."}, exitNot, ""},
		{"other comments are no header", map[string]string{"a.lua": "--- a\n--- @param x\nreturn redis.call('HLEN', KEYS[1])"}, []string{"."}, exitWell, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range test.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			args := []string{"lint"}
			for _, path := range test.paths {
				args = append(args, filepath.Join(dir, path))
			}
			status, out, errs := run(t, args...)
			assert.Equal(t, test.status, status, out)
			assert.Equal(t, test.errs, errs)
		})
	}
}
