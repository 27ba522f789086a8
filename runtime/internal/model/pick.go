package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// picking is one call of pick.
type picking struct {
	*State
	call  script.Pick
	now   int64
	full  bool // the reply takes no more
	bytes int64
	taken map[string]string // heads that this call took, and how it came by them
	spent int64             // tokens
	moved []string          // that got a priority as they waited, in order
	spare bool              // prioritized was emptied
	round round             // what it does about groups
	lost  []string          // what the token held and cannot be run
	reply script.PickReply
}

func (s *State) pick(c script.Pick, now int64) script.PickReply {
	p := &picking{State: s, call: c, now: now, taken: map[string]string{}}
	p.reply.Now = now
	want := c.Want
	if c.Again && p.holdsSomething() {
		want = 0
	}
	bounds := s.bounds(c)
	s.fill(bounds, now)
	room := s.room(bounds, want)
	p.redeem()
	heads := p.pop(bounds, room)
	for _, item := range c.Items {
		p.declared(item.ID.String(), &heads)
	}
	for _, id := range p.moved {
		priority, _ := strconv.ParseInt(s.Jobs[id].Fields["priority"], 10, 64)
		s.enqueue(id, priority)
	}
	if p.spare && len(s.Prioritized) == 0 {
		s.Counter = 0
	}
	for _, id := range heads {
		s.reach("pick", "reserved")
		p.spent++
		p.enter(id)
		p.reserve(id)
	}
	if bounds.tokens > 0 {
		s.Bucket.Parts -= p.spent * bounds.interval
	}
	p.turnGroups()
	s.part(p.lost)
	s.Marker = ZSet{}
	p.reply.Window = p.window()
	p.block(bounds)
	if p.Blocked == "" && len(p.reply.Window) > 0 {
		s.Marker[p.reply.Window[0]] = 0
	}
	p.reply.Due, p.reply.Expiry, p.reply.Slot = s.Delayed.least(), s.Active.least(), s.slot()
	if len(p.reply.Started)+len(p.reply.Reserved) == 0 {
		s.reach("pick", "nothing")
	}
	p.reachPaused()
	return p.reply
}

// reachPaused notes what a pick does while the queue is paused.
func (p *picking) reachPaused() {
	switch {
	case !p.Paused:
	case len(p.reply.Started) > 0:
		p.State.reach("pick", "started while paused")
	case len(p.Wait)+len(p.Prioritized) > 0 && p.call.Want > 0:
		p.State.reach("pick", "nothing while paused")
	}
}

// holdsSomething finds what the call's token holds from before.
func (p *picking) holdsSomething() bool {
	for _, item := range p.call.Items {
		if id := item.ID.String(); p.Locks[id] == p.call.Token {
			p.taken[id] = "held"
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.Reserved)) {
		if p.Reserved[id] == p.call.Token {
			p.State.reach("pick", "again reserved")
			p.reply.Reserved = append(p.reply.Reserved, id)
		}
	}
	return len(p.taken)+len(p.reply.Reserved) > 0
}

// redeem takes what is reserved for the caller.
func (p *picking) redeem() {
	for _, item := range p.call.Items {
		id := item.ID.String()
		if item.Reservation == "" || p.taken[id] != "" {
			continue
		}
		if p.Reserved[id] != item.Reservation {
			p.State.reach("pick", "refused claim")
			continue
		}
		delete(p.Reserved, id)
		p.taken[id] = "redeemed"
	}
}

// pop takes the true heads and returns them, but for those that no client can
// ever declare.
func (p *picking) pop(b bounds, room int64) []string {
	var heads []string
	for _, id := range p.popAll(b, room) {
		if !declarable(id) {
			p.State.reach("pick", "quarantined id")
			p.quarantine(id)
			continue
		}
		heads = append(heads, id)
	}
	return heads
}

// declared handles a declared job, if it is one of those to be taken.
func (p *picking) declared(id string, heads *[]string) {
	if at := slices.Index(*heads, id); at >= 0 {
		*heads = slices.Delete(*heads, at, at+1)
		p.taken[id] = "head"
	}
	how := p.taken[id]
	if how == "" {
		return
	}
	if p.full && how != "held" {
		// It is not even read.
		p.State.reach("pick", "crowded unread")
		if how == "head" {
			p.spent++
			p.enter(id)
		}
		p.reserve(id)
		return
	}
	switch p.condition(id) {
	case absent:
		p.State.reach("pick", "orphan")
		p.drop(id)
		p.event(p.call.Events != script.PickEventsNone, "orphan", id)
		return
	case unusable:
		p.State.reach("pick", "quarantined hash")
		p.drop(id)
		p.quarantine(id)
		return
	}
	if p.redirect(id, how) {
		return
	}
	if how == "head" {
		p.spent++
		p.enter(id)
	}
	job, size := p.seen(id)
	if p.bytes > 0 && p.bytes+size > p.call.Limit && how != "held" {
		p.State.reach("pick", "crowded")
		p.full = true
		p.reserve(id)
		return
	}
	p.bytes += size
	p.State.reach("pick", "started "+how)
	p.start(id, how, job)
}

// seen returns the job as the caller is to see it, and its size in bytes.
func (p *picking) seen(id string) (job map[string]string, size int64) {
	job = maps.Clone(p.Jobs[id].Fields)
	data := len(job["data"])
	if int64(data) > p.call.Payload {
		job["data"] = ""
	}
	for _, value := range job {
		size += int64(len(value))
	}
	if int64(data) > p.call.Payload {
		p.State.reach("pick", "payload too large")
		job["defa"] = fmt.Sprintf("the payload has %d bytes; the worker takes %d", data, p.call.Payload)
	}
	return job, size
}

func (p *picking) start(id, how string, job map[string]string) {
	fields := p.Jobs[id].Fields
	starts, _ := strconv.ParseInt(fields["ats"], 10, 64)
	if how != "held" {
		starts++
		fields["ats"] = strconv.FormatInt(starts, 10)
		fields["processedOn"] = strconv.FormatInt(p.now, 10)
		fields["pb"] = p.call.Worker
		if has(fields, "chp") || has(fields, "chd") {
			delete(fields, "chp")
			delete(fields, "chd")
			delete(fields, "delay")
		}
		p.Locks[id] = p.call.Token
		p.Active[id] = p.now + p.call.Lease
		if fields["deu"] == "started" {
			p.releaseKey(fields["deid"], id)
		}
		made, _ := strconv.ParseInt(fields["atm"], 10, 64)
		p.event(p.call.Events == script.PickEventsAll, "active", id,
			"name", fields["name"], "attempt", number(made+1), "worker", p.call.Worker)
	}
	p.reply.Started = append(p.reply.Started, script.PickStarted{ID: id, Starts: starts, Job: flatten(job)})
}

func (p *picking) reserve(id string) {
	p.Reserved[id] = p.call.Token
	p.Active[id] = p.now + p.call.Lease
	p.reply.Reserved = append(p.reply.Reserved, id)
}

func (p *picking) drop(id string) {
	p.lost = append(p.lost, id)
	delete(p.Active, id)
	delete(p.Locks, id)
}

func (p *picking) quarantine(id string) {
	p.Quarantine[id] = p.now
	p.event(p.call.Events != script.PickEventsNone, "quarantined", id)
}

// flatten returns the fields of a job in the order of their names.
func flatten(job map[string]string) script.Hash {
	var hash script.Hash
	for _, field := range slices.Sorted(maps.Keys(job)) {
		hash = append(hash, field, job[field])
	}
	return hash
}
