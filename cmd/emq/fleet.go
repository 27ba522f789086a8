package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/echomq/echomq-go/runtime/embedded"
	"github.com/echomq/echomq-go/runtime/fleet"
)

// fleetFlags are the flags of emq probe fleet.
type fleetFlags struct {
	addr, bundle string
	peers        []string
	json         bool
}

func newProbeFleet() *cobra.Command {
	var flags fleetFlags
	cmd := &cobra.Command{
		Use:   "fleet [--addr URL] [--bundle DIR] [--peer NAME=COMMAND]…",
		Short: "Show whether runtimes understand each other's jobs",
		Long: `Puts each ordered pair of runtimes, a runtime with itself included, through the
same checks: a job enqueued by one is fetched and completed by the other, and the
result is read back by the first. The report says of every runtime what it is,
and of every check whether it passed, failed or did not run.

The Go runtime always takes part. Others do as peers: programs that speak JSON
lines on their standard streams, as docs/peers.md says. COMMAND is split at
spaces; the folder of the scripts is added as its last argument. Without --peer,
and in a checkout of the repository, these are its test peers in Node.js and
Elixir; the packages of the former are installed with npm into your cache folder.

Without --addr it starts a private engine. It removes the queues that it made.

Exits with 0 if all that was asked for passed, 1 if a pair failed, and 2 if
something could not run.`,
		Example: "  emq probe fleet\n" +
			"  emq probe fleet --addr redis://localhost:6379 --peer 'rust=./peer --quiet'",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return flags.run(cmd) },
	}
	cmd.Flags().StringVar(&flags.addr, "addr", "", "the server's `URL`: redis:// or unix://")
	cmd.Flags().StringVar(&flags.bundle, "bundle", "", "give peers the scripts of the folder `DIR` instead of this build's")
	cmd.Flags().StringArrayVar(&flags.peers, "peer", nil, "let COMMAND take part as NAME (`NAME=COMMAND`); repeatable")
	cmd.Flags().BoolVar(&flags.json, "json", false, "print JSON")
	return cmd
}

func (f *fleetFlags) run(cmd *cobra.Command) error {
	config := fleet.Config{Address: f.addr, Bundle: f.bundle}
	alone, err := f.choosePeers(cmd, &config)
	if err != nil {
		return err
	}
	if config.Bundle == "" {
		dir, err := os.MkdirTemp("", "emq-bundle-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if err := fleet.WriteBundle(dir); err != nil {
			return err
		}
		config.Bundle = dir
	}
	if config.Address == "" {
		server, err := embedded.Start(cmd.Context(), embedded.Logger(slog.New(slog.DiscardHandler)))
		if err != nil {
			return err
		}
		defer server.Close()
		config.Address = "unix://" + server.Options().Addr
	}
	report, err := fleet.Run(cmd.Context(), config)
	if err != nil {
		return err
	}
	if err := f.print(cmd.OutOrStdout(), report, alone); err != nil {
		return err
	}
	switch report.Verdict {
	case fleet.Passed:
		return nil
	case fleet.Failed:
		return errNot
	default:
		return errors.New("probe fleet: something could not run")
	}
}

// choosePeers enters those that are to take part. It returns why the Go runtime
// is alone, if it is.
func (f *fleetFlags) choosePeers(cmd *cobra.Command, config *fleet.Config) (alone string, err error) {
	for _, text := range f.peers {
		name, command, found := strings.Cut(text, "=")
		args := strings.Fields(command)
		if !found || len(args) == 0 {
			return "", fmt.Errorf("--peer %q: write NAME=COMMAND", text)
		}
		config.Peers = append(config.Peers, fleet.Command{Name: name, Args: args})
	}
	if len(config.Peers) > 0 {
		return "", nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	repository := fleet.Repository(dir)
	if repository == "" {
		return "no --peer was given, and the test peers are in a checkout of the repository only", nil
	}
	config.Peers, config.Stock = fleet.TestPeers(cmd.Context(), repository)
	return "", nil
}

func (f *fleetFlags) print(out io.Writer, report *fleet.Report, alone string) error {
	if f.json {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	return printFleet(out, report, alone)
}
