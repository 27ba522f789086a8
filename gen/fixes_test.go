package gen_test

// This file applies every fix that is proposed, each alone, and generates again:
// the complaint is gone, and what else is then said is what the case wants in
// want/fixed, if anything. That is, for example, what is wrong with a directive
// whose name was misspelt. The fixes in the cells of the matrix are its test's.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

const fixedFile = wantPrefix + "fixed"

// fixable is a diagnostic of a case, with what to write.
type fixable struct {
	annotations.Diagnostic
	of  testCase
	dir string
}

func TestFixes(t *testing.T) {
	if !*update { // else the cases are written by another test at the same time
		t.Parallel()
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte(casesGoMod), 0o644))
	found, err := readCases(casesDir)
	require.NoError(t, err)
	examples, err := readCases(examplesDir)
	require.NoError(t, err)
	found = append(found, examples...)
	for _, c := range found {
		require.NoError(t, c.writeSource(filepath.Join(root, c.name)))
	}
	before := generateBelow(t, root)
	var fixes []fixable
	codes := map[string]bool{}
	for _, c := range found {
		for i, d := range before[c.name] {
			if d.Replacement == "" {
				continue
			}
			require.NotContains(t, d.Replacement, "\n")
			f := fixable{d, c, fmt.Sprintf("%s_fixed_%d", c.name, i)}
			fixes = append(fixes, f)
			codes[d.Rule.Code] = true
			dir := filepath.Join(root, f.dir)
			require.NoError(t, c.writeSource(dir))
			file := filepath.Join(dir, d.Pos.Filename)
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(file, []byte(fix(t, string(content), d)), 0o644))
		}
	}
	require.Greater(t, len(fixes), 80)
	for _, code := range []string{"E001", "E002", "E010", "E011", "E019", "E020", "E021", "E024", "E025", "E026", "E027", "E028", "E036", "E058", "E071", "E092", "E093", "E094"} {
		require.True(t, codes[code], "no case has a fix for %s", code)
	}

	after := generateBelow(t, root)
	said := map[string]string{}
	for _, f := range fixes {
		if fresh := mended(t, f.dir, f.Diagnostic, before[f.of.name], after[f.dir]); fresh != "" {
			said[f.of.path] += fmt.Sprintf("%s:%d:%d (%s) mended:\n%s", f.Pos.Filename, f.Pos.Line, f.Pos.Column, f.Rule.Code, fresh)
		}
	}
	for _, c := range found {
		if *update {
			c.updateFixed(t, said[c.path])
			continue
		}
		require.Equal(t, c.data(fixedFile), said[c.path], c.path)
	}
}

// generateBelow generates for all packages of a module, and returns what is wrong
// with each directory of it, with files named from there.
func generateBelow(t *testing.T, root string) map[string][]annotations.Diagnostic {
	t.Helper()
	result, err := gen.Run(context.Background(), gen.Options{Dir: root, Patterns: []string{"./..."}})
	require.NoError(t, err)
	all := map[string][]annotations.Diagnostic{}
	for _, d := range result.Diagnostics {
		relative, err := filepath.Rel(root, d.Pos.Filename)
		require.NoError(t, err)
		name, file, _ := strings.Cut(filepath.ToSlash(relative), "/")
		d.Pos.Filename = file
		all[name] = append(all[name], d)
	}
	return all
}

// fix returns a source in which is written what a diagnostic proposes.
func fix(t *testing.T, source string, d annotations.Diagnostic) string {
	t.Helper()
	require.True(t, d.End.IsValid() && d.Pos.Line == d.End.Line && d.Pos.Column < d.End.Column, "%s has a replacement for nothing", d)
	lines := strings.Split(source, "\n")
	line := lines[d.Pos.Line-1]
	require.NotEqual(t, d.Replacement, line[d.Pos.Column-1:d.End.Column-1], "%s changes nothing", d)
	lines[d.Pos.Line-1] = line[:d.Pos.Column-1] + d.Replacement + line[d.End.Column-1:]
	return strings.Join(lines, "\n")
}

// mended holds that a complaint is gone after its fix, and returns the lines of
// those that were not there before. What is said may be less than before: what was
// proposed twice is not there to be proposed again.
func mended(t *testing.T, title string, fixed annotations.Diagnostic, before, after []annotations.Diagnostic) string {
	t.Helper()
	known := map[string]bool{}
	for _, d := range before {
		if d.Pos.Filename == fixed.Pos.Filename && d.Pos.Line == fixed.Pos.Line && d.Pos.Column >= fixed.End.Column {
			d.Pos.Column += len(fixed.Replacement) - (fixed.End.Column - fixed.Pos.Column)
		}
		known[placed(d)] = true
	}
	fresh := ""
	for _, d := range after {
		require.NotEqual(t, placed(fixed), placed(d), "%s: the fix %q does not mend %s", title, fixed.Replacement, fixed)
		if !known[placed(d)] {
			fresh += "  " + d.String() + "\n"
		}
	}
	return fresh
}

// placed returns which rule is broken where.
func placed(d annotations.Diagnostic) string {
	return fmt.Sprintf("%s:%d:%d %s", d.Pos.Filename, d.Pos.Line, d.Pos.Column, d.Rule.Code)
}
