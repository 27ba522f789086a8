package main

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRepositoryIsFresh checks every package of this repository for which emqgen has
// written something, those of modules under testdata included.
func TestRepositoryIsFresh(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var checked []string
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "emq_gen.go" {
			return err
		}
		dir := filepath.Dir(path)
		module{t, dir}.quiet("-check", ".")
		name, err := filepath.Rel(root, dir)
		checked = append(checked, filepath.ToSlash(name))
		return err
	}))
	require.Subset(t, checked, []string{"examples/quickstart/jobs", "runtime/internal/packed", "testdata/shop/jobs"})
}
