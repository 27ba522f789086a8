package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// results are the measured values, by workload and system.
type results map[string]map[string][]float64

func (r results) add(workload, system string, value float64) {
	if r[workload] == nil {
		r[workload] = map[string][]float64{}
	}
	r[workload][system] = append(r[workload][system], value)
}

// median returns the median of values and how far the rest lie from it.
func median(values []float64) (middle, low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2], sorted[0], sorted[len(sorted)-1]
}

// bars are the ratios of ours to a peer's that this project wants to hold.
var bars = map[string]map[string]float64{
	"enqueue, one after the other":               {"asynq": 1, "bullmq": 2, "river": 5},
	"enqueue, 50 at once":                        {"asynq": 1.2, "bullmq": 3, "river": 10},
	"enqueue, in bulk of 1000":                   {"asynq": 1.3, "bullmq": 6, "river": 3, "limit": 0.5},
	"process, 10 at once":                        {"asynq": 3, "bullmq": 2, "river": 10},
	"process, 100 at once":                       {"asynq": 6, "bullmq": 3, "river": 10, "river tuned": 1.5, "limit": 0.5},
	"idle, from enqueue to handler, p99":         {"asynq": 0.01, "bullmq": 0.8, "river": 0.1},
	"process, 12 at once in each of 8 processes": {"asynq": 4, "bullmq": 2.5},
}

func (r results) page(set settings, all []system, versions []string) string {
	var page strings.Builder
	fmt.Fprintf(&page, `# Side by side with others

Measured by `+"`make bench-peers`"+` (testdata/bench): every system in its default
configuration, on servers that the command starts, %d rounds in which the systems
take turns; medians, with the lowest and the highest in brackets. Processing is
measured from outside, by what the store says has been finished for good, with
workers in processes of their own and handlers that do nothing. Ratios are ours to
theirs from the same run; times on another machine differ, the ratios less.

`, set.rounds)
	fmt.Fprintf(&page, "- Machine: %s, %d processors, shared with others\n", processor(), runtime.NumCPU())
	fmt.Fprintf(&page, "- Servers: %s", strings.Join(versions, ", "))
	fmt.Fprintf(&page, "; append-only file: %v; added round trip: %v\n", map[bool]string{true: "everysec", false: "off"}[set.aof], set.delay)
	fmt.Fprintf(&page, "- Systems: %s\n", strings.Join(systemVersions(), ", "))
	fmt.Fprint(&page, `- asynq has no call for many jobs: its bulk is 50 producers at once
- "river tuned" has the intervals of River's own benchmark; "limit" sends the writes of
  this project's scripts as plain pipelines, without any of their checks, from a program
  that loses jobs when it dies

`)
	fmt.Fprint(&page, "| workload | unit |")
	for _, s := range all {
		fmt.Fprintf(&page, " %s |", s.name())
	}
	fmt.Fprint(&page, "\n|---|---|")
	fmt.Fprintln(&page, strings.Repeat("---|", len(all)))
	for _, w := range workloads(set) {
		values, measured := r[w.name]
		if !measured {
			continue
		}
		fmt.Fprintf(&page, "| %s | %s |", w.name, w.unit)
		for _, s := range all {
			if len(values[s.name()]) == 0 {
				fmt.Fprint(&page, " |")
				continue
			}
			middle, low, high := median(values[s.name()])
			if len(values[s.name()]) == 1 {
				fmt.Fprintf(&page, " %s |", number(middle))
			} else {
				fmt.Fprintf(&page, " %s (%s–%s) |", number(middle), number(low), number(high))
			}
		}
		fmt.Fprintln(&page)
	}
	fmt.Fprint(&page, "\n## Ratios\n\n| workload | to | ratio | wanted | |\n|---|---|---|---|---|\n")
	for _, w := range workloads(set) {
		ours := r[w.name]["echomq"]
		for _, s := range all {
			theirs := r[w.name][s.name()]
			if s.name() == "echomq" || len(ours) == 0 || len(theirs) == 0 {
				continue
			}
			mine, _, _ := median(ours)
			peer, _, _ := median(theirs)
			ratio := mine / peer
			wanted, verdict := "", ""
			if bar, set := bars[w.name][s.name()]; set {
				wanted, verdict = "≥ "+number(bar), "reached"
				if w.less {
					wanted = "≤ " + number(bar)
				}
				if w.less && ratio > bar || !w.less && ratio < bar {
					verdict = "not reached"
				}
			}
			fmt.Fprintf(&page, "| %s | %s | %.3g | %s | %s |\n", w.name, s.name(), ratio, wanted, verdict)
		}
	}
	r.within(&page, "8 processes to 1 at the same total concurrency", "process, 12 at once in each of 8 processes", "process, 96 at once in 1 process", 0.7)
	r.within(&page, "1,000,000 waiting jobs to 1,000", "process, 100 at once, 1,000,000 waiting", "process, 100 at once, 1,000 waiting", 0.9)
	return page.String()
}

// within writes a ratio between two workloads of this project.
func (r results) within(page *strings.Builder, name, above, below string, bar float64) {
	if len(r[above]["echomq"]) == 0 || len(r[below]["echomq"]) == 0 {
		return
	}
	a, _, _ := median(r[above]["echomq"])
	b, _, _ := median(r[below]["echomq"])
	verdict := "reached"
	if a/b < bar {
		verdict = "not reached"
	}
	fmt.Fprintf(page, "| %s | itself | %.3g | ≥ %s | %s |\n", name, a/b, number(bar), verdict)
}

func number(value float64) string {
	if value >= 1000 {
		return fmt.Sprintf("%.0f", value)
	}
	return fmt.Sprintf("%.3g", value)
}

func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, model, found := strings.Cut(lines.Text(), ":"); found && strings.HasPrefix(name, "model name") {
			return strings.TrimSpace(model)
		}
	}
	return runtime.GOARCH
}

func systemVersions() []string {
	versions := []string{runtime.Version(), "bullmq " + bullVersion + " with ioredis " + ioredisVersion}
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		switch module.Path {
		case "github.com/hibiken/asynq", "github.com/riverqueue/river", "github.com/redis/go-redis/v9":
			versions = append(versions, module.Path+" "+module.Version)
		}
	}
	slices.SortFunc(versions, cmp.Compare[string])
	return versions
}
