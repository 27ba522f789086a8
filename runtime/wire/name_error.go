package wire

import (
	"errors"
	"fmt"
)

// ErrName is what every [*NameError] is, for errors.Is.
var ErrName = errors.New("name is not valid")

// NameKind says what a name was meant to be.
type NameKind string

// The kinds of name that are checked.
const (
	QueueName       NameKind = "queue name"
	JobIDName       NameKind = "job id"
	SchedulerIDName NameKind = "scheduler id"
)

// NameError tells why the name of a queue, or the id of a job or scheduler, was refused. Nothing has been
// sent or written when it is returned.
type NameError struct {
	Kind   NameKind
	Name   string
	Reason string
}

func (e *NameError) Error() string {
	return fmt.Sprintf("%s %q %s", e.Kind, shorten(e.Name), e.Reason)
}

// Is reports whether target is [ErrName].
func (e *NameError) Is(target error) bool { return target == ErrName }

// shorten keeps a hostile name from filling a log.
func shorten(name string) string {
	const limit = 160
	if len(name) <= limit {
		return name
	}
	return name[:limit] + "…"
}
