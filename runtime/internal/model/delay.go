package model

import (
	"slices"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) promote(c script.Promote, now int64) script.PromoteReply {
	reply := script.PromoteReply{Now: now}
	back := &comeback{state: s}
	promoted := false
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := s.promoteOne(id, now, back)
		s.reach("promote", string(verdict))
		switch verdict {
		case script.PromoteVerdictPromoted:
			promoted = true
			s.event(c.Events == script.PromoteEventsAll, "waiting", id, "name", s.Jobs[id].Fields["name"])
		case script.PromoteVerdictOrphan, script.PromoteVerdictQuarantined:
			s.event(c.Events != script.PromoteEventsNone, string(verdict), id)
		}
		reply.Results = append(reply.Results, script.PromoteResult{Verdict: verdict})
	}
	back.finish(now, false)
	if promoted && !s.stopped(now) {
		s.wake()
	}
	reply.Due = s.Delayed.least()
	return reply
}

func (s *State) promoteOne(id string, now int64, back *comeback) script.PromoteVerdict {
	due, delayed := s.Delayed[id]
	switch {
	case !delayed:
		return script.PromoteVerdictGone
	case due > now:
		return script.PromoteVerdictEarly
	}
	delete(s.Delayed, id)
	switch s.condition(id) {
	case absent:
		return script.PromoteVerdictOrphan
	case unusable:
		s.Quarantine[id] = now
		return script.PromoteVerdictQuarantined
	}
	fields := s.Jobs[id].Fields
	delete(fields, "delay")
	priority, _ := strconv.ParseInt(fields["priority"], 10, 64)
	starts, _ := strconv.ParseInt(fields["ats"], 10, 64)
	if group := s.groupOf(id); group != "" {
		s.reach("promote", "to its group")
		back.joiners = append(back.joiners, joiner{id: id, group: group, priority: priority, front: starts > 0})
	} else if starts > 0 {
		s.reach("promote", "to the front")
		back.bring(id, priority)
	} else {
		s.reach("promote", "to the back")
		s.enqueue(id, priority)
	}
	return script.PromoteVerdictPromoted
}

func (s *State) due(c script.Due, now int64) script.DueReply {
	reply := script.DueReply{Now: now}
	limit := int(c.Limit)
	due := within(s.Delayed, now)
	reply.Due = due[:min(limit, len(due))]
	expired := within(s.Active, now)
	for _, id := range expired[:min(limit, len(expired))] {
		s.reach("due", "expired")
		reply.Expired = append(reply.Expired, script.DueExpired{ID: id, Deadline: s.Active[id]})
	}
	if order := s.Delayed.Order(); len(order) > len(reply.Due) {
		s.reach("due", "next due")
		reply.NextDue = s.Delayed[order[len(reply.Due)]]
	}
	if order := s.Active.Order(); len(order) > len(reply.Expired) {
		s.reach("due", "next expiry")
		reply.NextExpiry = s.Active[order[len(reply.Expired)]]
	}
	for range reply.Due {
		s.reach("due", "due")
	}
	return reply
}

// within returns the ids whose score is not after now, in order.
func within(set ZSet, now int64) []string {
	return slices.DeleteFunc(set.Order(), func(id string) bool { return set[id] > now })
}
