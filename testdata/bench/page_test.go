package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestGoalsAreMeasured finds a goal about a figure that no workload has, or that is
// not measured of a system it speaks of.
func TestGoalsAreMeasured(t *testing.T) {
	sections, err := choose(settings{rounds: 5, fewer: 2, sections: "default"})
	if err != nil {
		t.Fatal(err)
	}
	measures := func(name, system string) bool {
		return slices.ContainsFunc(sections[0].workloads, func(w workload) bool {
			return slices.ContainsFunc(w.figures, func(f figure) bool { return w.full(f) == name }) &&
				slices.Contains(sections[0].systems, system) && (len(w.peers) == 0 || slices.Contains(w.peers, system))
		})
	}
	for _, g := range goals {
		below, to := g.figure, g.to
		if g.below != "" {
			below = g.below
		}
		if to == "" {
			to = "echomq"
		}
		if !measures(g.figure, "echomq") || !measures(below, to) {
			t.Errorf("the goal of %q and %q cannot be looked at", g.figure, g.to)
		}
	}
	for _, w := range sections[0].workloads {
		for _, f := range w.figures {
			for _, g := range goals {
				if w.full(f) == g.figure && f.less != g.less {
					t.Errorf("%q and its goal differ in whether less is better", g.figure)
				}
			}
		}
	}
}

func TestPage(t *testing.T) {
	sections, err := choose(settings{rounds: 5, fewer: 2, sections: "default,aof"})
	if err != nil {
		t.Fatal(err)
	}
	s := sections[0]
	for _, w := range s.workloads {
		for system, value := range map[string]float64{"echomq": 100, "asynq": 101, "bullmq": 40, "limit": 400} {
			if len(w.figures) == 1 {
				s.found.add(w, system, measured{values: []float64{value}, costs: &costs{reads: 0.3, commands: 6.5}})
			}
		}
	}
	s.found.fail(concEnqueue, "river", errors.New("no answer"))
	sections[1].broken = []error{errors.New("bullmq did not start")}
	p := page{
		settings: settings{command: "the command"}, host: host{processor: "a processor"}, versions: []string{"Valkey 0"}, sections: sections,
		steady: []*steady{
			{system: "echomq", length: 10 * time.Minute, failure: errors.New("gone"), samples: []sample{
				{after: 4 * time.Minute, rate: 100, completed: 12_000}, {after: 5 * time.Minute, rate: 100, completed: 13_000},
				{after: 10 * time.Minute, rate: 50, completed: 11_000},
			}},
			{system: "asynq", length: 2 * time.Minute, samples: []sample{{after: 2 * time.Minute, rate: 25, waiting: 9000}}},
		},
		notes: "## Where the time goes\n\nWritten by hand.\n",
	}
	text, failures := p.write()
	if failures != 3 {
		t.Errorf("%d failures", failures)
	}
	for _, want := range []string{
		"the command", "a processor", "Valkey 0",
		"| enqueue, one after the other | jobs/s | 1 | 100 | 101 | 40.0 |  |  | 400 |\n",
		"| enqueue, one after the other | asynq | 0.99 | ≥ 1 | **not reached** |\n",
		"| enqueue, one after the other | bullmq | 2.50 | ≥ 2 | reached |\n",
		"| enqueue, one after the other | river |  | ≥ 5 | not measured |\n",
		"| enqueue, in bulk of 1,000 | limit | 0.25 | ≥ 0.5 | **not reached** |\n",
		"| idle, from enqueue to handler, p99 | asynq |  | ≤ 0.01 | not measured |\n",
		"| process, 12 at once in each of 8 processes | itself, process, 96 at once | 1.00 | ≥ 0.7 | reached |\n",
		"| process, 100 at once, round trips of a job | – | 0.30 | ≤ 0.2 | **not reached** |\n",
		"| process, 100 at once, commands of a job | – | 6.50 | ≤ 6 | **not reached** |\n",
		"| enqueue, one after the other, commands of a job | – | 6.50 | ≤ 7 | reached |\n",
		"| failed: no answer |",
		"\n- failed: bullmq did not start\n\n| workload |",
		"\nIt ended early: failed: gone\n",
		"## With the append-only file",
		"at most 13,000 jobs at the ends of rows in the first half, and 11,000 in the second",
		"### asynq, for 2m0s", "| 2m0s | 25.0 | 9,000 | 0.00 |\n", "In its last 2m0s echomq finished 2.00 times as many jobs a second as asynq did after it",
		"\n## Where the time goes\n\nWritten by hand.\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "|") && !strings.HasSuffix(line, "|\n") {
			t.Errorf("no row of a table: %q", line)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		value, bound float64
		less         bool
		want         string
	}{
		{1, 1, false, "reached"},
		{0.999, 1, false, "**not reached**"},
		{0.01, 0.01, true, "reached"},
		{0.011, 0.01, true, "**not reached**"},
	} {
		if got := verdict(c.value, c.bound, c.less); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
