package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua/lint"
)

const (
	bullmqVersion = "5.65.1"
	// bullmqScripts is where the package keeps its scripts for CommonJS. Those for
	// ES modules are the same.
	bullmqScripts = "package/dist/cjs/commands/"
)

// TestLintBullMQ judges the scripts of BullMQ, the v1 line, and compares with
// the facts in testdata/lint/bullmq.txt, which explains them. The package is
// fetched by npm; nothing of it is kept.
func TestLintBullMQ(t *testing.T) {
	t.Parallel()
	dir := fetchBullMQ(t)
	status, _, errs := run(t, "lint", dir)
	assert.Equal(t, exitNot, status, errs)
	printed := lintJSON(t, dir)
	assert.Equal(t, facts(t, "bullmq.txt"), strings.Join(bullmqFacts(t, dir, printed), "\n"))
}

// bullmqFacts writes what was found as testdata/lint/bullmq.txt has it.
func bullmqFacts(t *testing.T, dir string, printed inspectionJSON) []string {
	t.Helper()
	var lines, findings []string
	alone, joined := 0, 0
	for _, script := range printed.Scripts {
		name := filepath.Base(script.Script)
		undeclared, extended, own := 0, 0, 0
		for _, operand := range script.Operands {
			if operand.Declared {
				continue
			}
			undeclared++
			if operand.Origin == lint.Extended {
				extended++
			}
			if operand.File == script.Script {
				own++
			}
			if name == "moveToActive-11.lua" {
				file, err := filepath.Rel(dir, operand.File)
				require.NoError(t, err)
				how := operand.How[strings.LastIndex(operand.How, ": ")+2:]
				findings = append(findings, fmt.Sprintf("finding %s %s:%d:%d %s %s = %s",
					name, filepath.ToSlash(file), operand.Line, operand.Column, operand.Command, operand.Expression, how))
			}
		}
		if own == 0 {
			alone++
		}
		if undeclared == extended {
			joined++
		}
		lines = append(lines, fmt.Sprintf("script %s %d %d %d %d %s", name, len(script.Operands), undeclared, extended, own, script.Verdict))
	}
	s := printed.Summary
	lines = append(lines, findings...)
	return append(lines,
		fmt.Sprintf("total %d scripts, %d declared, %d undeclared, %d unknown", s.Scripts, s.Declared, s.Undeclared, s.Unknown),
		fmt.Sprintf("total %d operands, %d undeclared, %d of these extended", s.Operands, s.UndeclaredOperands, s.ExtendedOperands),
		fmt.Sprintf("total %d scripts declared if extended keys were", joined),
		fmt.Sprintf("total %d scripts without an undeclared operand in their own file", alone))
}

// facts reads a file of testdata/lint without its comments. Columns may be
// aligned by any number of blanks.
func facts(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(lintData, file))
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.Join(strings.Fields(line), " "); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// fetchBullMQ returns a folder with the scripts of BullMQ.
func fetchBullMQ(t *testing.T) string {
	t.Helper()
	if os.Getenv("EMQ_ENGINES") == "embedded" {
		t.Skip("EMQ_ENGINES=embedded leaves out the comparison with BullMQ's scripts, which npm fetches")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal("npm is not installed; it fetches BullMQ's scripts to compare with. Install Node.js (apt-get install nodejs npm), or choose EMQ_ENGINES=embedded to leave this out")
	}
	dir := t.TempDir()
	pack := exec.CommandContext(t.Context(), npm, "pack", "--silent", "--pack-destination", dir, "bullmq@"+bullmqVersion)
	pack.Dir = dir
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("npm cannot fetch bullmq@%s: %v\n%s\nChoose EMQ_ENGINES=embedded to leave this out where there is no network", bullmqVersion, err, out)
	}
	archive, err := os.Open(filepath.Join(dir, "bullmq-"+bullmqVersion+".tgz"))
	require.NoError(t, err)
	defer archive.Close()
	scripts := filepath.Join(dir, "commands")
	require.NoError(t, extractLua(archive, scripts))
	return scripts
}

// extractLua writes the scripts of the package to a folder.
func extractLua(archive io.Reader, dir string) error {
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return err
	}
	files := tar.NewReader(plain)
	for {
		entry, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name, isScript := strings.CutPrefix(entry.Name, bullmqScripts)
		if !isScript || filepath.Ext(name) != ".lua" || !filepath.IsLocal(name) {
			continue
		}
		text, err := io.ReadAll(files)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
}
