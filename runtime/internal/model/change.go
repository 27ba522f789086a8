package model

import (
	"slices"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// changing is one call of change.
type changing struct {
	*State
	call    script.Change
	now     int64
	due     int64
	timed   bool
	ranked  []string // that go into prioritized, in order
	waiting []string // that go into wait
	leaving []string // that leave prioritized for delayed
	parting []string // that leave their groups for delayed
	joiners []joiner // that go behind others of their group
	delayed []string
}

func (s *State) change(c script.Change, now int64) script.ChangeReply {
	reply := script.ChangeReply{Now: now}
	x := &changing{State: s, call: c, now: now, timed: c.Delay >= 0 || c.Due > 0, due: c.Due}
	if x.due == 0 {
		x.due = now + c.Delay
	}
	x.due = max(x.due, now)
	var fresh []string
	for _, item := range c.Items {
		id := item.ID.String()
		result := script.ChangeResult{Verdict: x.verdict(id, item.Name)}
		if s.condition(id) == usable && result.Verdict != script.ChangeVerdictQuarantined {
			result.Name = s.Jobs[id].Fields["name"]
		}
		if result.Verdict == script.ChangeVerdictDoomed {
			result.Reason = s.Jobs[id].Fields["defa"]
		}
		switch {
		case result.Verdict != script.ChangeVerdictChanged:
		case s.Jobs[id].Fields["chc"] == c.By, slices.Contains(fresh, id):
			s.reach("change", "again")
		default:
			fresh = append(fresh, id)
		}
		s.reach("change", string(result.Verdict))
		reply.Results = append(reply.Results, result)
	}
	for _, id := range fresh {
		x.one(id)
	}
	x.finish()
	return reply
}

// verdict tells what changing a job comes to.
func (x *changing) verdict(id, name string) script.ChangeVerdict {
	job := x.Jobs[id]
	switch cancellable := x.cancellable(id, name); {
	case cancellable == script.CancelVerdictQuarantined:
		return script.ChangeVerdictQuarantined
	case cancellable == script.CancelVerdictMissing:
		return script.ChangeVerdictMissing
	case cancellable == script.CancelVerdictMismatch:
		return script.ChangeVerdictMismatch
	case job.Fields["chc"] == x.call.By:
		return script.ChangeVerdictChanged
	case cancellable == script.CancelVerdictEnded:
		return script.ChangeVerdictEnded
	case cancellable == script.CancelVerdictActive:
		return script.ChangeVerdictActive
	case has(job.Fields, "defa"):
		return script.ChangeVerdictDoomed
	case x.Waiting.has(id) && x.timed:
		return script.ChangeVerdictParent
	}
	return script.ChangeVerdictChanged
}

func (x *changing) one(id string) {
	fields := x.Jobs[id].Fields
	fields["chc"] = x.call.By
	ranked, delayed, parent := x.Prioritized.has(id), x.Delayed.has(id), x.Waiting.has(id)
	had, _ := strconv.ParseInt(fields["priority"], 10, 64)
	priority := had
	if x.call.Priority >= 0 {
		priority = x.call.Priority
	}
	group := ""
	if !delayed && !parent {
		group = x.Groups.waits(id)
	}
	if !ranked && !delayed && !parent && group == "" {
		x.later(fields, had)
	} else {
		set(fields, "priority", priority, priority != 0 && priority != had, priority == 0)
		switch {
		case x.timed && (delayed || x.due > x.now):
			fields["delay"] = number(x.due - x.now)
			x.delayed = append(x.delayed, id)
			if ranked {
				x.leaving = append(x.leaving, id)
			} else if group != "" {
				x.parting = append(x.parting, id)
			}
		case group != "" && priority != had:
			x.joiners = append(x.joiners, joiner{id: id, group: group, priority: priority})
		case ranked && priority == 0:
			x.waiting = append(x.waiting, id)
		case ranked && priority != had:
			x.ranked = append(x.ranked, id)
		}
	}
	var entry []string
	if x.call.Priority >= 0 {
		entry = append(entry, "priority", number(x.call.Priority))
	}
	if x.timed {
		entry = append(entry, "delay", number(x.due-x.now))
	}
	x.event(x.call.Events != script.ChangeEventsNone, "changed", id, append([]string{"name", fields["name"]}, entry...)...)
}

// later tells a job that waits in the list what is to become of it.
func (x *changing) later(fields map[string]string, had int64) {
	x.reach("change", "later")
	if priority := x.call.Priority; priority >= 0 {
		set(fields, "chp", priority, priority != had, priority == had)
	}
	if x.timed {
		set(fields, "chd", x.due, x.due > x.now, x.due == x.now)
		set(fields, "delay", x.due-x.now, x.due > x.now, x.due == x.now)
	}
}

// set sets a field, or deletes it, or neither.
func set(fields map[string]string, name string, value int64, put, drop bool) {
	switch {
	case put:
		fields[name] = number(value)
	case drop:
		delete(fields, name)
	}
}

// finish moves the jobs, each kind in the order of the items.
func (x *changing) finish() {
	for _, id := range x.waiting {
		x.reach("change", "to wait")
		delete(x.Prioritized, id)
		x.enqueue(id, 0)
	}
	told := false
	for _, id := range x.leaving {
		x.reach("change", "to delayed")
		delete(x.Prioritized, id)
		told = told || x.Marker.has(id)
		delete(x.Marker, id)
	}
	for _, j := range x.joiners {
		x.reach("change", "to another place in its group")
		x.Groups.Waiting[j.group] = slices.DeleteFunc(slices.Clone(x.Groups.Waiting[j.group]), func(m Member) bool { return m.ID == j.id })
	}
	x.join(x.joiners)
	for _, id := range x.parting {
		x.reach("change", "out of its group")
		x.unjoin(id)
		told = told || x.Marker.has(id)
		delete(x.Marker, id)
	}
	for _, id := range x.ranked {
		x.reach("change", "to another priority")
		priority, _ := strconv.ParseInt(x.Jobs[id].Fields["priority"], 10, 64)
		x.enqueue(id, priority)
	}
	switch {
	case len(x.leaving)+len(x.parting) == 0:
	case len(x.Wait)+len(x.Prioritized) == 0 && x.Groups.head() == "":
		for member := range x.Marker {
			if member != DueMember {
				delete(x.Marker, member)
			}
		}
	case told:
		x.wake()
	}
	for _, id := range x.delayed {
		x.Delayed[id] = x.due
	}
	if x.wakeForDue(x.delayed); len(x.delayed) > 0 && x.due == x.now {
		x.reach("change", "due now")
		x.Marker[DueMember] = 1
	}
}

// redirect sends a job that was changed as it waited to where it belongs, instead
// of starting it.
func (p *picking) redirect(id, how string) bool {
	fields := p.Jobs[id].Fields
	priority, _ := strconv.ParseInt(fields["chp"], 10, 64)
	due, _ := strconv.ParseInt(fields["chd"], 10, 64)
	if how == "held" || has(fields, "defa") || priority == 0 && due <= p.now {
		return false
	}
	p.drop(id)
	delete(fields, "chp")
	delete(fields, "chd")
	if priority > 0 {
		fields["priority"] = number(priority)
	}
	if due > p.now {
		p.State.reach("pick", "put off "+how)
		p.Delayed[id] = due
	} else {
		p.State.reach("pick", "given another priority "+how)
		delete(fields, "delay")
		p.moved = append(p.moved, id)
	}
	if how == "redeemed" {
		p.spent--
	}
	return true
}
