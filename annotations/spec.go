package annotations

import (
	"slices"
	"strings"
)

// Prefix begins every directive, after the slashes of its comment.
const Prefix = "emq:"

// none is the only word that switches something off.
const none = "none"

// Place is where a directive may stand.
type Place int

// The places of directives.
const (
	// OnPackage is the comment directly above a package clause.
	OnPackage Place = iota
	// OnStruct is the comment directly above one struct type.
	OnStruct
)

func (p Place) String() string {
	if p == OnPackage {
		return "the package clause"
	}
	return "a struct type"
}

// Spec defines one directive.
type Spec struct {
	// Name is the word after the prefix.
	Name string
	// On is where the directive may stand.
	On Place
	// Repeats is set where one place may carry the directive several times.
	Repeats bool
	// Bare is set where the directive says something without any item.
	Bare bool
	// Items are what may be written after the name.
	Items []Item
	// Doc says what the directive is for, in whole sentences.
	Doc string
	// Example is the directive as one would write it.
	Example string
}

// Item defines one item of a directive.
type Item struct {
	// Key is the word before "="; it is empty for the plain value of a
	// directive that takes one.
	Key string
	// Kind says what the value is and how it is read.
	Kind Kind
	// List is the most values that may stand in a row, separated by commas;
	// 0 and 1 both mean a single value.
	List int
	// Required is set where the directive means nothing without the item.
	Required bool
	// None is set where the value "none" switches the thing off.
	None bool
	// Min and Max bound a whole number.
	Min, Max int
	// Words are the values of an enumeration.
	Words []string
	// Default is what holds where the item is absent, as one would write it,
	// or a description of it.
	Default string
	// Doc says what the item does, in whole sentences.
	Doc string
}

// Item returns the definition of the item with the given key, or nil.
func (s *Spec) Item(key string) *Item {
	for i := range s.Items {
		if s.Items[i].Key == key {
			return &s.Items[i]
		}
	}
	return nil
}

// plain returns the definition of the directive's plain value, or nil.
func (s *Spec) plain() *Item { return s.Item("") }

// keys returns the keys that the directive takes, in the order of the table.
func (s *Spec) keys() []string {
	var keys []string
	for _, item := range s.Items {
		if item.Key != "" {
			keys = append(keys, item.Key)
		}
	}
	return keys
}

// accepts describes what may be written after the name.
func (s *Spec) accepts() string {
	if item := s.plain(); item != nil {
		return join(append([]string{item.wants()}, s.keys()...))
	}
	return join(s.keys())
}

// title names the item in a message.
func (i *Item) title() string {
	if i.Key == "" {
		return "the value"
	}
	return i.Key
}

// Wants describes the values that the item takes.
func (i Item) Wants() string { return i.wants() }

func (i *Item) wants() string {
	words := i.Kind.wants(i)
	if i.None {
		words += ", or none"
	}
	return words
}

// Directives returns the table of all directives, in the order in which they
// are documented.
func Directives() []Spec { return slices.Clone(table) }

// lookup returns the definition of the directive called name, or nil.
func lookup(name string) *Spec {
	for i := range table {
		if table[i].Name == name {
			return &table[i]
		}
	}
	return nil
}

// names returns the names of all directives, in the order of the table.
func names() []string {
	all := make([]string, len(table))
	for i := range table {
		all[i] = table[i].Name
	}
	return all
}

// oneOf lists the words of a choice: "a, b or c".
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// join lists words as prose does: "a, b and c".
func join(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
