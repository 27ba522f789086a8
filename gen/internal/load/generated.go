package load

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
)

// Generated says what stands in the place of a generated file.
type Generated int

// What can stand in the place of a generated file.
const (
	// Absent means that there is no file.
	Absent Generated = iota
	// Ours is a file that emqgen wrote, damaged or not.
	Ours
	// Damaged is a file of which nothing is left that shows whose it is: it
	// may be overwritten, but is not deleted.
	Damaged
	// Foreign is a file with content that emqgen did not write.
	Foreign
)

// generatedIn says what stands in the place of the generated file of dir. It
// asks the directory itself: the go command does not list every file that it
// cannot read.
func generatedIn(dir string, read ReadFile) (Generated, error) {
	content, err := read(filepath.Join(dir, Output))
	if errors.Is(err, fs.ErrNotExist) {
		return Absent, nil
	}
	if err != nil {
		return Foreign, err
	}
	return classify(string(content)), nil
}

// classify says whose the content of a generated file is. It is ours where the
// header is a line of its own with no code above it, which in a merge conflict
// holds for each side by itself. Where there is no header, it may be overwritten
// only if nothing is lost.
func classify(content string) Generated {
	var at, hunk lineState
	conflict := false
	lost := false
	for line := range strings.Lines(strings.TrimPrefix(content, "\ufeff")) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasPrefix(line, "<<<<<<<"):
			hunk, conflict = at, true
		case strings.HasPrefix(line, ">>>>>>>"):
			conflict = false
		case strings.HasPrefix(line, "|||||||"), line == "=======":
			if conflict {
				at = hunk
			}
		case line == Header && !at.code && !at.comment:
			return Ours
		default:
			lost = at.read(line) || lost
		}
	}
	if lost {
		return Foreign
	}
	return Damaged
}

// lineState is what stands above a line.
type lineState struct {
	// code is set below the first line that is more than a comment.
	code bool
	// comment is set inside a comment of several lines.
	comment bool
}

var packageClause = regexp.MustCompile(`^package\s+[\pL_][\pL\d_]*\s*;?\s*$`)

// read takes a line into account, and reports whether it holds more than a
// package clause and comments.
func (s *lineState) read(line string) bool {
	var rest strings.Builder
	for line != "" {
		if s.comment {
			_, after, ended := strings.Cut(line, "*/")
			s.comment, line = !ended, after
			continue
		}
		i := strings.Index(line, "/")
		if i < 0 || i+1 == len(line) || line[i+1] != '/' && line[i+1] != '*' {
			i = len(line)
		}
		rest.WriteString(line[:i])
		if i == len(line) || line[i+1] == '/' {
			break
		}
		s.comment, line = true, line[i+2:]
	}
	code := strings.TrimSpace(rest.String())
	s.code = s.code || code != ""
	return code != "" && !packageClause.MatchString(code)
}
