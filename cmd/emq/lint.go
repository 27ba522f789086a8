package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/echomq/echomq-go/lua/lint"
)

const lintLong = `Judges Redis Lua scripts by their text alone, whoever wrote them: is every key
operand of every command one of the keys that the script declares? A folder
stands for all *.lua files in it and below.

A script with a header of the protocol is proven against that header: keys,
types, fields, arity, dialect. Any fault of it counts.

Any other script declares its keys by what it takes from KEYS, up to the number
in its file's name, name-<number>.lua. An operand is declared if it is an element
of KEYS on every path that leads to the command, through locals, tables, choices
and local functions. What cannot be shown to be one counts as undeclared, and so
does a key that is made by joining something to a declared one. Where commands,
syntax or the number of keys differ from what the protocol asks of a script of
its own, that is reported and does not count.

A line

    --- @include "path"

stands for that file, relative to the file that it is in, with or without ".lua",
each file once per script, as in BullMQ. Files that others include are judged in
the scripts that include them, and their operands count in each of these.

An operand is a place of a script where a command takes a key; it counts once,
however often that place is run. An unpack that gives keys is one operand. A
command whose name cannot be told is one undeclared operand. What stands in
functions that nothing calls does not count.

Exits with

    0  if every script declares every key, and those with a header are clean
    1  if one does not
    2  if that could not be told of one: a path cannot be read, holds no script,
       a file is not Lua 5.1, or an include is missing or includes itself

With --json it prints one object, to which fields may be added but whose fields
stay as they are:

    scripts       array, one per script, by path
      script      the file's path
      verdict     "declared", "undeclared", "unclean" (every operand is declared,
                  but there is another fault that counts) or "unknown" (not judged)
      own         whether it has a header of the protocol
      keys        declared  how many keys every call has, or null if nothing says
                  each      how many more for each item, by the header
                  by        what says so: "header", "name" (the file's) or ""
                  used      array of every constant n in a KEYS[n]
                  varies    whether elements of KEYS are used in other ways too
      includes    array of the files that stand in it, in the order of its text
      operands    array of key operands, in the order of the text
                  file, line, column
                  command     as the script writes it, several joined by "|" if
                              it may be any of them, or "" if it cannot be told
                  expression  the operand
                  declared    whether it is one of the declared keys
                  origin      "declared", "extended" (a declared key with something
                              joined to its end), "index", "constant",
                              "concatenated", "computed", "argument", "reply",
                              "branch", "parameter", "reassigned", "element",
                              "unpacked" or "unknown"
                  how         how it was built, in words; "" if it is declared
      dead        how many operands were left out because nothing calls them
      faults      array of other faults
                  file, line, column, rule, message
                  counts      whether it counts in the verdict
      error       why it could not be judged, or ""
    unread        array of paths that gave no script: path, error
    summary       scripts, declared, undeclared, unclean, unknown: how many have
                  that verdict; operands, undeclared_operands, extended_operands:
                  how many there are, the last among the undeclared`

func newLint() *cobra.Command {
	var asJSON, faults bool
	cmd := &cobra.Command{
		Use:     "lint [--json] PATH…",
		Short:   "Judge Redis Lua scripts: does each declare its keys?",
		Long:    lintLong,
		Example: "  emq lint lua\n  emq lint --json node_modules/bullmq/dist/cjs/commands",
		Args: func(_ *cobra.Command, paths []string) error {
			if len(paths) == 0 {
				return fmt.Errorf("give one or more folders or files of Lua scripts")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, paths []string) error {
			inspection := inspect(paths)
			show := inspection.printText
			if asJSON {
				show = inspection.printJSON
			}
			if err := show(cmd.OutOrStdout(), faults); err != nil {
				return fmt.Errorf("print the findings: %w", err)
			}
			return inspection.outcome()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&faults, "faults", false, "list also the faults that do not count, one by one; JSON always has them")
	return cmd
}

// inspection is what lint finds in all paths.
type inspection struct {
	reports []*lint.Report
	unread  []unreadPath
}

// inspect judges the scripts in the given files and folders.
func inspect(paths []string) *inspection {
	scripts, unread := findScripts(paths)
	i := &inspection{unread: unread}
	for _, script := range scripts {
		i.reports = append(i.reports, lint.Inspect(script, os.ReadFile))
	}
	return i
}

// verdicts counts the scripts with a verdict.
func (i *inspection) verdicts(verdict lint.Verdict) int {
	count := 0
	for _, report := range i.reports {
		if report.Verdict == verdict {
			count++
		}
	}
	return count
}

// operands counts the key operands, those of them that are not declared, and
// those of these that are a declared key with something joined to it.
func (i *inspection) operands() (all, undeclared, extended int) {
	for _, report := range i.reports {
		all += len(report.Operands)
		undeclared += report.Undeclared()
		extended += report.Extended()
	}
	return all, undeclared, extended
}

// outcome is the error that the command ends with.
func (i *inspection) outcome() error {
	switch untold := i.verdicts(lint.Untold); {
	case untold > 0:
		return fmt.Errorf("%s could not be judged", counted(untold, "script"))
	case len(i.unread) > 0:
		return fmt.Errorf("%s gave no script", counted(len(i.unread), "path"))
	case i.verdicts(lint.EveryDeclared) < len(i.reports):
		return errNot
	}
	return nil
}
