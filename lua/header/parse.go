package header

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
)

// Parse reads the header of the script that file holds. The error, if any, is
// of type [Diagnostics] and tells all that is wrong; the Script then holds what
// could be read.
func Parse(file string, source []byte) (*Script, error) {
	p := &parser{file: file, script: &Script{}}
	p.lines(source)
	p.check()
	if len(p.diagnostics) > 0 {
		p.diagnostics.sort()
		return p.script, p.diagnostics
	}
	return p.script, nil
}

// parser collects the script and what is wrong with it.
type parser struct {
	file        string
	script      *Script
	doc         []string
	rank        int // the highest of a declaration; 0 before the first
	lastLine    int
	diagnostics Diagnostics
}

const (
	mark             = "---"
	idPattern        = "<id>"
	schedulerPattern = "scheduler:<scheduler>"
)

func (p *parser) lines(source []byte) {
	for len(source) > 0 {
		line, rest, _ := bytes.Cut(source, []byte("\n"))
		if !bytes.HasPrefix(line, []byte(mark)) {
			break
		}
		p.lastLine++
		p.line(strings.TrimRight(string(line[len(mark):]), " \t\r"))
		source = rest
	}
	p.script.Doc = strings.TrimSpace(strings.Join(p.doc, "\n"))
	p.script.Name, _, _ = strings.Cut(p.script.Doc, " ")
}

// line reads one line, without its mark.
func (p *parser) line(text string) {
	switch {
	case text != "" && text[0] != ' ':
		p.fault(len(mark)+1, "write a space after %q", mark)
	case strings.HasPrefix(strings.TrimSpace(text), "@"):
		p.declaration(words(text))
	case p.rank == 0:
		p.doc = append(p.doc, strings.TrimPrefix(text, " "))
	case strings.TrimSpace(text) != "":
		p.fault(words(text)[0].column, "text after the first declaration; a declaration is one line, and documentation stands above the first")
	}
}

// word is a word of a declaration and the column where it begins.
type word struct {
	text   string
	column int
}

// words splits a line, without its mark, at blanks.
func words(text string) []word {
	var found []word
	for offset := 0; ; {
		rest := strings.TrimLeft(text[offset:], " \t")
		offset = len(text) - len(rest)
		if rest == "" {
			return found
		}
		length := strings.IndexAny(rest, " \t")
		if length < 0 {
			length = len(rest)
		}
		found = append(found, word{text: rest[:length], column: len(mark) + offset + 1})
		offset += length
	}
}

func (p *parser) declaration(all []word) {
	name := all[0]
	for _, form := range forms {
		if "@"+form.name != name.text {
			continue
		}
		if form.rank < p.rank {
			p.fault(name.column, "@%s stands too late; the order is %s", form.name, formOrder())
		}
		p.rank = max(p.rank, form.rank)
		if operands, doc, ok := p.operands(form, all); ok {
			form.read(p, operands, doc)
		}
		return
	}
	p.rank = max(p.rank, 1)
	p.fault(name.column, "unknown declaration %q%s", name.text, Nearest(name.text, formNames()))
}

// operands divides a declaration into its operands and its text.
func (p *parser) operands(form form, all []word) (operands []word, doc string, ok bool) {
	have, want := len(all)-1, len(form.operands)
	usage := "@" + form.name + " " + strings.Join(form.operands, " ")
	if form.text {
		usage += " TEXT"
	}
	switch {
	case have < want:
		p.fault(all[0].column, "@%s lacks %s; write %s", form.name, form.operands[have], usage)
		return nil, "", false
	case have == want && form.text:
		p.fault(all[0].column, "@%s lacks its text; write %s", form.name, usage)
		return nil, "", false
	case have > want && !form.text:
		p.fault(all[want+1].column, "@%s takes no more; write %s", form.name, usage)
		return nil, "", false
	}
	var text []string
	for _, w := range all[want+1:] {
		text = append(text, w.text)
	}
	return all[1 : want+1], strings.Join(text, " "), true
}

// fault notes what is wrong at a column of the current line.
func (p *parser) fault(column int, format string, args ...any) {
	p.faultAt(p.position(column), format, args...)
}

func (p *parser) faultAt(position Position, format string, args ...any) {
	p.diagnostics = append(p.diagnostics, Diagnostic{Position: position, Message: fmt.Sprintf(format, args...)})
}

func (p *parser) position(column int) Position {
	return Position{File: p.file, Line: p.lastLine, Column: column}
}

// scriptName is the name that the file gives to its script.
func (p *parser) scriptName() string {
	return strings.TrimSuffix(filepath.Base(p.file), ".lua")
}
