package lock

import (
	"fmt"
	"slices"
	"strings"
)

// The lines that git puts around the sides of a conflict.
const (
	markOurs   = "<<<<<<<"
	markBase   = "|||||||"
	markTheirs = "======="
	markEnd    = ">>>>>>>"
)

// conflicted returns the line of the first marker of a conflict, or 0.
func conflicted(text string) int {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if markerOf(line) != "" {
			return number
		}
	}
	return 0
}

// markerOf returns the marker that a line is, or "".
func markerOf(line string) string {
	for _, mark := range []string{markOurs, markBase, markTheirs, markEnd} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

// sides returns what each side of a merge had in place of a text with conflicts,
// its lines where they stand in the text. Git takes lines that both sides have out
// of a conflict, the last ones of two new blocks for example, so a side by itself
// is no block.
func sides(text string) (ours, theirs string, err error) {
	var out [2]strings.Builder
	in, number := "", 0
	for line := range strings.Lines(text) {
		number++
		mark := markerOf(line)
		if mark != "" {
			if !follows(mark, in) {
				return "", "", &SyntaxError{Line: number, Column: 1, Message: "a marker of a merge conflict stands here without the others"}
			}
			in, line = mark, "\n"
		}
		for side, b := range [2]string{markOurs, markTheirs} {
			if mark == "" && (in == "" || in == markEnd || in == b) {
				out[side].WriteString(line)
			} else {
				out[side].WriteString("\n")
			}
		}
	}
	if in != markEnd {
		return "", "", &SyntaxError{Line: number, Column: 1, Message: "a merge conflict has no end"}
	}
	return out[0].String(), out[1].String(), nil
}

// follows reports whether a marker may come where the one before was another, or
// none.
func follows(mark, before string) bool {
	switch mark {
	case markOurs:
		return before == "" || before == markEnd
	case markBase:
		return before == markOurs
	case markTheirs:
		return before == markOurs || before == markBase
	}
	return before == markTheirs
}

// parseConflicted reads a lock with conflicts, the first in the given line, where
// they are about different jobs, or about fields that may be absent: it remembers
// what either side does. What is not so in the merged source is then found as if its
// branch had been compared with the other.
func parseConflicted(text string, line int) (*File, error) {
	ours, theirs, err := sides(text)
	if err != nil {
		return nil, err
	}
	file, err := parse(ours)
	if err != nil {
		return nil, err
	}
	other, err := parse(theirs)
	if err != nil {
		return nil, err
	}
	for _, job := range other.Jobs {
		mine := slices.IndexFunc(file.Jobs, func(mine Job) bool { return mine.ID == job.ID && mine.Version == job.Version })
		if mine < 0 {
			file.Jobs = append(file.Jobs, job)
			continue
		}
		united, ok := unite(file.Jobs[mine], job)
		if !ok {
			return nil, disagreement(line, job.ID)
		}
		file.Jobs[mine] = united
	}
	for _, ended := range other.Ended {
		switch mine := file.ended(ended.ID); {
		case mine == nil:
			file.Ended = append(file.Ended, ended)
		case !sameBlock(&File{Ended: []Ended{*mine}}, &File{Ended: []Ended{ended}}):
			return nil, disagreement(line, ended.ID)
		}
	}
	file.sort()
	for _, ended := range file.Ended {
		if len(file.Versions(ended.ID)) > 0 {
			return nil, disagreement(line, ended.ID)
		}
	}
	return file, nil
}

func sameBlock(a, b *File) bool { return string(a.Format()) == string(b.Format()) }

func disagreement(line int, id ID) error {
	return &SyntaxError{Line: line, Column: 1, Conflict: true, Message: fmt.Sprint(id)}
}
