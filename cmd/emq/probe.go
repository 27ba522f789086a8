package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/echomq/echomq-go/runtime/conformance"
	"github.com/echomq/echomq-go/runtime/embedded"
	"github.com/echomq/echomq-go/runtime/wire"
)

// What goes wrong is in the report; the client library's own log repeats it.
func init() { redis.SetLogger(noLog{}) }

type noLog struct{}

func (noLog) Printf(context.Context, string, ...any) {}

func newProbe() *cobra.Command {
	cmd := &cobra.Command{Use: "probe", Short: "Find out what a deployment is capable of"}
	cmd.AddCommand(newProbeConformance(), newProbeFleet())
	return cmd
}

// probeFlags are the flags of emq probe conformance.
type probeFlags struct {
	addr, queue, bundle string
	json, step, observe bool
	length              time.Duration
}

func newProbeConformance() *cobra.Command {
	var flags probeFlags
	cmd := &cobra.Command{
		Use:   "conformance [--addr URL] [--queue NAME]",
		Short: "Show whether a deployment conforms to the protocol, by what its engine says it did",
		Long: `Runs jobs on a queue that is not in use, watches the engine with MONITOR, shows
each transition with the keys and commands that the engine executed, and judges
the five points of the protocol's "Conformance". It deletes what it made.

Without --addr it starts a private engine. With --observe it watches a queue that
is in use instead, and writes nothing.

Exits with 0 if the deployment conforms, 1 if it does not, and 2 if that could
not be told. See docs/conformance.md.`,
		Example: "  emq probe conformance\n" +
			"  emq probe conformance --addr redis://localhost:6379 --step\n" +
			"  emq probe conformance --addr redis://localhost:6379 --observe --queue payments --for 1m",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	cmd.Flags().StringVar(&flags.addr, "addr", "", "the server's `URL`: redis://, rediss:// or unix://; any node of a cluster")
	cmd.Flags().StringVar(&flags.queue, "queue", "", "the queue called `NAME`; by default a new one")
	cmd.Flags().StringVar(&flags.bundle, "bundle", "", "run the scripts of the folder `DIR` instead of this build's")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&flags.step, "step", false, "wait for Enter after each step")
	cmd.Flags().BoolVar(&flags.observe, "observe", false, "watch a queue that is in use, and write nothing")
	cmd.Flags().DurationVar(&flags.length, "for", 30*time.Second, "with --observe, for how long")
	return cmd
}

func (f *probeFlags) check(cmd *cobra.Command) error {
	switch {
	case f.step && f.json:
		return errors.New("give either --step or --json, not both")
	case f.observe && (f.step || f.bundle != ""):
		return errors.New("--observe runs nothing, so it goes with neither --step nor --bundle")
	case f.observe && (f.addr == "" || f.queue == ""):
		return errors.New("--observe needs --addr and --queue")
	case !f.observe && cmd.Flags().Changed("for"):
		return errors.New("--for goes with --observe")
	case f.observe && f.length <= 0:
		return errors.New("--for must be positive")
	}
	return nil
}

func (f *probeFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	target, done, err := f.target(cmd.Context())
	if err != nil {
		return err
	}
	defer done()
	var report *conformance.Report
	page := &probePage{out: cmd.OutOrStdout(), silent: f.json}
	switch {
	case f.observe:
		page.intro(fmt.Sprintf("Watching queue %s of %s for %v; writing nothing.", target.Queue, target.Options.Addr, f.length))
		report = conformance.Observe(cmd.Context(), target, f.length)
		for _, step := range report.Steps {
			page.step(&step)
		}
	default:
		page.intro(introduction(target))
		keys := newEnter(cmd.InOrStdin())
		report = conformance.Probe(cmd.Context(), target, func(report *conformance.Report) error {
			page.step(&report.Steps[len(report.Steps)-1])
			if !f.step {
				return nil
			}
			page.prompt()
			return keys.wait(cmd.Context())
		})
	}
	if f.json {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return err
		}
	}
	page.verdict(report)
	switch report.Verdict {
	case conformance.Conforms:
		return nil
	case conformance.Violates:
		return errNot
	}
	return fmt.Errorf("could not tell: %s", report.Reason)
}

// target returns what the flags ask for, and a function that ends what was
// started for it.
func (f *probeFlags) target(ctx context.Context) (conformance.Target, func(), error) {
	none := func() {}
	name := f.queue
	if name == "" {
		name = "emq-probe-" + randomWord()
	}
	queue, err := wire.ParseQueue(name)
	if err != nil {
		return conformance.Target{}, none, err
	}
	target := conformance.Target{Queue: queue, Bundle: conformance.Embedded()}
	if f.bundle != "" {
		if target.Bundle, err = conformance.ReadBundle(f.bundle); err != nil {
			return conformance.Target{}, none, err
		}
	}
	if f.addr != "" {
		target.Options, err = redis.ParseURL(f.addr)
		if err != nil {
			err = fmt.Errorf("--addr %q: %w", f.addr, err)
		}
		return target, none, err
	}
	server, err := embedded.Start(ctx, embedded.Logger(nil))
	if err != nil {
		return conformance.Target{}, none, err
	}
	target.Engine, target.Options = server.Engine(), server.Options()
	return target, func() { _ = server.Close() }, nil
}

func introduction(target conformance.Target) string {
	where := "at " + target.Options.Addr
	if target.Engine != "" {
		where = "on an embedded engine, started for this: " + target.Engine +
			".\nIt says nothing about a deployment of yours; give its address with --addr"
	}
	scripts := "the scripts of this build"
	if target.Bundle.Dir != "" {
		scripts = "the scripts in " + target.Bundle.Dir
	}
	return fmt.Sprintf("Probing queue %s, slot %d, with %s, %s.",
		target.Queue, wire.Slot(target.Queue.Key("meta")), scripts, where)
}

// randomWord returns six letters.
func randomWord() string {
	var word strings.Builder
	for range 6 {
		word.WriteByte(byte('a' + rand.IntN(26)))
	}
	return word.String()
}
