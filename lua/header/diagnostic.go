package header

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Position is a place in a script. Lines and columns count from 1; columns
// count bytes.
type Position struct {
	File   string
	Line   int
	Column int
}

// String returns the position as file:line:column.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Diagnostic is one thing that is wrong with a header.
type Diagnostic struct {
	Position Position
	Message  string
}

// String returns the diagnostic as file:line:column: message.
func (d Diagnostic) String() string { return d.Position.String() + ": " + d.Message }

// Diagnostics is the error of [Parse]: all that is wrong with a header, in the
// order of the lines.
type Diagnostics []Diagnostic

func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i, diagnostic := range d {
		lines[i] = diagnostic.String()
	}
	return strings.Join(lines, "\n")
}

func (d Diagnostics) sort() {
	slices.SortStableFunc(d, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Position.Line, b.Position.Line), cmp.Compare(a.Position.Column, b.Position.Column))
	})
}

// Nearest returns " (did you mean …?)" with the known name that is closest to
// name, or "" if none is close.
func Nearest(name string, known []string) string {
	best, distance := "", len(name)/3+2
	for _, candidate := range known {
		if d := editDistance(name, candidate); d < distance {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// editDistance is the number of bytes to insert, delete or replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
