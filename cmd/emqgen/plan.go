package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/echomq/echomq-go/gen"
)

// carryOut writes and removes what is not as it should be.
func (c *command) carryOut(steps []gen.Step) error {
	for _, s := range steps {
		done := gen.Unchanged
		switch {
		case s.State() == gen.Unchanged:
		case s.After == nil:
			done = "removed"
			if err := os.Remove(s.Path); err != nil {
				return err
			}
		default:
			done = "written"
			if err := writeFile(s.Path, s.After); err != nil {
				return err
			}
		}
		if c.verbose {
			fmt.Fprintf(c.stdout, "%s %s\n", done, c.short(s.Path))
		}
	}
	return nil
}

// printStale prints what carryOut would change, as a unified diff.
func (c *command) printStale(steps []gen.Step) (int, error) {
	code := exitFine
	for _, s := range steps {
		state := s.State()
		if c.verbose {
			fmt.Fprintf(c.stdout, "%s %s\n", state, c.short(s.Path))
		}
		if state == gen.Unchanged {
			continue
		}
		code = exitWrong
		fmt.Fprintf(c.stderr, "emqgen: %s is %s; run %s\n", c.short(s.Path), state, c.cure())
		fmt.Fprint(c.stdout, unified(c.short(s.Path), s.Before, s.After))
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
