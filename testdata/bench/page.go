package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// page is what is written at the end.
type page struct {
	settings settings
	host     host
	versions []string
	sections []*section
	steady   []*steady
	notes    string
	took     time.Duration
}

// write returns the page and how many measurements failed.
func (p page) write() (text string, failures int) {
	var w strings.Builder
	fmt.Fprintf(&w, `# Side by side with others

Measured by `+"`make bench-peers`"+` in one run of %v on one machine, which is

    %s

on servers that the command starts, in rounds in which the systems take turns. A
figure is the median of its rounds, with the lowest and the highest in brackets.
Ratios are ours to theirs. On another machine the times differ, and the ratios too if its
processors are shared otherwise.

- Machine: %s, %d processors, %s of memory, %s; load before the run, of 1 and 5 minutes: %s
- Versions: %s
- Everything, servers included, shares these processors and talks over loopback

`, p.took.Round(time.Second), p.settings.command, p.host.processor, p.host.processors, p.host.memory, p.host.kernel, p.host.load, strings.Join(p.versions, ", "))
	fmt.Fprintf(&w, `How it is measured:

- Jobs carry 100 bytes if nothing else is said. A rate is measured for about %v, an
  enqueue from the first call to the last answer.
- Processing is watched from outside, by what the store says has been finished for
  good, from %v after the first finished job. Workers are processes of their own, their
  handlers do nothing, and enough jobs wait before they start. So short a time is over
  before much is trimmed; the steady state below is not.
- Valkey keeps nothing on disk, but in the section on its append-only file; PostgreSQL has
  written each transaction to disk before it answers, in all of them. So do not read the
  ratios to River as those of two clients.
- "limit" sends the writes of this project's scripts as plain pipelines, without any
  check, from a program that loses jobs when it dies. It makes one round trip for each
  enqueue, also of 50 callers, and waits for each of a worker's before the next: where
  calls are shared or lie behind each other, this project can be faster.
- asynq 0.26 has no call for many jobs: its bulk is 50 producers at once.
- BullMQ and its handlers run in Node, in one thread of a process. Where a cell is empty,
  the system has not been measured: the last rows are about this project, River is not on
  Valkey, and a program's CPU is not told apart from the proxy's.
- Latency counts from the call that enqueues, with the worker in the process of the
  producer: when idle 60 jobs (asynq 12), each %v after the last was handled, on 10
  slots; at 1,000 jobs/s 3,000 jobs, on 100. Delayed jobs are 200, enqueued at once,
  due from half a second on, 10 ms apart; it counts from when they are due.
- Memory is what the server holds more (Valkey's used_memory without the buffers of its
  clients, PostgreSQL's size of the table of jobs) after 20,000 more jobs.
- Ten queues are served by one worker process with 100 slots; asynq shares them among
  the queues, the others divide them.
- %d processes have %d slots each, their handlers take %v, and for %v, their first ones,
  more work waits than the server can hand out; one of them is behind a proxy that makes a
  round trip %v longer. Its share is what it handled, divided by a %dnd of what all handled.

`, p.settings.atMost, warmUp, idleGap, farProcesses, farSlots, farTakes, farLasts*p.settings.atMost, farAway, farProcesses)
	for _, s := range p.sections {
		if len(s.workloads) == 0 {
			continue
		}
		failures += s.found.failed() + len(s.broken)
		s.write(&w)
	}
	if len(p.steady) > 0 {
		p.writeSteady(&w)
	}
	for _, s := range p.steady {
		if s.failure != nil {
			failures++
		}
	}
	if p.notes != "" {
		fmt.Fprintf(&w, "%s\n", strings.TrimSpace(p.notes))
	}
	return strings.TrimRight(w.String(), "\n") + "\n", failures
}

// write writes a section.
func (s *section) write(w *strings.Builder) {
	fmt.Fprintf(w, "## %s\n\n%s A round trip to Valkey (PING) takes %s ms.\n\n",
		s.title, s.text, number(float64(s.ping.Microseconds())/1000))
	for _, err := range s.broken {
		fmt.Fprintf(w, "- failed: %s\n", oneLine(err))
	}
	if len(s.broken) > 0 {
		fmt.Fprintln(w)
	}
	row(w, append([]string{"workload", "unit", "rounds"}, s.systems...)...)
	rule(w, 3+len(s.systems))
	for _, load := range s.workloads {
		for _, f := range load.figures {
			cells := []string{load.full(f), f.unit, strconv.Itoa(s.found.rounds(load.full(f)))}
			for _, system := range s.systems {
				cells = append(cells, s.found.cell(load, f, system))
			}
			row(w, cells...)
		}
	}
	if s.key == "default" {
		s.writeGoals(w)
	}
	s.writeRatios(w)
	if len(s.found.costs) > 0 {
		s.writeCosts(w)
	}
	fmt.Fprintln(w)
}

// writeGoals writes what is wanted, and whether it is so.
func (s *section) writeGoals(w *strings.Builder) {
	fmt.Fprint(w, "\n### Goals\n\n")
	row(w, "workload", "compared with", "ratio", "goal", "")
	rule(w, 5)
	for _, g := range goals {
		to := g.to
		switch {
		case to == "":
			to = "–"
		case g.below != "":
			to = "itself, " + g.below
		}
		value, known := g.value(&s.found)
		goalRow(w, g.figure, to, value, known, g.bound, g.less)
	}
	for _, g := range costGoals {
		value, known := s.found.cost(g.workload, "echomq", g.pick)
		goalRow(w, g.workload+", "+g.what+" of a job", "–", value, known, g.bound, true)
	}
}

func goalRow(w *strings.Builder, figure, to string, value float64, known bool, bound float64, less bool) {
	if !known {
		row(w, figure, to, "", wanted(bound, less), "not measured")
		return
	}
	row(w, figure, to, number(value), wanted(bound, less), verdict(value, bound, less))
}

// writeRatios writes ours to theirs, all of them.
func (s *section) writeRatios(w *strings.Builder) {
	own := s.systems[0]
	var rows [][]string
	for _, load := range s.workloads {
		for _, f := range load.figures {
			cells, some := []string{load.full(f)}, false
			for _, system := range s.systems[1:] {
				cell := ""
				if ratio, known := s.found.ratio(load.full(f), own, load.full(f), system); known {
					cell, some = number(ratio), true
				}
				cells = append(cells, cell)
			}
			if some {
				rows = append(rows, cells)
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(w, "\n### Ratios of %s to\n\nOf jobs/s more is better, of times and of memory less.\n\n", own)
	row(w, append([]string{"workload"}, s.systems[1:]...)...)
	rule(w, len(s.systems))
	for _, cells := range rows {
		row(w, cells...)
	}
}

// writeCosts writes what a job costs, of the systems on Valkey.
func (s *section) writeCosts(w *strings.Builder) {
	fmt.Fprint(w, "\n### What a job costs\n\n"+
		"CPU of Valkey's main thread; commands that it ran, those within scripts too but not the\n"+
		"calls of scripts; reads of its sockets, which is about the round trips; CPU of the program\n"+
		"that enqueues, or of the workers from their first job on.\n\n")
	row(w, "workload", "system", "server, µs", "commands", "reads", "program, µs")
	rule(w, 6)
	for _, load := range s.workloads {
		for _, system := range s.systems {
			cells, known := []string{load.name, system}, false
			for _, pick := range []func(costs) float64{
				func(c costs) float64 { return c.server }, func(c costs) float64 { return c.commands },
				func(c costs) float64 { return c.reads }, func(c costs) float64 { return c.client },
			} {
				cell := ""
				if value, is := s.found.cost(load.name, system, pick); is {
					known = true
					if value > 0 {
						cell = number(value)
					}
				}
				cells = append(cells, cell)
			}
			if known {
				row(w, cells...)
			}
		}
	}
}

// writeSteady writes the steady states.
func (p page) writeSteady(w *strings.Builder) {
	fmt.Fprintf(w, `## Steady state

One system after the other, alone, so on a machine that others use as well some may meet
it slower: one worker process with 100 slots, a producer that keeps about
%s jobs waiting, each system's default for what has completed (here: kept for 24 h, of
each queue the newest 10,000; asynq deletes it, BullMQ keeps all of it), from an empty server.
Each row is the mean rate since the row before, and what was there at its end.

`, thousands(steadyWaiting))
	for _, s := range p.steady {
		s.write(w)
	}
	if own := p.steady[0]; len(p.steady) > 1 {
		for _, peer := range p.steady[1:] {
			fmt.Fprintf(w, "In its last %v %s finished %s times as many jobs a second as %s did after it.\n",
				peer.length, own.system, number(own.mean(peer.length)/peer.mean(peer.length)), peer.system)
		}
		fmt.Fprintln(w)
	}
}

// write writes one of them.
func (s *steady) write(w *strings.Builder) {
	own := s.system == "echomq"
	fmt.Fprintf(w, "### %s, for %v\n\n", s.system, s.length)
	head := []string{"after", "jobs/s", "waiting", "used memory, MiB"}
	if own {
		head = append(head, "`completed`")
	}
	row(w, head...)
	rule(w, len(head))
	for _, sample := range s.samples {
		cells := []string{sample.after.Round(time.Second).String(), number(sample.rate), thousands(sample.waiting),
			number(float64(sample.memory) / (1 << 20))}
		if own {
			cells = append(cells, thousands(sample.completed))
		}
		row(w, cells...)
	}
	fmt.Fprintf(w, "\n%s jobs/s in all.", number(s.mean(s.length)))
	if own {
		first, second := s.halves()
		fmt.Fprintf(w, " `completed` held at most %s jobs at the ends of rows in the first half, and %s in the second.",
			thousands(first), thousands(second))
	}
	if s.failure != nil {
		fmt.Fprintf(w, "\nIt ended early: failed: %s", oneLine(s.failure))
	}
	fmt.Fprint(w, "\n\n")
}

func row(w *strings.Builder, cells ...string) {
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}

func rule(w *strings.Builder, cells int) {
	fmt.Fprintf(w, "|%s\n", strings.Repeat("---|", cells))
}

// short writes a number with no digit that it can do without.
func short(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
