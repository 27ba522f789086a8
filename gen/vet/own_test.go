package vet_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/echomq/echomq-go/gen/vet"
)

// TestOwnRules runs the analyzer over code of a module that uses the runtime. What
// is wrong with it stands in comments.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	dir := newUser(t)
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "own"))))
	generate(t, dir, "")
	analysistest.Run(t, dir, vet.Analyzer, "./...")
}
