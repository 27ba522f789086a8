package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/gen"
)

// plan is what has to happen to files on disk, in the order of their paths.
type plan []step

// step is one file.
type step struct {
	path string
	// before and after are its content; nil where there is no file.
	before, after []byte
}

// newPlan compares what was generated with what is on disk.
func newPlan(result *gen.Result) (plan, error) {
	after := maps.Clone(result.Files)
	for _, orphan := range result.Orphans {
		after[orphan] = nil
	}
	var p plan
	for _, path := range slices.Sorted(maps.Keys(after)) {
		before, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && before == nil {
			before = []byte{}
		}
		p = append(p, step{path: path, before: before, after: after[path]})
	}
	return p, nil
}

func (s step) unchanged() bool {
	return s.before != nil && s.after != nil && bytes.Equal(s.before, s.after)
}

// carryOut writes and removes what is not as it should be.
func (c *command) carryOut(p plan) error {
	for _, s := range p {
		done := "unchanged"
		switch {
		case s.unchanged():
		case s.after == nil:
			done = "removed"
			if err := os.Remove(s.path); err != nil {
				return err
			}
		default:
			done = "written"
			if err := writeFile(s.path, s.after); err != nil {
				return err
			}
		}
		if c.verbose {
			fmt.Fprintf(c.stdout, "%s %s\n", done, c.short(s.path))
		}
	}
	return nil
}

// printStale prints what carryOut would change, as a unified diff.
func (c *command) printStale(p plan) (int, error) {
	code := exitFine
	for _, s := range p {
		state := "unchanged"
		switch {
		case s.unchanged():
		case s.after == nil:
			state = "orphaned"
		case s.before == nil:
			state = "missing"
		default:
			state = "stale"
		}
		if c.verbose {
			fmt.Fprintf(c.stdout, "%s %s\n", state, c.short(s.path))
		}
		if state == "unchanged" {
			continue
		}
		code = exitWrong
		fmt.Fprintf(c.stderr, "emqgen: %s is %s; run %s\n", c.short(s.path), state, c.cure())
		fmt.Fprint(c.stdout, unified(c.short(s.path), s.before, s.after))
	}
	return code, nil
}

// cure returns the command that writes what is stale.
func (c *command) cure() string {
	if c.language == "" {
		return "go generate"
	}
	cure := "emqgen"
	for _, argument := range c.arguments {
		name, _, _ := strings.Cut(strings.TrimLeft(argument, "-"), "=")
		if strings.HasPrefix(argument, "-") && (name == "check" || name == "v") {
			continue
		}
		cure += " " + shellWord(argument)
	}
	return cure
}
