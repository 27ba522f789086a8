package annotations

import (
	"cmp"
	"fmt"
	"go/token"
	"slices"
)

// Rule is one thing that can be wrong with annotated source. Its code is
// stable: it names the rule for ever, whatever the wording.
type Rule struct {
	// Code is "E" and three digits.
	Code string
	// Title names the mistake in a few words.
	Title string
	// Explanation says, in whole sentences, why it is a mistake and what to do.
	Explanation string
	// Vet is set for what emqvet alone looks for: code that compiles, and does
	// what was hardly meant.
	Vet bool

	format string
}

// Diagnostic is one mistake at one place of the source.
type Diagnostic struct {
	Rule *Rule
	// Pos and End bound the offending text; End is zero where only the
	// beginning is known.
	Pos, End token.Position
	Message  string
	// Replacement is what to write between Pos and End to do what Message
	// proposes; "" where it proposes nothing that could be done by that.
	Replacement string
}

// String returns "file:line:col: message (code)".
func (d Diagnostic) String() string {
	return fmt.Sprintf("%s: %s (%s)", d.Pos, d.Message, d.Rule.Code)
}

// At returns the diagnostic that r was broken between pos and end, which may be
// zero. The arguments are those that the rule's wording asks for.
func (r *Rule) At(pos, end token.Position, arguments ...any) Diagnostic {
	d := Diagnostic{Rule: r, Pos: pos, End: end, Message: fmt.Sprintf(r.format, arguments...)}
	for _, argument := range arguments {
		if s, ok := argument.(Suggestion); ok {
			d.Replacement = s.Replacement
		}
	}
	return d
}

// Sort orders diagnostics by place and drops those that repeat another one.
func Sort(diagnostics []Diagnostic) []Diagnostic {
	slices.SortStableFunc(diagnostics, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Rule.Code, b.Rule.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(diagnostics)
}

// Reporter collects diagnostics about the files of one file set.
type Reporter struct {
	files       *token.FileSet
	diagnostics []Diagnostic
}

// NewReporter returns a Reporter for positions of files.
func NewReporter(files *token.FileSet) *Reporter { return &Reporter{files: files} }

// Report records that rule was broken between pos and end, which may be
// [token.NoPos].
func (r *Reporter) Report(rule *Rule, pos, end token.Pos, arguments ...any) {
	r.diagnostics = append(r.diagnostics, rule.At(r.Position(pos), r.Position(end), arguments...))
}

// Add records diagnostics that were made elsewhere.
func (r *Reporter) Add(diagnostics ...Diagnostic) {
	r.diagnostics = append(r.diagnostics, diagnostics...)
}

// Position returns the place of pos in the file on disk: //line comments do not
// move it, because the directive is to be mended where it was written.
func (r *Reporter) Position(pos token.Pos) token.Position {
	return r.files.PositionFor(pos, false)
}

// Diagnostics returns what was recorded, sorted.
func (r *Reporter) Diagnostics() []Diagnostic { return Sort(r.diagnostics) }
