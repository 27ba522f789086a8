package gen_test

// This file type-checks what was generated against the real runtime, in
// process: that it compiles, and that what it promises to refuse does not.

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
)

// compiled maps the import paths of the runtime, of what it imports, and of
// what the cases import, to their export data.
var compiled = sync.OnceValues(func() (map[string]string, error) {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}",
		"github.com/echomq/echomq-go/runtime", "github.com/echomq/echomq-go/runtime/msgpack", "html/template", "text/template", "database/sql", "math/big", "net/url")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list -export: %w", err)
	}
	paths := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		paths[path] = file
	}
	return paths, nil
})

// compiler type-checks the packages of one module from source.
type compiler struct {
	root, module string
	files        *token.FileSet
	gc           types.Importer
	errors       []types.Error
	comments     []*ast.File
}

func newCompiler(t testing.TB, root string) *compiler {
	t.Helper()
	export, err := compiled()
	require.NoError(t, err)
	c := &compiler{root: root, module: "example.com/cases", files: token.NewFileSet()}
	c.gc = importer.ForCompiler(c.files, "gc", func(path string) (io.ReadCloser, error) {
		if export[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(export[path])
	})
	return c
}

// Import returns a package of the module from source, and others from export
// data.
func (c *compiler) Import(path string) (*types.Package, error) {
	if rest, ok := strings.CutPrefix(path, c.module); ok {
		return c.check(filepath.Join(c.root, rest), path)
	}
	return c.gc.Import(path)
}

// check type-checks the package in dir, and collects its errors.
func (c *compiler) check(dir, path string) (*types.Package, error) {
	sources, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, source := range sources {
		file, err := parser.ParseFile(c.files, source, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(source, "_test.go") {
			files = append(files, file)
		}
	}
	c.comments = append(c.comments, files...)
	config := &types.Config{Importer: c, GoVersion: "go1.26", Error: func(err error) {
		c.errors = append(c.errors, err.(types.Error))
	}}
	pkg, _ := config.Check(path, c.files, files, nil)
	return pkg, nil
}

// generate writes what is generated for the packages below dir, and returns
// their directories.
func generate(t testing.TB, dir string) []string {
	t.Helper()
	result := run(t, dir)
	require.Empty(t, result.Diagnostics)
	require.NotEmpty(t, result.Files)
	var dirs []string
	for _, path := range sortedKeys(result.Files) {
		require.NoError(t, os.WriteFile(path, result.Files[path], 0o644))
		if filepath.Base(path) == gen.Output {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	return dirs
}

// TestCompiles type-checks the output of every case, with the case's source.
func TestCompiles(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	for _, c := range found {
		if c.wants()[errorsFile] != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := newModule(t, nil)
			require.NoError(t, c.writeSource(filepath.Join(dir, c.name)))
			compiler := newCompiler(t, dir)
			for _, pkg := range generate(t, dir) {
				relative, err := filepath.Rel(dir, pkg)
				require.NoError(t, err)
				_, err = compiler.check(pkg, "example.com/cases/"+filepath.ToSlash(relative))
				require.NoError(t, err)
			}
			require.Empty(t, compiler.errors)
		})
	}
}

const (
	mustFailDir   = casesDir + "/mustfail"
	afterPrefix   = "after/"
	generatedWant = wantPrefix + "generated"
)

// TestMustNotCompile generates for the source of each case, puts the files
// under after/ beside it, and expects the errors of the type checker that
// comments of the form // ERROR "regexp" announce; those in the generated file
// stand in want/generated, one regular expression a line.
func TestMustNotCompile(t *testing.T) {
	t.Parallel()
	found, err := readCases(mustFailDir)
	require.NoError(t, err)
	for _, c := range found {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			before, after := map[string]string{}, map[string]string{}
			for _, file := range c.archive.Files {
				if name, ok := strings.CutPrefix(file.Name, afterPrefix); ok {
					after[name] = string(file.Data)
				} else if !strings.HasPrefix(file.Name, wantPrefix) {
					before[file.Name] = string(file.Data)
				}
			}
			dir := newModule(t, before)
			generate(t, dir)
			require.NoError(t, writeTree(dir, after))

			compiler := newCompiler(t, dir)
			_, err := compiler.check(dir, "example.com/cases")
			require.NoError(t, err)
			compiler.expect(t, c.wants()[generatedWant])
		})
	}
}

var announced = regexp.MustCompile("// ERROR ([\"`].*[\"`])$")

// expect compares the errors that were found with those that were announced:
// each line that announces one has one, and no other line has any.
func (c *compiler) expect(t *testing.T, generated string) {
	t.Helper()
	type line struct {
		file string
		line int
	}
	want := map[line]string{}
	for _, file := range c.comments {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if m := announced.FindStringSubmatch(comment.Text); m != nil {
					at := c.files.Position(comment.Pos())
					want[line{filepath.Base(at.Filename), at.Line}] = m[1][1 : len(m[1])-1]
				}
			}
		}
	}
	inGenerated := strings.FieldsFunc(generated, func(r rune) bool { return r == '\n' })
	require.NotEmpty(t, len(want)+len(inGenerated), "the case announces no error")
	for _, err := range c.errors {
		at := c.files.Position(err.Pos)
		key := line{filepath.Base(at.Filename), at.Line}
		if key.file == gen.Output && len(inGenerated) > 0 {
			require.Regexp(t, inGenerated[0], err.Msg)
			inGenerated = inGenerated[1:]
			continue
		}
		pattern, ok := want[key]
		require.True(t, ok, "unexpected error: %s: %s", at, err.Msg)
		require.Regexp(t, pattern, err.Msg, at)
		delete(want, key)
	}
	require.Empty(t, want, "announced errors that did not come")
	require.Empty(t, inGenerated, "announced errors that did not come")
}

// TestGuardNamesItsCure holds that above each line of a generated file that can
// fail to compile stands what to do.
func TestGuardNamesItsCure(t *testing.T) {
	t.Parallel()
	dir := newModule(t, map[string]string{"mail.go": simpleSource})
	for _, content := range code(run(t, dir)) {
		require.Regexp(t, `(?s)// If this line does not compile,.*go get.*\nconst _ = echomq\.SupportsGen1`, content)
		require.Regexp(t, `// If this function does not compile,[^}]*go\n?/?/? ?generate\.\nfunc _\(runGoGenerate Welcome\)`, content)
		require.True(t, strings.HasPrefix(content, "// Code generated by emqgen. DO NOT EDIT.\n\npackage mail\n"))
	}
}
