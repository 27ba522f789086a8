package echomq

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What can become of jobs that an older program enqueued. A handler's middleware
// sees these; [Handle.Await] has them in the reason of a [*JobError].
var (
	// ErrVersionEnded is a job of a payload version that is older than the oldest
	// one that its type still reads; see [VersionError].
	ErrVersionEnded = errors.New("payload version is no longer read")
	// ErrRetired is a job of a type that was retired with [RetireFailed].
	ErrRetired = errors.New("job was retired")
)

// VersionError is an [ErrVersionEnded]. The job has failed without being tried,
// with its payload kept.
type VersionError struct {
	// Job is the job's wire name, and Version that of its payload.
	Job     string
	Version int
	// Oldest is the oldest version that is still read.
	Oldest int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("job %s has version %d: %v; the oldest one is %d", e.Job, e.Version, ErrVersionEnded, e.Oldest)
}

// Unwrap returns [ErrVersionEnded].
func (e *VersionError) Unwrap() error { return ErrVersionEnded }

// Older is how a payload of an older version becomes a current one. [Upgrade]
// makes it.
type Older[T any] struct {
	version int
	codec   string // of its jobs; empty for JSON
	read    func(encoding string, data []byte) (T, error)
}

// Upgrade returns how a payload of the given version becomes a current one: it is
// decoded as V, from JSON or with the codec that jobs of that version had, and
// upgraded. An error of upgrade fails the job without retry, with its payload kept.
func Upgrade[V, T any](version int, upgrade func(V) (T, error), codec ...Codec[V]) Older[T] {
	var had Codec[V]
	name := ""
	if len(codec) > 0 {
		had = codec[0]
		name = had.Name()
	}
	return Older[T]{version: version, codec: name, read: func(encoding string, data []byte) (T, error) {
		var none T
		old, err := decode(had, encoding, data)
		if err != nil {
			return none, err
		}
		payload, err := upgrade(old)
		if err != nil {
			return none, fmt.Errorf("it cannot be upgraded from version %d: %w", version, err)
		}
		return payload, nil
	}}
}

// Then joins two upgrades: from A by way of B to C.
func Then[A, B, C any](first func(A) (B, error), second func(B) (C, error)) func(A) (C, error) {
	return func(a A) (C, error) {
		b, err := first(a)
		if err != nil {
			var none C
			return none, err
		}
		return second(b)
	}
}

// Reads returns the job type with the older versions of its payload, in any
// order. Without one for its version a payload is read as the next version that
// is known. emqgen writes it for the versions that the lock remembers.
func (t JobType[T, R]) Reads(older ...Older[T]) JobType[T, R] {
	t.older = append(slices.Clone(t.older), older...)
	slices.SortFunc(t.older, func(a, b Older[T]) int { return a.version - b.version })
	return t
}

// encodings are those beside JSON that payloads of the type may have, of whatever
// version.
func (t JobType[T, R]) encodings() []string {
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(t.codecs.name())
	for _, older := range t.older {
		add(older.codec)
	}
	return names
}

// payloadOf decodes a job's payload, of whatever version.
func (t JobType[T, R]) payloadOf(envelope *Envelope) (payload T, err error) {
	defer func() { err = t.hide(err) }()
	defer ownPanic(&err)
	version := max(envelope.PayloadVersion, 1)
	if version < t.spec.Oldest {
		return payload, &VersionError{Job: envelope.Name, Version: version, Oldest: t.spec.Oldest}
	}
	for _, older := range t.older {
		if version <= older.version {
			encoding, _ := splitCodec(envelope.Codec)
			return older.read(encoding, envelope.Data)
		}
	}
	return t.codecs.decodePayload(envelope.Codec, envelope.Data)
}

// namesIn returns the wire names under which jobs of the type may be in the queue
// of the given name, its own first.
func (s JobSpec) namesIn(queue string) []string {
	var names []string
	if s.Queue == queue {
		names = append(names, s.Name)
	}
	for _, was := range s.Was {
		if of, name, ok := strings.Cut(was, "/"); ok && of == queue && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// namesIn returns the wire names of the jobs that the route leads to their
// handler in the queue of the given name.
func (r Route) namesIn(queue string) []string {
	if names := r.spec.namesIn(queue); len(names) > 0 {
		return names
	}
	return []string{r.name}
}

// formerNames returns the names that jobs of the type had in any queue, each
// between two zero bytes, which no name has in it: so that a handle can be
// compared.
func (s JobSpec) formerNames() string {
	var names strings.Builder
	for _, was := range s.Was {
		if _, name, ok := strings.Cut(was, "/"); ok {
			names.WriteString("\x00" + name + "\x00")
		}
	}
	return names.String()
}

// Retirement is what becomes of jobs of a type that no longer exists.
type Retirement int

const (
	// RetireFailed fails them, as an [ErrRetired], without trying. They are kept as
	// their own settings say.
	RetireFailed Retirement = iota
	// RetireDiscard completes and deletes them.
	RetireDiscard
)

// errDiscarded is the failure of a job that is to be completed and deleted.
var errDiscarded = errors.New("job was discarded")

// Retired returns the route of jobs that have the given name, whose type no
// longer exists. Their version and codec do not matter.
func Retired(name string, to Retirement) Route {
	return Route{
		name: name, version: math.MaxInt, retired: true,
		run: func(context.Context, Envelope) ([]byte, error) {
			if to == RetireDiscard {
				return nil, Fail(errDiscarded)
			}
			return nil, Fail(ErrRetired)
		},
	}
}
