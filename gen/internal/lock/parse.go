package lock

import (
	"fmt"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/gen/ir"
	"github.com/echomq/echomq-go/runtime/wire"
)

// SyntaxError is a lock that cannot be read.
type SyntaxError struct {
	// Line and Column are where, from 1.
	Line, Column int
	// Conflict is set where both sides of a merge changed one job, whose name is
	// the message.
	Conflict bool
	Message  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// Parse reads a lock. The order of its blocks has no meaning. Of a lock with the
// conflicts of a merge it reads both sides, if they are about different jobs. Its
// error is a [*SyntaxError].
func Parse(content []byte) (*File, error) {
	text := strings.TrimPrefix(string(content), "\ufeff")
	if line := conflicted(text); line > 0 {
		return parseConflicted(text, line)
	}
	return parse(text)
}

func parse(text string) (*File, error) {
	p := &parser{file: &File{}}
	for line := range strings.Lines(text) {
		p.line++
		if err := p.read(strings.TrimRight(line, " \t\r\n")); err != nil {
			return nil, err
		}
	}
	if !p.begun {
		return nil, p.fault(1, "it does not begin with the line %q", header)
	}
	if err := p.finish(); err != nil {
		return nil, err
	}
	p.file.sort()
	return p.file, p.doubles()
}

type parser struct {
	file  *File
	line  int
	begun bool
	// job and ended are the block at hand.
	job   *Job
	ended *Ended
	// refs are the structs that the block mentions, and where.
	refs map[string]int
}

func (p *parser) fault(column int, format string, arguments ...any) error {
	return &SyntaxError{Line: max(p.line, 1), Column: column, Message: fmt.Sprintf(format, arguments...)}
}

func (p *parser) read(text string) error {
	switch {
	case text == "" || strings.HasPrefix(text, "#"):
		return nil
	case !p.begun:
		if text != header {
			if strings.HasPrefix(text, "emq.lock ") {
				return p.fault(1, "it has the form %q, and this emqgen reads %q; use the emqgen that wrote it, or a newer one", text, header)
			}
			return p.fault(1, "it does not begin with the line %q", header)
		}
		p.begun = true
		return nil
	}
	words, column := split(text)
	if words == nil {
		return p.fault(column, "a quoted word cannot be read")
	}
	if text[0] == '\t' || text[0] == ' ' {
		return p.field(words)
	}
	return p.fact(words[0], words[1:])
}

// fact reads a line that is not a field.
func (p *parser) fact(word string, rest []string) error {
	switch {
	case word == "job" && len(rest) == 2:
		return p.begin(rest[0], rest[1])
	case word == "retired" && len(rest) == 2 && (rest[1] == "failed" || rest[1] == "discard"):
		return p.end(rest[0], rest[1])
	case word == "gone" && len(rest) == 1:
		return p.end(rest[0], "")
	case word == "accepted" && len(rest) == 2:
		switch accepted := (Accepted{From: rest[0], Reason: rest[1]}); {
		case p.job != nil:
			p.job.Accepted = append(p.job.Accepted, accepted)
			return nil
		case p.ended != nil:
			p.ended.Accepted = append(p.ended.Accepted, accepted)
			return nil
		}
	case p.job == nil:
	case word == "was" && len(rest) == 1:
		id, ok := parseID(rest[0])
		if !ok {
			return p.fault(len("was ")+1, "%s is not a queue and a name, as in mail/Welcome", rest[0])
		}
		p.job.Was = append(p.job.Was, id)
		return nil
	case p.known(word):
		return p.fault(1, "job %s v%d has %s twice", p.job.ID, p.job.Version, word)
	case word == "codec" && len(rest) == 1:
		p.job.Contract.Codec = rest[0]
		return nil
	case word == "payload" && len(rest) == 1:
		return p.typed(&p.job.Contract.Payload, len("payload "), rest[0])
	case word == "result" && len(rest) == 1:
		return p.typed(&p.job.Contract.Result, len("result "), rest[0])
	case word == "type" && len(rest) == 1 && token.IsIdentifier(rest[0]):
		if p.job.Contract.Struct(rest[0]) != nil {
			return p.fault(1, "type %s stands twice in job %s v%d", rest[0], p.job.ID, p.job.Version)
		}
		p.job.Contract.Structs = append(p.job.Contract.Structs, ir.WireStruct{Name: rest[0]})
		return nil
	}
	return p.fault(1, "a line that begins with %q has no meaning here", word)
}

// known reports whether the block has a fact that it can have once.
func (p *parser) known(word string) bool {
	contract := &p.job.Contract
	return word == "codec" && contract.Codec != "" || word == "payload" && contract.Payload != nil || word == "result" && contract.Result != nil
}

// typed reads a type into place.
func (p *parser) typed(into **ir.WireType, before int, text string) error {
	t, ok := parseType(text)
	if !ok {
		return p.fault(before+1, "%s is not a type", text)
	}
	p.mention(t)
	*into = t
	return nil
}

func (p *parser) field(words []string) error {
	if p.job == nil || len(p.job.Contract.Structs) == 0 {
		return p.fault(1, "a field that belongs to no type")
	}
	if len(words) < 3 || !token.IsIdentifier(words[2]) {
		return p.fault(2, "a field has a name, a type and a Go name")
	}
	t, ok := parseType(words[1])
	if !ok {
		return p.fault(2, "%s is not a type", words[1])
	}
	p.mention(t)
	field := ir.WireField{Name: words[0], GoName: words[2], Type: *t}
	for _, word := range words[3:] {
		switch word {
		case "optional":
			field.Optional = true
		case "redact":
			field.Redacted = true
		default:
			return p.fault(2, "%s says nothing about a field", word)
		}
	}
	of := &p.job.Contract.Structs[len(p.job.Contract.Structs)-1]
	if of.Field(field.Name) != nil {
		return p.fault(2, "field %s stands twice in type %s", field.Name, of.Name)
	}
	of.Fields = append(of.Fields, field)
	return nil
}

// mention notes the structs that t consists of.
func (p *parser) mention(t *ir.WireType) {
	if t == nil {
		return
	}
	if _, known := p.refs[t.Name]; t.Kind == ir.WireStructRef && !known {
		p.refs[t.Name] = p.line
	}
	p.mention(t.Key)
	p.mention(t.Elem)
}

func (p *parser) begin(name, version string) error {
	if err := p.finish(); err != nil {
		return err
	}
	id, ok := parseID(name)
	if !ok {
		return p.fault(len("job ")+1, "%s is not a queue and a name, as in mail/Welcome", name)
	}
	number, err := strconv.Atoi(strings.TrimPrefix(version, "v"))
	if err != nil || number < 1 || version != fmt.Sprintf("v%d", number) {
		return p.fault(len("job ")+1, "%s is not a version, such as v1", version)
	}
	p.job = &Job{ID: id, Version: number, Line: p.line}
	p.refs = map[string]int{}
	return nil
}

func (p *parser) end(name, to string) error {
	if err := p.finish(); err != nil {
		return err
	}
	id, ok := parseID(name)
	if !ok {
		return p.fault(1, "%s is not a queue and a name, as in mail/Welcome", name)
	}
	p.ended = &Ended{ID: id, To: to, Line: p.line}
	return nil
}

// finish ends the block at hand.
func (p *parser) finish() error {
	if p.ended != nil {
		p.file.Ended = append(p.file.Ended, *p.ended)
		p.ended = nil
	}
	job := p.job
	if job == nil {
		return nil
	}
	p.job = nil
	at := func(line int, format string, arguments ...any) error {
		return &SyntaxError{Line: line, Column: 1, Message: fmt.Sprintf(format, arguments...)}
	}
	switch {
	case job.Contract.Codec == "":
		return at(job.Line, "job %s v%d has no codec", job.ID, job.Version)
	case job.Contract.Payload == nil || job.Contract.Payload.Kind != ir.WireStructRef:
		return at(job.Line, "job %s v%d has no payload that is a struct", job.ID, job.Version)
	}
	for _, name := range slices.Sorted(maps.Keys(p.refs)) {
		if job.Contract.Struct(name) == nil {
			return at(p.refs[name], "job %s v%d has no type %s", job.ID, job.Version, name)
		}
	}
	p.file.Jobs = append(p.file.Jobs, *job)
	return nil
}

// doubles refuses two blocks of one job, as an unlucky merge leaves them. The
// blocks are sorted.
func (p *parser) doubles() error {
	for i := 1; i < len(p.file.Jobs); i++ {
		a, b := p.file.Jobs[i-1], p.file.Jobs[i]
		if a.ID == b.ID && a.Version == b.Version {
			return &SyntaxError{Line: max(a.Line, b.Line), Column: 1, Message: fmt.Sprintf("job %s v%d stands here twice", a.ID, a.Version)}
		}
	}
	for i, ended := range p.file.Ended {
		if i > 0 && p.file.Ended[i-1].ID == ended.ID || len(p.file.Versions(ended.ID)) > 0 {
			return &SyntaxError{Line: ended.Line, Column: 1, Message: fmt.Sprintf("job %s stands here twice", ended.ID)}
		}
	}
	return nil
}

func parseID(text string) (ID, bool) {
	queue, name, ok := strings.Cut(text, "/")
	_, err := wire.ParseQueue(queue)
	return ID{queue, name}, ok && err == nil && name != ""
}

// split parts a line into words, of which some are quoted; none is empty. Without
// words it returns the column of one that cannot be read.
func split(text string) ([]string, int) {
	var words []string
	for i := 0; i < len(text); {
		switch {
		case text[i] == ' ' || text[i] == '\t':
			i++
		case text[i] == '"':
			quoted, err := strconv.QuotedPrefix(text[i:])
			if err != nil {
				return nil, i + 1
			}
			word, err := strconv.Unquote(quoted)
			rest := text[i+len(quoted):]
			if err != nil || word == "" || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
				return nil, i + 1
			}
			words = append(words, word)
			i += len(quoted)
		default:
			end := i
			for end < len(text) && text[end] != ' ' && text[end] != '\t' {
				end++
			}
			words = append(words, text[i:end])
			i = end
		}
	}
	return words, 0
}
