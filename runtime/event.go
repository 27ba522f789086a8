package echomq

import (
	"encoding/json"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// EventKind is what happened.
type EventKind string

// The kinds of events, with the fields of an [Event] that they have besides ID,
// Time, JobID and JobName. Which are written is said by the queue's
// [EventLevel]: those from EventCompleted on at EventsFinal, all at EventsAll,
// and at EventsNone only the end of jobs with a result, and EventRemoved.
const (
	// EventAdded is a new job. Delay, if it is not due yet.
	EventAdded EventKind = "added"
	// EventWaiting is a delayed job that is due.
	EventWaiting EventKind = "waiting"
	// EventActive is an attempt that begins. Attempt and Worker.
	EventActive EventKind = "active"
	// EventProgress is a job that says how far it has come. Progress. The first
	// ten of an attempt are told, and then at most two a second.
	EventProgress EventKind = "progress"
	// EventRetry is an attempt that failed and is not the last. Attempt, Reason,
	// and Delay until the next one.
	EventRetry EventKind = "retry"
	// EventSnooze is a job that comes back later by its own wish. Delay.
	EventSnooze EventKind = "snooze"
	// EventRelease is a job that its worker gave back: because it stops, or
	// because it does not know the job. Delay.
	EventRelease EventKind = "release"
	// EventRetried is a failed job that was brought back to run again.
	EventRetried EventKind = "retried"
	// EventCompleted is a job that succeeded. Attempt.
	EventCompleted EventKind = "completed"
	// EventFailed is a job that failed for good. Attempt and Reason.
	EventFailed EventKind = "failed"
	// EventStalled is a job whose worker was lost. Stalls.
	EventStalled EventKind = "stalled"
	// EventOrphan is a job whose record was lost; it is gone.
	EventOrphan EventKind = "orphan"
	// EventQuarantined is a job whose record was overwritten by something that
	// is no job.
	EventQuarantined EventKind = "quarantined"
	// EventRemoved is a job that was removed before it ended.
	EventRemoved EventKind = "removed"
	// EventChanged is a job that got another time or priority. Delay, if the time;
	// the priority is More["priority"].
	EventChanged EventKind = "changed"
	// EventPaused and EventResumed are of the queue, without a job.
	EventPaused  EventKind = "paused"
	EventResumed EventKind = "resumed"
)

// Event is something that happened in a queue. A later version may have further
// kinds and fields: pass over kinds that you do not know.
type Event struct {
	// ID is the event's place in the queue's history; see [AfterEvent].
	ID string `json:"id"`
	// Time is when it happened, by the server's clock.
	Time time.Time `json:"time"`
	// Kind is what happened.
	Kind EventKind `json:"kind"`
	// JobID is the job; empty for an event of the queue.
	JobID string `json:"jobId,omitempty"`
	// JobName is the job's wire name, where it is known.
	JobName string `json:"jobName,omitempty"`
	// Attempt is which attempt of the job it was, from 1.
	Attempt int `json:"attempt,omitempty"`
	// Stalls is how often the job's worker has been lost.
	Stalls int `json:"stalls,omitempty"`
	// Delay is how long it is until the job may run.
	Delay time.Duration `json:"delay,omitempty"`
	// Reason is the attempt's error, cut at 1 KiB.
	Reason string `json:"reason,omitempty"`
	// Worker is the name of the worker that has the job.
	Worker string `json:"worker,omitempty"`
	// Progress is how far the job has come; see [DecodeProgress].
	Progress json.RawMessage `json:"progress,omitempty"`
	// More are the fields that this version does not know, as they stand in the
	// store; nil if there are none.
	More map[string]string `json:"more,omitempty"`
}

// eventOf reads an entry of the event stream. Numbers that cannot be read are
// left at 0: the entry may be of another version.
func eventOf(entry redis.XMessage) Event {
	ms, _, _ := splitEventID(entry.ID)
	event := Event{ID: entry.ID, Time: time.UnixMilli(int64(ms))}
	more := map[string]string{}
	for field, value := range entry.Values {
		text, _ := value.(string)
		number, _ := strconv.ParseInt(text, 10, 64)
		switch field {
		case "event":
			event.Kind = EventKind(text)
		case "jobId":
			event.JobID = text
		case "name":
			event.JobName = text
		case "attempt":
			event.Attempt = int(number)
		case "stalls":
			event.Stalls = int(number)
		case "delay":
			event.Delay = max(milliseconds(number), 0)
		case "reason":
			event.Reason = strings.ToValidUTF8(text, "")
		case "worker":
			event.Worker = text
		case "progress":
			event.Progress = json.RawMessage(text)
		default:
			more[field] = text
		}
	}
	if len(more) > 0 {
		event.More = maps.Clone(more)
	}
	return event
}

// EventPosition is a place in a queue's history of events. The zero
// EventPosition is [FromStart].
type EventPosition struct {
	id  string
	now bool
}

// FromStart is before the oldest event that is kept.
func FromStart() EventPosition { return EventPosition{} }

// FromNow is after the newest event at the time at which reading begins.
func FromNow() EventPosition { return EventPosition{now: true} }

// AfterEvent is after the event with the given [Event.ID], or after what
// [Queue.LastEvent] returned. AfterEvent("") is [FromStart].
func AfterEvent(id string) EventPosition { return EventPosition{id: id} }

// beginning is the id before all events.
const beginning = "0-0"

// splitEventID returns the two numbers of an event's id.
func splitEventID(id string) (ms, number uint64, ok bool) {
	first, second, two := strings.Cut(id, "-")
	ms, err := strconv.ParseUint(first, 10, 64)
	number, errNumber := strconv.ParseUint(second, 10, 64)
	return ms, number, two && err == nil && errNumber == nil
}

// isBefore reports whether the event a stands before b.
func isBefore(a, b string) bool {
	msA, numberA, _ := splitEventID(a)
	msB, numberB, _ := splitEventID(b)
	return msA < msB || msA == msB && numberA < numberB
}
