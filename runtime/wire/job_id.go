package wire

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

const maxJobID = 255

// JobID is a valid job id. It is minted or chosen by the client before any
// script runs, because otherwise the job's key could not be declared. The zero
// JobID is not valid; [ParseJobID] makes one.
type JobID struct{ id string }

// ParseJobID returns id as a JobID.
//
// An id has 1 to 255 characters: letters, digits, '.', '_' and '-', of which
// the first is a letter or a digit. It cannot be the first segment of a key of
// the queue, such as "wait" or "metrics": the job's hash would take that key's
// place. The error is a [*NameError].
func ParseJobID(id string) (JobID, error) {
	switch {
	case id == "":
		return JobID{}, &NameError{Kind: JobIDName, Name: id, Reason: "is empty"}
	case len(id) > maxJobID:
		return JobID{}, &NameError{Kind: JobIDName, Name: id, Reason: fmt.Sprintf("has %d bytes; the limit is %d", len(id), maxJobID)}
	case IsReserved(id):
		return JobID{}, &NameError{Kind: JobIDName, Name: id, Reason: "is reserved: a key of the queue has this name"}
	}
	if reason := checkCharacters(id); reason != "" {
		return JobID{}, &NameError{Kind: JobIDName, Name: id, Reason: reason}
	}
	return JobID{id: id}, nil
}

// UUIDJobID returns a UUID as a JobID, in its usual form.
func UUIDJobID(uuid [16]byte) JobID {
	var id [36]byte
	at := 0
	for _, group := range [...][]byte{uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:]} {
		if at > 0 {
			id[at] = '-'
			at++
		}
		at += hex.Encode(id[at:], group)
	}
	return JobID{id: string(id[:])}
}

// ParseStoredJobID returns an id that was found in the store as a JobID: one that
// [ParseJobID] admits, or such a one after '_', as the protocol itself mints
// them. Ids that come from a program's users go through [ParseJobID].
func ParseStoredJobID(id string) (JobID, error) {
	rest, minted := strings.CutPrefix(id, "_")
	if !minted || len(id) > maxJobID || rest == "" || checkCharacters(rest) != "" {
		return ParseJobID(id)
	}
	return JobID{id: id}, nil
}

// String returns the id as it stands in keys and lists.
func (id JobID) String() string { return id.id }

// IsZero reports whether id is the zero JobID.
func (id JobID) IsZero() bool { return id.id == "" }

// queueSuffixes are the suffixes of a queue's own keys that are in use.
var queueSuffixes = []string{
	"meta", "wait", "prioritized", "pc", "delayed", "active", "reserved",
	"completed", "failed", "waiting-children", "quarantine", "dedup",
	"dedup-due", "groups", "grouped", "group-active", "outbox", "outbox-body",
	"schedulers", "limiter", "marker", "events", "metrics:completed",
	"metrics:failed",
}

// reservedSegments are the other first segments that no job can have for its
// id: keys with a variable part, the control channel, the store's keys, and
// names of the v1 line that are kept free.
var reservedSegments = []string{
	"scheduler", "control", "version", "queues", "nodes",
	"paused", "stalled", "stalled-check", "id", "repeat", "de",
}

// jobParts are the suffixes that a job's own keys add to its id.
var jobParts = []string{"lock", "logs", "dependencies", "processed", "failed"}

// QueueSuffixes returns the suffixes of a queue's own keys, in the order of
// docs/protocol.md.
func QueueSuffixes() []string { return slices.Clone(queueSuffixes) }

// JobParts returns the suffixes that a job's own keys add to its id.
func JobParts() []string { return slices.Clone(jobParts) }

// firstSegments are the first segments that no job can have for its id.
var firstSegments = func() map[string]bool {
	segments := make(map[string]bool)
	for _, segment := range reservedSegments {
		segments[segment] = true
	}
	for _, suffix := range queueSuffixes {
		first, _, _ := strings.Cut(suffix, ":")
		segments[first] = true
	}
	return segments
}()

// IsReserved reports whether segment is the first segment of a key of the
// queue, or a name kept free, so that no job can have it for an id.
func IsReserved(segment string) bool { return firstSegments[segment] }
