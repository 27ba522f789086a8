package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/embedded"
	"github.com/echomq/echomq-go/runtime/fleet"
	"github.com/echomq/echomq-go/runtime/wire"
)

// fleetAddress is the address of an engine: a server, which is faster, or where
// EMQ_ENGINES asks for that, one in memory.
func fleetAddress(t *testing.T) string {
	t.Helper()
	if os.Getenv("EMQ_ENGINES") == "embedded" {
		return startEngine(t, embedded.InMemory()).addr
	}
	return startEngine(t).addr
}

// scripted writes a peer that says hello well, and then the given line.
func scripted(t *testing.T, line string) string {
	t.Helper()
	hello := fleet.Answer{
		OK: true, Peer: fleet.LineVersion, Runtime: "sh", Version: "1", Role: "test peer",
		Protocol: wire.Version, Scripts: map[string]string{},
	}
	for _, one := range lua.All() {
		hello.Scripts[one.Name] = one.SHA1
	}
	encoded, err := json.Marshal(hello)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "peer.sh")
	script := "read request; echo '" + string(encoded) + "'; read request; echo '" + line + "'; read request\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o600))
	return "sh " + path
}

func TestFleetOfGoAlone(t *testing.T) {
	address := fleetAddress(t)
	t.Chdir(t.TempDir()) // no checkout of the repository
	status, out, errs := run(t, "probe", "fleet", "--addr", address)
	require.Equal(t, exitWell, status, errs)
	require.Empty(t, errs)
	require.Contains(t, out, "Only the Go runtime took part, which shows no interop")
	require.Regexp(t, `elixir reference +.* +not available here, not run\n`, out)
	require.Regexp(t, `echomq-node +.* +proposed, does not exist\n`, out)
	require.Regexp(t, `bullmq +.* +cannot, by design\n`, out)
	require.Contains(t, out, "bullmq: cannot, by design: not run")
	require.Regexp(t, `(?m)^go +13/13$`, out)
	require.NotContains(t, out, "FAILED")
}

func TestFleetWithAPeerThatFails(t *testing.T) {
	t.Parallel()
	address := fleetAddress(t)
	peer := scripted(t, `{"ok":true,"job":null}`)
	status, out, errs := run(t, "probe", "fleet", "--addr", address, "--peer", "shell="+peer)
	require.Equal(t, exitNot, status)
	require.Empty(t, errs)
	require.Contains(t, out, "go → shell, unicode: FAILED\n  expected  shell takes: payload-0\n  found     nothing\n")
	require.Contains(t, out, "go → shell: 11 of 13 checks not run: shell takes no part")
	require.Regexp(t, `(?m)^go +13/13 +0/13 FAILED$`, out)
	require.Regexp(t, `(?m)^shell +not run +not run$`, out)
	require.Contains(t, out, "\nFAILED.\nTest peers show that")
}

func TestFleetAsJSON(t *testing.T) {
	t.Parallel()
	address := fleetAddress(t)
	status, out, errs := run(t, "probe", "fleet", "--json", "--addr", address, "--peer", "rust=/nonexistent/peer")
	require.Equal(t, exitUnknown, status)
	require.Contains(t, errs, "something could not run")
	var report fleet.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Equal(t, fleet.Incomplete, report.Verdict)
	require.Equal(t, fleet.CouldNotRun, report.Runtimes[1].Standing)
	require.Contains(t, report.Runtimes[1].Note, "/nonexistent/peer")
	require.Equal(t, fleet.CheckNotRun, report.Pairs[1].Results[0].Status)
}

func TestFleetThatCannotRun(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		why  string
		args []string
	}{
		{"write NAME=COMMAND", []string{"--peer", "node"}},
		{"write NAME=COMMAND", []string{"--peer", "node="}},
		{"store:", []string{"--addr", "unix:///nonexistent/socket", "--peer", "a=true"}},
		{"bundle:", []string{"--addr", "unix:///nonexistent/socket", "--bundle", t.TempDir(), "--peer", "a=true"}},
		{"unknown command", []string{"now"}},
	} {
		status, out, errs := run(t, append([]string{"probe", "fleet"}, test.args...)...)
		require.Equal(t, exitUnknown, status)
		require.Empty(t, out)
		require.Contains(t, errs, test.why)
	}
}
