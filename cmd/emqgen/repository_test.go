package main

// This file has emqgen work in the shop as users arrange their repositories: in a
// workspace, with vendored dependencies, on another system's line ends, and after
// a merge.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	shopOutput = "jobs/emq_gen.go"
	shopLock   = "jobs/emq.lock"
)

func (m module) remove(name string) {
	m.Helper()
	require.NoError(m, os.Remove(filepath.Join(m.dir, name)))
}

// regenerates removes the generated file of the shop's jobs and has emqgen restore
// it.
func (m module) regenerates(patterns ...string) {
	m.Helper()
	want := m.read(shopOutput)
	m.remove(shopOutput)
	m.quiet(patterns...)
	require.Equal(m, want, m.read(shopOutput))
}

// TestWorkspace makes two modules of the shop, one of them the shared jobs, and
// uses a type of the one in a job of the other. No go.mod requires the other.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	m := copyShop(t)
	m.write("go.work", "go 1.26.0\n\nuse (\n\t.\n\t./jobs\n)\n")
	m.write("jobs/go.mod", strings.Replace(m.read("go.mod"), "module example.com/shop\n", "module example.com/shop/jobs\n", 1))
	m.write("jobs/go.sum", m.read("go.sum"))
	m.write("audit/audit.go", `// Package audit looks at orders.
//
//emq:queue name=audit
package audit

import "example.com/shop/jobs"

`+"//go:generate go tool emqgen .\n"+`
//emq:job
//emq:result Finding
type Entry struct {
	Sold  jobs.Item
	Items map[string][]*jobs.Item
}

// Finding has a type of another module of the workspace for its own.
type Finding = jobs.Confirmation
`)
	m.regenerates("./...", "./jobs/...")
	require.Contains(t, m.read("audit/emq_gen.go"), "map[string][]*jobs.Item")
	m.tool("go", "vet", "./audit", "./jobs")
	m.quiet("-C", filepath.Join(m.dir, "jobs"), "-check", "./...")

	// A field of the other module is part of this one's contract.
	m.edit("jobs/jobs.go", "Count   int", "Count   string")
	m.refused("E084", "./audit")
	m.edit("jobs/jobs.go", "Count   string", "Count   int")
	require.Empty(t, m.tool("go", "generate", "./...", "./jobs/..."))
	m.quiet("-check", "./...", "./jobs/...")
}

// TestVendored works with what go mod vendor has copied: emqgen itself, and a
// dependency that a payload has a type of.
func TestVendored(t *testing.T) {
	t.Parallel()
	m := copyShop(t)
	m.edit("jobs/jobs.go", "package jobs\n", "package jobs\n\nimport \"github.com/google/uuid\"\n")
	m.edit("jobs/jobs.go", "type AskForReview struct {\n", "type AskForReview struct {\n\tID uuid.UUID `json:\"id,omitzero\"`\n")
	m.tool("go", "mod", "vendor")
	vendored := m.files()
	for path := range vendored {
		require.False(t, strings.HasSuffix(path, "_test.go") && strings.Contains(path, "/vendor/"), path)
	}
	m.quiet("./...")
	require.Contains(t, m.read(shopLock), "id github.com/google/uuid.UUID ID optional")
	require.Contains(t, m.read(shopOutput), "ID      uuid.UUID\n")
	m.regenerates("./...")

	// What is built without the paths of this directory is built once for all runs.
	// (A go tool has no such flag, so emqgen is built as go tool builds it.)
	for _, arguments := range [][]string{
		{"vet", "./jobs"},
		{"build", "-o", "bin/", "github.com/echomq/echomq-go/cmd/emqgen"},
	} {
		command := m.command("go", arguments...)
		command.Env = append(command.Env, "GOFLAGS=-mod=vendor -trimpath -buildvcs=false", "GOPROXY=off")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	require.Empty(t, m.tool(filepath.Join(m.dir, "bin", "emqgen"), "-check", "./..."))
	m.remove("bin/emqgen")
	for path := range m.files() {
		require.Contains(t, vendored, path, "nothing is generated in vendor")
	}
}

// TestLineEndsOfAnotherSystem has every file as Git checks it out on Windows.
func TestLineEndsOfAnotherSystem(t *testing.T) {
	t.Parallel()
	m := copyShop(t)
	for path := range m.files() {
		name, err := filepath.Rel(m.dir, path)
		require.NoError(t, err)
		m.write(name, strings.ReplaceAll(m.read(name), "\n", "\r\n"))
	}
	before := m.files()
	m.quiet("-check", "./...")
	m.quiet("./...")
	require.Equal(t, before, m.files())

	lines := strings.ReplaceAll(m.read(shopOutput), "\r\n", "\n")
	m.edit("jobs/jobs.go", "timeout=30s", "timeout=40s")
	code, _, stderr := m.emqgen("-check", "./...")
	require.Equal(t, exitWrong, code)
	require.Equal(t, "emqgen: jobs/emq_gen.go is stale; run go generate\n", stderr)
	m.quiet("./...")
	require.Equal(t, strings.Replace(lines, "30 * time.Second", "40 * time.Second", 1), m.read(shopOutput))
}

// TestMerge lets two branches change the shop's jobs, and merges them.
func TestMerge(t *testing.T) {
	t.Parallel()
	m := copyShop(t)
	declare := func(name string) {
		m.write("jobs/"+strings.ToLower(name)+".go", "package jobs\n\n//emq:job\ntype "+name+" struct{ OrderID int64 }\n")
		m.quiet("./...")
	}
	m.git("init", "-q", "-b", "main")
	m.commit("the shop")
	m.git("switch", "-q", "-c", "refunds")
	// In the lock this stands directly above the job that the other branch adds.
	const last = "\tMessageID string `json:\"messageId\"`\n"
	m.edit("jobs/jobs.go", last, last+"\tNote *string `json:\"note\"`\n")
	declare("Refund")
	m.commit("refunds, and a note beside them")
	m.git("switch", "-q", "main")
	declare("Return")
	m.commit("returns")

	require.Error(t, m.command("git", "merge", "-q", "refunds").Run())
	require.Contains(t, m.read(shopOutput), "<<<<<<<")
	require.Contains(t, m.read(shopLock), "<<<<<<<")

	m.quiet("./...")
	m.tool("go", "build", "./jobs")
	for _, name := range []string{"EnqueueRefund(", "EnqueueReturn("} {
		require.Contains(t, m.read(shopOutput), name)
	}
	require.NotContains(t, m.read(shopOutput)+m.read(shopLock), "<<<<<<<")
	require.Contains(t, m.read(shopLock), "\tnote *string Note\n")
	m.quiet("-check", "./...")
}
