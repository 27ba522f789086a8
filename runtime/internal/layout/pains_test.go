package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var testName = regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")

// Each line of docs/pains.md is held by tests that exist.
func TestPainsAreHeld(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/pains.md")
	require.NoError(t, err)
	tests := declaredTests(t, "../../..")
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what must hold") {
			continue
		}
		rows++
		named := testName.FindAllStringSubmatch(line, -1)
		require.NotEmpty(t, named, "no test holds: %s", line)
		for _, name := range named {
			require.Contains(t, tests, name[1], line)
		}
	}
	require.Greater(t, rows, 50)
}

// declaredTests returns the names of all tests under a folder that do something.
func declaredTests(t *testing.T, root string) map[string]bool {
	t.Helper()
	tests := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "node_modules") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil // not ours to judge here
		}
		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && len(function.Body.List) > 0 {
				tests[function.Name.Name] = true
			}
		}
		return nil
	}))
	return tests
}
