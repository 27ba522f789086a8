package lint_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/lua/lint"
)

// files are files by their paths.
type files map[string]string

func (f files) read(file string) ([]byte, error) {
	text, ok := f[file]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func TestInspectIncludes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files files
		want  []string // what is included, what is undeclared, and why it is not judged
	}{
		{"nothing", files{"a/s.lua": "redis.call('GET', 'x')"}, []string{
			"a/s.lua:1:19: GET: 'x' is not declared: the constant 'x'",
		}},
		{"lines keep their places", files{"a/s.lua": "local x\n--- @include \"p\"\nredis.call('GET', 'x')", "a/p.lua": "\nredis.call('GET', 'y')\n\n"}, []string{
			"a/p.lua",
			"a/p.lua:2:19: GET: 'y' is not declared: the constant 'y'",
			"a/s.lua:3:19: GET: 'x' is not declared: the constant 'x'",
		}},
		{"by every form of the line", files{"s.lua": "--- @include \"p\"\n--@include 'q.lua' ;\n--- @include \"r\"\t\r\n-- @include \"t\"", "p.lua": "", "q.lua": "", "r": "", "t.lua": ""}, []string{"p.lua", "q.lua", "r", "t.lua"}},
		{"by nothing else", files{"s.lua": " --- @include \"p\"\n---- @include \"p\"\n--- @include p\n--- @included \"p\"\n-- see @include \"p\""}, nil},
		{"once", files{"s.lua": "--- @include \"p\"\n--- @include \"q\"\n--- @include \"p\"", "p.lua": "redis.call('GET', 'x')", "q.lua": "--- @include \"p.lua\""}, []string{
			"p.lua", "q.lua",
			"p.lua:1:19: GET: 'x' is not declared: the constant 'x'",
		}},
		{"from where it stands", files{"a/s.lua": "--- @include \"b/p\"", "a/b/p.lua": "--- @include \"../../c\"", "c.lua": "redis.call('GET', 'x')"}, []string{
			"a/b/p.lua", "c.lua",
			"c.lua:1:19: GET: 'x' is not declared: the constant 'x'",
		}},
		{"through a function", files{"a/s.lua": "--- @include \"p/f\"\nf(KEYS[1])\nf(ARGV[1])", "a/p/f.lua": "local function f(key) redis.call('GET', key) end"}, []string{
			"a/p/f.lua",
			"a/p/f.lua:1:41: GET: key is not declared: the parameter key of f, called at line 3 with what is taken from ARGV: ARGV[1]",
		}},
		{"a name of the script", files{"s.lua": "local rcall = redis.call\n--- @include \"p\"", "p.lua": "rcall('GET', KEYS[1])\nrcall('GET', 'x')"}, []string{
			"p.lua",
			"p.lua:2:14: GET: 'x' is not declared: the constant 'x'",
		}},
		{"what is missing", files{"a/s.lua": "\n--- @include \"p\""}, []string{"a/s.lua:2:1: include \"p\": file does not exist"}},
		{"what is missing in what is included", files{"a/s.lua": "--- @include \"p\"", "a/p.lua": "--- @include \"q.lua\""}, []string{"a/p.lua:1:1: include \"q.lua\": file does not exist"}},
		{"itself", files{"s.lua": "--- @include \"./s\""}, []string{"s.lua:1:1: include \"./s\": a cycle: s.lua includes s.lua"}},
		{"a cycle", files{"s.lua": "--- @include \"p\"", "p.lua": "--- @include \"q\"", "q.lua": "\n--- @include \"p.lua\""}, []string{"q.lua:2:1: include \"p.lua\": a cycle: p.lua includes q.lua includes p.lua"}},
		{"a pattern", files{"s.lua": "--- @include \"p/*\""}, []string{"s.lua:1:1: include \"p/*\": only a path relative to this file can be followed"}},
		{"what is not Lua", files{"s.lua": "--- @include \"p\"\nreturn 1", "p.lua": "local x = 1\nlocal = 2"}, []string{"p.lua:2:7: syntax error near \"=\""}},
		{"no script", nil, []string{"read the script: file does not exist"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			script := "s.lua"
			if _, ok := test.files["a/s.lua"]; ok {
				script = "a/s.lua"
			}
			report := lint.Inspect(script, test.files.read)
			var found []string
			if report.Err != nil {
				found = append(found, report.Err.Error())
			} else {
				found = append(found, report.Includes...)
			}
			for _, operand := range report.Operands {
				if !operand.IsDeclared() {
					found = append(found, operand.String())
				}
			}
			compare(t, found, test.want)
		})
	}
}

func TestInspectKeys(t *testing.T) {
	t.Parallel()
	const own = "--- own is ours\n---\n--- @memory reads\n--- @key meta hash settings\n--- @each job hash <id> the job\n--- @item id id the job\n--- @reply n int a number\n"
	tests := []struct {
		name, file, script string
		verdict            lint.Verdict
		keys               string
		faults             int
	}{
		{"all of the name", "a-2.lua", "redis.call('GET', KEYS[2])\nreturn redis.call('GET', KEYS[1])", lint.EveryDeclared, "2 0 name [1 2] false", 0},
		{"fewer", "a-3.lua", "local n = 2\nreturn redis.call('GET', KEYS[n])", lint.EveryDeclared, "3 0 name [2] false", 1},
		{"more", "a-1.lua", "return redis.call('GET', KEYS[2])", lint.SomeUndeclared, "1 0 name [2] false", 2},
		{"more, but not for an operand", "a-1.lua", "redis.call('GET', KEYS[1])\nreturn KEYS[2]", lint.EveryDeclared, "1 0 name [1 2] false", 1},
		{"before the first", "a-1.lua", "return redis.call('GET', KEYS[0])", lint.SomeUndeclared, "1 0 name [0] false", 2},
		{"none", "a-0.lua", "return redis.call('GET', KEYS[1])", lint.SomeUndeclared, "0 0 name [1] false", 1},
		{"by a variable", "a-2.lua", "for i = 1, #KEYS do redis.call('DEL', KEYS[i]) end\nreturn 1", lint.EveryDeclared, "2 0 name [] true", 0},
		{"not said", "a.lua", "return redis.call('GET', KEYS[7])", lint.EveryDeclared, "-1 0  [7] false", 1},
		{"a name with another end", "a-b-1x.lua", "return redis.call('GET', KEYS[7])", lint.EveryDeclared, "-1 0  [7] false", 1},
		{"by a header that is wrong", "other.lua", own + "return redis.call('HLEN', KEYS[1])", lint.Unclean, "-1 0  [1] false", 1},
		{"by a header that is not kept", "own.lua", own + "return redis.call('HLEN', KEYS[1])", lint.Unclean, "1 1 header [1] false", 3},
		{"by a header, whatever the others", "own.lua", own + "return redis.call('HLEN', KEYS[2])", lint.SomeUndeclared, "1 1 header [2] false", 4},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := lint.Inspect(test.file, files{test.file: test.script}.read)
			keys := fmt.Sprint(r.Keys.Declared, r.Keys.Each, " ", r.Keys.By, " ", r.Keys.Used, " ", r.Keys.Varies)
			if r.Verdict != test.verdict || keys != test.keys || len(r.Findings) != test.faults {
				t.Errorf("verdict %s, keys %q, findings\n%v", r.Verdict, keys, r.Findings)
			}
		})
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		files files
		want  string
	}{
		{"pieces are left out", files{"a-1.lua": "--- @include \"p\"", "p.lua": "--- @include \"q.lua\"", "q.lua": "", "r.lua": ""}, "a-1.lua r.lua"},
		{"a script may be a piece of another", files{"a.lua": "--- @include \"b-2\"", "b-2.lua": ""}, "a.lua b-2.lua"},
		{"one with a header too", files{"a.lua": "--- @include \"b\"", "b.lua": "--- @memory reads"}, "a.lua b.lua"},
		{"a cycle is entered once", files{"a.lua": "--- @include \"b\"", "b.lua": "--- @include \"a\"", "c.lua": "--- @include \"c\""}, "a.lua c.lua"},
		{"a cycle behind a script is not", files{"a-1.lua": "--- @include \"b\"", "b.lua": "--- @include \"c\"", "c.lua": "--- @include \"b\""}, "a-1.lua"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var paths []string
			for path := range test.files {
				paths = append(paths, path)
			}
			if found := strings.Join(lint.Scripts(paths, test.files.read), " "); found != test.want {
				t.Errorf("scripts are %s, not %s", found, test.want)
			}
		})
	}
}
