package script_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
)

// seedVariable is the environment variable that sets the one seed to run.
const seedVariable = "EMQ_MODEL_SEED"

// stepsOfSeed is how many steps a seed makes, and timeOfSeed is for how long it
// makes them on a slow machine: less than a stub is kept.
const (
	stepsOfSeed = 1500
	timeOfSeed  = 40 * time.Second
)

// TestModel drives random calls of every script, by workers that crash, send
// calls again and believe what is wrong, on a queue that is damaged now and
// then, and compares each reply and the whole store with the model.
//
// It runs fixed seeds and a new one each time; a seed gives the same choices as
// long as the server's clock advances alike.
func TestModel(t *testing.T) {
	for kind, effort := range map[enginetest.Kind]struct{ seeds, least int }{
		enginetest.Valkey: {seeds: 12, least: 10},
		enginetest.Redis:  {seeds: 12, least: 10},
		// What is rare may not come.
		enginetest.Miniredis:     {seeds: 1}, // it is slow
		enginetest.ValkeyCluster: {seeds: 1}, // it is Valkey
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			runModel(t, enginetest.Start(t, kind), effort.seeds, effort.least)
		})
	}
}

func runModel(t *testing.T, e *enginetest.Engine, seeds, least int) {
	begin := time.Now()
	chosen := modelSeeds(t, seeds)
	b := newBench(t, e)
	reached := map[model.Reach]int{}
	for _, seed := range chosen {
		b.use(t, e)
		w := newWorld(b, seed)
		require.NoError(t, w.run(t.Context(), stepsOfSeed, timeOfSeed))
		require.NoError(t, b.clear(t.Context()))
		for reach, count := range w.state.Reached {
			reached[reach] += count
		}
	}
	t.Logf("%s: seeds %v of %d steps in %s, and what they reached:\n%s",
		e, chosen, stepsOfSeed, time.Since(begin).Round(time.Second), reachTable(reached))
	if len(chosen) < seeds {
		return
	}
	for _, reach := range reaches() {
		if reached[reach] < least {
			t.Errorf("%s: %s reached %d times and not %d", reach.Script, reach.What, reached[reach], least)
		}
	}
}

// modelSeeds returns the fixed seeds and a random one, or the one that is set.
func modelSeeds(t *testing.T, count int) []uint64 {
	if text := os.Getenv(seedVariable); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, "%s must be a number", seedVariable)
		return []uint64{seed}
	}
	seeds := []uint64{rand.Uint64N(1 << 32)}
	for seed := range uint64(count) {
		seeds = append(seeds, seed)
	}
	return seeds
}

// reachable is everything that the scripts can do and the model test must see.
const reachable = `
add: waiting, prioritized, delayed, exists, EMQVERSION
pick: started while paused, nothing while paused, started head, started redeemed, started held, reserved, again reserved, crowded, refused claim, nothing,
  payload too large, orphan, quarantined hash, quarantined id, EMQARGS, EMQVERSION
settle: settled completed, settled failed, settled retry, settled snooze, settled release, already completed,
  already failed, already retry, already snooze, already release, lost, gone, stub, quarantined, to wait, comes back cancelled,
  to prioritized, to delayed, EMQVERSION
extend: extended, cancelled, lost, EMQVERSION
leave: left, lost, ends the lease, EMQVERSION
cancel: marked, active, ended, missing, mismatch, quarantined, again, due at once, EMQVERSION
promote: promoted, early, gone, orphan, quarantined, to the front, to the back, EMQVERSION
recover: stalled, returned, renewed, gone, orphan, quarantined, past the allowed stalls,
  past the allowed stalls and marked already, EMQVERSION
trim: trimmed, kept, gone, by age, by number, EMQVERSION
due: due, expired, next due, next expiry
pause: paused, unchanged, EMQVERSION
resume: resumed, unchanged
inspect: missing, waiting, prioritized, delayed, active, completed, failed, quarantined, completed and not kept,
  failed and not kept
progress: recorded, lost, gone, EMQVERSION
log: recorded, recorded before, the oldest goes, lost, gone, EMQVERSION
report: lines, known, missing
`

func reaches() []model.Reach {
	var all []model.Reach
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(reachable), ",\n ", ",")) {
		name, list, _ := strings.Cut(line, ":")
		for what := range strings.SplitSeq(list, ",") {
			all = append(all, model.Reach{Script: name, What: strings.TrimSpace(what)})
		}
	}
	return all
}

func reachTable(reached map[model.Reach]int) string {
	order := slices.SortedFunc(maps.Keys(reached), func(a, b model.Reach) int {
		return cmp.Or(cmp.Compare(a.Script, b.Script), cmp.Compare(a.What, b.What))
	})
	var text strings.Builder
	for _, reach := range order {
		fmt.Fprintf(&text, "%8d  %-8s %s\n", reached[reach], reach.Script, reach.What)
	}
	return text.String()
}
