package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Store is the content of a queue's keys, by the suffix of the key. A value is
// a [List], [Hash], [Stub], [ZSet], [Set], [Text] or [Stream].
type Store map[string]any

type (
	// List is a list, its head first.
	List []string
	// Hash is a hash without an expiry.
	Hash map[string]string
	// Stub is a hash that expires within the time for which a stub is kept.
	Stub map[string]string
	// ZSet is a sorted set of whole scores.
	ZSet map[string]int64
	// Set is a set, in the order of its members.
	Set []string
	// Text is a string.
	Text string
	// Stream is a stream of events.
	Stream []Event
)

// Event is an entry of the stream of events. Stores are written without its
// fields.
type Event struct{ Name, ID, Fields string }

// EventFields returns the fields of an event, given in turn with their values,
// as [Event] has them.
func EventFields(fields []string) string {
	var words []string
	for i := 0; i+1 < len(fields); i += 2 {
		words = append(words, quote(fields[i])+"="+quote(fields[i+1]))
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// day is how far from now a number is still written relative to it.
const day = 24 * 60 * 60 * 1000

// Equal reports whether two stores are the same.
func (s Store) Equal(other Store) bool { return maps.EqualFunc(s, other, equal) }

func equal(a, b any) bool {
	switch a := a.(type) {
	case List:
		b, ok := b.(List)
		return ok && slices.Equal(a, b)
	case Set:
		b, ok := b.(Set)
		return ok && slices.Equal(a, b)
	case Hash:
		b, ok := b.(Hash)
		return ok && maps.Equal(a, b)
	case Stub:
		b, ok := b.(Stub)
		return ok && maps.Equal(a, b)
	case ZSet:
		b, ok := b.(ZSet)
		return ok && maps.Equal(a, b)
	case Text:
		return a == b
	case Stream:
		b, ok := b.(Stream)
		return ok && slices.Equal(a, b)
	}
	return false
}

// String returns the store with a line for each key, in the order of the keys.
func (s Store) String() string { return s.Relative(0) }

// Relative is String with every number that is a time within a day of now
// written as now, now+N or now-N, in milliseconds.
func (s Store) Relative(now int64) string {
	var text strings.Builder
	for _, key := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&text, "%s %s\n", quote(key), describe(s[key], now))
	}
	return text.String()
}

func describe(value any, now int64) string {
	switch value := value.(type) {
	case List:
		return "list" + words(value)
	case Set:
		return "set" + words(value)
	case Hash:
		return "hash" + fields(value, now)
	case Stub:
		return "stub" + fields(value, now)
	case ZSet:
		scores := map[string]string{}
		for id, score := range value {
			scores[id] = strconv.FormatInt(score, 10)
		}
		return "zset" + fields(scores, now)
	case Text:
		return "text" + words([]string{string(value)})
	case Stream:
		var events []string
		for _, event := range value {
			events = append(events, event.Name+"/"+event.ID)
		}
		return "stream" + words(events)
	}
	return fmt.Sprintf("unknown %v", value)
}

func words(list []string) string {
	var text strings.Builder
	for _, word := range list {
		text.WriteString(" " + quote(word))
	}
	return text.String()
}

func fields(hash map[string]string, now int64) string {
	var text strings.Builder
	for _, field := range slices.Sorted(maps.Keys(hash)) {
		text.WriteString(" " + quote(field) + "=" + quote(relative(hash[field], now)))
	}
	return text.String()
}

func relative(value string, now int64) string {
	number, err := strconv.ParseInt(value, 10, 64)
	switch offset := number - now; {
	case now == 0 || err != nil || offset < -day || offset > day:
		return value
	case offset == 0:
		return "now"
	default:
		return fmt.Sprintf("now%+d", offset)
	}
}

// quote quotes a word that [ParseStore] would not read back otherwise.
func quote(word string) string {
	if word == "" || strings.ContainsAny(word, " =\"\n\t") || !strconv.CanBackquote(word) {
		return strconv.Quote(word)
	}
	return word
}

// Diff returns the lines of two texts that differ, those of want marked "-" and
// those of got marked "+"; "" if there are none.
func Diff(want, got string) string {
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	var text strings.Builder
	for _, line := range wanted {
		if !slices.Contains(gotten, line) {
			fmt.Fprintf(&text, "- %s\n", line)
		}
	}
	for _, line := range gotten {
		if !slices.Contains(wanted, line) {
			fmt.Fprintf(&text, "+ %s\n", line)
		}
	}
	if text.Len() == 0 && want != got {
		return "the lines differ in order or number only\n"
	}
	return text.String()
}
