package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const source = `//emq:queue name=mail
package mail

//emq:job timeout=30s
//emq:keep completed=none
type Welcome struct{ UserID int64 }
`

// module is a directory in which emqgen runs.
type module struct {
	testing.TB
	dir string
}

func newModule(t testing.TB, files map[string]string) module {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	m := module{t, dir}
	m.write("go.mod", "module example.com/shop\n\ngo 1.26\n")
	for name, content := range files {
		m.write(name, content)
	}
	return m
}

func (m module) write(name, content string) {
	m.Helper()
	path := filepath.Join(m.dir, name)
	require.NoError(m, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(m, os.WriteFile(path, []byte(content), 0o644))
}

func (m module) read(name string) string {
	m.Helper()
	content, err := os.ReadFile(filepath.Join(m.dir, name))
	require.NoError(m, err)
	return string(content)
}

// files returns all files of the module with their times and modes, by which a
// test sees whether any was touched.
func (m module) files() map[string]string {
	m.Helper()
	found := map[string]string{}
	require.NoError(m, filepath.WalkDir(m.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		found[path] = info.ModTime().String() + info.Mode().String()
		return err
	}))
	return found
}

// inodes returns the files and the directories of the module: a file that came and
// went has changed the time of its directory.
func (m module) inodes() map[string]fs.FileInfo {
	m.Helper()
	found := map[string]fs.FileInfo{}
	require.NoError(m, filepath.WalkDir(m.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			found[path], err = entry.Info()
		}
		return err
	}))
	return found
}

// emqgen runs the command and returns its exit code and output.
func (m module) emqgen(arguments ...string) (code int, stdout, stderr string) {
	m.Helper()
	var out, err bytes.Buffer
	code = run(m.Context(), append([]string{"-C", m.dir}, arguments...), &out, &err)
	return code, out.String(), err.String()
}

// quiet runs the command, which is to succeed without a word.
func (m module) quiet(arguments ...string) {
	m.Helper()
	code, stdout, stderr := m.emqgen(arguments...)
	require.Zero(m, code, stderr)
	require.Empty(m, stdout)
	require.Empty(m, stderr)
}

func TestWrites(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source, "sub/readme.go": "package sub\n"})
	m.quiet()
	require.Contains(t, m.read("emq_gen.go"), "func NewMailProducer(")
	info, err := os.Stat(filepath.Join(m.dir, "emq_gen.go"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o644), info.Mode().Perm())
	require.Len(t, m.files(), 5, "something was left behind")
}

func TestRunsAgainWithoutTouchingAnything(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	m.quiet("./...")
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(m.dir, "emq_gen.go"), past, past))
	require.NoError(t, os.Chmod(filepath.Join(m.dir, "emq_gen.go"), 0o600))
	before, inodes := m.files(), m.inodes()
	m.quiet("./...")
	m.quiet("-check", "./...")
	require.Equal(t, before, m.files())
	for path, info := range m.inodes() {
		require.True(t, os.SameFile(inodes[path], info), "%s was replaced", path)
		require.Equal(t, inodes[path].ModTime(), info.ModTime(), path)
	}

	m.write("mail.go", strings.Replace(source, "30s", "40s", 1))
	m.quiet("./...")
	info, err := os.Stat(filepath.Join(m.dir, "emq_gen.go"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm(), "the mode of a file is kept")
}

func TestVerbose(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail/mail.go": source, "push/push.go": strings.ReplaceAll(source, "mail", "push"), "gone/gone.go": source})
	_, stdout, _ := m.emqgen("-v", "./...")
	require.Equal(t, "written gone/emq.lock\nwritten gone/emq_gen.go\nwritten mail/emq.lock\nwritten mail/emq_gen.go\nwritten push/emq.lock\nwritten push/emq_gen.go\n", stdout)

	m.write("gone/gone.go", "package mail\n")
	m.write("gone/emq.lock", "emq.lock 1\n")
	m.write("push/push.go", strings.ReplaceAll(m.read("push/push.go"), "30s", "40s"))
	_, stdout, _ = m.emqgen("-v", "-check", "./...")
	require.Contains(t, stdout, "orphaned gone/emq_gen.go\n")
	require.Contains(t, stdout, "unchanged mail/emq_gen.go\n")
	require.Contains(t, stdout, "stale push/emq_gen.go\n")

	code, stdout, _ := m.emqgen("-v", "./...")
	require.Zero(t, code)
	require.Equal(t, "removed gone/emq.lock\nremoved gone/emq_gen.go\nunchanged mail/emq.lock\nunchanged mail/emq_gen.go\nunchanged push/emq.lock\nwritten push/emq_gen.go\n", stdout)
	require.NoFileExists(t, filepath.Join(m.dir, "gone/emq_gen.go"))
}

// TestCheckFindsWhatTheCompilerDoesNot changes how a job looks on the wire in
// ways in which the package, and the file generated before, go on compiling.
func TestCheckFindsWhatTheCompilerDoesNot(t *testing.T) {
	t.Parallel()
	const nested = `// Package mail has jobs.
//
//emq:queue name=mail
package mail

//emq:job
//emq:result Receipt
type Welcome struct {
	UserID  int64 ` + "`json:\"userId\"`" + `
	Address Address
	Lines   map[string][]*Line
}

type Address struct{ Street string }

type Line struct{ Text string }

type Receipt struct{ MessageID string }
`
	for change, wants := range map[[2]string]string{
		{"userId", "id"}:                           "E083",
		{"Street string", "Road string"}:           "E083",
		{"Text string", "Text []byte"}:             "E084",
		{"MessageID string", "MessageID int"}:      "E084",
		{"Text string", "Text string; More []int"}: "",
		{"Text string", "Text string `emq:\"x\"`"}: "E058",
	} {
		m := newModule(t, map[string]string{"mail.go": nested})
		m.quiet()
		m.quiet("-check")
		m.write("mail.go", strings.Replace(nested, change[0], change[1], 1))
		if wants != "" {
			m.refused(wants, "-check")
			continue
		}
		code, _, stderr := m.emqgen("-check")
		require.Equal(t, exitWrong, code, change)
		require.Equal(t, "emqgen: emq.lock is stale; run go generate\nemqgen: emq_gen.go is stale; run go generate\n", stderr)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	before := m.files()
	code, stdout, stderr := m.emqgen("-check")
	require.Equal(t, exitWrong, code)
	require.Equal(t, "emqgen: emq.lock is missing; run go generate\nemqgen: emq_gen.go is missing; run go generate\n", stderr)
	require.True(t, strings.HasPrefix(stdout, "--- /dev/null\n+++ b/emq.lock\n@@ -0,0 +1,"), stdout)
	require.Contains(t, stdout, "--- /dev/null\n+++ b/emq_gen.go\n@@ -0,0 +1,")
	require.Equal(t, before, m.files())

	m.quiet()
	m.write("mail.go", strings.Replace(source, "30s", "40s", 1))
	code, stdout, stderr = m.emqgen("-check")
	require.Equal(t, exitWrong, code)
	require.Equal(t, "emqgen: emq_gen.go is stale; run go generate\n", stderr)
	require.Contains(t, stdout, "-\t\tTimeout:  30 * time.Second,\n+\t\tTimeout:  40 * time.Second,\n")
	require.Contains(t, m.read("emq_gen.go"), "30 * time.Second")

	m.write("mail.go", "package mail\n")
	require.NoError(t, os.Remove(filepath.Join(m.dir, "emq.lock")))
	code, stdout, stderr = m.emqgen("-check")
	require.Equal(t, exitWrong, code)
	require.Equal(t, "emqgen: emq_gen.go is orphaned; run go generate\n", stderr)
	require.Contains(t, stdout, "+++ /dev/null\n")

	// An empty file is not the same as none.
	m.write("mail.go", source)
	m.write("emq_gen.go", "")
	code, stdout, _ = m.emqgen("-check")
	require.Equal(t, exitWrong, code)
	require.Contains(t, stdout, "--- a/emq_gen.go\n")
}

// TestWritesNothingWithMistakes holds that one mistake anywhere keeps every
// file as it is.
func TestWritesNothingWithMistakes(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{
		"mail/mail.go":    source,
		"gone/gone.go":    "package gone\n",
		"gone/emq_gen.go": "// Code generated by emqgen. DO NOT EDIT.\n\npackage gone\n",
		"push/push.go":    "//emq:queue name=push\npackage push\n\n//emq:job timout=3s\ntype A struct{}\n",
		"pull/pull.go":    "//emq:queue name=pull\npackage pull\n\n//emq:job\ntype B struct{ C chan int }\n",
	})
	before := m.files()
	for _, arguments := range [][]string{{"./..."}, {"-check", "./..."}, {"-dump", "./..."}, {"-v", "./..."}} {
		code, stdout, stderr := m.emqgen(arguments...)
		require.Equal(t, exitWrong, code)
		require.Empty(t, stdout)
		require.Equal(t, "pull/pull.go:5:16: B.C cannot cross the wire: chan int is a channel (E053)\n"+
			"push/push.go:4:11: unknown item timout of //emq:job, which takes queue, name, go, timeout, priority, delay, codec, version, oldest and was; did you mean timeout? (E011)\n", stderr)
	}
	require.Equal(t, before, m.files())
}

func TestDump(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source, "empty/e.go": "package empty\n"})
	before := m.files()
	code, stdout, stderr := m.emqgen("-dump")
	require.Zero(t, code, stderr)
	require.JSONEq(t, `[{
		"path": "example.com/shop", "name": "mail",
		"queues": [{
			"name": "mail", "goName": "Mail", "pos": {"file": "mail.go", "line": 1, "column": 1},
			"jobs": [{
				"name": "Welcome", "goName": "Welcome", "pos": {"file": "mail.go", "line": 6, "column": 6},
				"payload": {"type": "Welcome", "fields": [{"name": "UserID", "type": {"kind": "basic", "name": "int64"}}], "shape": "1f01b3cc2a71"},
				"version": 1, "timeout": "30s", "keep": {"completed": {"none": true}}
			}]
		}]
	}]`, stdout)
	require.Equal(t, before, m.files())

	_, stdout, _ = m.emqgen("-dump", "./empty")
	require.True(t, json.Valid([]byte(stdout)))
	require.Equal(t, "[]\n", stdout)
}

func TestCannotRun(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	for _, arguments := range [][]string{
		{"./nowhere"}, {"mail.go"}, {"-nonsense"}, {"-check", "-dump"}, {"-explain", "E011"}, {"-C", filepath.Join(m.dir, "nowhere")},
	} {
		code, stdout, stderr := m.emqgen(arguments...)
		require.Equal(t, exitCannot, code, arguments)
		require.NotEmpty(t, stderr, arguments)
		require.Empty(t, stdout, arguments)
	}
	require.NoFileExists(t, filepath.Join(m.dir, "emq_gen.go"))
}

// TestRestores holds that one run restores what was deleted or damaged. A damaged
// lock it does not guess: what stood there is for version control to say.
func TestRestores(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	m.quiet()
	code, lock := m.read("emq_gen.go"), m.read("emq.lock")
	conflict := func(content string) string {
		return "<<<<<<< HEAD\n" + content + "=======\n" + content + ">>>>>>> other\n"
	}
	for _, damage := range []func(){
		func() { m.remove("emq_gen.go") },
		func() { m.remove("emq.lock") },
		func() { m.remove("emq_gen.go"); m.remove("emq.lock") },
		func() { m.write("emq_gen.go", "") },
		func() { m.write("emq_gen.go", code[:len(code)/2]) },
		func() { m.write("emq_gen.go", code+"func {") },
		func() { m.write("emq_gen.go", conflict(code)); m.write("emq.lock", conflict(lock)) },
	} {
		damage()
		m.quiet()
		require.Equal(t, code, m.read("emq_gen.go"))
		require.Equal(t, lock, m.read("emq.lock"))
	}
	for _, damaged := range []string{"", "garbage\n", lock[:len(lock)-20] + "\x00"} {
		m.write("emq.lock", damaged)
		before := m.files()
		m.refused("E081")
		require.Equal(t, before, m.files())
	}
}

// TestCannotWrite holds that a file which cannot be written leaves nothing behind,
// neither a part of it nor a temporary file.
func TestCannotWrite(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source, "web/mail.emq.ts/in-the-way": ""})
	for _, language := range []string{"ts", "elixir"} {
		target := map[string]string{"ts": "web", "elixir": "mail.go"}[language] // a directory in the way of a file, a file in that of a directory
		before := m.files()
		code, stdout, stderr := m.emqgen("-lang", language, "-out", target)
		require.Equal(t, exitCannot, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "emqgen: ")
		require.Equal(t, before, m.files())
	}

	path := filepath.Join(m.dir, "web", "mail.emq.ts")
	require.Error(t, writeFile(path, []byte("anything")))
	entries, err := os.ReadDir(filepath.Join(m.dir, "web"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "a temporary file was left behind")
	require.FileExists(t, filepath.Join(path, "in-the-way"))
}

// TestKeepsForeignFiles holds that a hand-written file of the name of ours stays
// as it is, with directives in its package and without.
func TestKeepsForeignFiles(t *testing.T) {
	t.Parallel()
	const header = "// Code generated by emqgen. DO NOT EDIT."
	for _, precious := range []string{
		"package mail\n\nfunc precious() {}\n",
		"package mail\n\nconst header = \"" + header + "\"\n",
		"package mail\n\n" + header + "\nfunc precious() {}\n",
		"package mail\n\nfunc precious( {\n",
	} {
		m := newModule(t, map[string]string{"mail.go": source, "emq_gen.go": precious})
		before := m.files()
		code, _, stderr := m.emqgen("./...")
		require.Equal(t, exitWrong, code)
		require.Contains(t, stderr, "emq_gen.go:1:1: emq_gen.go was not written by emqgen")
		require.Equal(t, before, m.files())

		m = newModule(t, map[string]string{"mail.go": "package mail\n", "emq_gen.go": precious})
		before = m.files()
		m.quiet("./...")
		require.Equal(t, before, m.files())
	}
}

// TestDependencies holds that emqgen, which joins the module graph of its
// users, links neither a store's client nor what only tests need.
func TestDependencies(t *testing.T) {
	t.Parallel()
	list := exec.Command("go", "list", "-deps", ".")
	out, err := list.Output()
	require.NoError(t, err)
	allowed := []string{
		"github.com/dave/jennifer/", "golang.org/x/tools/", "golang.org/x/mod/", "golang.org/x/sync/",
		"github.com/echomq/echomq-go/annotations", "github.com/echomq/echomq-go/gen", "github.com/echomq/echomq-go/cmd/emqgen",
		"github.com/echomq/echomq-go/runtime/wire", "github.com/echomq/echomq-go/runtime/cron", "github.com/robfig/cron/v3",
	}
	for path := range strings.FieldsSeq(string(out)) {
		first, _, _ := strings.Cut(path, "/")
		if !strings.Contains(first, ".") {
			continue // the standard library
		}
		permitted := false
		for _, prefix := range allowed {
			permitted = permitted || strings.HasPrefix(path, prefix)
		}
		require.True(t, permitted, "emqgen links %s", path)
	}
}
