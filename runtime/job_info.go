package echomq

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// JobInfo is a job as it lies in the store, for those who look after a queue. It
// marshals to JSON under the long names, a payload or result that is JSON as it
// is and any other in base64.
type JobInfo struct {
	Envelope
	// State is where the job stood when it was read.
	State State
	// Due is when a delayed job is due, by the server's clock; otherwise zero.
	Due time.Time
	// LeaseEnds is until when a worker holds an active job unless it renews the
	// lease; otherwise zero.
	LeaseEnds time.Time
	// QuarantinedOn is when a quarantined job was found to be unfit; otherwise
	// zero.
	QuarantinedOn time.Time
	// NotKept says that the job ended and that nothing of it was kept: only its
	// name and State are known, for a minute.
	NotKept bool
	// Damage says what is wrong with the job's record, of which the envelope then
	// has only what could be read; empty for nothing.
	Damage string
}

// MarshalJSON implements [json.Marshaler].
func (j JobInfo) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Envelope
		State         State      `json:"state"`
		Due           *time.Time `json:"due,omitempty"`
		LeaseEnds     *time.Time `json:"leaseEnds,omitempty"`
		QuarantinedOn *time.Time `json:"quarantinedOn,omitempty"`
		NotKept       bool       `json:"notKept,omitempty"`
		Damage        string     `json:"damage,omitempty"`
		Data          any        `json:"data,omitempty"`
		ReturnValue   any        `json:"returnvalue,omitempty"`
		Opts          any        `json:"opts,omitempty"`
		Stacktrace    any        `json:"stacktrace,omitempty"`
	}{
		Envelope: j.Envelope, State: j.State,
		Due: momentOrNil(j.Due), LeaseEnds: momentOrNil(j.LeaseEnds), QuarantinedOn: momentOrNil(j.QuarantinedOn),
		NotKept: j.NotKept, Damage: j.Damage,
		Data: jsonOrBytes(j.Data), ReturnValue: jsonOrBytes(j.ReturnValue),
		Opts: jsonOrText(j.Opts), Stacktrace: jsonOrText(j.Stacktrace),
	})
}

func momentOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func jsonOrBytes(data []byte) any {
	switch {
	case len(data) == 0:
		return nil
	case json.Valid(data):
		return json.RawMessage(data)
	}
	return data
}

func jsonOrText(text string) any {
	switch {
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return text
}

// jobInfo is what a view of the job id tells.
func jobInfo(id string, seen script.ViewResult) JobInfo {
	info := JobInfo{State: State(seen.State), NotKept: !seen.Kept}
	envelope, err := wire.DecodeEnvelope(id, seen.Job)
	info.Envelope = envelope
	info.ID = id
	moment := time.UnixMilli(seen.Score)
	switch info.State {
	case StateDelayed:
		info.Due = moment
	case StateActive:
		info.LeaseEnds = moment
	case StateQuarantined:
		if seen.Score != 0 {
			info.QuarantinedOn = moment
		}
		info.Damage = "the job's record is not one, or has no name"
	}
	if err != nil {
		info.Damage = err.Error()
	}
	return info
}

// oddInfo is what is known of an id that stands somewhere and that no job can
// have.
func oddInfo(state State, listed script.ListID, err error) JobInfo {
	info := JobInfo{Envelope: Envelope{ID: listed.ID}, State: state, Damage: fmt.Sprintf("no job can have this id: %v", err)}
	switch moment := time.UnixMilli(listed.Score); state {
	case StateDelayed:
		info.Due = moment
	case StateActive:
		info.LeaseEnds = moment
	case StateQuarantined:
		info.QuarantinedOn = moment
	}
	return info
}
