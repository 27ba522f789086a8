package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	exitWell    = 0 // all is well
	exitNot     = 1 // what was looked at is not well
	exitUnknown = 2 // it could not be told, or the command was malformed
)

// errNot ends a command whose finding is that something is not well, and which
// has said so already.
var errNot = errors.New("not well")

// execute runs the command with the given arguments and returns its exit
// status.
func execute(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitWell
	case errors.Is(err, errNot):
		return exitNot
	default:
		fmt.Fprintf(errs, "emq: %v\n", err)
		return exitUnknown
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "emq",
		Short:         "Look at EchoMQ queues and at what speaks their protocol",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(newLint(), newSlot(), newProbe(), newACL())
	return root
}
