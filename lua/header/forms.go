package header

import (
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// form is a form of declaration: its operands and how they are read.
type form struct {
	name     string
	rank     int // its place in the order of declarations, from 1
	operands []string
	text     bool // whether text follows, which is then required
	read     func(p *parser, operands []word, doc string)
}

// forms are all declarations, in the order in which they must stand; a record
// may also follow its reply directly.
var forms []form

func init() {
	forms = []form{
		{name: "memory", rank: 1, operands: []string{"refused|drains|reads"}, read: (*parser).readMemory},
		{name: "key", rank: 2, operands: []string{"SUFFIX", "TYPE"}, text: true, read: (*parser).readKey},
		{name: "each", rank: 3, operands: []string{"NAME", "TYPE", "PATTERN"}, text: true, read: (*parser).readEach},
		{name: "arg", rank: 4, operands: []string{"NAME", "KIND"}, text: true, read: (*parser).readArg},
		{name: "item", rank: 5, operands: []string{"NAME", "KIND"}, text: true, read: (*parser).readItem},
		{name: "field", rank: 6, operands: []string{"NAME", "KEY"}, read: (*parser).readField},
		{name: "stores", rank: 7, operands: []string{"FIELD", "KEY", "VALUE"}, read: (*parser).readStores},
		{name: "reply", rank: 8, operands: []string{"NAME", "KIND"}, text: true, read: (*parser).readReply},
		{name: "record", rank: 8, operands: []string{"REPLY", "NAME", "KIND"}, text: true, read: (*parser).readRecord},
		{name: "error", rank: 9, operands: []string{"CODE"}, text: true, read: (*parser).readError},
		{name: "special", rank: 10, operands: []string{"NAME"}, text: true, read: (*parser).readSpecial},
	}
}

func formNames() []string {
	var names []string
	for _, form := range forms {
		names = append(names, "@"+form.name)
	}
	return names
}

func formOrder() string { return strings.Join(formNames(), ", ") }

func (p *parser) readMemory(operands []word, _ string) {
	memory := operands[0]
	switch {
	case p.script.Memory != "":
		p.fault(memory.column, "a second @memory; a script has one")
	case !slices.Contains(memories, memory.text):
		p.fault(memory.column, "unknown @memory %q%s; it is one of %s", memory.text, Nearest(memory.text, memories), strings.Join(memories, ", "))
	default:
		p.script.Memory = Memory(memory.text)
	}
}

func (p *parser) readKey(operands []word, doc string) {
	suffix := operands[0]
	if slices.Contains(p.script.KeyNames(), suffix.text) {
		p.fault(suffix.column, "key %q is declared twice", suffix.text)
		return
	}
	known := wire.QueueSuffixes()
	if !slices.Contains(known, suffix.text) {
		p.fault(suffix.column, "a queue has no key %q%s", suffix.text, Nearest(suffix.text, known))
		return
	}
	keyType := p.keyType(operands[1], queueTypes[suffix.text])
	p.script.Keys = append(p.script.Keys, Key{Position: p.position(suffix.column), Suffix: suffix.text, Type: keyType, Doc: doc})
}

func (p *parser) readEach(operands []word, doc string) {
	name, pattern := operands[0], operands[2]
	p.name(name)
	if slices.Contains(p.script.KeyNames(), name.text) {
		p.fault(name.column, "key %q is declared twice", name.text)
		return
	}
	if pattern.text == schedulerPattern {
		p.each(operands, EachKey{Of: KindScheduler, Doc: doc}, Hash)
		return
	}
	part, ok := strings.CutPrefix(pattern.text, idPattern)
	part, parted := strings.CutPrefix(part, ":")
	known := wire.JobParts()
	switch {
	case !ok, parted != (part != ""):
		p.fault(pattern.column, "pattern %q is none of %s, %s:PART and %s", pattern.text, idPattern, idPattern, schedulerPattern)
		return
	case parted && !slices.Contains(known, part):
		p.fault(pattern.column, "a job has no key %q%s", part, Nearest(part, known))
		return
	}
	p.each(operands, EachKey{Of: KindID, Part: part, Doc: doc}, jobTypes[part])
}

// each enters a key that every item brings, whose type the protocol has as want.
func (p *parser) each(operands []word, key EachKey, want KeyType) {
	name, pattern := operands[0], operands[2]
	for _, other := range p.script.Each {
		if other.Pattern() == key.Pattern() {
			p.fault(pattern.column, "key %q has the same pattern as %q", name.text, other.Name)
		}
	}
	key.Position, key.Name = p.position(name.column), name.text
	key.Type = p.keyType(operands[1], want)
	p.script.Each = append(p.script.Each, key)
}

func (p *parser) readArg(operands []word, doc string) {
	if value, ok := p.value(operands[0], operands[1], doc, p.script.Args, argKinds); ok {
		p.script.Args = append(p.script.Args, value)
	}
}

func (p *parser) readItem(operands []word, doc string) {
	if value, ok := p.value(operands[0], operands[1], doc, p.script.Items, argKinds); ok {
		p.script.Items = append(p.script.Items, value)
	}
}

func (p *parser) readField(operands []word, _ string) {
	name, key := operands[0], operands[1]
	field := Field{Position: p.position(name.column), Name: name.text, Key: key.text}
	keyType, declared := p.script.KeyType(key.text)
	of := p.hashOf(key.text)
	switch {
	case !declared:
		p.fault(key.column, "no key %q is declared%s", key.text, Nearest(key.text, p.script.KeyNames()))
		return
	case keyType != Hash:
		p.fault(key.column, "key %q is a %s; only a hash has fields", key.text, keyType)
		return
	case slices.ContainsFunc(p.script.Fields, func(f Field) bool { return f.Name == field.Name && f.Key == field.Key }):
		p.fault(name.column, "field %q of %q is declared twice", name.text, key.text)
		return
	case of != "" && name.text == AnyField:
		p.fault(name.column, "a %s's fields are names, not data; declare each that the script uses", of)
		return
	case of != "" && !slices.Contains(hashFields()[of], name.text):
		p.fault(name.column, "a %s has no field %q%s", of, name.text, Nearest(name.text, hashFields()[of]))
		return
	}
	p.script.Fields = append(p.script.Fields, field)
}

func (p *parser) readStores(operands []word, _ string) {
	field, key, value := operands[0], operands[1], operands[2]
	store := Store{Position: p.position(field.column), Field: field.text, Key: key.text, Value: value.text}
	var fields, values []string
	for _, declared := range p.script.Fields {
		if declared.Key == key.text && declared.Name != AnyField {
			fields = append(fields, declared.Name)
		}
	}
	for _, declared := range slices.Concat(p.script.Args, p.script.Items) {
		values = append(values, declared.Name)
	}
	same := func(other Store) bool {
		return other.Field == store.Field && other.Key == store.Key && other.Value == store.Value
	}
	switch {
	case !slices.Contains(fields, field.text):
		p.fault(field.column, "no field %q of %q is declared%s", field.text, key.text, Nearest(field.text, fields))
	case !slices.Contains(values, value.text):
		p.fault(value.column, "no @arg or @item %q is declared%s", value.text, Nearest(value.text, values))
	case slices.ContainsFunc(p.script.Stores, same):
		p.fault(field.column, "it is declared twice that field %q of %q takes the value of %q", field.text, key.text, value.text)
	default:
		p.script.Stores = append(p.script.Stores, store)
	}
}

func (p *parser) readReply(operands []word, doc string) {
	var others []Value
	for _, reply := range p.script.Replies {
		others = append(others, reply.Value)
	}
	if value, ok := p.value(operands[0], operands[1], doc, others, replyKinds); ok {
		p.script.Replies = append(p.script.Replies, Reply{Value: value})
	}
}

func (p *parser) readRecord(operands []word, doc string) {
	reply := operands[0]
	var names []string
	for i := range p.script.Replies {
		records := &p.script.Replies[i]
		if names = append(names, records.Name); records.Name != reply.text {
			continue
		}
		if records.Kind != KindRecords {
			p.fault(reply.column, "reply %q is of kind %s; only one of kind records has records", reply.text, records.Kind)
		} else if value, ok := p.value(operands[1], operands[2], doc, records.Record, recordKinds); ok {
			records.Record = append(records.Record, value)
		}
		return
	}
	p.fault(reply.column, "no @reply %q is declared%s", reply.text, Nearest(reply.text, names))
}

func (p *parser) readError(operands []word, doc string) {
	code := operands[0]
	switch {
	case !isErrorCode(code.text):
		p.fault(code.column, "error code %q is not EMQ and capital letters", code.text)
	case slices.ContainsFunc(p.script.Errors, func(e ErrorReply) bool { return e.Code == code.text }):
		p.fault(code.column, "error %s is declared twice", code.text)
	default:
		p.script.Errors = append(p.script.Errors, ErrorReply{Position: p.position(code.column), Code: code.text, Doc: doc})
	}
}

// readSpecial reads a line of what is fixed in a special; further lines add to it.
func (p *parser) readSpecial(operands []word, text string) {
	name := operands[0]
	p.name(name)
	special := p.script.Special(name.text)
	if special == nil {
		p.script.Specials = append(p.script.Specials, Special{Position: p.position(name.column), Name: name.text})
		special = &p.script.Specials[len(p.script.Specials)-1]
	}
	for _, fixed := range strings.Fields(text) {
		argument, list, valued := strings.Cut(fixed, "=")
		value := SpecialValue{Name: argument}
		if valued {
			value.Words = strings.Split(list, "|")
		}
		var names []string
		var declared *Value
		for _, v := range slices.Concat(p.script.Args, p.script.Items) {
			if names = append(names, v.Name); v.Name == argument {
				declared = &v
			}
		}
		switch {
		case declared == nil:
			p.fault(name.column, "no @arg or @item %q is declared%s", argument, Nearest(argument, names))
			continue
		case slices.ContainsFunc(special.Values, func(v SpecialValue) bool { return v.Name == argument }):
			p.fault(name.column, "%q is fixed twice", argument)
			continue
		case declared.Kind == KindID, declared.Kind == KindScheduler:
			p.fault(name.column, "%q is of kind %s, which cannot be fixed", argument, declared.Kind)
			continue
		}
		for _, word := range value.Words {
			if !declared.admits(word) {
				p.fault(name.column, "%q is no value of %q, which is of kind %s", word, argument, declared.Kind)
			}
		}
		special.Values = append(special.Values, value)
	}
}

// admits reports whether a value can be fixed at the given one: numbers, flags and
// words at any, texts at none.
func (v *Value) admits(word string) bool {
	switch v.Kind {
	case KindInt, KindMS:
		n, err := strconv.ParseInt(word, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == word
	case KindFlag:
		return word == "0" || word == "1"
	case KindWord:
		return slices.Contains(v.Words, word)
	default:
		return word == ""
	}
}
