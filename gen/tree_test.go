package gen_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
)

// writeTree writes files, named by slash-separated paths, below dir.
func writeTree(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// newModule returns a directory with files and, unless they bring their own, a
// go.mod.
func newModule(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	if files["go.mod"] == "" {
		require.NoError(t, writeTree(dir, map[string]string{"go.mod": casesGoMod}))
	}
	require.NoError(t, writeTree(dir, files))
	return dir
}

// run generates for every package below dir.
func run(t testing.TB, dir string) *gen.Result {
	t.Helper()
	result, err := gen.Run(t.Context(), gen.Options{Dir: dir, Patterns: []string{"./..."}})
	require.NoError(t, err)
	return result
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
