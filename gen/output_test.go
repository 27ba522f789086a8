package gen_test

// This file holds what is promised of every generated file: its form, that it is
// the same each time, its size, and what it imports.

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/imports"

	"github.com/echomq/echomq-go/gen"
)

// TestOutputIsFormatted holds that the tools which people run on save leave
// generated files alone, goimports with its look-ups included.
func TestOutputIsFormatted(t *testing.T) {
	t.Parallel()
	results, err := cases()
	require.NoError(t, err)
	checked := 0
	for name, outcome := range results {
		for file, content := range outcome {
			if !strings.HasSuffix(file, gen.Output) {
				continue
			}
			checked++
			formatted, err := format.Source([]byte(content))
			require.NoError(t, err)
			require.Equal(t, content, string(formatted), "%s %s: gofmt", name, file)
			processed, err := imports.Process(gen.Output, []byte(content), nil)
			require.NoError(t, err)
			require.Equal(t, content, string(processed), "%s %s: goimports", name, file)
		}
	}
	require.NotZero(t, checked)
}

// TestGofumpt holds the same of gofumpt, a version of which EMQ_GOFUMPT names, as
// .ci/lint does.
func TestGofumpt(t *testing.T) {
	t.Parallel()
	program := os.Getenv("EMQ_GOFUMPT")
	if program == "" {
		t.Skip("EMQ_GOFUMPT names no version of gofumpt")
	}
	results, err := cases()
	require.NoError(t, err)
	dir := newModule(t, nil)
	arguments := []string{"run", program, "-l"}
	for name, outcome := range results {
		for file, content := range outcome {
			if strings.HasSuffix(file, gen.Output) {
				file = filepath.Join(name, file)
				require.NoError(t, writeTree(dir, map[string]string{file: content}))
				arguments = append(arguments, file) // of those that it finds itself it leaves out what is generated
			}
		}
	}
	require.Greater(t, len(arguments), 20)
	command := exec.Command("go", arguments...)
	command.Dir = dir
	out, err := command.Output()
	require.NoError(t, err)
	require.Empty(t, string(out), "files that gofumpt would change")
}

// TestVet holds that go vet has nothing to say about what is generated, in modules
// as users have them; nor has staticcheck, a version of which EMQ_STATICCHECK names,
// as .ci/lint does. That looks at it as if people had written it.
func TestVet(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	repository, err := filepath.Abs("..")
	require.NoError(t, err)
	ours, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	require.NoError(t, err)
	_, requirements, _ := strings.Cut(string(ours), "require (")
	sums, err := os.ReadFile(filepath.Join(repository, "go.sum"))
	require.NoError(t, err)
	dir := newModule(t, map[string]string{
		"go.mod": strings.Replace(casesGoMod, "go 1.26\n", "go 1.26.0\n", 1) + "\nreplace github.com/echomq/echomq-go => " + repository +
			"\n\nrequire github.com/echomq/echomq-go v0.0.0\n\nrequire (" + requirements,
		"go.sum": string(sums),
	})
	for _, c := range found {
		if c.wants()[errorsFile] == "" {
			require.NoError(t, c.writeSource(filepath.Join(dir, c.name)))
		}
	}
	written := generate(t, dir)
	require.Greater(t, len(written), 20)
	check := func(program string, arguments ...string) {
		command := exec.Command(program, arguments...)
		command.Dir = dir
		out, _ := command.CombinedOutput() // what people wrote in the cases has faults on purpose
		complaints := ""
		for line := range strings.Lines(string(out)) {
			about := strings.Contains(line, ".go:") || strings.HasPrefix(line, "# ") || line == "exit status 1\n"
			if strings.Contains(line, gen.Output) || !about {
				complaints += line
			}
		}
		require.Empty(t, complaints, program)
	}
	check("go", "vet", "./...")
	staticcheck := os.Getenv("EMQ_STATICCHECK")
	if staticcheck == "" {
		return
	}
	for _, pkg := range written {
		path := filepath.Join(pkg, gen.Output)
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(content), ". DO NOT EDIT.", ", and edited.", 1)), 0o644))
	}
	// The comment of a package is its author's, as is a tag that an older version had.
	check("go", "run", staticcheck, "-checks=all,-ST1000,-SA5008", "./...")
}

// TestDeterminism runs on the same source ten times. Each goes through hundreds
// of maps, whose order is another one each time.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	dir := newModule(t, nil)
	for _, c := range found {
		require.NoError(t, c.writeSource(filepath.Join(dir, c.name)))
	}
	first := run(t, dir)
	for range 9 {
		next := run(t, dir)
		require.Equal(t, first.Files, next.Files)
		require.Equal(t, first.Diagnostics, next.Diagnostics)
		require.Equal(t, first.Packages, next.Packages)
	}
}

// TestLinesPerJob holds that the shell of a job with everything stays small, and is
// the same for a payload of 1 field and of 64. Beside it stand the codec and the
// guard, a copy of the struct, which have their lines for each field.
func TestLinesPerJob(t *testing.T) {
	t.Parallel()
	// lines counts those of a package with a number of jobs, without their encoders,
	// decoders and guards.
	lines := func(jobs, fields int, codec string) int {
		source := "//emq:queue name=mail\npackage mail\n\ntype Receipt struct{ A int }\n"
		for i := range jobs {
			source += fmt.Sprintf("\n// J%d does.\n//\n//emq:job timeout=30s delay=1s priority=3 codec=%s\n//emq:retry attempts=5 backoff=fixed base=1s jitter=none stalls=2\n"+
				"//emq:unique by=F0 until=started for=1h conflict=replace\n//emq:group by=F0\n//emq:progress Receipt\n"+
				"//emq:keep completed=1h,5 failed=1h\n//emq:result Receipt\ntype J%d struct{\n", i, codec, i)
			for f := range fields {
				source += fmt.Sprintf("F%d int\n", f)
			}
			source += "}\n"
		}
		result := run(t, newModule(t, map[string]string{"mail.go": source}))
		require.Empty(t, result.Diagnostics)
		for _, content := range code(result) {
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, gen.Output, content, parser.ParseComments)
			require.NoError(t, err)
			count := strings.Count(content, "\n")
			for _, declaration := range file.Decls {
				function, ok := declaration.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if codec := strings.HasSuffix(function.Name.Name, "Msgpack"); codec || function.Name.Name == "_" {
					from := function.Pos()
					if function.Doc != nil {
						from = function.Doc.Pos()
					}
					count -= files.Position(function.End()).Line - files.Position(from).Line + 2
				}
			}
			return count
		}
		return 0
	}
	for _, codec := range []string{"json", "msgpack"} {
		perJob := map[int]int{}
		for _, fields := range []int{1, 64} {
			perJob[fields] = lines(3, fields, codec) - lines(2, fields, codec)
		}
		t.Logf("%s: %d lines a job", codec, perJob[1])
		require.Equal(t, perJob[1], perJob[64], codec)
		require.Less(t, perJob[1], 80, codec)
	}
}

// TestImports holds that generated code imports the standard library and the runtime
// only, and whatever the fields' own types come from.
func TestImports(t *testing.T) {
	t.Parallel()
	results, err := cases()
	require.NoError(t, err)
	runtime := 0
	for name, outcome := range results {
		for file, content := range outcome {
			if !strings.HasSuffix(file, gen.Output) {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.ImportsOnly)
			require.NoError(t, err)
			for _, spec := range parsed.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				require.NoError(t, err)
				first, _, _ := strings.Cut(path, "/")
				switch {
				case strings.HasPrefix(path, "github.com/echomq/echomq-go/runtime"):
					require.NotContains(t, path, "internal", "%s %s", name, file)
					runtime++
				case strings.Contains(first, "."):
					require.Equal(t, "example.com", first, "%s %s: no case has a field of a type from there", name, file)
				}
			}
		}
	}
	require.NotZero(t, runtime)
}

// TestNoState holds that generated code has neither variables nor functions that
// run by themselves, and looks at no types when it runs.
func TestNoState(t *testing.T) {
	t.Parallel()
	results, err := cases()
	require.NoError(t, err)
	functions := 0
	for name, outcome := range results {
		for path, content := range outcome {
			if !strings.HasSuffix(path, gen.Output) {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, content, 0)
			require.NoError(t, err)
			for _, spec := range file.Imports {
				require.NotContains(t, []string{`"reflect"`, `"C"`}, spec.Path.Value, "%s %s", name, path)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					selector, _ := call.Fun.(*ast.SelectorExpr)
					if selector != nil {
						of, _ := selector.X.(*ast.Ident)
						require.False(t, of != nil && of.Name == "json", "%s %s calls json.%s", name, path, selector.Sel.Name)
					}
				}
				return true
			})
			for _, declaration := range file.Decls {
				switch d := declaration.(type) {
				case *ast.FuncDecl:
					functions++
					require.NotEqual(t, "init", d.Name.Name, "%s %s", name, path)
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						if d.Tok == token.VAR { // only for the compiler to look at
							require.Equal(t, "_", spec.(*ast.ValueSpec).Names[0].Name, "%s %s", name, path)
						}
					}
				}
			}
		}
	}
	require.NotZero(t, functions)
}
