package main

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/lua/lint"
)

// printText prints a block for each script and a summary. The faults that do not
// count are listed if all is set, and else counted.
func (i *inspection) printText(to io.Writer, all bool) error {
	out := bufio.NewWriter(to)
	for _, report := range i.reports {
		fmt.Fprintf(out, "%s: %s\n", report.File, verdictLine(report))
		if report.Err == nil {
			printReport(out, report, all)
		}
		fmt.Fprintln(out)
	}
	for _, unread := range i.unread {
		fmt.Fprintf(out, "%s: NOT JUDGED: %v\n\n", unread.path, unread.err)
	}
	operands, undeclared, extended := i.operands()
	fmt.Fprintf(out, "%s: every key is declared in %d and not in %d, %d at fault otherwise, %d not judged; %s, %d undeclared, %d of these a declared key with something joined to it\n",
		counted(len(i.reports), "script"), i.verdicts(lint.EveryDeclared), i.verdicts(lint.SomeUndeclared),
		i.verdicts(lint.Unclean), i.verdicts(lint.Untold), counted(operands, "operand"), undeclared, extended)
	return out.Flush()
}

func verdictLine(r *lint.Report) string {
	switch operands := counted(len(r.Operands), "operand"); r.Verdict {
	case lint.EveryDeclared:
		return "declares every key; " + operands
	case lint.SomeUndeclared:
		return fmt.Sprintf("DOES NOT DECLARE EVERY KEY: %d of %s", r.Undeclared(), operands)
	case lint.Unclean:
		return fmt.Sprintf("AT FAULT: it declares every key, but has %s", counted(len(r.Findings), "other fault"))
	default:
		return fmt.Sprintf("NOT JUDGED: %v", r.Err)
	}
}

func printReport(out io.Writer, r *lint.Report, all bool) {
	fmt.Fprintf(out, "  keys: %s\n", keysLine(r.Keys))
	if len(r.Includes) > 0 {
		fmt.Fprintf(out, "  includes: %s\n", counted(len(r.Includes), "file"))
	}
	if r.Dead > 0 {
		fmt.Fprintf(out, "  left out: %s in functions that nothing calls\n", counted(r.Dead, "operand"))
	}
	for _, operand := range r.Operands {
		if !operand.IsDeclared() {
			fmt.Fprintf(out, "  %s%s\n", operand, reachedFrom(r, operand.Position.File))
		}
	}
	if !r.Own && !all {
		if len(r.Findings) > 0 {
			fmt.Fprintf(out, "  not counted: %s; --faults lists them\n", faultCounts(r.Findings))
		}
		return
	}
	for _, finding := range r.Findings {
		note := ""
		if !r.Own {
			note = " (not counted)"
		}
		fmt.Fprintf(out, "  %s%s%s\n", finding, note, reachedFrom(r, finding.Position.File))
	}
}

// reachedFrom says which script a finding in an included file belongs to.
func reachedFrom(r *lint.Report, file string) string {
	if file == r.File {
		return ""
	}
	return fmt.Sprintf(" (reached from %s)", r.File)
}

func keysLine(keys lint.KeyUse) string {
	var said string
	switch {
	case keys.By == "header":
		said = fmt.Sprintf("%d, by the header", keys.Declared)
		if keys.Each > 0 {
			said = fmt.Sprintf("%d and %d for each item, by the header", keys.Declared, keys.Each)
		}
	case keys.By == "name":
		said = fmt.Sprintf("%d, by the name of the file", keys.Declared)
	default:
		said = "nothing says how many"
	}
	switch used := spans(keys.Used); {
	case used == "" && keys.Varies:
		return said + "; uses KEYS[…]"
	case used == "":
		return said + "; uses none"
	case keys.Varies:
		return fmt.Sprintf("%s; uses KEYS[%s] and others", said, used)
	default:
		return fmt.Sprintf("%s; uses KEYS[%s]", said, used)
	}
}

// spans writes numbers, which are in order, as "1-3, 5".
func spans(numbers []int) string {
	var parts []string
	for first := 0; first < len(numbers); {
		last := first
		for last+1 < len(numbers) && numbers[last+1] == numbers[last]+1 {
			last++
		}
		part := strconv.Itoa(numbers[first])
		if last > first {
			part += "-" + strconv.Itoa(numbers[last])
		}
		parts = append(parts, part)
		first = last + 1
	}
	return strings.Join(parts, ", ")
}

// faultCounts says how many findings there are against each rule.
func faultCounts(findings []lint.Finding) string {
	var rules []lint.Rule
	counts := map[lint.Rule]int{}
	for _, finding := range findings {
		if counts[finding.Rule]++; counts[finding.Rule] == 1 {
			rules = append(rules, finding.Rule)
		}
	}
	var parts []string
	for _, rule := range rules {
		parts = append(parts, fmt.Sprintf("%d of %s", counts[rule], rule))
	}
	return strings.Join(parts, ", ")
}

// counted writes a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
