package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/conformance"
)

// probePage prints a report for people.
type probePage struct {
	out    io.Writer
	silent bool
}

func (p *probePage) printf(format string, args ...any) {
	if !p.silent {
		fmt.Fprintf(p.out, format, args...)
	}
}

func (p *probePage) intro(text string) { p.printf("%s\n", text) }

func (p *probePage) prompt() { p.printf("\n-- Enter for the next step -- ") }

// step prints a step with its transitions.
func (p *probePage) step(step *conformance.Step) {
	p.printf("\n=== %s: %s\n", step.Name, step.Doc)
	for i := range step.Transitions {
		p.transition(&step.Transitions[i])
	}
	if len(step.Plain) > 0 {
		p.printf("\n  outside of scripts\n")
		for _, command := range step.Plain {
			p.printf("    %s\n", commandText(command))
		}
	}
}

func (p *probePage) transition(t *conformance.Transition) {
	base := ""
	if len(t.Keys) > 0 {
		base = t.Keys[0][:strings.LastIndexByte(t.Keys[0], ':')+1]
	}
	p.printf("\n  %s  slot %s, sha1 %s, called by %s\n", scriptName(t), slotList(t.Slots), t.SHA1, t.Client)
	p.printf("    KEYS   %s\n", keyList(base, t.Keys))
	p.printf("    wrote  %s\n", keyList(base, t.Wrote))
	for i, command := range t.Commands {
		p.printf("    %3d  %s\n", i+1, commandText(command))
		for _, key := range command.Undeclared {
			p.printf("         ^ key %q is not one of KEYS\n", key)
		}
	}
}

// keyList writes keys shorter: what they all begin with is said once.
func keyList(base string, keys []string) string {
	const width = 100
	if len(keys) == 0 {
		return "nothing"
	}
	var text strings.Builder
	column := 0
	if base != "" && !slices.ContainsFunc(keys, func(key string) bool { return !strings.HasPrefix(key, base) }) {
		fmt.Fprintf(&text, "%s…, with", base)
		column = text.Len()
	} else {
		base = ""
	}
	for i, key := range keys {
		word := strings.TrimPrefix(key, base)
		if column+len(word) > width && i > 0 {
			text.WriteString("\n          ")
			column = 0
		}
		if text.Len() > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(word)
		column += 1 + len(word)
	}
	return text.String()
}

// verdict prints the five points and what they come to.
func (p *probePage) verdict(report *conformance.Report) {
	p.printf("\n%s, MONITOR of %s, queue %s, slot %d\n", report.Engine, strings.Join(report.Nodes, " and "), report.Queue, report.Slot)
	if report.Ignored > 0 {
		p.printf("%d commands of other clients, on other keys, were left out.\n", report.Ignored)
	}
	for _, point := range report.Points {
		mark := map[conformance.Verdict]string{
			conformance.Conforms: "yes", conformance.Violates: "NO", conformance.Unknown: "?",
		}[point.Verdict]
		p.printf("%d. %-3s  %s: %s\n", point.Number, mark, point.Claim, point.Evidence)
		if point.First != nil {
			p.violation(point)
		}
	}
	for _, note := range report.Notes {
		p.printf("Note: %s\n", note)
	}
	switch report.Verdict {
	case conformance.Conforms:
		p.printf("The deployment conforms.\n")
		if report.Embedded {
			p.printf("That is, the embedded engine does, which was started for this.\n")
		}
	case conformance.Violates:
		p.printf("The deployment does not conform: %s\n", brokenPoints(report.Points))
	default:
		p.printf("Could not tell.\n")
	}
}

func (p *probePage) violation(point conformance.Point) {
	first := point.First
	p.printf("     first of %d: %s\n", point.Violations, first.Reason)
	if first.Transition != nil {
		p.printf("     in %s, sha1 %s\n", scriptName(first.Transition), first.Transition.SHA1)
		p.printf("     called with KEYS %s\n", strings.Join(first.Transition.Keys, " "))
	}
	if first.Command != nil {
		p.printf("     by the command %s\n", commandText(*first.Command))
	}
}

// brokenPoints lists the points that are broken.
func brokenPoints(points []conformance.Point) string {
	var broken []string
	for _, point := range points {
		if point.Verdict == conformance.Violates {
			broken = append(broken, "point "+strconv.Itoa(point.Number))
		}
	}
	return strings.Join(broken, ", ")
}

func scriptName(t *conformance.Transition) string {
	if t.Script == "" {
		return "a script that is not known"
	}
	return t.Script + ".lua"
}

func commandText(command conformance.Command) string {
	words := slices.Clone(command.Args)
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \"\\") || !strconv.CanBackquote(word) {
			words[i] = strconv.Quote(word)
		}
	}
	return strings.Join(words, " ")
}

func slotList(slots []int) string {
	words := make([]string, len(slots))
	for i, slot := range slots {
		words[i] = strconv.Itoa(slot)
	}
	return orNothing(words)
}

func orNothing(words []string) string {
	if len(words) == 0 {
		return "nothing"
	}
	return strings.Join(words, " ")
}
