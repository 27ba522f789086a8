package lint

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
)

// includeLine is a line that stands for another file, as the script loader of
// BullMQ reads it: two or three dashes at the beginning of a line.
var includeLine = regexp.MustCompile(`^--{1,2}[ \t]*@include[ \t]+(?:"([^"]+)"|'([^']+)')[; \t\r]*$`)

// assembly is a script with the files that it includes in place of the lines
// that name them. That is the text that a client sends to the server.
type assembly struct {
	file string
	text []byte
	// lines says where each line of the text stands.
	lines []header.Position
	// included are the files that were included, in the order of the text.
	included []string
}

// assemble reads the script that file holds and what it includes. A path is
// relative to the file that names it, and may lack ".lua". Each file is included
// once, where it is first named, and one that includes itself is an error.
func assemble(file string, read func(string) ([]byte, error)) (*assembly, error) {
	a := &assembly{file: file}
	text, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read the script: %w", err)
	}
	if err := a.add(file, text, nil, read); err != nil {
		return nil, err
	}
	return a, nil
}

// add appends the text of a file, which the files of the path include, each the
// next.
func (a *assembly) add(file string, text []byte, path []string, read func(string) ([]byte, error)) error {
	path = append(slices.Clone(path), file)
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		at := header.Position{File: file, Line: i + 1, Column: 1}
		if name := includedName(line); name != "" {
			if err := a.include(at, name, path, read); err != nil {
				return err
			}
			line = nil // an empty one, so that lines count the same
		}
		a.text = append(append(a.text, line...), '\n')
		a.lines = append(a.lines, at)
	}
	return nil
}

func (a *assembly) include(at header.Position, name string, path []string, read func(string) ([]byte, error)) error {
	if strings.ContainsAny(name[:1], "~<") || strings.ContainsAny(name, "*?[{") {
		return fmt.Errorf("%s: include %q: only a path relative to this file can be followed", at, name)
	}
	file := filepath.FromSlash(name)
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(at.File), file)
	}
	file, text, err := readIncluded(file, read)
	switch {
	case err != nil:
		return fmt.Errorf("%s: include %q: %w", at, name, err)
	case slices.Contains(path, file):
		return fmt.Errorf("%s: include %q: a cycle: %s", at, name, strings.Join(append(path[slices.Index(path, file):], file), " includes "))
	case slices.Contains(a.included, file):
		return nil
	}
	a.included = append(a.included, file)
	return a.add(file, text, path, read)
}

// readIncluded reads a file that may be named without its ".lua".
func readIncluded(file string, read func(string) ([]byte, error)) (string, []byte, error) {
	if filepath.Ext(file) == ".lua" {
		text, err := read(file)
		return file, text, err
	}
	text, err := read(file + ".lua")
	if err == nil {
		return file + ".lua", text, nil
	}
	if text, plainErr := read(file); plainErr == nil {
		return file, text, nil
	}
	return file, nil, err
}

// includedName returns the name of the file that a line stands for, or "".
func includedName(line []byte) string {
	match := includeLine.FindSubmatch(line)
	if match == nil {
		return ""
	}
	return string(match[1]) + string(match[2])
}

// includesOf returns the paths of the files that a file names in an include line,
// as far as they can be read, without following them further.
func includesOf(file string, read func(string) ([]byte, error)) []string {
	text, err := read(file)
	if err != nil {
		return nil
	}
	var found []string
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		name := includedName(line)
		if name == "" {
			continue
		}
		path := filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
		if resolved, _, err := readIncluded(path, read); err == nil {
			found = append(found, resolved)
		}
	}
	return found
}
