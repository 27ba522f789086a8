// Command bench measures this project side by side with asynq, BullMQ, River and
// the limit (plain pipelines of the same writes), on servers of its own, in rounds
// that take turns, and writes a page of what it found.
//
//	go run . -rounds 5 -out ../../docs/benchmarks.md
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 3 && os.Args[1] == "worker" {
		err = work(ctx, os.Args[2])
	} else {
		err = measure(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	rounds, fewer int
	atMost        time.Duration
	sections      string
	systems       string
	only          string
	delay         time.Duration
	steady        time.Duration
	profile       string
	notes         string
	out           string
	command       string // as the page repeats it
}

func parse() (settings, error) {
	var set settings
	flag.IntVar(&set.rounds, "rounds", 5, "how many rounds are made of the default configurations")
	flag.IntVar(&set.fewer, "fewer", 2, "how many rounds are made of each other section, if -rounds is not less")
	flag.DurationVar(&set.atMost, "time", 1500*time.Millisecond, "how long one measurement of a rate takes, about")
	flag.StringVar(&set.sections, "sections", "default,tuned,delay,aof", "which sections of the page")
	flag.StringVar(&set.systems, "systems", "echomq,asynq,bullmq,river,limit", "which systems")
	flag.StringVar(&set.only, "only", "", "only workloads whose names contain one of these, separated by semicolons")
	flag.DurationVar(&set.delay, "delay", time.Millisecond, "how much longer a round trip takes in the section delay")
	flag.DurationVar(&set.steady, "steady", 0, "how long this project is watched at full load, after all else, and asynq and BullMQ for a fifth of that; 0 for not at all")
	flag.StringVar(&set.profile, "profile", "", "a folder that CPU profiles of this project are written to")
	flag.StringVar(&set.notes, "notes", "notes.md", "the file that the page ends with; empty for none")
	flag.StringVar(&set.out, "out", "", "the file that the page is written to; default standard output")
	flag.Parse()
	if flag.NArg() > 0 || set.rounds < 1 || set.fewer < 1 {
		flag.Usage()
		return set, errors.New("no arguments are taken, and there must be a round")
	}
	set.fewer = min(set.fewer, set.rounds)
	set.command = "cd testdata/bench && go run ."
	flag.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		if strings.ContainsAny(value, " ;") {
			value = "'" + value + "'"
		}
		set.command += " -" + f.Name + " " + value
	})
	return set, nil
}

// measure makes the whole page.
func measure(ctx context.Context) error {
	set, err := parse()
	if err != nil {
		return err
	}
	notes := ""
	if set.notes != "" {
		text, err := os.ReadFile(set.notes)
		if err != nil {
			return err
		}
		notes = string(text)
	}
	if set.profile != "" {
		if err := os.MkdirAll(set.profile, 0o755); err != nil {
			return err
		}
	}
	sections, err := choose(set)
	if err != nil {
		return err
	}
	began := time.Now()
	page := page{settings: set, host: lookAtHost(), notes: notes}
	servers, err := openServers(ctx)
	if err != nil {
		return err
	}
	defer servers.close()
	text, failures := "", 0
	// The page is written after every section: what was measured is not lost with a
	// later one.
	write := func() error {
		page.versions = append(systemVersions(), servers.versions()...)
		page.took = time.Since(began)
		text, failures = page.write()
		if set.out == "" {
			return nil
		}
		return os.WriteFile(set.out, []byte(text), 0o644)
	}
	for _, s := range sections {
		if err := s.run(ctx, servers, set); err != nil {
			return err
		}
		page.sections = append(page.sections, s)
		if err := write(); err != nil {
			return err
		}
	}
	if set.steady > 0 {
		systems, length := append([]string{"echomq"}, steadyPeers...), set.steady
		for n, system := range systems {
			if n > 0 && !slices.Contains(strings.Split(set.systems, ","), system) {
				continue
			}
			if n == 1 {
				length /= peersShare
			}
			seen, err := steadyState(ctx, servers, length, system)
			if err != nil {
				return err
			}
			page.steady = append(page.steady, seen)
		}
	}
	if err = write(); set.out == "" {
		_, err = fmt.Print(text)
	}
	if err == nil && failures > 0 {
		err = fmt.Errorf("%d measurements failed; the page says which", failures)
	}
	return err
}
