package echomq

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Prepared is a job that is ready to be sent: validated, encoded and with an
// id. It can be kept, in an outbox table, say, written in the transaction that
// the job belongs to, and be sent again: as long as the job is in the store,
// which is until it has ended and its keep has run out, it is not added twice. A
// delay counts from when it is added. If another job holds its unique key nothing
// is stored under its own id: sent again after that job has ended, it is added.
type Prepared struct {
	queue    wire.Queue
	id       wire.JobID
	name     string
	version  int
	contract ContractSpec
	codec    string // the field codec; empty for JSON
	data     []byte
	opts     string
	delay    time.Duration
	due      time.Time
	priority int
	events   EventLevel
	unique   uniqueKey
	group    string // as it stands on the wire, empty for none
	// fresh says that the id was minted for one call and is known to nobody
	// else, so that a job that exists under it is this one.
	fresh bool
	// place is the job's in a flow.
	place place
}

// place is what a job of a flow has beside other jobs.
type place struct {
	parent   string // the key of the parent's hash, empty for none
	edge     string // the job's line in what the parent waits for
	children int    // how many the job waits for
	edges    string // their lines
	delivery []byte // what brings them into being
}

// ID returns the job's id.
func (p Prepared) ID() string { return p.id.String() }

// Queue returns the name of the job's queue.
func (p Prepared) Queue() string { return p.queue.Name() }

// Name returns the job's wire name.
func (p Prepared) Name() string { return p.name }

// seal enters the encoded payload, sealed if the client has a transform.
func (p *Prepared) seal(transforms transforms, data []byte, limit int) error {
	sealed, codec, err := transforms.seal(p.queue.Name(), p.name, p.codec, data)
	if err != nil {
		return fmt.Errorf("%w: it cannot be sealed: %w", ErrPayload, err)
	}
	p.data, p.codec = sealed, codec
	return checkSize(sealed, limit)
}

func (p *Prepared) item() script.AddItem {
	item := script.AddItem{
		ID:       p.id,
		Name:     p.name,
		Data:     p.data,
		Codec:    p.codec,
		Version:  int64(p.version),
		Opts:     bytesOf(p.opts),
		Delay:    ceilMilliseconds(p.delay),
		Priority: int64(p.priority),
		Parent:   p.place.parent,
		Edge:     p.place.edge,
		Children: int64(p.place.children),
		Edges:    bytesOf(p.place.edges),
		Delivery: p.place.delivery,
		Group:    p.group,
	}
	if !p.due.IsZero() {
		item.Due = dueMilliseconds(p.due)
	}
	if p.unique.key != "" {
		item.Unique = p.unique.key
		item.Until = script.AddUntil(p.unique.until.word())
		item.Term = ceilMilliseconds(p.unique.term)
	}
	return item
}

// bytes is what the job counts for in the size of a call.
func (p *Prepared) bytes() int {
	return len(p.data) + len(p.opts) + len(p.place.edges) + len(p.place.delivery)
}

// bytesOf returns the bytes of a text: none, which take no memory, of an empty one.
func bytesOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

// replacement is the job as what another one, that holds its key, is to become.
func (p *Prepared) replacement(owner wire.JobID) script.ReplaceItem {
	item := p.item()
	return script.ReplaceItem{
		ID: owner, By: p.id.String(), Data: item.Data, Codec: item.Codec, Version: item.Version, Opts: item.Opts,
		Delay: item.Delay, Due: item.Due, Priority: item.Priority,
		Unique: item.Unique, Until: script.ReplaceUntil(item.Until), Term: item.Term, Group: item.Group,
	}
}

// preparedJSON is a Prepared at rest.
type preparedJSON struct {
	Queue    string          `json:"queue"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Version  int             `json:"payloadVersion"`
	Contract *contractJSON   `json:"contract,omitempty"`
	Codec    string          `json:"codec,omitempty"`
	Data     []byte          `json:"data"`
	Opts     json.RawMessage `json:"opts,omitempty"`
	Delay    int64           `json:"delayNanoseconds,omitempty"`
	Due      *time.Time      `json:"due,omitempty"`
	Priority int             `json:"priority,omitempty"`
	Events   EventLevel      `json:"events,omitempty"`
	Unique   *uniqueJSON     `json:"unique,omitempty"`
	Group    string          `json:"group,omitempty"`
}

// contractJSON is the contract of a Prepared at rest.
type contractJSON struct {
	Hash     string   `json:"hash"`
	Replaces []string `json:"replaces,omitempty"`
}

// uniqueJSON is the unique key of a Prepared at rest.
type uniqueJSON struct {
	Key      string   `json:"key"`
	Until    Until    `json:"until,omitempty"`
	For      int64    `json:"forNanoseconds,omitempty"`
	Conflict Conflict `json:"conflict,omitempty"`
}

// MarshalJSON encodes the job so that [Prepared.UnmarshalJSON] gives it back.
func (p Prepared) MarshalJSON() ([]byte, error) {
	at := preparedJSON{
		Queue: p.queue.Name(), ID: p.id.String(), Name: p.name, Version: p.version, Codec: p.codec,
		Data: p.data, Opts: json.RawMessage(p.opts), Delay: int64(p.delay),
		Priority: p.priority, Events: p.events, Group: p.group,
	}
	if p.queue.IsZero() {
		return nil, errors.New("echomq: the zero Prepared cannot be encoded")
	}
	if p.contract.Hash != "" {
		at.Contract = &contractJSON{Hash: p.contract.Hash, Replaces: p.contract.Replaces}
	}
	if !p.due.IsZero() {
		at.Due = &p.due
	}
	if u := p.unique; u.key != "" {
		at.Unique = &uniqueJSON{Key: u.key, Until: u.until, For: int64(u.term), Conflict: u.conflict}
	}
	return json.Marshal(at)
}

// UnmarshalJSON decodes what [Prepared.MarshalJSON] encoded.
func (p *Prepared) UnmarshalJSON(encoded []byte) error {
	var at preparedJSON
	if err := json.Unmarshal(encoded, &at); err != nil {
		return fmt.Errorf("echomq: prepared job: %w", err)
	}
	queue, err := wire.ParseQueue(at.Queue)
	if err != nil {
		return fmt.Errorf("echomq: prepared job: %w", err)
	}
	id, err := wire.ParseJobID(at.ID)
	if err != nil {
		return fmt.Errorf("echomq: prepared job: %w", err)
	}
	if at.Name == "" || at.Version < 1 || at.Version > maxCount || at.Priority < 0 || at.Priority > MaxPriority || at.Delay < 0 || at.Events.check() != nil {
		return fmt.Errorf("echomq: prepared job %q: name, version, priority, delay or event level is out of range", at.ID)
	}
	if at.Group != "" && !wire.IsGroup(at.Group) {
		return fmt.Errorf("echomq: prepared job %q: its group %q cannot be one", at.ID, at.Group)
	}
	*p = Prepared{
		queue: queue, id: id, name: at.Name, version: at.Version, codec: at.Codec, data: at.Data,
		opts: string(at.Opts), delay: time.Duration(at.Delay), priority: at.Priority, events: at.Events, group: at.Group,
	}
	if at.Contract != nil {
		p.contract = ContractSpec{Hash: at.Contract.Hash, Replaces: at.Contract.Replaces}
	}
	if at.Due != nil {
		p.due = *at.Due
	}
	if u := at.Unique; u != nil {
		spec := UniqueSpec{Key: u.Key, Until: u.Until, For: time.Duration(u.For), Conflict: u.Conflict}
		if spec.Key == "" || spec.check() != nil {
			return fmt.Errorf("echomq: prepared job %q: its unique key is out of range", at.ID)
		}
		p.unique = uniqueKey{key: spec.Key, until: spec.Until, term: spec.For, conflict: spec.Conflict}
	}
	return nil
}

// dueMilliseconds returns a moment as scripts take it: rounded up, so that nothing
// runs early, and never 0, which is none.
func dueMilliseconds(at time.Time) int64 { return max(at.Add(time.Millisecond-1).UnixMilli(), 1) }

// withIDs gives an error of jobs that may have been added the ids that it is
// about.
func withIDs(err error, ids []string) error {
	switch {
	case errors.Is(err, ErrOutcomeUnknown):
		return &UnknownOutcomeError{IDs: ids, Err: err}
	case errors.Is(err, ErrNotReplicated):
		return &NotReplicatedError{IDs: ids, Err: err}
	}
	return err
}
