package script_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// commandsVariable is the environment variable with the file that
// TestCommandsOfAJob writes its page into, rather than compare it.
const commandsVariable = "EMQ_COMMANDS"

// commandsPage is what the scripts are held to.
const commandsPage = "../../../docs/commands.md"

// commandBatches are the numbers of jobs in a call that are looked at.
var commandBatches = []int{1, 16, 100}

// commandStep is a call of which every command is counted. The steps are made one
// after the other on one queue, as a producer and a worker would.
type commandStep struct {
	script, what string
	call         func(jobs int) model.Caller
}

// items makes one item for each of the jobs a1, a2, … where a is their letter.
func items[I any](letter string, jobs int, item func(id wire.JobID) I) []I {
	all := make([]I, jobs)
	for n := range all {
		all[n] = item(jobID(letter + strconv.Itoa(n+1)))
	}
	return all
}

// commandSteps are the life of jobs that use no further feature: plain ones (a),
// such with a priority (b), and delayed ones (c).
func commandSteps() []commandStep {
	add := func(letter string, delay, priority int64) func(jobs int) model.Caller {
		return func(jobs int) model.Caller {
			return script.Add{Events: "final", History: 10000, Items: items(letter, jobs, func(id wire.JobID) script.AddItem {
				return script.AddItem{ID: id, Name: "mail", Data: []byte("{}"), Version: 1, Until: "finished", Delay: delay, Priority: priority}
			})}
		}
	}
	pick := func(letter string) func(jobs int) model.Caller {
		return func(jobs int) model.Caller {
			return script.Pick{Events: "final", History: 10000, Token: "w:1", Worker: "w", Lease: 30000,
				Want: int64(jobs), Window: int64(jobs), Limit: 1 << 20, Payload: 1 << 20,
				Items: items(letter, jobs, func(id wire.JobID) script.PickItem { return script.PickItem{ID: id} })}
		}
	}
	settle := func(letter string, outcome script.SettleOutcome) func(jobs int) model.Caller {
		return func(jobs int) model.Caller {
			return script.Settle{Events: "final", History: 10000, Items: items(letter, jobs, func(id wire.JobID) script.SettleItem {
				return script.SettleItem{ID: id, Token: "w:1", Outcome: outcome, Attempts: 1, Starts: 1, Job: "mail", Groupless: true,
					Keep: outcome == "completed" || outcome == "failed"}
			})}
		}
	}
	return []commandStep{
		{"push", "jobs that may run at once", add("a", 0, 0)},
		{"pick", "jobs that may run at once", pick("a")},
		{"extend", "running jobs", func(jobs int) model.Caller {
			return script.Extend{Lease: 30000, Items: items("a", jobs, func(id wire.JobID) script.ExtendItem {
				return script.ExtendItem{ID: id, Token: "w:1"}
			})}
		}},
		{"complete", "jobs that succeed", settle("a", "completed")},
		{"trim", "ended jobs", func(jobs int) model.Caller {
			return script.Trim{Set: "completed", Items: items("a", jobs, func(id wire.JobID) script.TrimItem { return script.TrimItem{ID: id, Newer: -1} })}
		}},
		{"add", "jobs with a priority", add("b", 0, 1)},
		{"pick", "jobs with a priority", pick("b")},
		{"settle", "jobs that are tried again", settle("b", "retry")},
		{"pick", "jobs that are tried again", pick("b")},
		{"settle", "jobs that fail for good", settle("b", "failed")},
		{"add", "delayed jobs", add("c", 1, 0)},
		{"add", "jobs that are there already", add("c", 1, 0)},
		{"promote", "jobs that are due", func(jobs int) model.Caller {
			return script.Promote{Events: "final", History: 10000, Items: items("c", jobs, func(id wire.JobID) script.PromoteItem {
				return script.PromoteItem{ID: id}
			})}
		}},
	}
}

// TestCommandsOfAJob counts the commands that scripts send for jobs which use no
// further feature, and the keys that they declare, and holds them to the page in
// docs; and what a job costs in all to the bounds that it states.
func TestCommandsOfAJob(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Valkey)
	counts, page := countCommands(t, e)
	if path := os.Getenv(commandsVariable); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(page), 0o644))
	}
	want, err := os.ReadFile(commandsPage)
	require.NoError(t, err)
	require.Equal(t, string(want), page, "the commands of a job have changed; if that is meant, `make costs` writes the page anew")
	require.LessOrEqual(t, counts[1]["push jobs that may run at once"], 7)
	for _, jobs := range []int{16, 100} {
		require.LessOrEqual(t, counts[jobs]["push jobs that may run at once"], 3*jobs)
		require.LessOrEqual(t, counts[jobs]["pick jobs that may run at once"]+counts[jobs]["complete jobs that succeed"], 6*jobs)
	}
}

// countCommands returns the number of commands of each step, by batch and step,
// and the page that tells of them.
func countCommands(t *testing.T, e *enginetest.Engine) (counts map[int]map[string]int, page string) {
	t.Helper()
	steps := commandSteps()
	rows := make([]string, len(steps))
	counts = map[int]map[string]int{}
	for _, jobs := range commandBatches {
		counts[jobs] = map[string]int{}
		b := newBench(t, e)
		b.plantText(t, "meta hash version=echomq:2.0.0")
		for n, step := range steps {
			call := step.call(jobs)
			b.nextMillisecond(t) // what the step before has delayed by one is due
			commands := b.commandsOf(t, call)
			total := 0
			for _, calls := range commands {
				total += calls
			}
			counts[jobs][step.script+" "+step.what] = total
			rows[n] += fmt.Sprintf(" %d | %d |", total, len(call.Call(b.queue).Keys))
			if jobs == commandBatches[len(commandBatches)-1] {
				rows[n] = fmt.Sprintf("| `%s` | %s |%s %s |", step.script, step.what, rows[n], commandList(commands))
			}
		}
		require.NoError(t, b.clear(t.Context()))
	}
	return counts, commandsHead + strings.Join(rows, "\n") + "\n"
}

// nextMillisecond returns when the server's clock shows a later millisecond than the
// next one.
func (b *bench) nextMillisecond(t *testing.T) {
	t.Helper()
	for begin := b.client.Time(t.Context()).Val(); ; {
		now, err := b.client.Time(t.Context()).Result()
		require.NoError(t, err)
		if now.Sub(begin) > 2*time.Millisecond {
			return
		}
	}
}

// commandsOf makes a call and returns how often it sent each command.
func (b *bench) commandsOf(t *testing.T, call model.Caller) map[string]int {
	t.Helper()
	require.NoError(t, b.client.ScriptLoad(t.Context(), call.Call(b.queue).Script.Source).Err())
	require.NoError(t, b.client.ConfigResetStat(t.Context()).Err())
	b.do(t, call)
	stats, err := b.client.InfoMap(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	commands := map[string]int{}
	for command, stat := range stats["Commandstats"] {
		name := strings.TrimPrefix(command, "cmdstat_")
		if name == "evalsha" || name == "info" || strings.HasPrefix(name, "config|") {
			continue
		}
		var calls int
		_, err := fmt.Sscanf(stat, "calls=%d,", &calls)
		require.NoError(t, err, stat)
		commands[name] = calls
	}
	return commands
}

// commandList tells of commands, the most frequent first.
func commandList(commands map[string]int) string {
	names := slices.SortedFunc(maps.Keys(commands), func(a, b string) int {
		if commands[a] != commands[b] {
			return commands[b] - commands[a]
		}
		return strings.Compare(a, b)
	})
	for n, name := range names {
		names[n] = fmt.Sprintf("%d %s", commands[name], strings.ToUpper(name))
	}
	return strings.Join(names, ", ")
}

const commandsHead = `# What a job costs in commands

Each command that the scripts send for jobs which use no further feature (no key, no
parent, no limit), at the default level of events, and the keys that a call declares,
for calls of 1, 16 and 100 jobs. Counted by Valkey itself (INFO commandstats). The
numbers are exact and the same on every machine; the tests hold the scripts to them,
and ` + "`make costs`" + ` writes this page. A call is one round trip, and a worker
sends its settle and its pick together.

| script | what | 1: commands | keys | 16: commands | keys | 100: commands | keys | the commands of 100 |
|---|---|---|---|---|---|---|---|---|
`
