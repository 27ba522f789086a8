package wire

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	maxSchedulerID = 200

	// Never is the score of a scheduler that has no further slot.
	Never = 1<<53 - 1
)

// SchedulerID is the valid id of a scheduler. The zero SchedulerID is not valid;
// [ParseSchedulerID] makes one.
type SchedulerID struct{ id string }

// ParseSchedulerID returns id as a SchedulerID.
//
// An id has 1 to 200 characters: letters, digits, '.', '_' and '-', of which the
// first is a letter or a digit. The error is a [*NameError].
func ParseSchedulerID(id string) (SchedulerID, error) {
	switch {
	case id == "":
		return SchedulerID{}, &NameError{Kind: SchedulerIDName, Name: id, Reason: "is empty"}
	case len(id) > maxSchedulerID:
		return SchedulerID{}, &NameError{Kind: SchedulerIDName, Name: id, Reason: fmt.Sprintf("has %d bytes; the limit is %d", len(id), maxSchedulerID)}
	}
	if reason := checkCharacters(id); reason != "" {
		return SchedulerID{}, &NameError{Kind: SchedulerIDName, Name: id, Reason: reason}
	}
	return SchedulerID{id: id}, nil
}

// String returns the id as it stands in keys and lists.
func (id SchedulerID) String() string { return id.id }

// IsZero reports whether id is the zero SchedulerID.
func (id SchedulerID) IsZero() bool { return id.id == "" }

// Slot returns the id of the scheduler's job for the slot at the given moment,
// in milliseconds since the Unix epoch: an id that no user can give a job.
func (id SchedulerID) Slot(moment int64) JobID {
	return JobID{id: "_" + id.id + "." + strconv.FormatInt(moment, 10)}
}

// ParseSlotID takes the id of a scheduler's job apart; ok is false for any other
// id.
func ParseSlotID(id string) (scheduler SchedulerID, moment int64, ok bool) {
	rest, minted := strings.CutPrefix(id, "_")
	dot := strings.LastIndexByte(rest, '.')
	if !minted || dot < 0 {
		return SchedulerID{}, 0, false
	}
	scheduler, err := ParseSchedulerID(rest[:dot])
	if err != nil {
		return SchedulerID{}, 0, false
	}
	moment, err = strconv.ParseInt(rest[dot+1:], 10, 64)
	if err != nil || scheduler.Slot(moment).id != id {
		return SchedulerID{}, 0, false
	}
	return scheduler, moment, true
}

// SchedulerKey returns the key of the hash of the scheduler called id.
func (q Queue) SchedulerKey(id SchedulerID) string { return q.base() + "scheduler:" + id.id }

// Scheduler is the hash of a scheduler: when a job repeats, and what the job is.
// As for [Envelope], both names of each field are in its tags.
type Scheduler struct {
	// ID is the scheduler's id. It is part of the key and not a field.
	ID string `json:"id"`
	// Name is the wire name of the job.
	Name string `wire:"name" json:"name"`
	// Cron is the cron expression; empty for an interval.
	Cron string `wire:"cron" json:"cron,omitempty"`
	// Every is the interval; 0 for a cron expression.
	Every Milliseconds `wire:"every" json:"every,omitempty"`
	// Zone is the time zone of the expression, an IANA name; empty for UTC.
	Zone string `wire:"tz" json:"timeZone,omitempty"`
	// Misfire says what comes of slots at which no worker was there: once or
	// skip.
	Misfire string `wire:"msf" json:"misfire"`
	// Computed says that a worker computes the payload for each slot.
	Computed int `wire:"cmp" json:"computed,omitempty"`
	// Data is the payload of every job, as it was encoded.
	Data []byte `wire:"data" json:"data,omitempty"`
	// Codec is the encoding of Data; empty means JSON.
	Codec string `wire:"cdc" json:"codec,omitempty"`
	// PayloadVersion is the version of the payload's contract; absent on the
	// wire means 1.
	PayloadVersion int `wire:"ver" json:"payloadVersion,omitempty"`
	// Opts is the JSON of the jobs' settings; see [Opts].
	Opts string `wire:"opts" json:"opts,omitempty"`
	// Delay is how long each job waits after its slot.
	Delay Milliseconds `wire:"delay" json:"delay,omitempty"`
	// Priority is the jobs' priority.
	Priority int `wire:"priority" json:"priority,omitempty"`
	// Limit is how many jobs are added at most; 0 for any number.
	Limit int `wire:"lim" json:"limit,omitempty"`
	// End is the moment after which there are no slots; 0 for none.
	End Timestamp `wire:"end" json:"end,omitempty"`
	// Count is how many jobs were added since the scheduler was last changed.
	Count int `wire:"cnt" json:"count"`
	// LastSlot is the last slot for which a job was added.
	LastSlot Timestamp `wire:"lsl" json:"lastSlot,omitempty"`
	// From is the slot from which the last tick went on, by which a tick that
	// is sent again is recognised.
	From Timestamp `wire:"frm" json:"-"`
	// Group is the jobs' group; empty for none.
	Group string `wire:"grp" json:"group,omitempty"`
	// Revision is a hash over what was set, by which a change is recognised.
	Revision string `wire:"rev" json:"-"`
}

// Slot returns the slot of a job that a scheduler has added, and the zero time
// for any other job.
func (e Envelope) Slot() time.Time {
	scheduler, moment, ok := ParseSlotID(e.ID)
	if !ok || e.RepeatJobKey != scheduler.String() {
		return time.Time{}
	}
	return time.UnixMilli(moment).UTC()
}
