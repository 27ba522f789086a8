package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/conformance"
	"github.com/echomq/echomq-go/runtime/embedded"
)

func TestProbeConforms(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	status, out, errs := probed(t, e, "--queue", "payments")
	require.Zero(t, status, "%s\n%s", errs, out)
	for _, want := range []string{
		"slot 8507", "The deployment conforms.", "1. yes", "2. yes", "3. yes", "4. yes", "5. yes",
		"=== plain", "=== prioritized", "=== delayed", "=== retried", "=== failed", "=== reporting", "=== stalled", "=== cancelled", "=== changed", "=== stuck", "=== paused", "=== limited", "=== repaired", "=== flow", "=== scheduled", "=== unique", "=== trimmed",
		"HSET emq:{payments}:meta version echomq:2.0.0", "the v1 name was looked at once",
	} {
		assert.Contains(t, out, want)
	}
	for _, script := range lua.All() {
		assert.Contains(t, out, script.Name+".lua", "every script is shown")
		assert.Contains(t, out, script.SHA1)
	}
	assert.Empty(t, e.all(t), "nothing is left behind")
}

func TestProbeOfATamperedBundle(t *testing.T) {
	t.Parallel()
	shadow := `redis.call('GET', (string.gsub(KEYS[1], 'meta', 'shadow')))`
	writes := `redis.call('SET', (string.gsub(KEYS[1], 'meta', 'shadow')), 1)`
	foreign := `redis.call('SET', 'emq:{other}:stray', 1)`
	version := func(names ...string) func(name, source string) string {
		return func(name, source string) string {
			if len(names) == 0 || name == names[0] {
				return strings.ReplaceAll(source, "echomq:2.0.0", "echomq:2.1.0")
			}
			return source
		}
	}
	for _, test := range []struct {
		name   string
		edit   func(name, source string) string
		points []int
		want   string
		left   []string
	}{
		{"reads one undeclared key", planted(shadow, "pick"), []int{4}, `key "emq:{payments}:shadow" is not one of KEYS`, nil},
		{"writes one undeclared key", planted(writes, "settle"), []int{4}, `SET emq:{payments}:shadow 1`, nil},
		{"reads one in a job's recovery", planted(shadow, "recover"), []int{4}, `in recover.lua`, nil},
		{"reads one as it trims", planted(shadow, "trim"), []int{4}, `in trim.lua`, nil},
		{"a second tag", planted(foreign, "add"), []int{2, 4}, `key "emq:{other}:stray" is in slot`, []string{"emq:{other}:stray"}},
		{"a key of v1", planted(`redis.call('GET', 'bull:payments:meta')`, "extend"), []int{2, 3, 4}, `is one of the v1 keyspace`, nil},
		{"a key without a tag", planted(`redis.call('SET', 'emq:payments:stray', 1)`, "add"), []int{1, 2, 3, 4}, `does not match emq:{queue}:*`, []string{"emq:payments:stray"}},
		{"another version", version(), []int{5}, `meta.version is "echomq:2.1.0"`, nil},
		{"another version in one script", version("settle"), []int{5}, "settle.lua was answered: EMQVERSION", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := startEngine(t)
			status, out, errs := probed(t, e, "--queue", "payments", "--bundle", bundle(t, test.edit))
			require.Equal(t, exitNot, status, "%s\n%s", errs, out)
			assert.Contains(t, out, test.want)
			_, verdict, _ := strings.Cut(out, "The deployment does not conform: ")
			var points []string
			for _, point := range test.points {
				points = append(points, "point "+string(rune('0'+point)))
			}
			assert.Equal(t, strings.Join(points, ", "), strings.TrimSpace(verdict))
			assert.Contains(t, out, "manifest.json says")
			assert.ElementsMatch(t, test.left, e.all(t), "all that is the queue's is gone")
		})
	}
}

// TestProbeOfAnIntactBundle shows that it is the change that is found.
func TestProbeOfAnIntactBundle(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	dir := bundle(t, func(_, source string) string { return source + "-- the same, with another digest\n" })
	status, out, errs := probed(t, e, "--bundle", dir)
	require.Zero(t, status, "%s\n%s", errs, out)
	assert.NotContains(t, out, lua.Add().SHA1+", called", "the build's scripts did not run")
}

func TestProbeJSON(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	for want, edit := range map[conformance.Verdict]func(string, string) string{
		conformance.Conforms: func(_, source string) string { return source },
		conformance.Violates: planted(`redis.call('GET', KEYS[1] .. 'x')`, "add"),
	} {
		_, out, _ := probed(t, e, "--json", "--bundle", bundle(t, edit))
		var report conformance.Report
		require.NoError(t, json.Unmarshal([]byte(out), &report), out)
		assert.Equal(t, want, report.Verdict)
		require.Len(t, report.Points, 5)
		if want == conformance.Violates {
			first := report.Points[3].First
			require.NotNil(t, first)
			assert.Equal(t, "add", first.Transition.Script)
			assert.Equal(t, []string{"GET", first.Transition.Keys[0] + "x"}, first.Command.Args)
		}
		assert.NotEmpty(t, report.Steps[0].Transitions[0].Keys)
	}
}

func TestProbeWithoutAnAddress(t *testing.T) {
	t.Parallel()
	startEngine(t) // skips without one
	status, out, errs := run(t, "probe", "conformance")
	require.Zero(t, status, errs)
	assert.Contains(t, out, "an embedded engine, started for this: ")
	assert.Contains(t, out, "says nothing about a deployment of yours")
}

// An engine that cannot show what it does never counts as conforming.
func TestProbeOfMiniredis(t *testing.T) {
	check := func(t *testing.T, args ...string) {
		t.Helper()
		status, out, errs := run(t, append([]string{"probe", "conformance"}, args...)...)
		assert.Equal(t, exitUnknown, status)
		assert.Contains(t, errs, "could not tell")
		assert.Contains(t, errs, "MONITOR")
		assert.NotContains(t, out, "conforms.")
	}
	t.Run("embedded", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir()) // so that no server is found
		check(t)
	})
	t.Run("at an address", func(t *testing.T) {
		check(t, "--addr", startEngine(t, embedded.InMemory()).addr)
	})
}

func TestProbeRefusesAQueueInUse(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	client := e.keys
	for name, test := range map[string]struct {
		use  func(ctx context.Context) error
		want string
	}{
		"with a queue's key": {func(ctx context.Context) error {
			return client.HSet(ctx, "emq:{a}:meta", "version", "echomq:2.0.0").Err()
		}, "emq:{a}:meta"},
		"with a job's key": {func(ctx context.Context) error { return client.HSet(ctx, "emq:{b}:job-1", "name", "mail").Err() }, "emq:{b}:job-1"},
		"with a worker":    {func(ctx context.Context) error { return client.SAdd(ctx, "emq:{emq}:queues", "c").Err() }, "emq:{emq}:queues"},
	} {
		require.NoError(t, test.use(t.Context()))
		queue := map[string]string{"with a queue's key": "a", "with a job's key": "b", "with a worker": "c"}[name]
		before := e.all(t)
		status, _, errs := probed(t, e, "--queue", queue)
		assert.Equal(t, exitUnknown, status, name)
		assert.Contains(t, errs, "in use", name)
		assert.Contains(t, errs, test.want, name)
		assert.Equal(t, before, e.all(t), name)
	}
}

func TestProbeWithoutTheRightToMonitor(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	require.NoError(t, e.keys.Do(t.Context(), "ACL", "SETUSER", "blind", "on", ">secret", "+@all", "-monitor", "~*", "&*").Err())
	e.addr = strings.Replace(e.addr, "unix://", "unix://blind:secret@", 1)
	status, _, errs := probed(t, e)
	assert.Equal(t, exitUnknown, status)
	assert.Contains(t, errs, "MONITOR")
	assert.Contains(t, errs, "NOPERM")
	assert.Empty(t, e.all(t))
}

func TestProbeOfNobody(t *testing.T) {
	t.Parallel()
	status, _, errs := run(t, "probe", "conformance", "--addr", "unix:///nowhere/s")
	assert.Equal(t, exitUnknown, status)
	assert.Contains(t, errs, "no contact with /nowhere/s")
}

func TestProbeFlags(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]string{
		"--step --json": "not both",
		"--observe":     "needs --addr and --queue",
		"--observe --addr redis://h --queue q --step": "neither --step",
		"--for 3s":              "goes with --observe",
		"--queue {payments}":    "braces",
		"--addr localhost:6379": "--addr",
		"--bundle /nowhere":     "read the bundle",
		"stray":                 "unknown command",
	} {
		status, _, errs := run(t, append([]string{"probe", "conformance"}, strings.Fields(flags)...)...)
		assert.Equal(t, exitUnknown, status, flags)
		assert.Contains(t, errs, want, flags)
	}
}

func TestProbeOfABundleThatIsCalledOtherwise(t *testing.T) {
	t.Parallel()
	dir := bundle(t, func(name, source string) string {
		if name == "due" {
			return strings.Replace(source, "--- @key active", "--- @key failed", 1)
		}
		return source
	})
	status, _, errs := run(t, "probe", "conformance", "--bundle", dir)
	assert.Equal(t, exitUnknown, status)
	assert.Contains(t, errs, "due.lua is called otherwise")
}

// A store that speaks another version does not conform, and is left as it is.
func TestProbeOfAnotherVersion(t *testing.T) {
	t.Parallel()
	e := startEngine(t)
	require.NoError(t, e.keys.Set(t.Context(), "emq:{emq}:version", "echomq:3.0.0", redis.KeepTTL).Err())
	status, out, _ := probed(t, e)
	assert.Equal(t, exitNot, status)
	assert.Contains(t, out, "5. NO")
	assert.Contains(t, out, "echomq:3.0.0")
	assert.Equal(t, []string{"emq:{emq}:version"}, e.all(t))
}
