package lint

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
)

// Verdict is what [Inspect] finds a script to be.
type Verdict string

// The verdicts.
const (
	// EveryDeclared says that every operand is shown to be a declared key and, of
	// a script with a header, that nothing else is wrong.
	EveryDeclared Verdict = "declared"
	// SomeUndeclared says that an operand is not.
	SomeUndeclared Verdict = "undeclared"
	// Unclean says, of a script with a header, that every operand is, and that
	// something else is wrong.
	Unclean Verdict = "unclean"
	// Untold says that the script could not be judged: it, or a file that it
	// includes, cannot be read or is not Lua.
	Untold Verdict = "unknown"
)

// Report is what [Inspect] tells of one script.
type Report struct {
	File    string
	Verdict Verdict
	// Own says that the script has a header of the protocol (see package header).
	Own  bool
	Keys KeyUse
	// Includes are the files that stand in the script, in the order of its text.
	Includes []string
	// Operands are all key operands, the declared ones too, in the order of the
	// text.
	Operands []Operand
	// Dead is how many more stand in functions that nothing calls.
	Dead int
	// Findings are the faults but for undeclared operands. Only those of a script
	// with a header count in the verdict.
	Findings []Finding
	// Err tells why the script could not be judged; nil if it was.
	Err error
}

// Undeclared returns how many operands are not shown to be declared.
func (r *Report) Undeclared() int {
	return len(r.Operands) - r.count(Declared)
}

// Extended returns how many of those are a declared key with something joined
// to its end.
func (r *Report) Extended() int { return r.count(Extended) }

func (r *Report) count(origin Origin) int {
	count := 0
	for _, operand := range r.Operands {
		if operand.Origin == origin {
			count++
		}
	}
	return count
}

// Inspect judges the script in file, ours or anybody's. It reads the file and
// what that includes by read, which is [os.ReadFile] for files of the disk.
//
// A script with a header is proven against it, as by [Check]. Of another, every
// element of KEYS is a declared key, up to the number that a file called
// name-<number>.lua declares; where operands come from is followed as by
// [Operands].
//
// An include is a line `--- @include "path"`, relative to its file, with or
// without ".lua"; the file stands in its place, once, as the script loader of
// BullMQ has it.
func Inspect(file string, read func(string) ([]byte, error)) *Report {
	file = filepath.Clean(file)
	r := &Report{File: file, Keys: KeyUse{Declared: noCount}}
	text, err := read(file)
	switch {
	case err != nil:
		r.Err = fmt.Errorf("read the script: %w", err)
	case isOwn(text):
		r.Own = true
		r.Err = r.own(text)
	default:
		r.Err = r.foreign(read)
	}
	r.Verdict = r.verdict()
	return r
}

func (r *Report) verdict() Verdict {
	switch {
	case r.Err != nil:
		return Untold
	case r.Undeclared() > 0:
		return SomeUndeclared
	case r.Own && len(r.Findings) > 0:
		return Unclean
	default:
		return EveryDeclared
	}
}

// isOwn reports whether a script begins with a header of the protocol, right or
// wrong. Other comments that begin with three dashes are not one.
func isOwn(text []byte) bool {
	for line := range bytes.Lines(text) {
		comment, ok := bytes.CutPrefix(line, []byte("---"))
		if !ok {
			return false
		}
		words := strings.Fields(string(comment))
		if len(words) > 0 && slices.Contains([]string{"@memory", "@key", "@each", "@reply"}, words[0]) {
			return true
		}
	}
	return false
}

// own judges a script that has a header.
func (r *Report) own(text []byte) error {
	source, failed := parseSource(r.File, text)
	if failed != nil {
		return errors.New(failed.Position.String() + ": " + failed.Message)
	}
	script, err := header.Parse(r.File, text)
	p := &prover{scopes: resolve(source), keys: noCount}
	r.Keys = p.keyUse()
	if err == nil { // else what it declares is not known
		p.script = script
		r.Keys.By, r.Keys.Declared, r.Keys.Each = "header", len(script.Keys), len(script.Each)
	}
	r.Operands, r.Dead = p.operands()
	for _, finding := range Check(r.File, text) {
		if finding.Rule != RuleKey || r.Undeclared() == 0 {
			r.Findings = append(r.Findings, finding)
		}
	}
	return nil
}

// foreign judges a script that has none.
func (r *Report) foreign(read func(string) ([]byte, error)) error {
	a, err := assemble(r.File, read)
	if err != nil {
		return err
	}
	r.Includes = a.included
	source, failed := parsePlaced(a.file, a.text, a.lines)
	if failed != nil {
		return errors.New(failed.Position.String() + ": " + failed.Message)
	}
	c := newChecker(source, nil)
	c.prover.keys = namedKeys(r.File)
	r.Operands, r.Dead = c.operands()
	r.Keys = c.keyUse()
	c.dialect()
	for _, call := range c.calls {
		if call.known {
			c.form(call)
		}
	}
	c.keyCount(r)
	r.Findings = c.list
	r.sortFindings()
	return nil
}

// sortFindings orders by file, the script's own first, and then by place.
func (r *Report) sortFindings() {
	files := append([]string{r.File}, r.Includes...)
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(slices.Index(files, a.Position.File), slices.Index(files, b.Position.File)),
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column),
		)
	})
}
