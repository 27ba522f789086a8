package annotations

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is an item as it was written, before the table is asked about it.
type word struct {
	key        string // what stands before "=", or empty
	keyed      bool   // there is a "="
	values     []scalar
	start, end int // bytes of the directive's arguments
}

// scalar is one value of an item.
type scalar struct {
	text       string // unquoted
	start, end int
	quoted     bool
}

// fault is a place where the text of a directive breaks the grammar.
type fault struct {
	message    string
	start, end int
}

// tokenize splits the arguments of a directive into its items. It never fails:
// what cannot be read is reported and left out, and reading goes on behind it.
func tokenize(args string) ([]word, []fault) {
	t := tokenizer{text: args}
	var words []word
	for t.skipSpace() {
		before := len(t.faults)
		if w := t.word(); len(t.faults) == before {
			words = append(words, w)
		}
	}
	return words, t.faults
}

type tokenizer struct {
	text   string
	offset int
	faults []fault
}

// skipSpace moves to the next item and reports whether there is one. A
// trailing comment ends the items.
func (t *tokenizer) skipSpace() bool {
	t.offset += len(t.rest()) - len(strings.TrimLeftFunc(t.rest(), unicode.IsSpace))
	return t.offset < len(t.text) && !strings.HasPrefix(t.rest(), "//")
}

func (t *tokenizer) rest() string { return t.text[t.offset:] }

func (t *tokenizer) fault(start int, message string) {
	end := max(t.offset, start)
	if end == start && end < len(t.text) {
		_, size := utf8.DecodeRuneInString(t.text[end:])
		end += size
	}
	t.faults = append(t.faults, fault{message: message, start: start, end: end})
}

func (t *tokenizer) word() word {
	w := word{start: t.offset}
	head := t.run(`=,"` + "`")
	if t.peek() == '=' {
		if head == "" {
			t.offset++
			t.fault(w.start, `nothing stands before "="; write key=value`)
			t.skipWord()
			return w
		}
		w.key, w.keyed = head, true
		t.offset++
		if t.strayValue(head) {
			return w
		}
	} else {
		if t.strayEqual(head, w.start) {
			return w
		}
		t.offset = w.start
	}
	w.values = t.list()
	w.end = t.offset
	return w
}

// strayEqual reports "key =", which is meant to be "key=": only to name the
// mistake, as it would else be an item without a value and one without a key.
func (t *tokenizer) strayEqual(key string, start int) bool {
	behind := t.offset
	t.skipSpace()
	if t.peek() != '=' || behind == start || behind == t.offset {
		t.offset = behind
		return false
	}
	at := t.offset
	t.offset++
	t.faultSpace(at, `a space stands before "="`, key)
	return true
}

// strayValue reports "key= value", which is meant to be "key=value". What has a
// key of its own is another item.
func (t *tokenizer) strayValue(key string) bool {
	behind := t.offset
	if !t.skipSpace() || t.offset == behind || t.peek() == '=' || strings.Contains(t.nextWord(), "=") {
		t.offset = behind
		return false
	}
	t.offset = behind
	t.faultSpace(behind-1, `a space stands after "="`, key)
	return true
}

// faultSpace reports a space beside the equal sign at a place, and moves behind
// the value.
func (t *tokenizer) faultSpace(at int, message, key string) {
	t.skipSpace()
	value := t.nextWord()
	if value == "" {
		value = "value"
	}
	end := t.offset
	t.offset = at + 1
	t.fault(at, message+"; write "+key+"="+value)
	t.offset = end
	t.skipWord()
}

// nextWord returns the text up to the next space.
func (t *tokenizer) nextWord() string {
	before := t.offset
	defer func() { t.offset = before }()
	return t.run("")
}

// list reads the values of one item, which are separated by commas.
func (t *tokenizer) list() []scalar {
	var values []scalar
	for {
		value, ok := t.scalar()
		if !ok {
			t.skipWord()
			return values
		}
		values = append(values, value)
		if t.strayComma() || t.peek() != ',' {
			return values
		}
		t.offset++
		if t.strayComma() {
			return values
		}
	}
}

// strayComma reports a space on one side of the comma of a list.
func (t *tokenizer) strayComma() bool {
	comma := t.offset > 0 && t.text[t.offset-1] == ','
	behind := t.offset
	more := t.skipSpace()
	if behind == t.offset || !more || !comma && t.peek() != ',' {
		t.offset = behind
		return false
	}
	t.fault(behind, "a space stands beside a comma; write a,b")
	t.skipWord()
	return true
}

func (t *tokenizer) scalar() (scalar, bool) {
	if c := t.peek(); c == '"' || c == '`' {
		return t.quoted()
	}
	s := scalar{start: t.offset}
	s.text = t.run(`,"` + "`")
	s.end = t.offset
	if c := t.peek(); c == '"' || c == '`' {
		t.fault(t.offset, "a quote stands inside a value; quote the whole value")
		return s, false
	}
	if s.text == "" {
		t.faultEmpty()
		return s, false
	}
	return s, true
}

// faultEmpty reports the value that is missing at the current place.
func (t *tokenizer) faultEmpty() {
	at := t.offset
	if at > 0 && (t.text[at-1] == '=' || t.text[at-1] == ',') {
		at--
	}
	switch {
	case t.text[at] == '=':
		t.fault(at, `no value stands after "="; write key=value`)
	case t.text[at] == ',' && at < t.offset:
		t.fault(at, "no value stands after the comma; write a,b")
	default:
		t.fault(at, "no value stands before the comma; write a,b")
	}
}

func (t *tokenizer) quoted() (scalar, bool) {
	s := scalar{start: t.offset, quoted: true}
	literal, err := strconv.QuotedPrefix(t.rest())
	if err != nil {
		t.offset = len(t.text)
		t.fault(s.start, "the quote is not closed, or has an escape that Go does not know")
		return s, false
	}
	t.offset += len(literal)
	s.end = t.offset
	s.text, _ = strconv.Unquote(literal) // a prefix that QuotedPrefix accepts is valid
	if c := t.peek(); c != 0 && c != ',' && !unicode.IsSpace(c) {
		t.fault(t.offset, "something stands directly after a closing quote; separate items by a space")
		return s, false
	}
	return s, true
}

// run reads up to a space or one of the characters in stop.
func (t *tokenizer) run(stop string) string {
	length := strings.IndexFunc(t.rest(), func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(stop, r)
	})
	if length < 0 {
		length = len(t.rest())
	}
	text := t.rest()[:length]
	t.offset += length
	return text
}

// skipWord moves behind an item that cannot be read.
func (t *tokenizer) skipWord() { t.run("") }

// peek returns the next character, or 0 at the end.
func (t *tokenizer) peek() rune {
	if t.offset == len(t.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(t.rest())
	return r
}
