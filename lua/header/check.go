package header

import (
	"slices"
	"strings"
)

// check tells what the header lacks as a whole.
func (p *parser) check() {
	s := p.script
	top := Position{File: p.file, Line: 1, Column: 1}
	if p.lastLine == 0 {
		p.faultAt(top, "no header: the file must begin with a line that begins with %q", mark)
		return
	}
	if want := p.scriptName(); s.Name != want {
		p.faultAt(top, "the documentation begins with %q; its first word must be the script's name, %q, which is the file's", s.Name, want)
	} else if !isName(s.Name) {
		p.faultAt(top, "name %q is not a lower-case letter followed by letters, digits and '-'", s.Name)
	}
	if s.Memory == "" && !p.faultsOf("@memory") {
		p.faultAt(top, "no @memory: say whether the script is refused, drains or reads when memory is used up")
	}
	if len(s.Keys) == 0 && len(p.diagnostics) == 0 {
		p.faultAt(top, "no @key: a call needs a key of the queue, by which it is routed")
	}
	p.checkItems()
	p.checkReplies()
	if itself := s.Special(s.Name); itself != nil {
		p.faultAt(itself.Position, "%q is this script; what is derived from it has a name of its own", s.Name)
	}
}

func (p *parser) checkItems() {
	s := p.script
	told := map[Kind]bool{}
	for _, key := range s.Each {
		builds := func(v Value) bool { return v.Name == string(key.Of) && v.Kind == key.Of }
		if !told[key.Of] && !slices.ContainsFunc(s.Items, builds) {
			p.faultAt(key.Position, "key %q is built from the item's %s; declare @item %s %s", key.Name, key.Of, key.Of, key.Of)
			told[key.Of] = true
		}
	}
	for _, item := range s.Items {
		if slices.ContainsFunc(s.Args, func(v Value) bool { return v.Name == item.Name }) {
			p.faultAt(item.Position, "%q is an @arg and an @item", item.Name)
		}
	}
}

func (p *parser) checkReplies() {
	s := p.script
	if len(s.Replies) == 0 && len(p.diagnostics) == 0 {
		p.faultAt(Position{File: p.file, Line: 1, Column: 1}, "no @reply: say what the script answers")
	}
	for _, reply := range s.Replies {
		if reply.Kind == KindRecords && len(reply.Record) == 0 && len(p.diagnostics) == 0 {
			p.faultAt(reply.Position, "reply %q is of kind records but has no @record", reply.Name)
		}
	}
}

// faultsOf reports whether something is already wrong with a declaration.
func (p *parser) faultsOf(declaration string) bool {
	return slices.ContainsFunc(p.diagnostics, func(d Diagnostic) bool {
		return strings.Contains(d.Message, declaration)
	})
}
