package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/echomq/echomq-go/annotations"
)

// explain lists the codes of all diagnostics, or explains some.
func (c *command) explain(codes []string) int {
	if len(codes) == 0 {
		for _, rule := range annotations.Rules() {
			fmt.Fprintf(c.stdout, "%s  %s\n", rule.Code, rule.Title)
		}
		return exitFine
	}
	for i, code := range codes {
		rule := annotations.RuleByCode(strings.ToUpper(strings.Trim(code, "()")))
		if rule == nil {
			return c.cannot("no error has the code %s; emqgen explain lists them all", code)
		}
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		printRule(c.stdout, rule)
	}
	return exitFine
}

func printRule(w io.Writer, rule *annotations.Rule) {
	fmt.Fprintf(w, "%s: %s\n\n%s\n", rule.Code, rule.Title, rule.Explanation)
	if example := rule.Example(); example != "" {
		fmt.Fprintf(w, "\nFor example:\n\n%s", indent(example))
	}
}

// indent moves the lines of text, but empty ones, to the right.
func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString("    ")
		}
		b.WriteString(line)
	}
	return b.String()
}
