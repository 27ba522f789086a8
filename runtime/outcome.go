package echomq

import (
	"errors"
	"fmt"
	"time"
)

// How a handler tells that its error is more than "try again".

type failError struct{ err error }

func (e *failError) Error() string { return e.err.Error() }
func (e *failError) Unwrap() error { return e.err }

type retryError struct {
	err   error
	after time.Duration
}

func (e *retryError) Error() string { return e.err.Error() }
func (e *retryError) Unwrap() error { return e.err }

type snoozeError struct{ after time.Duration }

func (e *snoozeError) Error() string { return fmt.Sprintf("snoozed for %v", e.after) }

// Fail returns an error that, returned by a handler, fails its job for good:
// no further attempt is made, however many are left. A nil err is replaced.
func Fail(err error) error { return &failError{err: orUnspecified(err)} }

// RetryAfter returns an error that, returned by a handler, fails the attempt
// and sets the wait before the next one, in place of the job's backoff. The job
// still fails for good when no attempts are left. A nil err is replaced.
func RetryAfter(after time.Duration, err error) error {
	return &retryError{err: orUnspecified(err), after: max(after, 0)}
}

// Snooze returns an error that, returned by a handler, brings the job back
// after the given time and consumes no attempt: the job is not failing, it is
// too early for it.
func Snooze(after time.Duration) error { return &snoozeError{after: max(after, 0)} }

func orUnspecified(err error) error {
	if err == nil {
		return errors.New("unspecified error")
	}
	return err
}
