package header

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/echomq/echomq-go/runtime/wire"
)

// queueTypes are the types of the queue's own keys, from layer L1 of
// docs/protocol.md.
var queueTypes = map[string]KeyType{
	"meta": Hash, "wait": List, "prioritized": ZSet, "pc": String,
	"delayed": ZSet, "active": ZSet, "reserved": Hash, "completed": ZSet,
	"failed": ZSet, "waiting-children": ZSet, "quarantine": ZSet,
	"dedup": Hash, "dedup-due": ZSet, "groups": ZSet, "grouped": ZSet,
	"group-active": Hash, "outbox": ZSet, "outbox-body": Hash,
	"schedulers": ZSet, "limiter": Hash, "marker": ZSet, "events": Stream,
	"metrics:completed": Hash, "metrics:failed": Hash,
}

// jobTypes are the types of a job's keys by the part that they add to its id.
var jobTypes = map[string]KeyType{
	"": Hash, "lock": String, "logs": List,
	"dependencies": Set, "processed": Hash, "failed": Hash,
}

var keyTypes = []string{string(Hash), string(List), string(ZSet), string(Set), string(String), string(Stream)}

var (
	argKinds    = []string{"int", "ms", "flag", "id", "scheduler", "string", "bytes", "word"}
	recordKinds = append(slices.Clone(argKinds), "ids", "hash")
	replyKinds  = append(slices.Clone(recordKinds), "records")
)

// hashFields are the wire names of the fields of the hashes of jobs and
// schedulers, as the structs are tagged with them.
var hashFields = sync.OnceValue(func() map[string][]string {
	return map[string][]string{"job": wireTags[wire.Envelope](), "scheduler": wireTags[wire.Scheduler]()}
})

func wireTags[T any]() []string {
	var names []string
	for field := range reflect.TypeFor[T]().Fields() {
		if name := field.Tag.Get("wire"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// keyType reads the type of a key that the protocol has as a want.
func (p *parser) keyType(operand word, want KeyType) KeyType {
	switch {
	case !slices.Contains(keyTypes, operand.text):
		p.fault(operand.column, "unknown type %q%s; it is one of %s", operand.text, Nearest(operand.text, keyTypes), strings.Join(keyTypes, ", "))
	case operand.text != string(want):
		p.fault(operand.column, "the protocol has a %s here, not a %s", want, operand.text)
	}
	return want
}

// value reads a named value of one of the given kinds.
func (p *parser) value(name, kind word, doc string, others []Value, kinds []string) (Value, bool) {
	before := len(p.diagnostics)
	p.name(name)
	if slices.ContainsFunc(others, func(v Value) bool { return v.Name == name.text }) {
		p.fault(name.column, "%q is declared twice", name.text)
	}
	value := Value{Position: p.position(name.column), Name: name.text, Kind: Kind(kind.text), Doc: doc}
	if list, ok := strings.CutPrefix(kind.text, "word("); ok {
		value.Kind = KindWord
		value.Words = p.words(kind, list)
	} else if kind.text == string(KindWord) {
		p.fault(kind.column, "kind word lacks its words; write word(a|b)")
	} else if !slices.Contains(kinds, kind.text) {
		p.fault(kind.column, "unknown kind %q%s; here it is one of %s", kind.text, Nearest(kind.text, kinds), strings.Join(kinds, ", "))
	}
	return value, len(p.diagnostics) == before
}

// words reads what stands after "word(".
func (p *parser) words(kind word, list string) []string {
	list, closed := strings.CutSuffix(list, ")")
	if !closed {
		p.fault(kind.column, "%q has no closing parenthesis, or blanks in it", kind.text)
		return nil
	}
	words := strings.Split(list, "|")
	for i, w := range words {
		switch {
		case !isName(w):
			p.fault(kind.column, "%q is not a word: a lower-case letter, then letters, digits and '-'", w)
		case slices.Contains(words[:i], w):
			p.fault(kind.column, "word %q stands twice", w)
		}
	}
	return words
}

// name checks the name of a value or of an item's key.
func (p *parser) name(name word) {
	if !isName(name.text) {
		p.fault(name.column, "name %q is not a lower-case letter followed by letters, digits and '-'", name.text)
	}
}

func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z':
		case i > 0 && (c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'):
		case i > 0 && i < len(s)-1 && c == '-' && s[i-1] != '-':
		default:
			return false
		}
	}
	return s != ""
}

func isErrorCode(s string) bool {
	rest, ok := strings.CutPrefix(s, "EMQ")
	return ok && rest != "" && strings.Trim(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// hashOf returns whose hash the key called name is, or "".
func (p *parser) hashOf(name string) string {
	for _, key := range p.script.Each {
		if key.Name == name {
			return key.HashOf()
		}
	}
	return ""
}
