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
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// errNotMeasured says that a system has nothing to be measured for a workload.
var errNotMeasured = errors.New("not measured")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 5 && os.Args[1] == "worker" {
		err = work(ctx, os.Args[2], os.Args[3], os.Args[4])
	} else {
		err = run(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// work is a worker process: until its standard input ends.
func work(ctx context.Context, system, addr, slots string) error {
	concurrency, err := strconv.Atoi(slots)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var serve func(context.Context, int, func(payload)) error
	switch system {
	case "echomq":
		serve = newEchoMQ(addr).serve
	case "asynq":
		serve = newAsynq(addr).serve
	case "limit":
		serve = newRaw(addr).serve
	case "river", "river tuned":
		peer, err := newRiver(ctx, addr, system == "river tuned")
		if err != nil {
			return err
		}
		serve = peer.serve
	default:
		return fmt.Errorf("no system %q", system)
	}
	if err := serve(ctx, concurrency, func(payload) {}); ctx.Err() == nil {
		return err
	}
	return nil
}

// settings are the flags.
type settings struct {
	rounds  int
	atMost  time.Duration
	systems string
	only    string
	delay   time.Duration
	aof     bool
	out     string
}

func run(ctx context.Context) error {
	var set settings
	flag.IntVar(&set.rounds, "rounds", 5, "how many rounds are made")
	flag.DurationVar(&set.atMost, "time", 3*time.Second, "how long one measurement of processing takes at most")
	flag.StringVar(&set.systems, "systems", "echomq,asynq,bullmq,river,river tuned,limit", "which systems")
	flag.StringVar(&set.only, "only", "", "only workloads whose names contain this")
	flag.DurationVar(&set.delay, "delay", 0, "a round trip to Valkey takes so much longer")
	flag.BoolVar(&set.aof, "aof", false, "Valkey writes its append-only file, everysec")
	flag.StringVar(&set.out, "out", "", "the file that the page is written to; default standard output")
	flag.Parse()
	if flag.NArg() > 0 || set.rounds < 1 {
		flag.Usage()
		return errors.New("no arguments are taken, and there must be a round")
	}
	dir, err := os.MkdirTemp("", "emq-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		return err
	}
	all, versions, closeAll, err := open(ctx, dir, set)
	if err != nil {
		return err
	}
	defer closeAll()
	found := results{}
	for round := range set.rounds {
		for _, w := range workloads(set) {
			if !strings.Contains(w.name, set.only) {
				continue
			}
			// Who is first in one round is last in another.
			turn := round % len(all)
			for _, s := range slices.Concat(all[turn:], all[:turn]) {
				if w.once && round > 0 || w.own && s.name() != "echomq" {
					continue
				}
				value, err := w.measure(ctx, s)
				if errors.Is(err, errNotMeasured) {
					continue
				}
				if err == nil {
					err = s.clear(ctx)
				}
				if err != nil {
					return fmt.Errorf("%s, %s: %w", w.name, s.name(), err)
				}
				found.add(w.name, s.name(), value)
				fmt.Fprintf(os.Stderr, "round %d: %-36s %-12s %12.1f %s\n", round+1, w.name, s.name(), value, w.unit)
			}
		}
	}
	page := found.page(set, all, versions)
	if set.out == "" {
		_, err = fmt.Print(page)
		return err
	}
	return os.WriteFile(set.out, []byte(page), 0o644)
}

// open starts the servers that the chosen systems need, and the systems.
func open(ctx context.Context, dir string, set settings) (all []system, versions []string, closeAll func(), err error) {
	var ends []func()
	closeAll = func() {
		for _, end := range slices.Backward(ends) {
			end()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	addr, version, stop, err := startValkey(ctx, dir, set.aof)
	if err != nil {
		return nil, nil, closeAll, err
	}
	ends, versions = append(ends, stop), append(versions, version)
	if set.delay > 0 {
		near, stop, err := startDelay(addr, set.delay)
		if err != nil {
			return nil, nil, closeAll, err
		}
		addr, ends = near, append(ends, stop)
	}
	postgres := ""
	for name := range strings.SplitSeq(set.systems, ",") {
		var s system
		switch name {
		case "echomq":
			s = newEchoMQ(addr)
		case "asynq":
			s = newAsynq(addr)
		case "limit":
			s = newRaw(addr)
		case "bullmq":
			script, err := installBullMQ(ctx, dir)
			if err != nil {
				return nil, nil, closeAll, err
			}
			if s, err = newBullMQ(ctx, addr, script); err != nil {
				return nil, nil, closeAll, err
			}
		case "river", "river tuned":
			if postgres == "" {
				home := filepath.Join(dir, "postgres")
				if err := os.Mkdir(home, 0o755); err != nil {
					return nil, nil, closeAll, err
				}
				url, version, stop, err := startPostgres(ctx, home)
				if err != nil {
					return nil, nil, closeAll, err
				}
				postgres, ends, versions = url, append(ends, stop), append(versions, version)
			}
			if s, err = newRiver(ctx, postgres, name == "river tuned"); err != nil {
				return nil, nil, closeAll, err
			}
		default:
			return nil, nil, closeAll, fmt.Errorf("no system %q", name)
		}
		all, ends = append(all, s), append(ends, s.close)
	}
	return all, versions, closeAll, nil
}
