package gen_test

// This file holds the pruned loader against the compiler: what the generator
// understands must not depend on how little of a program it looked at.

import (
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/internal/build"
	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

// TestPrunedTypesAreComplete builds each case's packages twice: with types that
// were resolved from what is reachable, and with those of the whole program.
func TestPrunedTypesAreComplete(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	dir := newModule(t, nil)
	for _, c := range found {
		require.NoError(t, c.writeSource(filepath.Join(dir, c.name)))
	}
	metadata, err := load.Metadata(t.Context(), load.Config{Dir: dir, Patterns: []string{"./..."}})
	require.NoError(t, err)

	files, compared := token.NewFileSet(), 0
	for _, meta := range metadata {
		source, err := load.Parse(files, meta, os.ReadFile)
		require.NoError(t, err)
		if source == nil || len(source.Broken) > 0 {
			continue
		}
		scanned := annotations.NewReporter(files)
		facts := annotations.Scan(load.Syntax(source.Files), scanned)
		if len(scanned.Diagnostics()) > 0 || len(facts.Jobs) == 0 {
			continue
		}
		compared++
		in := build.Input{Source: source, Facts: facts}
		in.Types = load.Resolve(files, []load.Root{{Source: source, Names: build.Mentioned(facts)}})[0]
		pruned, prunedDiagnostics := buildPackage(in, files)
		in.Types = wholeProgram(t, dir, files, source)
		whole, wholeDiagnostics := buildPackage(in, files)
		require.Equal(t, whole, pruned, meta.PkgPath)
		require.Equal(t, wholeDiagnostics, prunedDiagnostics, meta.PkgPath)
	}
	require.Greater(t, compared, 10)
}

func buildPackage(in build.Input, files *token.FileSet) (*ir.Package, []string) {
	report := annotations.NewReporter(files)
	pkg := build.Package(in, report)
	var diagnostics []string
	for _, d := range report.Diagnostics() {
		diagnostics = append(diagnostics, d.Pos.String()+" "+d.Rule.Code)
	}
	return pkg, diagnostics
}

// wholeProgram type-checks a package with export data of everything that it
// imports.
func wholeProgram(t *testing.T, dir string, files *token.FileSet, source *load.Source) *load.Types {
	t.Helper()
	whole := &load.Types{}
	config := &types.Config{
		Importer:  newCompiler(t, dir),
		GoVersion: "go1.26",
		Error:     func(err error) { whole.Errors = append(whole.Errors, err.(types.Error)) },
	}
	whole.Package, _ = config.Check(source.Meta.PkgPath, files, load.Syntax(source.Files), nil)
	return whole
}
