package vet_test

// This file holds the analyzer against the generator: it reports the same, at the
// same places, of every package that the generator is tried on.

import (
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/echomq/echomq-go/gen"
	"github.com/echomq/echomq-go/gen/vet"
)

const (
	casesDir   = "../../testdata/gen"
	casesGoMod = "module example.com/cases\n\ngo 1.26.0\n"
)

func TestAnalyzerReportsWhatTheGeneratorDoes(t *testing.T) {
	t.Parallel()
	dir := newModule(t, nil)
	paths, err := filepath.Glob(filepath.Join(casesDir, "*.txtar"))
	require.NoError(t, err)
	wanted := map[string][]string{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		require.NoError(t, err)
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		wrong := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want/errors" })
		wanted[name] = nil
		if wrong >= 0 {
			wanted[name] = lines(string(archive.Files[wrong].Data))
		}
		for _, file := range archive.Files {
			content, generated := strings.CutPrefix(file.Name, "want/")
			if !generated || wrong < 0 { // the generator writes nothing where something is wrong
				write(t, filepath.Join(dir, name, content), string(file.Data))
			}
		}
	}
	result, err := gen.Run(t.Context(), gen.Options{Dir: dir, Patterns: []string{"./..."}})
	require.NoError(t, err)
	fixes := map[string]string{}
	for _, d := range result.Diagnostics {
		relative, err := filepath.Rel(dir, d.Pos.Filename)
		require.NoError(t, err)
		d.Pos.Filename = filepath.ToSlash(relative)
		fixes[d.String()] = d.Replacement
	}
	found := map[string][]string{}
	for _, d := range diagnostics(t, dir, "./...") {
		line := d.line
		require.Equal(t, fixes[line], fixOf(t, d.Diagnostic), line)
		name, rest, _ := strings.Cut(line, "/")
		stale := strings.HasSuffix(rest, "(E100)") && len(wanted[name]) > 0 // nothing was generated for such a case
		if stale || strings.HasSuffix(rest, "(E103)") {
			continue
		}
		found[name] = append(found[name], rest)
	}
	require.Greater(t, len(wanted), 50)
	for name, lines := range wanted {
		t.Run(name, func(t *testing.T) { require.Equal(t, lines, found[name]) })
	}
}

// fixOf returns what the only fix of a diagnostic writes; "" where it has none.
func fixOf(t *testing.T, d analysis.Diagnostic) string {
	t.Helper()
	if len(d.SuggestedFixes) == 0 {
		return ""
	}
	require.Len(t, d.SuggestedFixes, 1)
	require.Len(t, d.SuggestedFixes[0].TextEdits, 1)
	edit := d.SuggestedFixes[0].TextEdits[0]
	require.Equal(t, []token.Pos{d.Pos, d.End}, []token.Pos{edit.Pos, edit.End})
	return string(edit.NewText)
}

// analyze returns what the analyzer reports of packages, each once and as emqgen
// prints it, in the order of the places.
func analyze(t *testing.T, dir string, patterns ...string) []string {
	t.Helper()
	var found []string
	for _, d := range diagnostics(t, dir, patterns...) {
		found = append(found, d.line)
	}
	return found
}

type diagnostic struct {
	analysis.Diagnostic
	line string
}

func diagnostics(t *testing.T, dir string, patterns ...string) []diagnostic {
	t.Helper()
	initial, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir, Tests: true}, patterns...)
	require.NoError(t, err)
	graph, err := checker.Analyze([]*analysis.Analyzer{vet.Analyzer}, initial, nil)
	require.NoError(t, err)
	type placed struct {
		diagnostic
		file         string
		line, column int
	}
	var all []placed
	for _, action := range graph.Roots {
		require.NoError(t, action.Err)
		for _, d := range action.Diagnostics {
			at := action.Package.Fset.Position(d.Pos)
			relative, err := filepath.Rel(dir, at.Filename)
			require.NoError(t, err)
			relative = filepath.ToSlash(relative)
			line := fmt.Sprintf("%s:%d:%d: %s", relative, at.Line, at.Column, d.Message)
			all = append(all, placed{diagnostic{d, line}, relative, at.Line, at.Column})
		}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	// A package and the same one with its tests are two to the driver.
	var found []diagnostic
	seen := map[string]bool{}
	for _, p := range all {
		if !seen[p.diagnostic.line] {
			seen[p.diagnostic.line] = true
			found = append(found, p.diagnostic)
		}
	}
	return found
}

// newModule returns the directory of a module with files.
func newModule(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	write(t, filepath.Join(dir, "go.mod"), casesGoMod)
	for name, content := range files {
		write(t, filepath.Join(dir, name), content)
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func lines(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}
