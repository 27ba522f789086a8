package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/echomq/echomq-go/runtime/fleet"
)

// printFleet prints a report for people.
func printFleet(out io.Writer, report *fleet.Report, alone string) error {
	var page strings.Builder
	fmt.Fprintf(&page, "Fleet interop over %s, on %s.\n\n", report.Protocol, report.Engine)
	printRuntimes(&page, report.Runtimes)
	printMatrix(&page, report)
	printChecks(&page, report.Checks)
	printFaults(&page, report)
	printSum(&page, report, alone)
	_, err := io.WriteString(out, page.String())
	return err
}

func printRuntimes(page io.Writer, runtimes []fleet.Runtime) {
	table := tabwriter.NewWriter(page, 0, 0, 2, ' ', 0)
	for _, one := range runtimes {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", one.Name, one.What, cmp.Or(one.Version, "–"), one.Standing)
	}
	table.Flush()
	fmt.Fprintln(page)
	for _, one := range runtimes {
		if one.Note != "" {
			fmt.Fprintf(page, "%s: %s: %s.\n", one.Name, one.Standing, one.Note)
		}
	}
}

// printMatrix prints how many checks each pair passed.
func printMatrix(page io.Writer, report *fleet.Report) {
	fmt.Fprint(page, "\nEnqueued and read back by (down), fetched and completed by (across):\nchecks that passed.\n\n")
	table := tabwriter.NewWriter(page, 0, 0, 2, ' ', 0)
	var names []string
	for _, pair := range report.Pairs {
		if pair.From == report.Pairs[0].From {
			names = append(names, pair.To)
		}
	}
	fmt.Fprintf(table, "\t%s\n", strings.Join(names, "\t"))
	for i, pair := range report.Pairs {
		if i%len(names) == 0 {
			fmt.Fprint(table, pair.From)
		}
		fmt.Fprintf(table, "\t%s", cell(pair))
		if i%len(names) == len(names)-1 {
			fmt.Fprintln(table)
		}
	}
	table.Flush()
}

func cell(pair fleet.Pair) string {
	passed := fmt.Sprintf("%d/%d", pair.Count(fleet.CheckPassed), len(pair.Results))
	switch {
	case pair.Count(fleet.CheckFailed) > 0:
		return passed + " FAILED"
	case pair.Count(fleet.CheckNotRun) == len(pair.Results):
		return "not run"
	case pair.Count(fleet.CheckNotRun) > 0:
		return passed + ", rest not run"
	default:
		return passed
	}
}

func printChecks(page io.Writer, checks []fleet.Check) {
	fmt.Fprintln(page, "\nThe checks:")
	table := tabwriter.NewWriter(page, 0, 0, 2, ' ', 0)
	for _, check := range checks {
		fmt.Fprintf(table, "  %s\t%s\n", check.Name, check.Title)
	}
	table.Flush()
}

// printFaults prints every check that failed, and why others did not run.
func printFaults(page io.Writer, report *fleet.Report) {
	for _, pair := range report.Pairs {
		told := map[string]bool{}
		for _, result := range pair.Results {
			switch {
			case result.Status == fleet.CheckFailed:
				fmt.Fprintf(page, "\n%s → %s, %s: FAILED\n  expected  %s\n  found     %s\n",
					pair.From, pair.To, result.Check, result.Expected, cmp.Or(result.Found, "nothing"))
			case result.Status == fleet.CheckNotRun && !told[result.Note]:
				told[result.Note] = true
				fmt.Fprintf(page, "\n%s → %s: %d of %d checks not run: %s\n",
					pair.From, pair.To, pair.Count(fleet.CheckNotRun), len(pair.Results), result.Note)
			}
		}
	}
}

func printSum(page io.Writer, report *fleet.Report, alone string) {
	switch {
	case report.Verdict == fleet.Failed:
		fmt.Fprintln(page, "\nFAILED.")
	case report.Verdict == fleet.Incomplete:
		fmt.Fprintln(page, "\nNot all that was asked for could run.")
	case alone != "":
		fmt.Fprintf(page, "\nOnly the Go runtime took part, which shows no interop: %s.\n", alone)
	default:
		fmt.Fprintln(page, "\nEvery pair passed every check.")
	}
	if peers := testPeers(report.Runtimes); len(peers) > 0 {
		fmt.Fprintf(page, "Test peers show that the scripts and their manifest suffice for another language, not that a library for it exists: %s.\n",
			strings.Join(peers, ", "))
	}
}

// testPeers returns the names of those that took part and are no libraries.
func testPeers(runtimes []fleet.Runtime) []string {
	var names []string
	for _, one := range runtimes {
		if one.Standing == fleet.TookPart && one.What == "test peer" {
			names = append(names, one.Name)
		}
	}
	return names
}
