package model

import (
	"cmp"
	"maps"
	"slices"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Version is the version of the protocol.
const Version = "echomq:2.0.0"

// DueMember is the marker's member that tells of an earlier due time.
const DueMember = "~due"

const (
	rankUnit = 1 << 32 // by which priorities are apart in scores
)

// State is what the model believes to be in the keys of a queue.
type State struct {
	Version     string
	Paused      bool
	Turn        Turn
	Blocked     string // why nobody is woken for what waits, "" if somebody is
	Overrides   map[string]string
	Contracts   map[string]string // of jobs, by field of meta
	Bucket      *Bucket
	Cancels     bool     // a job was cancelled as it ran
	Wait        []string // the next to run first
	Prioritized ZSet
	Counter     int64
	Delayed     ZSet
	Active      ZSet
	Completed   ZSet
	Failed      ZSet
	Quarantine  ZSet
	Reserved    map[string]string
	Marker      ZSet
	Waiting     ZSet // parents, by when their children are next looked for
	Outbox      ZSet
	Bodies      map[string]string
	// Schedulers are the ids of schedulers by their next slot, Records their
	// hashes.
	Schedulers ZSet
	Records    map[string]map[string]string
	// Dedup has the job that holds each unique key, and DedupDue when the time of
	// those keys is over that have one.
	Dedup    map[string]string
	DedupDue ZSet
	Jobs     map[string]*Job
	Locks    map[string]string
	// Parts are other keys of jobs, by suffix.
	Parts map[string]any
	// Events are the events of the last call.
	Events Stream

	// Tainted are the ids that a test has tampered with; the laws do not hold
	// for them until they are gone.
	Tainted map[string]bool
	// Drained says that the marker was taken and not set since.
	Drained bool
	// Reached counts what happened.
	Reached map[Reach]int

	Groups Groups
}

// Job is what lies at the key of a job.
type Job struct {
	Fields map[string]string
	// Stub is a job that ended and was not kept.
	Stub bool
	// Lasting is a stub that stays until the job's end has been reported.
	Lasting bool
	// Foreign is a string that lies there instead of a hash, if not empty.
	Foreign string
}

// Reach is something that a call can do.
type Reach struct{ Script, What string }

// New returns the state of a queue that does not exist yet.
func New() *State {
	return &State{
		Prioritized: ZSet{}, Delayed: ZSet{}, Active: ZSet{}, Completed: ZSet{}, Failed: ZSet{},
		Quarantine: ZSet{}, Marker: ZSet{}, Waiting: ZSet{}, Schedulers: ZSet{}, Records: map[string]map[string]string{}, Outbox: ZSet{}, Bodies: map[string]string{}, Reserved: map[string]string{}, Dedup: map[string]string{}, DedupDue: ZSet{}, Jobs: map[string]*Job{},
		Locks: map[string]string{}, Parts: map[string]any{}, Tainted: map[string]bool{},
		Reached: map[Reach]int{}, Overrides: map[string]string{}, Contracts: map[string]string{}, Groups: newGroups(),
	}
}

// Order returns the members of a sorted set in its order.
func (z ZSet) Order() []string {
	return slices.SortedFunc(maps.Keys(z), func(a, b string) int {
		return cmp.Or(cmp.Compare(z[a], z[b]), cmp.Compare(a, b))
	})
}

// least returns the lowest score, or 0.
func (z ZSet) least() int64 {
	var least int64
	for _, score := range z {
		if least == 0 || score < least {
			least = score
		}
	}
	return least
}

// Next returns the ids that come next, at most n; none while the queue is paused.
// Of groups it has the head of the one whose turn it is, behind all others.
func (s *State) Next(n int) []string {
	next := s.nextUngrouped(n)
	if head := s.Groups.head(); head != "" && len(next) < n && !s.Paused {
		next = append(next, head)
	}
	return next
}

// nextUngrouped are those of no group.
func (s *State) nextUngrouped(n int) []string {
	if s.Paused {
		return nil
	}
	next := slices.Clone(s.Wait[:min(n, len(s.Wait))])
	if len(next) < n {
		ranked := s.Prioritized.Order()
		next = append(next, ranked[:min(n-len(next), len(ranked))]...)
	}
	return next
}

// condition is what lies at a job's key.
type condition int

const (
	absent condition = iota
	unusable
	usable
)

func (s *State) condition(id string) condition {
	job := s.Jobs[id]
	switch {
	case job == nil:
		return absent
	case job.Foreign != "", job.Fields["name"] == "" && !has(job.Fields, "name"):
		return unusable
	}
	return usable
}

func has(fields map[string]string, name string) bool {
	_, ok := fields[name]
	return ok
}

// enqueue puts a job behind those of its priority.
func (s *State) enqueue(id string, priority int64) {
	if priority == 0 {
		s.Wait = append(s.Wait, id)
		return
	}
	s.Counter++
	s.Prioritized[id] = priority*rankUnit + s.Counter%rankUnit
}

// comeback collects the jobs that one call brings to the front, in order.
type comeback struct {
	state  *State
	ids    []string
	ranked bool
	// joiners come to their groups, and left are active no more.
	joiners []joiner
	left    []string
}

func (c *comeback) bring(id string, priority int64) {
	if priority == 0 {
		c.ids = append(c.ids, id)
		return
	}
	c.ranked = true
	c.state.Prioritized[id] = priority * rankUnit
}

// finish puts the jobs to the front and wakes a worker if that changed the head,
// or if the limit of the queue or of a group leaves room now.
func (c *comeback) finish(now int64, opened bool) {
	c.state.Wait = append(slices.Clone(c.ids), c.state.Wait...)
	freed := c.state.part(c.left)
	c.state.join(c.joiners)
	switch {
	case c.state.stopped(now):
	case len(c.ids) > 0:
		c.state.wake()
	case (c.ranked || freed || opened || len(c.joiners) > 0) && len(c.state.Marker) == 0:
		c.state.wake()
	}
}

// wake writes the head into the marker, if there is one to be taken.
func (s *State) wake() {
	for _, head := range s.Next(1) {
		s.Marker[head] = 0
	}
}

// wakeForDue writes the marker if one of ids is the next to become due.
func (s *State) wakeForDue(ids []string) {
	if order := s.Delayed.Order(); len(ids) > 0 && slices.Contains(ids, order[0]) {
		s.Marker[DueMember] = 1
	}
}

// event notes an event if it is written, with its fields and their values in
// turn.
func (s *State) event(written bool, name, id string, fields ...string) {
	if written {
		s.Events = append(s.Events, Event{Name: name, ID: id, Fields: EventFields(fields)})
	}
}

func (s *State) reach(script, what string) { s.Reached[Reach{script, what}]++ }

// declarable reports whether a client can declare the keys of the job id.
func declarable(id string) bool {
	_, err := wire.ParseStoredJobID(id)
	return err == nil
}
