package vet_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// TestExamples holds that each example of what emqvet alone finds has exactly
// that said about it.
func TestExamples(t *testing.T) {
	t.Parallel()
	dir := newUser(t)
	wanted := map[string][]string{}
	for _, rule := range annotations.Rules() {
		if !rule.Vet {
			continue
		}
		archive, err := txtar.ParseFile("../../annotations/examples/" + rule.Code + ".txtar")
		require.NoError(t, err)
		for _, file := range archive.Files {
			if file.Name == "want/vet" {
				wanted[rule.Code] = lines(string(file.Data))
				continue
			}
			write(t, filepath.Join(dir, rule.Code, file.Name), string(file.Data))
		}
		require.NotEmpty(t, wanted[rule.Code])
	}
	generate(t, dir, annotations.RuleStale.Code)
	found := map[string][]string{}
	for _, line := range analyze(t, dir, "./...") {
		code, rest, _ := strings.Cut(line, "/")
		require.Contains(t, rest, "("+code+")")
		found[code] = append(found[code], rest)
	}
	require.Equal(t, wanted, found)
}

// newUser returns the directory of a module that uses the runtime.
func newUser(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	_, requirements, _ := strings.Cut(string(ours), "require (")
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	return newModule(t, map[string]string{
		"go.mod": casesGoMod + "\nreplace github.com/echomq/echomq-go => " + root +
			"\n\nrequire github.com/echomq/echomq-go v0.0.0\n\nrequire (" + requirements,
		"go.sum": string(sums),
	})
}

// generate writes what is generated for the packages of a module, but not for
// one.
func generate(t *testing.T, dir, but string) {
	t.Helper()
	result, err := gen.Run(t.Context(), gen.Options{Dir: dir, Patterns: []string{"./..."}})
	require.NoError(t, err)
	require.Empty(t, result.Diagnostics)
	for path, content := range result.Files {
		if filepath.Base(filepath.Dir(path)) != but {
			write(t, path, string(content))
		}
	}
}
