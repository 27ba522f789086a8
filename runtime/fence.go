package echomq

import (
	"errors"
	"fmt"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// What a client's first contact can find under the name of a queue, beside a
// queue that it can join. Nothing has been written when it is found.
var (
	// ErrLegacyQueue is a queue of the v1 line (BullMQ's wire) that has the same
	// name in the same store.
	ErrLegacyQueue = errors.New("a v1 queue has the same name")
	// ErrOtherMajor is a queue or store of another major version of EchoMQ. It
	// is an [ErrVersion] too.
	ErrOtherMajor = errors.New("protocol has another major version")
	// ErrForeignVersion is a queue or store whose version is none of EchoMQ's.
	// It is an [ErrVersion] too.
	ErrForeignVersion = errors.New("version is not of this protocol")
	// ErrUnknownFeature is a queue that uses an addition to the protocol which
	// this library does not know.
	ErrUnknownFeature = errors.New("queue uses a feature that this library lacks")
	// ErrMigrated is a queue that has moved elsewhere.
	ErrMigrated = errors.New("queue has migrated")
)

// FenceError tells what a client found when it first looked at a queue, and why
// it does not join it. errors.Is finds its kind: [ErrLegacyQueue],
// [ErrOtherMajor], [ErrForeignVersion], [ErrVersion], [ErrUnknownFeature] or
// [ErrMigrated].
type FenceError struct {
	Kind error
	// Queue is the queue's name.
	Queue string
	// Key is the key under which Found was found.
	Key string
	// Found is what stands there, and Expected what would have been let pass.
	Found    string
	Expected string
	// Advice says what to do.
	Advice string
}

func (e *FenceError) Error() string {
	return fmt.Sprintf("echomq: queue %q: %v: key %q: found %s, expected %s (%s; nothing was written)",
		e.Queue, e.Kind, e.Key, e.Found, e.Expected, e.Advice)
}

// Is reports whether target is the error's kind, or [ErrVersion] for a version
// that differs.
func (e *FenceError) Is(target error) bool {
	return target == e.Kind || target == ErrVersion && (e.Kind == ErrOtherMajor || e.Kind == ErrForeignVersion)
}

// Unwrap returns the kind.
func (e *FenceError) Unwrap() error { return e.Kind }

// migrated, followed by a name, is the version of a queue that has moved there.
// Since it is no version that a script knows, none runs on what is left.
const migrated = "echomq:migrated:"

// features are the additions to the protocol that this library knows.
var features = map[string]bool{}

// fenceVersion judges the version that stands under key, if one does.
func fenceVersion(queue wire.Queue, key, found string) error {
	fence := &FenceError{Queue: queue.Name(), Key: key, Found: fmt.Sprintf("%q", found), Expected: fmt.Sprintf("%q", wire.Version)}
	version, ours := strings.CutPrefix(found, "echomq:")
	major, _, _ := strings.Cut(version, ".")
	expected, _, _ := strings.Cut(strings.TrimPrefix(wire.Version, "echomq:"), ".")
	switch {
	case found == "", found == wire.Version:
		return nil
	case strings.HasPrefix(found, migrated):
		fence.Kind = ErrMigrated
		fence.Advice = fmt.Sprintf("use queue %q", strings.TrimPrefix(found, migrated))
	case ours && isVersion(version) && major != expected:
		fence.Kind = ErrOtherMajor
		fence.Advice = "use a library of that version, or another queue name"
	case ours && isVersion(version):
		fence.Kind = ErrVersion
		fence.Advice = "use a library of that version, or another queue name"
	default:
		fence.Kind = ErrForeignVersion
		fence.Advice = "use another queue name, or find out who writes there"
	}
	return fence
}

// isVersion reports whether text is numbers parted by points.
func isVersion(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.") == ""
}

// fenceFeatures judges the features that a queue says its clients must know:
// words parted by commas.
func fenceFeatures(queue wire.Queue, key, found string) error {
	for feature := range strings.SplitSeq(found, ",") {
		if feature = strings.TrimSpace(feature); feature != "" && !features[feature] {
			return &FenceError{
				Kind: ErrUnknownFeature, Queue: queue.Name(), Key: key,
				Found: fmt.Sprintf("%q", feature), Expected: "features that this library knows: none",
				Advice: "upgrade github.com/echomq/echomq-go",
			}
		}
	}
	return nil
}

// fenceLegacy refuses the name of a v1 queue that exists.
func fenceLegacy(queue wire.Queue, prefix string, exists bool) error {
	if !exists {
		return nil
	}
	return &FenceError{
		Kind: ErrLegacyQueue, Queue: queue.Name(), Key: queue.LegacyMetaKey(prefix),
		Found: "a queue of the v1 line", Expected: "no such key",
		Advice: "choose another queue name, or drain and delete the v1 queue first",
	}
}
