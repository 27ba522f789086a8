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

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
)

// seedVariable is the environment variable that sets the one seed to run.
const seedVariable = "EMQ_MODEL_SEED"

// stepsOfSeed is how many steps a seed makes, and timeOfSeed is for how long it
// makes them on a slow machine: less than a stub is kept.
const (
	stepsOfSeed = 3000
	timeOfSeed  = 40 * time.Second
)

// effort is how many seeds run on an engine, and how often everything that can be
// reached must be, by them and by some of those that follow: up to most times as many.
type effort struct{ seeds, least int }

const most = 4

// efforts make 290,000 steps on Valkey, of which more than 100,000 must run.
var efforts = map[enginetest.Kind]effort{
	enginetest.Valkey: {seeds: 96, least: 100},
	enginetest.Redis:  {seeds: 48, least: 30},
	// What is rare may not come.
	enginetest.Miniredis:     {seeds: 1}, // it is slow
	enginetest.ValkeyCluster: {seeds: 1}, // it is Valkey
}

// What is enough for the race detector, which makes everything some five times
// slower and has nothing to find here.
const (
	seedsUnderRace = 1
	stepsUnderRace = 1000
)

// TestModel drives random calls of every script, by workers that crash, send
// calls again and believe what is wrong, on a queue that is damaged now and
// then, and compares each reply and the whole store with the model.
//
// It runs fixed seeds and a new one each time; a seed gives the same choices as
// long as the server's clock advances alike. Each is about one script, which is
// called more often than the others.
//
// Without the race detector, as in make test-model, all seeds run, and everything
// that a script can do must be reached a number of times. With it a few run.
func TestModel(t *testing.T) {
	t.Parallel()
	for kind, effort := range efforts {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			whole, steps := effort, stepsOfSeed
			if underRace {
				effort.seeds, effort.least, steps = seedsUnderRace, 0, stepsUnderRace
			}
			t.Logf("%d of %d seeds run, and a new one, of %d steps each", effort.seeds, whole.seeds, steps)
			runModel(t, enginetest.Start(t, kind), effort, steps)
		})
	}
}

// focusOf returns the script that a seed is about: each in its turn, and those more
// than once of which some is rare.
func focusOf(seed uint64) string {
	focuses := []string{"retry", "replace", "retry", "replace", "change", "verify"}
	for _, c := range callings {
		focuses = append(focuses, c.script)
	}
	return focuses[seed%uint64(len(focuses))]
}

func runModel(t *testing.T, e *enginetest.Engine, effort effort, steps int) {
	begin := time.Now()
	chosen := modelSeeds(t, effort.seeds)
	b := newBench(t, e)
	reached := map[model.Reach]int{}
	made := 0
	run := func(seed uint64) {
		b.use(t, e)
		w := newWorld(b, seed, focusOf(seed))
		require.NoError(t, w.run(t.Context(), steps, timeOfSeed))
		made += w.step - 1
		require.NoError(t, b.clear(t.Context()))
		for reach, count := range w.state.Reached {
			reached[reach] += count
		}
	}
	for _, seed := range chosen {
		run(seed)
	}
	fixed := len(chosen) >= effort.seeds
	// How often the rarest come depends on the server's clock: the next seeds that are
	// about their scripts bring them, if anything does.
	for seed := uint64(effort.seeds); fixed && seed < uint64(most*effort.seeds); seed++ {
		if about := focusOf(seed); slices.ContainsFunc(rare(reached, effort.least), func(r model.Reach) bool { return r.Script == about }) {
			run(seed)
			chosen = append(chosen, seed)
		}
	}
	t.Logf("%s: seeds %v, %d steps in %s, and what they reached:\n%s",
		e, chosen, made, time.Since(begin).Round(time.Second), reachTable(reached))
	if !fixed {
		return
	}
	if e.Kind == enginetest.Valkey && !underRace {
		require.GreaterOrEqual(t, made, 100_000)
	}
	for _, reach := range rare(reached, effort.least) {
		t.Errorf("%s: %s reached %d times and not %d", reach.Script, reach.What, reached[reach], effort.least)
	}
}

// rare returns what was reached less often than it must be.
func rare(reached map[model.Reach]int, least int) []model.Reach {
	return slices.DeleteFunc(reaches(), func(reach model.Reach) bool { return reached[reach] >= least })
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

// reachable is everything that the scripts can do and the model test must see, but
// for what all of them do: refuse a queue that speaks another version.
const reachable = `
add: to a group, waiting, prioritized, delayed, exists, parent, child, unique, duplicate, time over
pick: from a group, in turns, last of its group, group at its limit, at another's group limit, group limit overridden, started while paused, nothing while paused, started head, started redeemed, started held, reserved, again reserved, crowded, refused claim, nothing,
  payload too large, orphan, quarantined hash, quarantined id, limit switched off, limit overridden, rate switched off,
  rate overridden, interval changed, limit leaves fewer, rate leaves fewer, full, dry, another looks for the token,
  put off head, put off redeemed, given another priority head, given another priority redeemed, EMQARGS
settle: to its group, settled completed, settled failed, settled retry, settled snooze, settled release, already completed,
  already failed, already retry, already snooze, already release, lost, gone, stub, lasting stub, reported, quarantined, to wait, comes back cancelled,
  to prioritized, to delayed, opened
extend: extended, cancelled, lost
leave: left, lost, ends the lease
cancel: waiting for children, marked, active, ended, missing, mismatch, quarantined, again, due at once
change: to another place in its group, out of its group, changed, again, active, parent, doomed, ended, missing, mismatch, quarantined, later, to wait, to delayed, to another priority,
  due now
promote: to its group, promoted, early, gone, orphan, quarantined, to the front, to the back
recover: to its group, stalled, returned, renewed, gone, orphan, quarantined, past the allowed stalls,
  past the allowed stalls and marked already, opened
trim: trimmed, kept, gone, by age, by number, unreported, stub
key: released, of another
heal: held, freed, passed
prune: freed
replace: replaced, again, reserved, cancelled, active, completed, failed, gone, passed, in its place, with its time, EMQARGS
due: due, expired, next due, next expiry
declare: declared, agreed, replaced, conflict
pause: paused, unchanged
resume: resumed, unchanged
override: wakes for a group at its limit, set, cleared
deliver: recorded, released, already, gone, orphan, deferred failure, released for later,
  completed, failed, removed, taken, fail, continue, ignore, remove
collect: delivery, parent, children to be delivered, too many bytes
acknowledge: acknowledged, gone, stub
verify: pending, reported, completed, failed, missing, taken, quarantined, too many bytes
schedule: set, same, wanted, keeps its slot, an earlier slot, EMQARGS
unschedule: removed, missing
tick: added, skipped, exists, already, moved, early, gone, the last one
inspect: missing, waiting, prioritized, delayed, waiting-children, active, completed, failed, quarantined, completed and not kept,
  failed and not kept
progress: recorded, lost, gone
log: recorded, recorded before, the oldest goes, lost, gone
report: lines, known, missing
counts: counts
groups: to the front, into the ring, out of the ring, freed
list: grouped, rising, falling, a further page, waiting, a further page of those that wait
view: missing, waiting, prioritized, delayed, waiting-children, active, completed, failed, quarantined, a stub, crowded
remove: from grouped, reported, from waiting-children, removed, active, missing, from wait, from prioritized, from delayed, from completed, from failed, from quarantine
retry: to its group, retried, duplicate, with its key, unfailed, missing, orphan, quarantined, to wait, to prioritized
drain: removed of grouped, removed of wait, removed of prioritized, removed of delayed, gone of wait, quarantined id
expel: expelled to quarantine, expelled to nowhere, missing to quarantine, kept to quarantine
erase: erased, running
obliterate: obliterated, running, holding
sweep: resume, look, rest, a page, another's turn
`

func reaches() []model.Reach {
	var all []model.Reach
	for line := range strings.Lines(strings.ReplaceAll(strings.TrimSpace(reachable), ",\n ", ",")) {
		name, list, _ := strings.Cut(line, ":")
		for what := range strings.SplitSeq(list, ",") {
			all = append(all, model.Reach{Script: name, What: strings.TrimSpace(what)})
		}
	}
	for _, one := range lua.All() {
		all = append(all, model.Reach{Script: one.Name, What: "EMQVERSION"})
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
