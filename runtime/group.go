package echomq

import (
	"fmt"

	"github.com/echomq/echomq-go/runtime/wire"
)

// GroupKey takes the value of a payload that names the group of a job; see
// [JobType.GroupBy].
type GroupKey = wire.GroupKey

// GroupBy returns the job type with its jobs in groups: those for whose payloads
// key is given the same value. emqgen writes it, for the field that //emq:group
// names.
//
// The groups of a queue that have work take turns, one job each, so that one with
// many jobs does not hold up the others; and [GroupLimit] is how many jobs of a
// group may be active at once. Within a group jobs run by priority and then in the
// order in which they were added. Jobs of no group, which are those with the empty
// text or nil, take turns with all groups together.
//
// A group is a queue's: jobs of several types for which the same value is given are
// of the same group.
func (t JobType[T, R]) GroupBy(key func(key *GroupKey, payload *T)) JobType[T, R] {
	t.group = key
	return t
}

// Group puts a job into a group of the caller's choice, whatever its payload, as
// [JobType.GroupBy] describes; "" into none.
func Group(name string) JobOption {
	return func(c *enqueueConfig) {
		c.groupGiven = true
		c.group = GroupKey{}
		c.group.Text(name)
	}
}

// groupOf returns the name of the group of a job, "" for none.
func groupOf[T, R any](job *JobType[T, R], payload *T, config *enqueueConfig) (name string, err error) {
	if config.groupGiven {
		return groupName(&config.group)
	}
	if job.group == nil {
		return "", nil
	}
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: its own code panicked in its group: %v", ErrPayload, reason)
		}
	}()
	var key GroupKey
	job.group(&key, payload)
	return groupName(&key)
}

func groupName(key *GroupKey) (string, error) {
	name, err := key.Name()
	if err != nil {
		return "", fmt.Errorf("%w: its group: %w", ErrPayload, err)
	}
	return name, nil
}

// GroupLimit is how many jobs of one group of a queue may be active at once, those
// of all its workers together; [NoLimit], the default, for any number. It holds for
// each of the queue's groups alike. A job counts from when a worker takes it until
// it ends, is given back, or its lease has run out.
//
// It goes over the queue's directive and over [Queue.SetGroupLimit]. Workers with
// different numbers each hold to their own.
func GroupLimit(n int) QueueWorkerOption {
	return func(c *queueConfig) { c.limits.group, c.limits.groupFixed = n, true }
}
