package header

import "slices"

// Script is what the header of a script declares.
type Script struct {
	// Name is the script's name; its file is Name + ".lua".
	Name string
	// Doc is the script's documentation, paragraphs divided by empty lines.
	Doc string
	// Memory is what the script does once the server's memory is used up.
	Memory Memory
	// Keys are the queue's own keys: KEYS[1] to KEYS[len(Keys)].
	Keys []Key
	// Each are the keys that every item adds to KEYS, in order.
	Each []EachKey
	// Args are the arguments of the call: ARGV[1] to ARGV[len(Args)].
	Args []Value
	// Items are the arguments that every item adds to ARGV, in order.
	Items []Value
	// Fields are the fields of hashes that the script names.
	Fields []Field
	// Stores are the arguments that fields take their values from.
	Stores []Store
	// Replies are the elements of the reply, in order.
	Replies []Reply
	// Errors are the error replies that the script gives.
	Errors []ErrorReply
	// Specials are the scripts that are derived from this one.
	Specials []Special
}

// Memory is what a script does with maxmemory reached.
type Memory string

// The behaviours that a header can declare.
const (
	// MemoryRefused says that the script is refused before it wrote anything.
	MemoryRefused Memory = "refused"
	// MemoryDrains says that the script goes on: its first write frees memory.
	MemoryDrains Memory = "drains"
	// MemoryReads says that the script writes nothing.
	MemoryReads Memory = "reads"
)

var memories = []string{string(MemoryRefused), string(MemoryDrains), string(MemoryReads)}

// KeyType is the type of the value that a key holds.
type KeyType string

// The types of a key.
const (
	Hash   KeyType = "hash"
	List   KeyType = "list"
	ZSet   KeyType = "zset"
	Set    KeyType = "set"
	String KeyType = "string"
	Stream KeyType = "stream"
)

// Key is a key of the queue, emq:{queue}:Suffix.
type Key struct {
	Position Position
	Suffix   string
	Type     KeyType
	Doc      string
}

// EachKey is a key that every item brings: of the item's job, its hash if Part is
// empty, else the key that adds ":" + Part to it; or of the item's scheduler, its
// hash.
type EachKey struct {
	Position Position
	Name     string
	Type     KeyType
	// Of is the kind of the item's argument from which the key is built, and
	// that argument's name: KindID or KindScheduler.
	Of   Kind
	Part string
	Doc  string
}

// HashOf says whose fields are those of the key: "job" or "scheduler", and "" for
// a key that is not the hash of either.
func (k EachKey) HashOf() string {
	switch {
	case k.Part != "":
		return ""
	case k.Of == KindScheduler:
		return "scheduler"
	}
	return "job"
}

// Pattern returns the key's pattern over the queue's base, as the header has it.
func (k EachKey) Pattern() string {
	if k.Of == KindScheduler {
		return schedulerPattern
	}
	if k.Part == "" {
		return idPattern
	}
	return idPattern + ":" + k.Part
}

// Kind is the kind of an argument or of an element of the reply.
type Kind string

// The kinds. The last three are kinds of a reply only.
const (
	KindInt       Kind = "int"
	KindMS        Kind = "ms"
	KindFlag      Kind = "flag"
	KindID        Kind = "id"
	KindScheduler Kind = "scheduler"
	KindString    Kind = "string"
	KindBytes     Kind = "bytes"
	KindWord      Kind = "word"
	KindIDs       Kind = "ids"
	KindHash      Kind = "hash"
	KindRecords   Kind = "records"
)

// Value is a named value: an argument, or an element of a record.
type Value struct {
	Position Position
	Name     string
	Kind     Kind
	// Words are the words that a value of kind word can be.
	Words []string
	Doc   string
}

// Reply is an element of the reply.
type Reply struct {
	Value
	// Record are the elements of each record, if the kind is records.
	Record []Value
}

// AnyField is the name of a field declaration which says that fields of a hash
// are data and not names: all, or all but those that are declared beside it.
const AnyField = "*"

// Field is a field of a hash that the script names, or [AnyField].
type Field struct {
	Position Position
	Name     string
	// Key is the suffix or the name of the hash's key.
	Key string
}

// Store says that a field takes the value of an argument.
type Store struct {
	Position Position
	// Field and Key are those of a declared [Field].
	Field, Key string
	// Value is the name of the argument, of the call or of its items.
	Value string
}

// StoredIn returns the fields that take the value of the argument called name, as
// they are declared.
func (s *Script) StoredIn(name string) []Store {
	return slices.DeleteFunc(slices.Clone(s.Stores), func(store Store) bool { return store.Value != name })
}

// ErrorReply is an error that the script answers; its first word is Code.
type ErrorReply struct {
	Position Position
	Code     string
	Doc      string
}

// Special is a script that is derived from another one, for calls in which
// some arguments stand at fixed values.
type Special struct {
	Position Position
	Name     string
	Values   []SpecialValue
}

// SpecialValue is an argument, of the call or of its items, of which it is known
// in a [Special] what it is: one of Words, as it is sent. Without words it is not
// known, and nothing looks at it.
type SpecialValue struct {
	Name  string
	Words []string
}

// Special returns the script called name that is derived from this one, nil if
// there is none.
func (s *Script) Special(name string) *Special {
	for i := range s.Specials {
		if s.Specials[i].Name == name {
			return &s.Specials[i]
		}
	}
	return nil
}

// KeyType returns the type of the key called name, the suffix of a queue's key
// or the name of an item's, and whether the header declares it.
func (s *Script) KeyType(name string) (KeyType, bool) {
	for _, key := range s.Keys {
		if key.Suffix == name {
			return key.Type, true
		}
	}
	for _, key := range s.Each {
		if key.Name == name {
			return key.Type, true
		}
	}
	return "", false
}

// HasField reports whether the script may name the given field of the hash
// called key; "" is a field that is data.
func (s *Script) HasField(key, field string) bool {
	data, names := false, false
	for _, f := range s.Fields {
		switch {
		case f.Key != key:
		case f.Name == AnyField:
			data = true
		case f.Name == field:
			return true
		default:
			names = true
		}
	}
	return data && (field == "" || !names)
}

// KeyNames returns the names of all keys that the script can be given: the
// suffixes of the queue's and the names of the items'.
func (s *Script) KeyNames() []string {
	var names []string
	for _, key := range s.Keys {
		names = append(names, key.Suffix)
	}
	for _, key := range s.Each {
		names = append(names, key.Name)
	}
	return names
}
