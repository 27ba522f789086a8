package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// section is a part of the page: how the systems run, and what was found.
type section struct {
	key, title, text string
	rounds           int
	systems          []string
	workloads        []workload
	delay            time.Duration // that a round trip takes longer
	aof              bool
	ping             time.Duration
	found            results
	broken           []error // what could not be measured at all
}

// choose returns the sections that the flags ask for.
func choose(set settings) ([]*section, error) {
	all := []*section{
		{
			key: "default", title: "Default configurations", rounds: set.rounds,
			text:    "Every system as it is without any option, but for the concurrency. \"river tuned\" is beside it at the workloads of which something is wanted from it.",
			systems: []string{"echomq", "asynq", "bullmq", "river", "river tuned", "limit"}, workloads: allWorkloads(set),
		},
		{
			key: "tuned", title: "Tuned configurations", rounds: set.fewer,
			text: "echomq without events and without a record of completed jobs (`events=none`, `completed=none`). " +
				"asynq can only be told the concurrency, and to look every 5 ms for jobs while it has none. " +
				"BullMQ with `removeOnComplete` and four workers in the process, which share the concurrency. " +
				"River with the intervals of its own benchmark.",
			systems: []string{"echomq tuned", "asynq tuned", "bullmq tuned", "river tuned", "limit"}, workloads: tunedWorkloads(set),
		},
		{
			key: "delay", title: "With a slower network", rounds: set.fewer,
			text: fmt.Sprintf("Default configurations. A proxy makes each round trip to Valkey and PostgreSQL %v longer. "+
				"It runs in the harness and takes some of the processors' time.", set.delay),
			systems: []string{"echomq", "asynq", "bullmq", "river", "river tuned", "limit"}, workloads: plainWorkloads(set), delay: set.delay,
		},
		{
			key: "aof", title: "With the append-only file", rounds: set.fewer,
			text:    "Default configurations. Valkey writes its append-only file, `appendfsync everysec`. PostgreSQL is as in the other sections: it has written each transaction to disk before it answers.",
			systems: []string{"echomq", "asynq", "bullmq", "river", "river tuned", "limit"}, workloads: plainWorkloads(set), aof: true,
		},
	}
	var chosen []*section
	for key := range strings.SplitSeq(set.sections, ",") {
		n := slices.IndexFunc(all, func(s *section) bool { return s.key == key })
		if n < 0 {
			return nil, fmt.Errorf("no section %q", key)
		}
		s := all[n]
		s.workloads = slices.DeleteFunc(s.workloads, func(w workload) bool {
			return !slices.ContainsFunc(strings.Split(set.only, ";"), func(part string) bool { return strings.Contains(w.name, part) })
		})
		chosen = append(chosen, s)
	}
	return chosen, nil
}

// run makes the rounds. What fails is noted, and the rest goes on.
func (s *section) run(ctx context.Context, servers *servers, set settings) error {
	if len(s.workloads) == 0 {
		return nil
	}
	e, err := servers.open(ctx, s, set.systems)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: failed: %v\n", s.key, err)
		s.broken = append(s.broken, err)
		return ctx.Err()
	}
	defer e.close()
	s.ping = e.ping
	for _, one := range e.systems {
		if err := warm(ctx, one); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s: %v\n", s.key, one.name(), err)
			s.broken = append(s.broken, fmt.Errorf("%s, before the first round: %w", one.name(), err))
		}
	}
	for round := range s.rounds {
		for _, w := range s.workloads {
			// Who is first in one round is last in another.
			turn := round % max(len(e.systems), 1)
			for _, one := range slices.Concat(e.systems[turn:], e.systems[:turn]) {
				if w.rounds > 0 && round >= w.rounds || len(w.peers) > 0 && !slices.Contains(w.peers, one.name()) {
					continue
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				s.attempt(ctx, round, w, one)
			}
		}
	}
	return nil
}

// warm has a system enqueue for a moment, so that the first round finds connections
// open and code compiled, as the others do.
func warm(ctx context.Context, s system) error {
	for _, producers := range []int{1, 50} {
		if _, err := s.enqueue(ctx, load{Jobs: 10_000, Producers: producers, Bulk: 1, Bytes: 100, AtMost: 500 * time.Millisecond}); err != nil {
			return err
		}
	}
	return s.clear(ctx)
}

// attempt makes one measurement and notes what it found, or that it failed.
func (s *section) attempt(ctx context.Context, round int, w workload, one system) {
	limited, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	began := time.Now()
	got, err := w.measure(limited, one)
	clearing, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if failure := one.clear(clearing); failure != nil {
		err = errors.Join(err, fmt.Errorf("cleared: %w", failure))
	}
	switch {
	case errors.Is(err, errNotMeasured):
	case err != nil:
		s.found.fail(w.name, one.name(), err)
		fmt.Fprintf(os.Stderr, "%s, round %d: %-44s %-12s failed: %v\n", s.key, round+1, w.name, one.name(), err)
	default:
		if s.delay > 0 && w.here && got.costs != nil && base(one.name()) != "bullmq" {
			got.costs.client = 0 // the proxy's is in it
		}
		s.found.add(w, one.name(), got)
		fmt.Fprintf(os.Stderr, "%s, round %d: %-44s %-12s %s (%.1f s)\n", s.key, round+1, w.name, one.name(), line(w, got), time.Since(began).Seconds())
	}
}

// line says what a measurement found.
func line(w workload, got measured) string {
	var parts []string
	for n, f := range w.figures {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", f.name, number(got.values[n]), f.unit)))
	}
	if c := got.costs; c != nil {
		parts = append(parts, fmt.Sprintf("a job: server %s µs, %s commands, %s reads, client %s µs",
			number(c.server), number(c.commands), number(c.reads), number(c.client)))
	}
	return strings.Join(parts, ", ")
}
