package gen_test

// This file holds what is promised when emqgen and the runtime are not of one
// version: what an older emqgen wrote compiles with this runtime, and what a newer
// one writes says, where it does not compile, which runtime it needs.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/echomq/echomq-go/gen"
)

// frozenDir has an archive for each generation, which is never written again. An
// emqgen of the same generation that uses more of the runtime gets another one, as
// gen1_groups.txtar: what stands in any of them the runtime keeps.
const frozenDir = casesDir + "/frozen"

var generation = regexp.MustCompile(`^SupportsGen[0-9]+$`)

func TestOlderOutputCompiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(frozenDir, "*.txtar"))
	require.NoError(t, err)
	frozen, used := map[string]bool{}, map[string]bool{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		dir := newModule(t, nil)
		compiler := newCompiler(t, dir)
		for _, file := range archive.Files {
			require.NoError(t, writeTree(dir, map[string]string{file.Name: string(file.Data)}))
		}
		for _, file := range archive.Files {
			if filepath.Base(file.Name) != gen.Output {
				continue
			}
			for name := range runtimeNames(t, string(file.Data)) {
				used[name] = true
				if _, name, _ := strings.Cut(name, "."); generation.MatchString(name) {
					frozen[name] = true
				}
			}
			pkg := filepath.ToSlash(filepath.Dir(file.Name))
			_, err := compiler.check(filepath.Join(dir, pkg), "example.com/cases/"+pkg)
			require.NoError(t, err)
		}
		require.Empty(t, compiler.errors, "%s is what programs have that are not generated again", path)
	}

	// Every generation that the runtime says it supports has an archive, and what is
	// written today stands in one.
	runtime, err := newCompiler(t, t.TempDir()).gc.Import("github.com/echomq/echomq-go/runtime")
	require.NoError(t, err)
	supported := slices.DeleteFunc(runtime.Scope().Names(), func(name string) bool { return !generation.MatchString(name) })
	require.Equal(t, supported, slices.Sorted(maps.Keys(frozen)))
	results, err := cases()
	require.NoError(t, err)
	for name, outcome := range results {
		for path, content := range outcome {
			if strings.HasSuffix(path, gen.Output) {
				for needed := range runtimeNames(t, content) {
					require.True(t, used[needed], "no archive in %s uses %s, as %s does: add one", frozenDir, needed, name)
				}
			}
		}
	}
}

// runtimeNames returns what generated code uses of the runtime: its names, methods
// of encoders and decoders, and fields of specifications.
func runtimeNames(t *testing.T, content string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), gen.Output, content, 0)
	require.NoError(t, err)
	packages := map[string]string{"e": "Encoder", "d": "Decoder"} // what codecs call theirs
	for _, spec := range file.Imports {
		if path := strings.Trim(spec.Path.Value, `"`); strings.HasPrefix(path, "github.com/echomq/echomq-go/runtime") {
			name := filepath.Base(path)
			if spec.Name != nil {
				name = spec.Name.Name
			}
			packages[name] = filepath.Base(path)
		}
	}
	names := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && packages[of.Name] != "" {
				names[packages[of.Name]+"."+n.Sel.Name] = true
			}
		case *ast.CompositeLit:
			of, _ := n.Type.(*ast.SelectorExpr)
			for _, element := range n.Elts {
				if pair, ok := element.(*ast.KeyValueExpr); ok && of != nil {
					if key, ok := pair.Key.(*ast.Ident); ok {
						names[of.Sel.Name+"{"+key.Name+"}"] = true
					}
				}
			}
		}
		return true
	})
	return names
}

// TestNewerOutputNamesWhatItNeeds compiles what a later generation might write: the
// first mistake names it, below the lines that say what to do.
func TestNewerOutputNamesWhatItNeeds(t *testing.T) {
	t.Parallel()
	dir := newModule(t, map[string]string{"mail.go": simpleSource})
	generate(t, dir)
	for path, content := range code(run(t, dir)) {
		newer := strings.Replace(content, "echomq.SupportsGen1", "echomq.SupportsGen99", 1)
		require.NotEqual(t, content, newer)
		require.NoError(t, writeTree(dir, map[string]string{filepath.Base(path): newer}))
	}
	compiler := newCompiler(t, dir)
	_, err := compiler.check(dir, "example.com/cases")
	require.NoError(t, err)
	require.Len(t, compiler.errors, 1)
	require.Equal(t, "undefined: echomq.SupportsGen99", compiler.errors[0].Msg)
}
