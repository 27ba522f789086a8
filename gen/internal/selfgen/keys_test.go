package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestKeysAreNotTheCallers holds that whoever calls a script neither forgets a key
// nor writes one himself: keys come from a queue and from ids of jobs, which are no
// strings.
func TestKeysAreNotTheCallers(t *testing.T) {
	t.Parallel()
	const runtime = "github.com/echomq/echomq-go/runtime/"
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", runtime+"internal/script")
	list.Dir = moduleRoot
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	files := token.NewFileSet()
	compiler := importer.ForCompiler(files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for source, want := range map[string]string{
		`func(q wire.Queue, id wire.JobID) any { return script.Cancel{Items: []script.CancelItem{{ID: id}}}.Call(q) }`: "",
		`script.Cancel{}.Call()`:                                 "not enough arguments",
		`script.Cancel{}.Call("mail")`:                           `cannot use "mail"`,
		`script.Cancel{}.Call("emq:{mail}:meta")`:                `cannot use "emq:{mail}:meta"`,
		`script.Cancel{Keys: []string{"emq:{mail}:meta"}}`:       "unknown field Keys",
		`script.CancelItem{ID: "7"}`:                             `cannot use "7"`,
		`func(q wire.Queue) any { return q.Key("meta") + ":x" }`: "",
		`wire.Queue("mail")`:                                     "cannot convert",
		`wire.Queue{"mail"}`:                                     "unexported field",
		`wire.JobID("7")`:                                        "cannot convert",
		`script.CancelItem{"7", "Welcome"}`:                      `cannot use "7"`,
		`func(q wire.Queue) any { return q.Job("7") }`:           `cannot use "7"`,
		`script.Cancel{Events: "sometimes", Mark: 7}`:            "cannot use 7",
		`script.Pick{}`:                                          "",
	} {
		file, err := parser.ParseFile(files, "x.go", "package x\n\nimport (\n\t\""+runtime+"internal/script\"\n\t\""+runtime+"wire\"\n)\n\nvar _ wire.Queue\n\nvar _ any = "+source+"\n\nvar _ script.Cancel\n", 0)
		if err != nil {
			t.Fatal(source, err)
		}
		found := ""
		config := types.Config{Importer: compiler, Error: func(err error) { found += err.(types.Error).Msg + "\n" }}
		_, _ = config.Check("x", files, []*ast.File{file}, nil)
		if (found == "") != (want == "") || !strings.Contains(found, want) {
			t.Errorf("%s gives %q and not %q", source, found, want)
		}
	}
}
