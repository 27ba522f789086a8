package echomq

import (
	"errors"
	"fmt"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// ErrDuplicate is a job that was not added, or not made ready again, because
// another one holds its unique key; see [DuplicateError].
var ErrDuplicate = errors.New("another job holds the unique key")

// DuplicateError is an [ErrDuplicate]: of a job with [ConflictError], of one with
// [ConflictReplace] whose rival cannot be replaced any more, or of a failed job
// that is to be retried.
type DuplicateError struct {
	// Queue names the queue, and Job the type of the job that was not added, or
	// the id of the one that was to be retried.
	Queue, Job string
	// Owner is the id of the job that holds the key.
	Owner string
	// State is where the owner stands that was to be replaced: it is active or
	// has ended. It is empty with ConflictError, and after five tries of which
	// each met another change.
	State State
}

func (e *DuplicateError) Error() string {
	text := fmt.Sprintf("echomq: job %s of queue %q: %v: job %q", e.Job, e.Queue, ErrDuplicate, e.Owner)
	if e.State != "" {
		text += fmt.Sprintf(", which is %s and cannot be replaced", e.State)
	}
	return text
}

// Unwrap returns [ErrDuplicate].
func (e *DuplicateError) Unwrap() error { return ErrDuplicate }

// UniqueKey computes the unique key of a job from values of its payload; see
// [JobType.UniqueBy].
type UniqueKey = wire.UniqueKey

// Until says what releases the unique key of a job, so that the next job with
// this key can be added.
type Until int

// What releases a key. Whatever ends the job releases the key too: it is done in
// the same atomic step.
const (
	// UntilDefault is UntilFinished.
	UntilDefault Until = iota
	// UntilStarted releases it when the job is started for the first time: while
	// a job runs, another one can wait.
	UntilStarted
	// UntilFinished releases it when the job has completed or failed for good. It
	// is held between two attempts.
	UntilFinished
	// UntilRemoved releases it when the ended job is deleted, after its
	// [KeepSpec]; at its end if nothing of it is kept.
	UntilRemoved
)

// Conflict says what is to be done if another job holds the unique key.
type Conflict int

// What is done. Nothing is added in either case.
const (
	// ConflictDefault is ConflictExisting.
	ConflictDefault Conflict = iota
	// ConflictExisting leaves the other job as it is; the handle is its, with
	// Existing set.
	ConflictExisting
	// ConflictReplace gives the other job this one's payload and settings, and,
	// if it is delayed, this one's time and priority, as long as it has not
	// started to run; the handle is its, with Existing and Replaced set. One that
	// is active or has ended is a [*DuplicateError].
	ConflictReplace
	// ConflictError is a [*DuplicateError].
	ConflictError
)

// UniqueSpec says which jobs are the same, and what is to be done about it. Zero
// values stand for the defaults.
type UniqueSpec struct {
	// Key, if it is not empty, stands for the fields of the payload that
	// //emq:unique names: two jobs of one type in one queue with one key are the
	// same. Give it to [Unique], for it is seldom the same for all jobs of a type.
	Key string
	// Until is what releases the key; default UntilFinished.
	Until Until
	// For is how long the key is held at most, from when the job was added or
	// last replaced, by the server's clock. It is released by the earlier of Until
	// and For. Default no limit; at least 1 ms.
	For time.Duration
	// Conflict is what is to be done if another job holds the key; default
	// ConflictExisting.
	Conflict Conflict
}

// over returns unique with the fields that it leaves at zero taken from base.
func (u UniqueSpec) over(base UniqueSpec) UniqueSpec {
	if u.Key == "" {
		u.Key = base.Key
	}
	if u.Until == UntilDefault {
		u.Until = base.Until
	}
	if u.For == 0 {
		u.For = base.For
	}
	if u.Conflict == ConflictDefault {
		u.Conflict = base.Conflict
	}
	return u
}

func (u UniqueSpec) check() error {
	switch {
	case u.Until < UntilDefault || u.Until > UntilRemoved:
		return optionError("until %d is none of UntilStarted, UntilFinished and UntilRemoved", u.Until)
	case u.Conflict < ConflictDefault || u.Conflict > ConflictError:
		return optionError("conflict %d is none of ConflictExisting, ConflictReplace and ConflictError", u.Conflict)
	case belowMillisecond(u.For):
		return optionError("unique for %v: it must be at least 1ms", u.For)
	}
	return nil
}

// word is what releases the key, as the scripts take it.
func (u Until) word() string {
	switch u {
	case UntilStarted:
		return string(script.AddUntilStarted)
	case UntilRemoved:
		return string(script.AddUntilRemoved)
	default:
		return string(script.AddUntilFinished)
	}
}

// Unique makes a job unique by a key of the caller's own, or changes what the
// directive says about it. Zero fields leave the directive's values as they are.
// A job that has neither a Key nor an //emq:unique is [ErrOption].
func Unique(unique UniqueSpec) JobOption {
	return func(c *enqueueConfig) {
		c.spec.Unique = unique.over(c.spec.Unique)
		c.unique = true
	}
}

// NotUnique adds a job without its unique key, whatever the directive says: it
// is added beside others, and takes nobody's key.
func NotUnique() JobOption {
	return func(c *enqueueConfig) {
		c.spec.Unique = UniqueSpec{}
		c.unique = false
	}
}

// UniqueBy returns the job type with the function that writes the values which
// make two of its jobs the same. emqgen writes it, for the fields that
// //emq:unique names.
func (t JobType[T, R]) UniqueBy(values func(key *UniqueKey, payload *T)) JobType[T, R] {
	t.unique = values
	return t
}

// uniqueKey is the key of a job that is to be sent.
type uniqueKey struct {
	key      string // empty for none
	until    Until
	term     time.Duration
	conflict Conflict
}

// uniqueOf computes the unique key of a job, if it is to have one.
func uniqueOf[T, R any](job *JobType[T, R], payload *T, config *enqueueConfig) (unique uniqueKey, err error) {
	spec := config.spec.Unique
	switch {
	case !config.unique:
		return uniqueKey{}, nil
	case spec.Key == "" && job.unique == nil:
		return uniqueKey{}, optionError("the job is to be unique and has no key: give UniqueSpec.Key, or name fields with //emq:unique")
	}
	if err := spec.check(); err != nil {
		return uniqueKey{}, err
	}
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: its own code panicked in its unique key: %v", ErrPayload, reason)
		}
	}()
	key := wire.NewUniqueKey(config.spec.Name)
	if spec.Key != "" {
		key.Own(spec.Key)
	} else {
		job.unique(key, payload)
	}
	sum, err := key.Sum()
	if err != nil {
		return uniqueKey{}, fmt.Errorf("%w: its unique key: %w", ErrPayload, err)
	}
	return uniqueKey{key: sum, until: spec.Until, term: spec.For, conflict: spec.Conflict}, nil
}
