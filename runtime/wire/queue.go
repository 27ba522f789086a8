package wire

import (
	"fmt"
	"strings"
)

const (
	// Prefix begins every key of the protocol.
	Prefix = "emq:"

	// CoreName is the hash tag of the keys that belong to the store and to no
	// queue; no queue can have this name.
	CoreName = "emq"

	maxQueueName = 128
)

// The keys of the store itself. They lie in the slot of [CoreName], so no
// script touches one of them together with the keys of a queue.
const (
	StoreVersionKey = Prefix + "{" + CoreName + "}:version"
	StoreQueuesKey  = Prefix + "{" + CoreName + "}:queues"
	StoreNodesKey   = Prefix + "{" + CoreName + "}:nodes"
)

// Queue is the valid name of a queue, and the one place where its keys are
// built. The zero Queue is not valid; [ParseQueue] makes one.
type Queue struct {
	name string
	// keys are the queue's own keys, one after the other in the order of
	// queueSuffixes: each is built once, and is a part of this text.
	keys string
}

// ParseQueue returns the queue called name.
//
// A name has 1 to 128 characters: letters, digits, '.', '_' and '-', of which
// the first is a letter or a digit. The name "emq" belongs to the protocol. The
// error is a [*NameError].
func ParseQueue(name string) (Queue, error) {
	switch {
	case name == "":
		return Queue{}, &NameError{Kind: QueueName, Name: name, Reason: "is empty"}
	case len(name) > maxQueueName:
		return Queue{}, &NameError{Kind: QueueName, Name: name, Reason: fmt.Sprintf("has %d bytes; the limit is %d", len(name), maxQueueName)}
	case name == CoreName:
		return Queue{}, &NameError{Kind: QueueName, Name: name, Reason: "is reserved for the protocol's own keys"}
	case strings.ContainsAny(name, "{}"):
		return Queue{}, &NameError{Kind: QueueName, Name: name, Reason: "has braces; the hash tag is added by the library, so write the bare name"}
	}
	if reason := checkCharacters(name); reason != "" {
		return Queue{}, &NameError{Kind: QueueName, Name: name, Reason: reason}
	}
	base := Prefix + "{" + name + "}:"
	return Queue{name: name, keys: base + strings.Join(queueSuffixes, base)}, nil
}

// base is what all keys of the queue begin with.
func (q Queue) base() string {
	return q.keys[:min(len(Prefix)+len("{}:")+len(q.name), len(q.keys))]
}

// Name returns the queue's name, without braces.
func (q Queue) Name() string { return q.name }

// String returns the queue's name.
func (q Queue) String() string { return q.name }

// IsZero reports whether q is the zero Queue, which has no name and no keys.
func (q Queue) IsZero() bool { return q.name == "" }

// Key returns the key with the given suffix: emq:{queue}:suffix. The suffix
// must be one of the queue's own (see [QueueSuffixes]); keys of a job come from
// [Queue.Job] and its siblings.
func (q Queue) Key(suffix string) string {
	base := q.base()
	if place, ok := keyPlaces[suffix]; ok && base != "" {
		start := place.bases*len(base) + place.suffixes
		return q.keys[start : start+len(base)+len(suffix)]
	}
	return base + suffix
}

// keyPlace is how many bases and how many bytes of suffixes come before a key in
// a queue's keys.
type keyPlace struct{ bases, suffixes int }

var keyPlaces = func() map[string]keyPlace {
	places := make(map[string]keyPlace, len(queueSuffixes))
	var next keyPlace
	for _, suffix := range queueSuffixes {
		places[suffix] = next
		next = keyPlace{next.bases + 1, next.suffixes + len(suffix)}
	}
	return places
}()

// Job returns the key of the hash of the job called id.
func (q Queue) Job(id JobID) string { return q.base() + id.id }

// JobKey returns a key that belongs to the job called id: emq:{queue}:id:part.
func (q Queue) JobKey(id JobID, part string) string { return q.base() + id.id + ":" + part }

// ControlChannel returns the name of the channel that carries cancellations.
func (q Queue) ControlChannel() string { return q.base() + "control" }

// LegacyMetaKey returns the key that a queue of the v1 line has under prefix
// (usually "bull"), by which such a queue is recognised.
func (q Queue) LegacyMetaKey(prefix string) string { return prefix + ":" + q.name + ":meta" }

// checkCharacters returns what is wrong with the characters of name, which is
// not empty, or "".
func checkCharacters(name string) string {
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && (c == '.' || c == '_' || c == '-'):
		case i == 0:
			return fmt.Sprintf("begins with %q; the first character must be an ASCII letter or digit", rune(c))
		default:
			return fmt.Sprintf("has %q at byte %d; only ASCII letters, digits, '.', '_' and '-' are allowed", name[i:i+1], i)
		}
	}
	return ""
}
