package main

import (
	"fmt"
	"strings"
)

// surroundings is how many unchanged lines a hunk shows around a change.
const surroundings = 3

// edit is one line of a diff.
type edit struct {
	sign byte // ' ', '-' or '+'
	line string
}

// unified returns a diff of two versions of a file, either of which may be nil
// for no file, in the form that patch reads.
func unified(path string, before, after []byte) string {
	var b strings.Builder
	from, to := "a/"+path, "b/"+path
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, h := range hunks(compare(lines(before), lines(after))) {
		h.print(&b)
	}
	return b.String()
}

// lines splits content after each line feed. A last line without one is given
// one: generated files end in a line feed, and damaged ones need not be shown
// to the byte.
func lines(content []byte) []string {
	if len(content) == 0 {
		return nil
	}
	split := strings.SplitAfter(strings.TrimSuffix(string(content), "\n"), "\n")
	split[len(split)-1] += "\n"
	return split
}

// compare returns a shortest list of edits from a to b, by the greedy algorithm
// of Myers: furthest[k] is how far one comes in a on diagonal k with d edits.
func compare(a, b []string) []edit {
	offset := len(a) + len(b)
	furthest := make([]int, 2*offset+2)
	var trace [][]int
	for d := 0; d <= offset; d++ {
		trace = append(trace, append([]int(nil), furthest...))
		for k := -d; k <= d; k += 2 {
			x := advance(furthest, offset, k, d)
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			furthest[offset+k] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(trace, offset, a, b)
			}
		}
	}
	return nil
}

// advance returns where one more edit leads on diagonal k.
func advance(furthest []int, offset, k, d int) int {
	if d == 0 {
		return 0
	}
	if k == -d || k != d && furthest[offset+k-1] < furthest[offset+k+1] {
		return furthest[offset+k+1] // an insertion
	}
	return furthest[offset+k-1] + 1 // a deletion
}

// backtrack follows the trace from the ends of a and b to their beginnings.
func backtrack(trace [][]int, offset int, a, b []string) []edit {
	var reversed []edit
	x, y := len(a), len(b)
	for d := len(trace) - 1; d >= 0; d-- {
		k := x - y
		start := advance(trace[d], offset, k, d)
		for x > start {
			x, y = x-1, y-1
			reversed = append(reversed, edit{' ', a[x]})
		}
		if d == 0 {
			break
		}
		if k == -d || k != d && trace[d][offset+k-1] < trace[d][offset+k+1] {
			y--
			reversed = append(reversed, edit{'+', b[y]})
		} else {
			x--
			reversed = append(reversed, edit{'-', a[x]})
		}
	}
	edits := make([]edit, len(reversed))
	for i, e := range reversed {
		edits[len(reversed)-1-i] = e
	}
	return edits
}

// hunk is a stretch of edits with the numbers of its first lines.
type hunk struct {
	from, to int
	edits    []edit
}

func hunks(edits []edit) []hunk {
	var found []hunk
	last := -1 // the last edit that is part of a hunk
	for i, e := range edits {
		if e.sign == ' ' {
			continue
		}
		start, end := max(i-surroundings, 0), min(i+surroundings+1, len(edits))
		if start <= last+1 && len(found) > 0 {
			h := &found[len(found)-1]
			h.edits = append(h.edits, edits[last+1:max(end, last+1)]...)
		} else {
			from, to := count(edits[:start])
			found = append(found, hunk{from + 1, to + 1, edits[start:end:end]})
		}
		last = max(last, end-1)
	}
	return found
}

// count returns how many lines of either version edits stand for.
func count(edits []edit) (from, to int) {
	for _, e := range edits {
		if e.sign != '+' {
			from++
		}
		if e.sign != '-' {
			to++
		}
	}
	return from, to
}

func (h hunk) print(b *strings.Builder) {
	from, to := count(h.edits)
	fmt.Fprintf(b, "@@ -%s +%s @@\n", extent(h.from, from), extent(h.to, to))
	for _, e := range h.edits {
		b.WriteByte(e.sign)
		b.WriteString(e.line)
	}
}

// extent writes the lines of a hunk; an empty one begins before line 1.
func extent(first, length int) string {
	if length == 0 {
		first--
	}
	return fmt.Sprintf("%d,%d", first, length)
}
