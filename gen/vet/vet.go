package vet

import (
	"fmt"
	"go/token"
	"os"
	"strings"
	"unicode"

	"golang.org/x/tools/go/analysis"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// The pages about the analyzer, and about each code.
const (
	guidePage  = "https://github.com/echomq/echomq-go/blob/main/docs/guide/vet.md"
	errorsPage = "https://github.com/echomq/echomq-go/blob/main/docs/errors.md"
)

// Analyzer reports what is wrong with the directives of a package, as emqgen
// does, and what is wrong with its use of the queues. It needs no facts, so a
// driver analyzes nothing but the packages that it was given.
var Analyzer = &analysis.Analyzer{
	Name: "emqvet",
	Doc: `check job directives and the code that enqueues and handles jobs

emqvet reports what emqgen would refuse, with fixes for what was misspelt; and
generated files that are stale, jobs whose enqueueing may fail without notice,
handlers that wait in a loop and do not heed their context, and payload fields
that look like secrets. Each diagnostic ends in a code: emqgen explain CODE.`,
	URL:              guidePage,
	Run:              run,
	RunDespiteErrors: true, // emqgen does too: what it generates may be missing
}

func run(pass *analysis.Pass) (any, error) {
	p := newReporter(pass)
	if err := p.directives(); err != nil {
		return nil, err
	}
	p.code()
	return nil, nil
}

// reporter reports what is wrong with one package.
type reporter struct {
	*analysis.Pass
	// dir is the package's directory; "" where it is not known.
	dir string
	// sources are the package's files without tests, before cgo changed them.
	sources []string
	places  places
}

// directives runs the generator, and reports what it would refuse or change.
func (p *reporter) directives() error {
	if p.dir == "" || len(p.sources) == 0 && p.external() {
		return nil // the tests alone, which are looked at with the package itself
	}
	result, err := gen.Package(p.loaded())
	if err != nil {
		return err
	}
	if len(result.Diagnostics) > 0 {
		for _, d := range result.Diagnostics {
			p.found(d)
		}
		return nil
	}
	p.secrets(result)
	return p.stale(result)
}

// readFile reads a file of the package's directory, by way of the driver if that
// knows it.
func (p *reporter) readFile(path string) ([]byte, error) {
	if content, err := p.ReadFile(path); err == nil {
		return content, nil
	}
	return os.ReadFile(path)
}

// found reports a diagnostic of the generator.
func (p *reporter) found(d annotations.Diagnostic) {
	var end token.Pos
	if d.End.IsValid() {
		end = p.places.of(d.End, p.readFile)
	}
	p.report(d, p.places.of(d.Pos, p.readFile), end)
}

// own reports that a node breaks a rule.
func (p *reporter) own(rule *annotations.Rule, node analysis.Range, arguments ...any) {
	p.report(rule.At(token.Position{}, token.Position{}, arguments...), node.Pos(), node.End())
}

func (p *reporter) report(d annotations.Diagnostic, pos, end token.Pos) {
	reported := analysis.Diagnostic{
		Pos: pos, End: end,
		Category: d.Rule.Code,
		Message:  fmt.Sprintf("%s (%s)", d.Message, d.Rule.Code),
		URL:      errorsPage + "#" + anchor(d.Rule),
	}
	if d.Replacement != "" && end > pos {
		reported.SuggestedFixes = []analysis.SuggestedFix{{
			Message:   "Write " + d.Replacement,
			TextEdits: []analysis.TextEdit{{Pos: pos, End: end, NewText: []byte(d.Replacement)}},
		}}
	}
	p.Report(reported)
}

// anchor returns the anchor of a rule's heading, "E100: generated file", on the
// page of errors.
func anchor(rule *annotations.Rule) string {
	keep := func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}
	return strings.Map(keep, rule.Code+": "+rule.Title)
}
