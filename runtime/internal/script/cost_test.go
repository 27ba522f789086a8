package script_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// costsVariable is the environment variable with the file that TestCosts writes
// its table into; it then measures a queue of a million jobs.
const costsVariable = "EMQ_COSTS"

// costSamples is how often each call is made; the median counts.
const costSamples = 40

// costCase is a call on a queue that holds size jobs in each of its places, and
// what is put there before it beside the fixture.
type costCase struct {
	script, what string
	before       string
	call         func(size int) model.Caller
	// grows marks the one cost that is known to grow, and so shows that growth
	// would be seen.
	grows bool
}

// costCases has the call of two items for each script, and calls that look into
// the middle of things.
func costCases() []costCase {
	var cases []costCase
	for name, call := range wellFormed() {
		what := "one call"
		if reflect.ValueOf(call).FieldByName("Items").IsValid() {
			what = "two jobs"
		}
		cases = append(cases, costCase{script: name, what: what, call: func(int) model.Caller { return call }})
	}
	call := wellFormed()["pick"].(script.Pick)
	call.PerGroup, call.Want, call.Window = 1, 10, 20
	cases = append(cases,
		costCase{script: "pick", what: "ten of as many groups, each with a limit", call: func(int) model.Caller { return call }},
		costCase{script: "add", what: "to a group", call: func(int) model.Caller {
			return script.Add{Events: "none", History: 1, Items: []script.AddItem{{ID: jobID("g1"), Name: "mail", Version: 1, Group: "g1"}}}
		}},
		costCase{script: "list", what: "of groups, from the middle", call: func(size int) model.Caller {
			return script.List{Set: "grouped", Order: "rising", Limit: 100, Begun: true, Last: costMember(size / 2)}
		}},
		costCase{script: "drain", what: "100 of groups", call: func(int) model.Caller {
			return script.Drain{Events: "none", History: 1, Set: "grouped", Take: 100, Items: []script.DrainItem{{ID: jobID("w1")}}}
		}},
	)
	middle := func(size int) (place int64, id string) { return int64(size / 2), costID("wait", size-size/2) }
	cases = append(cases,
		costCase{script: "list", what: "from the middle of those that wait", call: func(size int) model.Caller {
			place, last := middle(size)
			return script.List{Set: "wait", Order: "rising", Limit: 100, Begun: true, Place: place, Last: last}
		}},
		costCase{script: "list", what: "from the middle of equal scores", call: func(size int) model.Caller {
			return script.List{Set: "delayed", Order: "rising", Limit: 100, Begun: true, Place: costScore, Last: costID("delayed", size/2)}
		}},
		costCase{script: "sweep", what: "from the middle", call: func(size int) model.Caller {
			return script.Sweep{Worker: "w", Set: "completed", Step: "look", From: int64(size / 2), Limit: 200, Hold: 1}
		}},
		costCase{script: "trim", what: "by number", call: func(size int) model.Caller {
			return script.Trim{Set: "completed", Items: []script.TrimItem{{ID: jobID("c1"), Age: -1, Newer: int64(size / 2)}}}
		}},
		costCase{script: "drain", what: "100 of those that wait", call: func(size int) model.Caller {
			return script.Drain{Events: "none", History: 1, Set: "wait", Take: 100, Items: []script.DrainItem{{ID: jobID("w1")}}}
		}},
		costCase{script: "erase", what: "two jobs, paused", before: `meta hash paused=1`, call: func(int) model.Caller {
			return wellFormed()["erase"]
		}},
		costCase{script: "remove", what: "the last of those that wait", before: `last hash name=mail`, grows: true,
			call: func(int) model.Caller {
				return script.Remove{Events: "none", History: 1, Items: []script.RemoveItem{{ID: jobID("last")}}}
			}},
	)
	slices.SortFunc(cases, func(a, b costCase) int {
		return cmp.Or(cmp.Compare(a.script, b.script), cmp.Compare(b.what, a.what))
	})
	return cases
}

// costScore is the score that all ids of a set have, far away from now.
const costScore = 4_000_000_000_000

func costID(place string, n int) string { return fmt.Sprintf("%s-%08d", place, n) }

// TestCosts measures the server's time for a call of each script on a small and
// on a large queue: none grows with the queue, but for the one that says so.
func TestCosts(t *testing.T) {
	t.Parallel()
	small, large := 1000, 100_000
	if os.Getenv(costsVariable) != "" {
		large = 1_000_000
	}
	e := enginetest.Start(t, enginetest.Valkey)
	before, after := measureCosts(t, e, small), measureCosts(t, e, large)
	for _, c := range costCases() {
		// A page more or a cache less are no growth; that of 100 times as many jobs,
		// or a thousand times, is.
		bound := 4*before[c.name()] + 250*time.Microsecond
		if c.grows {
			require.Greater(t, after[c.name()], bound, "%s is known to grow", c.name())
		} else {
			require.LessOrEqual(t, after[c.name()], bound, "%s, which took %v on a queue of %d", c.name(), before[c.name()], small)
		}
	}
	if path := os.Getenv(costsVariable); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(costTable(e, small, large, before, after)), 0o644))
	}
}

// costMember is a job that waits in a group of its own.
func costMember(n int) string {
	return fmt.Sprintf("%08d|0000000|%016d|%s", n, n, costID("grouped", n))
}

func (c costCase) name() string { return c.script + ", " + c.what }

// measureCosts returns the median of the server's time for each case.
func measureCosts(t *testing.T, e *enginetest.Engine, size int) map[string]time.Duration {
	t.Helper()
	ctx := t.Context()
	b := newBench(t, e)
	b.plantMany(t, size)
	b.plantGroups(t, size)
	require.NoError(t, b.client.ConfigSet(ctx, "slowlog-max-len", "20000").Err())
	require.NoError(t, b.client.ConfigSet(ctx, "slowlog-log-slower-than", "0").Err())
	costs := map[string]time.Duration{}
	for _, c := range costCases() {
		call := c.call(size).Call(b.queue)
		require.NoError(t, b.client.ScriptLoad(ctx, call.Script.Source).Err())
		require.NoError(t, b.client.Do(ctx, "slowlog", "reset").Err())
		for range costSamples {
			b.plantText(t, fixture+c.before)
			if c.grows {
				require.NoError(t, b.client.LPush(ctx, b.queue.Key("wait"), "last").Err())
			}
			_, err := b.call(ctx, call)
			require.NoError(t, err, c.name())
			if c.before != "" {
				require.NoError(t, b.client.HDel(ctx, b.queue.Key("meta"), "paused").Err())
			}
		}
		costs[c.name()] = b.medianOf(t, call.Script)
	}
	require.NoError(t, b.client.ConfigSet(ctx, "slowlog-log-slower-than", "-1").Err())
	require.NoError(t, b.client.Unlink(context.Background(), b.client.Keys(ctx, b.queue.Key("*")).Val()...).Err())
	return costs
}

// medianOf returns the median of the time that the calls of a script took the
// server, by its slow log.
func (b *bench) medianOf(t *testing.T, called lua.Script) time.Duration {
	t.Helper()
	entries, err := b.client.SlowLogGet(t.Context(), 20000).Result()
	require.NoError(t, err)
	var times []time.Duration
	for _, entry := range entries {
		if len(entry.Args) > 1 && strings.EqualFold(entry.Args[0], "evalsha") && entry.Args[1] == called.SHA1 {
			times = append(times, entry.Duration)
		}
	}
	require.Len(t, times, costSamples)
	slices.Sort(times)
	return times[len(times)/2]
}

// plantMany puts ids into every place where jobs stand. They have no hashes, which
// no call here names.
func (b *bench) plantMany(t *testing.T, size int) {
	t.Helper()
	ctx := t.Context()
	for _, place := range []string{"wait", "prioritized", "delayed", "active", "completed", "failed", "quarantine"} {
		for begin := 1; begin <= size; begin += 5000 {
			var ids []any
			var members []redis.Z
			for n := begin; n < min(begin+5000, size+1); n++ {
				ids = append(ids, costID(place, n))
				members = append(members, redis.Z{Member: costID(place, n), Score: costScore})
			}
			if place == "wait" { // the one with the highest number runs first
				require.NoError(t, b.client.RPush(ctx, b.queue.Key(place), ids...).Err())
			} else {
				require.NoError(t, b.client.ZAdd(ctx, b.queue.Key(place), members...).Err())
			}
		}
	}
}

// plantGroups puts as many groups into the ring, each with one job.
func (b *bench) plantGroups(t *testing.T, size int) {
	t.Helper()
	ctx := t.Context()
	for begin := 1; begin <= size; begin += 5000 {
		var groups, members []redis.Z
		for n := begin; n < min(begin+5000, size+1); n++ {
			groups = append(groups, redis.Z{Member: fmt.Sprintf("%08d", n), Score: float64(n)})
			members = append(members, redis.Z{Member: costMember(n)})
		}
		require.NoError(t, b.client.ZAdd(ctx, b.queue.Key("groups"), groups...).Err())
		require.NoError(t, b.client.ZAdd(ctx, b.queue.Key("grouped"), members...).Err())
	}
	require.NoError(t, b.client.HSet(ctx, b.queue.Key("meta"), "grouped", size).Err())
}

func costTable(e *enginetest.Engine, small, large int, before, after map[string]time.Duration) string {
	var text strings.Builder
	fmt.Fprintf(&text, `# What a call costs the server

The time that one call of each script takes the server, on a queue that holds %d
jobs in each of its places (waiting, prioritized, delayed, active, completed, failed,
in quarantine, and in as many groups), and on one that holds %d in each: the median of %d calls,
measured by %s with its slow log. `+"`make costs`"+` writes this page, and
the tests hold a smaller queue to it: no script's cost grows with the queue, with one
exception.

| script | what | %d jobs, µs | %d jobs, µs |
|---|---|---|---|
`, small, large, costSamples, e, small, large)
	for _, c := range costCases() {
		what := c.what
		if c.grows {
			what += " (the exception: it is looked for along the list)"
		}
		fmt.Fprintf(&text, "| `%s` | %s | %d | %d |\n", c.script, what, before[c.name()].Microseconds(), after[c.name()].Microseconds())
	}
	return text.String()
}
