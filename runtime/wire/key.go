package wire

import (
	"fmt"
	"slices"
	"strings"
)

// Key is what a key of the protocol says once it is taken apart: whose it is
// and what it holds.
type Key struct {
	// Queue is the queue that the key belongs to; the zero Queue for a key of
	// the store itself.
	Queue Queue
	// Job is the job that the key belongs to; the zero JobID for a key of the
	// queue or of the store.
	Job JobID
	// Part is the suffix of a queue's or the store's key ("wait"), the suffix
	// of a job's key ("lock"), or "" for the job's hash.
	Part string
}

// String builds the key again; it is the inverse of [ParseKey].
func (k Key) String() string {
	switch {
	case k.Queue.IsZero():
		return Prefix + "{" + CoreName + "}:" + k.Part
	case k.Job.IsZero():
		return k.Queue.Key(k.Part)
	case k.Part == "":
		return k.Queue.Job(k.Job)
	default:
		return k.Queue.JobKey(k.Job, k.Part)
	}
}

// ParseKey takes a key of the protocol apart. It refuses a key that no runtime
// of this version writes, with an error that says what is wrong with it.
func ParseKey(key string) (Key, error) {
	rest, ok := strings.CutPrefix(key, Prefix+"{")
	if !ok {
		return Key{}, fmt.Errorf("key %q does not begin with %q and a hash tag", shorten(key), Prefix)
	}
	name, suffix, ok := strings.Cut(rest, "}:")
	if !ok {
		return Key{}, fmt.Errorf("key %q has no hash tag followed by a colon", shorten(key))
	}
	if name == CoreName {
		return parseStoreKey(key, suffix)
	}
	queue, err := ParseQueue(name)
	if err != nil {
		return Key{}, fmt.Errorf("key %q: %w", shorten(key), err)
	}
	if slices.Contains(queueSuffixes, suffix) {
		return Key{Queue: queue, Part: suffix}, nil
	}
	id, part, parted := strings.Cut(suffix, ":")
	if id == "scheduler" && parted {
		if _, err := ParseSchedulerID(part); err != nil {
			return Key{}, fmt.Errorf("key %q: %w", shorten(key), err)
		}
		return Key{Queue: queue, Part: suffix}, nil
	}
	job, err := ParseStoredJobID(id)
	if err != nil {
		return Key{}, fmt.Errorf("key %q: %w", shorten(key), err)
	}
	if parted && !slices.Contains(jobParts, part) {
		return Key{}, fmt.Errorf("key %q: a job has no key %q", shorten(key), part)
	}
	return Key{Queue: queue, Job: job, Part: part}, nil
}

func parseStoreKey(key, suffix string) (Key, error) {
	switch key {
	case StoreVersionKey, StoreQueuesKey, StoreNodesKey:
		return Key{Part: suffix}, nil
	}
	return Key{}, fmt.Errorf("key %q: the store has no key %q", shorten(key), suffix)
}
