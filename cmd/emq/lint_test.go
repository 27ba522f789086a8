package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write anew what lint says of the scripts in testdata/lint")

const lintData = "../../testdata/lint"

// TestLint compares what lint says of each folder with the file beside it.
func TestLint(t *testing.T) {
	t.Parallel()
	folders := map[string]int{
		"declared": exitWell,
		"own":      exitWell,
		"shapes":   exitNot,
		"faulty":   exitNot,
		"broken":   exitUnknown,
	}
	for folder, want := range folders {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			status, out, errs := run(t, "lint", "--faults", filepath.Join(lintData, folder))
			assert.Equal(t, want, status)
			golden(t, filepath.Join(lintData, folder+".txt"), out+errs)
		})
	}
}

func golden(t *testing.T, file, found string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(found), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), found, "go test ./cmd/emq -update writes it anew")
}

// TestLintFindsWhatIsMarked holds that the undeclared operands are those on the
// lines that say so, and no other.
func TestLintFindsWhatIsMarked(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"shapes", "faulty", "declared", "own"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(lintData, folder)
			found := map[string]bool{}
			for _, script := range lintJSON(t, root).Scripts {
				for _, operand := range script.Operands {
					if !operand.Declared {
						found[fmt.Sprintf("%s:%d", operand.File, operand.Line)] = true
					}
				}
			}
			assert.Equal(t, marked(t, root), slices.Sorted(maps.Keys(found)))
		})
	}
}

// marked returns the lines below root that end in "-- UNDECLARED".
func marked(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(root, func(file string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		for i, line := range bytes.Split(text, []byte("\n")) {
			if bytes.HasSuffix(line, []byte("-- UNDECLARED")) {
				found = append(found, fmt.Sprintf("%s:%d", file, i+1))
			}
		}
		return err
	}))
	slices.Sort(found)
	return found
}

// lintJSON returns what lint prints with --json. Its fields must be those of the
// help, in which this test's type and the command's agree.
func lintJSON(t *testing.T, paths ...string) inspectionJSON {
	t.Helper()
	_, out, _ := run(t, append([]string{"lint", "--json"}, paths...)...)
	var printed inspectionJSON
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&printed))
	return printed
}

func TestLintJSON(t *testing.T) {
	t.Parallel()
	paths := []string{"shapes/claim-4.lua", "faulty/misnamed.lua", "broken/lost-1.lua", "missing"}
	for i := range paths {
		paths[i] = filepath.Join(lintData, paths[i])
	}
	status, out, errs := run(t, append([]string{"lint", "--json"}, paths...)...)
	assert.Equal(t, exitUnknown, status)
	assert.Equal(t, "emq: 1 script could not be judged\n", errs)
	golden(t, filepath.Join(lintData, "lint.json"), out)
}

// TestLintHelpNamesEveryField holds that the help documents the JSON as it is.
func TestLintHelpNamesEveryField(t *testing.T) {
	t.Parallel()
	_, help, _ := run(t, "lint", "--help")
	_, out, _ := run(t, "lint", "--json", filepath.Join(lintData, "faulty"), "missing")
	var printed any
	require.NoError(t, json.Unmarshal([]byte(out), &printed))
	names := map[string]bool{}
	fieldNames(printed, names)
	assert.Greater(t, len(names), 20)
	words := strings.FieldsFunc(help, func(r rune) bool { return strings.ContainsRune(" \n,:;()", r) })
	for name := range names {
		assert.Contains(t, words, name)
	}
}

func fieldNames(value any, into map[string]bool) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			into[name] = true
			fieldNames(field, into)
		}
	case []any:
		for _, element := range value {
			fieldNames(element, into)
		}
	}
}
