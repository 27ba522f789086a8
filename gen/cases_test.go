package gen_test

// This file runs the cases of testdata/gen: text archives that hold the source
// of a package, and what the generator makes of it.
//
//	mail.go            source, in as many files as needed
//	want/emq_gen.go    the exact output, or
//	want/errors        the exact diagnostics, positions included
//	want/fixed         what is wrong after one of their fixes, and was not before
//
// All cases are packages of one module, which is loaded once. With -update the
// sections under want/ are written anew.

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/echomq/echomq-go/gen"
)

var update = flag.Bool("update", false, "write what cases want anew")

const (
	casesDir   = "../testdata/gen"
	casesGoMod = "module example.com/cases\n\ngo 1.26\n"
	wantPrefix = "want/"
	errorsFile = wantPrefix + "errors"
)

// testCase is one archive.
type testCase struct {
	name, path string
	archive    *txtar.Archive
}

func readCases(dir string) ([]testCase, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no cases in %s: %v", dir, err)
	}
	var cases []testCase
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		cases = append(cases, testCase{name: name, path: path, archive: archive})
	}
	return cases, nil
}

// writeSource writes the files that are not expectations into dir.
func (c testCase) writeSource(dir string) error {
	source := map[string]string{}
	for _, file := range c.archive.Files {
		if !strings.HasPrefix(file.Name, wantPrefix) {
			source[file.Name] = string(file.Data)
		}
	}
	return writeTree(dir, source)
}

// wants returns the expectations, but for those about fixes.
func (c testCase) wants() map[string]string {
	wants := map[string]string{}
	for _, file := range c.archive.Files {
		if strings.HasPrefix(file.Name, wantPrefix) && file.Name != fixedFile {
			wants[file.Name] = string(file.Data)
		}
	}
	return wants
}

// data returns the content of a file of the archive, or "".
func (c testCase) data(name string) string {
	for _, file := range c.archive.Files {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}

// cases is what every case gave, by its name; they are run together once.
var cases = sync.OnceValues(func() (map[string]outcome, error) {
	found, err := readCases(casesDir)
	if err != nil {
		return nil, err
	}
	return runCases(found)
})

type outcome map[string]string

// runCases generates for each case as a package of one module.
func runCases(found []testCase) (map[string]outcome, error) {
	root, err := os.MkdirTemp("", "emqgen-cases")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte(casesGoMod), 0o644); err != nil {
		return nil, err
	}
	for _, c := range found {
		if err := c.writeSource(filepath.Join(root, c.name)); err != nil {
			return nil, err
		}
	}
	result, err := gen.Run(context.Background(), gen.Options{Dir: root, Patterns: []string{"./..."}})
	if err != nil {
		return nil, err
	}
	return outcomes(root, result), nil
}

// outcomes sorts a result by case, with files named as in the archives.
func outcomes(root string, result *gen.Result) map[string]outcome {
	all := map[string]outcome{}
	at := func(path string) (outcome, string) {
		relative, _ := filepath.Rel(root, path)
		name, file, _ := strings.Cut(filepath.ToSlash(relative), "/")
		if all[name] == nil {
			all[name] = outcome{}
		}
		return all[name], file
	}
	for path, content := range result.Files {
		o, file := at(path)
		o[wantPrefix+file] = string(content)
	}
	for _, d := range result.Diagnostics {
		o, file := at(d.Pos.Filename)
		d.Pos.Filename = file
		o[errorsFile] += d.String() + "\n"
	}
	return all
}

func TestCases(t *testing.T) {
	t.Parallel()
	results, err := cases()
	require.NoError(t, err)
	found, err := readCases(casesDir)
	require.NoError(t, err)
	for _, c := range found {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := results[c.name]
			if *update {
				c.update(t, got)
				return
			}
			require.NotEmpty(t, c.wants(), "the case wants nothing; run with -update and read what it then wants")
			require.Equal(t, c.wants(), map[string]string(got))
		})
	}
}

// update replaces the expectations of the case by what it gave.
func (c testCase) update(t *testing.T, got outcome) {
	t.Helper()
	archive := &txtar.Archive{Comment: c.archive.Comment}
	for _, file := range c.archive.Files {
		if !strings.HasPrefix(file.Name, wantPrefix) {
			archive.Files = append(archive.Files, file)
		}
	}
	for _, name := range sortedKeys(got) {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got[name])})
	}
	if fixed := c.data(fixedFile); fixed != "" {
		archive.Files = append(archive.Files, txtar.File{Name: fixedFile, Data: []byte(fixed)})
	}
	require.NoError(t, os.WriteFile(c.path, txtar.Format(archive), 0o644))
}

// updateFixed replaces what the case wants to be wrong after its fixes.
func (c testCase) updateFixed(t *testing.T, fixed string) {
	t.Helper()
	archive, err := txtar.ParseFile(c.path) // its other expectations may be new
	require.NoError(t, err)
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == fixedFile })
	if fixed != "" {
		archive.Files = append(archive.Files, txtar.File{Name: fixedFile, Data: []byte(fixed)})
	}
	if content := txtar.Format(archive); fixed != c.data(fixedFile) {
		require.NoError(t, os.WriteFile(c.path, content, 0o644))
	}
}
