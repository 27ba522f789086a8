package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const moduleRoot = "../../.."

// TestFilesAreFresh fails if a header or the envelope changed and the generated
// files did not.
func TestFilesAreFresh(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	stale, err := run(moduleRoot, true, &out)
	if err != nil {
		t.Fatal(err)
	}
	if stale {
		t.Errorf("run go run ./gen/internal/selfgen:\n%s", out.String())
	}
}

// module copies what files are generated from into a new directory.
func module(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	scripts, err := filepath.Glob(filepath.Join(moduleRoot, luaDir, "*.lua"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range append(scripts, declarations()...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		relative, err := filepath.Rel(moduleRoot, path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(root, relative), string(text))
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func alter(t *testing.T, path, old, new string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s has no %q", path, old)
	}
	write(t, path, strings.Replace(string(text), old, new, 1))
}

func TestCheckShowsWhatIsStale(t *testing.T) {
	t.Parallel()
	root := module(t)
	if stale, err := run(root, true, io.Discard); err != nil || !stale {
		t.Fatalf("without any generated file: stale is %t, %v", stale, err)
	}
	if _, err := run(root, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if stale, err := run(root, true, io.Discard); err != nil || stale {
		t.Fatalf("freshly generated: stale is %t, %v", stale, err)
	}
	alter(t, filepath.Join(root, luaDir, "extend.lua"), "word(extended|cancelled|lost)", "word(extended|cancelled|lost|gone)")
	var out bytes.Buffer
	if stale, err := run(root, true, &out); err != nil || !stale {
		t.Fatalf("with another word: stale is %t, %v", stale, err)
	}
	for _, want := range []string{"--- runtime/internal/script/extend_gen.go\n", "\n+\tExtendVerdictGone "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the diff has no %q:\n%s", want, out.String())
		}
	}
}

func TestCallsOfRemovedScriptsGo(t *testing.T) {
	t.Parallel()
	root := module(t)
	if _, err := run(root, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, luaDir, "trim.lua")); err != nil {
		t.Fatal(err)
	}
	if stale, err := run(root, true, io.Discard); err != nil || !stale {
		t.Fatalf("with a script removed: stale is %t, %v", stale, err)
	}
	if _, err := run(root, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, callsDir, "trim_gen.go")); !os.IsNotExist(err) {
		t.Errorf("the call of a removed script is still there: %v", err)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, old, new, want string
	}{
		{"a header", "lua/extend.lua", "@memory drains", "@memory drain", "lua/extend.lua:10:13: unknown @memory"},
		{"a name that is taken", "lua/extend.lua", "@record results verdict word", "@record results reply word", `lua/extend.lua: "reply" of script extend would declare Go's ExtendReply, which is taken by script extend`},
		{"two sets of words", "lua/extend.lua", "@item token string", "@item verdict word(a|b)", `"verdict" is a word of another set than before`},
		{"a field of another type", "runtime/wire/envelope.go", "ProcessedBy string", "ProcessedBy float64", "no way to decode field ProcessedBy of type float64"},
		{"a field of a foreign type", "runtime/wire/envelope.go", "ProcessedBy string", "ProcessedBy time.Time", "a field is a named type or []byte"},
		{"a setting of a type that others do not know", "runtime/wire/opts.go", "Attempts int", "Attempts float64", "Opts.Attempts needs a comment"},
		{"a default that is no JSON", "runtime/wire/opts.go", `absent:"10"`, `absent:"ten"`, "JSON in its tag absent"},
		{"no envelope", "runtime/wire/envelope.go", "type Envelope struct", "type Other struct", "declares no struct Envelope"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			root := module(t)
			alter(t, filepath.Join(root, test.file), test.old, test.new)
			_, err := run(root, true, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, upper, lower string }{
		{"id", "ID", "id"},
		{"jobId", "JobID", "jobID"},
		{"job-id", "JobID", "jobID"},
		{"nextDue", "NextDue", "nextDue"},
		{"already-settled", "AlreadySettled", "alreadySettled"},
	} {
		if got := upperName(test.name); got != test.upper {
			t.Errorf("upperName(%q) is %q", test.name, got)
		}
		if got := lowerName(test.name); got != test.lower {
			t.Errorf("lowerName(%q) is %q", test.name, got)
		}
	}
	for plural, want := range map[string]string{"results": "result", "entries": "entry", "expired": "expired", "loss": "loss"} {
		if got := singular(plural); got != want {
			t.Errorf("singular(%q) is %q", plural, got)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	got := diff("f", "a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nd\nX\nf\ng\n")
	want := "--- f\n+++ f (generated)\n@@ line 3 @@\n c\n d\n-e\n+X\n f\n g\n"
	if got != want {
		t.Errorf("diff is\n%s\nwant\n%s", got, want)
	}
}

// declarations are the files that declare the fields of hashes.
func declarations() []string {
	var files []string
	for _, h := range append(hashes(), hash{file: optsFile}) {
		files = append(files, filepath.Join(moduleRoot, h.file))
	}
	return files
}
