package vet_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/echomq/echomq-go/gen/vet"
)

// TestFixes applies every fix that is suggested for what is misspelt.
func TestFixes(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("testdata/fixes")
	require.NoError(t, err)
	analysistest.RunWithSuggestedFixes(t, dir, vet.Analyzer, "./...")
}
