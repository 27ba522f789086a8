package wire

import (
	"slices"
	"strings"
	"time"
)

// The bounds that every runtime keeps to. Those of a call keep the time short for
// which the server does nothing else; those of time make it safe to send a call
// again.
const (
	// MaxItems is how many items a call has at most.
	MaxItems = 500
	// MaxCallBytes is about how many bytes the items of a call come to at most.
	MaxCallBytes = 4 << 20
	// MaxReplyBytes is at how many bytes of jobs a pick starts no more.
	MaxReplyBytes = 8 << 20
	// MaxPriority is the largest priority that a job can have.
	MaxPriority = 1<<21 - 1
	// ReplayWindow is for how long after it was first sent an add may be sent
	// again. A settle may be sent until it is answered.
	ReplayWindow = 30 * time.Second
	// StubTime is for how long what an ended job leaves that is not kept tells a
	// replay from a new call.
	StubTime = time.Minute
	// MaxBlock is for how long an idle worker waits for the marker at most.
	MaxBlock = 2 * time.Second
)

// What names are, as regular expressions that all programs read alike. Reserved
// names are excepted: see [ReservedQueues] and [ReservedIDs].
const (
	QueuePattern     = `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`
	JobIDPattern     = `^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$`
	SchedulerPattern = `^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`
)

// ReservedQueues returns the names that no queue can have.
func ReservedQueues() []string { return []string{CoreName} }

// ReservedIDs returns the ids that no job can have, sorted; see [IsReserved].
func ReservedIDs() []string {
	reserved := slices.Clone(reservedSegments)
	for _, suffix := range queueSuffixes {
		first, _, _ := strings.Cut(suffix, ":")
		reserved = append(reserved, first)
	}
	slices.Sort(reserved)
	return slices.Compact(reserved)
}
