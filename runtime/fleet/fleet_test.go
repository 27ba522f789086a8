package fleet_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/fleet"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// repository is the root of this repository, as seen from here.
const repository = "../.."

// few are checks enough where they are not what is tested.
var few = []string{"unicode", "duplicate"}

// run runs the fleet on an engine with the given peers.
func run(t *testing.T, address string, config fleet.Config) *fleet.Report {
	t.Helper()
	config.Address, config.Bundle = address, t.TempDir()
	require.NoError(t, fleet.WriteBundle(config.Bundle))
	report, err := fleet.Run(t.Context(), config)
	require.NoError(t, err)
	return report
}

// memory is the address of a new miniredis.
func memory(t *testing.T) string {
	t.Helper()
	return "unix://" + enginetest.Start(t, enginetest.Miniredis).Options().Addr
}

func standings(report *fleet.Report) map[string]fleet.Standing {
	found := map[string]fleet.Standing{}
	for _, one := range report.Runtimes {
		found[one.Name] = one.Standing
	}
	return found
}

// requirePassed fails with every check that did not pass.
func requirePassed(t *testing.T, report *fleet.Report) {
	t.Helper()
	for _, pair := range report.Pairs {
		require.Len(t, pair.Results, len(report.Checks))
		for _, result := range pair.Results {
			if result.Status != fleet.CheckPassed {
				t.Errorf("%s → %s: %+v", pair.From, pair.To, result)
			}
		}
	}
	for _, one := range report.Runtimes {
		if one.Standing == fleet.CouldNotRun {
			t.Errorf("%s: %s", one.Name, one.Note)
		}
	}
}

func TestPairsOfAllRuntimes(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t, enginetest.Valkey, enginetest.TCP(), enginetest.RequirePass("pass:/@ word"))
	address := url.URL{Scheme: "redis", Host: engine.Options().Addr, User: url.UserPassword("", "pass:/@ word")}
	root, err := filepath.Abs(repository)
	require.NoError(t, err)
	peers, stock := fleet.TestPeers(t.Context(), root)
	for _, peer := range peers {
		require.NoError(t, peer.Err, "peer %s (EMQ_ENGINES=embedded leaves this test out)", peer.Name)
	}
	report := run(t, address.String(), fleet.Config{Peers: peers, Stock: stock})
	requirePassed(t, report)
	require.Equal(t, fleet.Passed, report.Verdict)
	require.Equal(t, map[string]fleet.Standing{
		"go": fleet.TookPart, "node": fleet.TookPart, "elixir": fleet.TookPart,
		"elixir reference": fleet.NotAvailable, "echomq-node": fleet.DoesNotExist, "bullmq": fleet.Cannot,
	}, standings(report))
	require.Len(t, report.Pairs, 9)
	require.Contains(t, report.Runtimes[5].Note, "shown", "stock BullMQ was asked")
	require.Contains(t, report.Engine, "valkey")

	left, err := engine.Client(t).Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{wire.StoreVersionKey}, left, "the queues are removed")
}

func TestPeersSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"node/peer.js", "elixir/peer.exs"} {
		text, err := os.ReadFile(filepath.Join(repository, "testdata", "peers", filepath.FromSlash(name)))
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(text), "\n")
		require.Contains(t, first, "test peer")
		require.Contains(t, first, "not a library")
	}
	// What a peer loads is not seen by the cache of go test, unless it is read here.
	for _, pattern := range []string{"node/*.js*", "elixir/*.exs"} {
		files, err := filepath.Glob(filepath.Join(repository, "testdata", "peers", filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			_, err := os.ReadFile(file)
			require.NoError(t, err)
		}
	}
}

func TestGoAlone(t *testing.T) {
	t.Parallel()
	report := run(t, memory(t), fleet.Config{Checks: []string{
		"unicode", "retry", "failed", "delayed", "priority", "duplicate", "lost add", "lost pick", "lost settle",
	}})
	requirePassed(t, report)
	require.Equal(t, fleet.Passed, report.Verdict)
	require.Len(t, report.Pairs, 1)
	require.Equal(t, fleet.Cannot, standings(report)["bullmq"])
	require.Contains(t, report.Runtimes[3].Note, "not run")
}

func TestGoAsAProcess(t *testing.T) {
	t.Parallel()
	command, pid := faulty(t, "sound")
	report := run(t, memory(t), fleet.Config{Peers: []fleet.Command{command}, Checks: []string{"nested", "retry", "lost pick"}})
	requirePassed(t, report)
	require.Equal(t, fleet.Passed, report.Verdict)
	require.Equal(t, "this runtime", report.Runtimes[1].What)
	require.Regexp(t, `^go \d`, report.Runtimes[1].Version)
	gone(t, pid)
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for fault, checks := range map[string][]string{
		"rounds":        {"big integers"},
		"miscounts":     {"retry"},
		"terse":         {"unicode", "retry"},
		"adds twice":    {"duplicate", "lost add"},
		"settles twice": {"lost settle"},
		"starts twice":  {"lost pick"},
		"loses nothing": {"lost add", "lost pick", "lost settle"},
		"hurries":       {"delayed"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			command, pid := faulty(t, fault)
			report := run(t, memory(t), fleet.Config{Peers: []fleet.Command{command}, Checks: checks})
			require.Equal(t, fleet.Failed, report.Verdict)
			require.Equal(t, fleet.TookPart, standings(report)["faulty"])
			require.Zero(t, report.Pairs[0].Count(fleet.CheckFailed), "go → go")
			pair := report.Pairs[3] // it plays both sides
			require.Equal(t, "faulty", pair.From)
			require.Len(t, pair.Results, len(checks))
			for _, result := range pair.Results {
				require.Equal(t, fleet.CheckFailed, result.Status, result.Check)
				require.NotEmpty(t, result.Expected)
				require.NotEqual(t, result.Expected, result.Found)
			}
			gone(t, pid)
		})
	}
}

func TestPeersThatCannotStart(t *testing.T) {
	t.Parallel()
	for fault, why := range map[string]string{
		"speaks v1":     `it speaks "echomq:1.3.0"`,
		"other lines":   "version 2 of the lines",
		"other scripts": "its scripts are not those of the bundle: pick",
		"nameless":      "runtime, version or role is missing",
		"refuses":       "hello: no such store",
		"never starts":  "no answer within 3s; it was ended",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			command, pid := faulty(t, fault)
			config := fleet.Config{Peers: []fleet.Command{command}, Checks: few}
			if fault == "never starts" {
				config.HelloTimeout = 3 * time.Second
			}
			report := run(t, memory(t), config)
			require.Equal(t, fleet.Incomplete, report.Verdict)
			require.Equal(t, fleet.CouldNotRun, report.Runtimes[1].Standing)
			require.Contains(t, report.Runtimes[1].Note, why)
			require.Len(t, report.Checks, report.Pairs[0].Count(fleet.CheckPassed), "go → go")
			for _, pair := range report.Pairs[1:] {
				require.Len(t, report.Checks, pair.Count(fleet.CheckNotRun))
				require.Equal(t, "faulty takes no part", pair.Results[0].Note)
			}
			gone(t, pid)
		})
	}
}

func TestPeersThatBreakOff(t *testing.T) {
	t.Parallel()
	for fault, why := range map[string]string{
		"babbles": `its line is no answer: "DEBUG got a job"`,
		"dies":    "it ended without an answer: exit status 3; it wrote: segmentation fault, or so",
		"hangs":   "no answer within 3s; it was ended",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			command, pid := faulty(t, fault)
			report := run(t, memory(t), fleet.Config{Peers: []fleet.Command{command}, Checks: few, Timeout: 3 * time.Second})
			require.Equal(t, fleet.Failed, report.Verdict)
			pair := report.Pairs[1]
			require.Equal(t, fleet.CheckFailed, pair.Results[0].Status)
			require.Contains(t, pair.Results[0].Found, "faulty: process: "+why)
			require.Equal(t, len(report.Checks)-1, pair.Count(fleet.CheckNotRun))
			require.Len(t, report.Checks, report.Pairs[2].Count(fleet.CheckNotRun))
			gone(t, pid)
		})
	}
}

func TestProgramsThatAreNoPeers(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{filepath.Join(t.TempDir(), "missing")}, {"true"}, {"echo", "hello"}, nil} {
		report := run(t, memory(t), fleet.Config{Peers: []fleet.Command{{Name: "other", Args: args}}, Checks: few})
		require.Equal(t, fleet.Incomplete, report.Verdict, args)
		require.NotEmpty(t, report.Runtimes[1].Note)
	}
}

func TestWhatCannotRun(t *testing.T) {
	t.Parallel()
	bundle := t.TempDir()
	require.NoError(t, fleet.WriteBundle(bundle))
	other := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(other, "manifest.json"), []byte(`{"name":"npm"}`), 0o600))
	address := memory(t)
	for name, config := range map[string]fleet.Config{
		"bundle:":           {Address: address, Bundle: t.TempDir()},
		"is no manifest":    {Address: address, Bundle: other},
		"address:":          {Address: "http://localhost", Bundle: bundle},
		"store:":            {Address: "unix://" + filepath.Join(bundle, "none"), Bundle: bundle},
		"its name must":     {Address: address, Bundle: bundle, Peers: []fleet.Command{{Name: "a b"}}},
		"none of that name": {Address: address, Bundle: bundle, Checks: []string{"all"}},
		"two of that name":  {Address: address, Bundle: bundle, Peers: []fleet.Command{{Name: "go"}}},
	} {
		_, err := fleet.Run(t.Context(), config)
		require.ErrorContains(t, err, name)
	}
}

func TestBundleOfAnotherBuild(t *testing.T) {
	t.Parallel()
	bundle := t.TempDir()
	require.NoError(t, fleet.WriteBundle(bundle))
	changed := strings.Replace(string(lua.Manifest()), lua.Settle().SHA1, strings.Repeat("0", 40), 1)
	require.NoError(t, os.WriteFile(filepath.Join(bundle, "manifest.json"), []byte(changed), 0o600))
	report, err := fleet.Run(t.Context(), fleet.Config{Address: memory(t), Bundle: bundle})
	require.NoError(t, err)
	require.Equal(t, fleet.Incomplete, report.Verdict)
	require.Contains(t, report.Runtimes[0].Note, "settle")
}
