package conformance_test

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/conformance"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/wire"
)

// TestMain lets more tests run at once than there are processors: a probe mostly
// waits for leases to run out and jobs to fall due.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "6"); err != nil {
		panic(err)
	}
	enginetest.Main(m)
}

// patience bounds everything that a test waits for.
const patience = 30 * time.Second

func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// targetOf returns what is to be probed at the given options.
func targetOf(t *testing.T, options *redis.Options, queue string) conformance.Target {
	t.Helper()
	parsed, err := wire.ParseQueue(queue)
	require.NoError(t, err)
	return conformance.Target{Options: options, Queue: parsed, Bundle: conformance.Embedded()}
}

func goOn(*conformance.Report) error { return nil }

// keys returns every key of a server, sorted.
func keys(t *testing.T, client redis.UniversalClient) []string {
	t.Helper()
	keys, err := client.Keys(context.WithoutCancel(t.Context()), "*").Result()
	require.NoError(t, err)
	slices.Sort(keys)
	return keys
}

// poll is how often a condition is looked at that nothing signals.
const poll = 5 * time.Millisecond

// withFault returns a script of the build that runs a statement after it has
// looked at the version.
func withFault(t *testing.T, name, statement string) lua.Script {
	t.Helper()
	script, ok := lua.Lookup(name)
	require.True(t, ok)
	at := strings.Index(script.Source, "\nlocal version = ")
	require.Positive(t, at)
	end := at + strings.Index(script.Source[at:], "\nend\n") + len("\nend\n")
	return withSource(script, script.Source[:end]+statement+"\n"+script.Source[end:])
}

func withSource(script lua.Script, source string) lua.Script {
	sum := sha1.Sum([]byte(source))
	return lua.Script{Name: script.Name, Source: source, SHA1: hex.EncodeToString(sum[:])}
}

// tampered returns a bundle of the build's scripts, one of them with a fault.
func tampered(t *testing.T, name, statement string) *conformance.Bundle {
	t.Helper()
	dir := t.TempDir()
	for _, script := range lua.All() {
		if script.Name == name {
			script = withFault(t, name, statement)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, script.Name+".lua"), []byte(script.Source), 0o600))
	}
	bundle, err := conformance.ReadBundle(dir)
	require.NoError(t, err)
	return bundle
}

// scripts returns how often each script was called.
func scripts(report *conformance.Report) map[string]int {
	count := map[string]int{}
	for _, step := range report.Steps {
		for _, transition := range step.Transitions {
			count[transition.Script]++
		}
	}
	return count
}
