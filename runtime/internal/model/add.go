package model

import (
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) add(c script.Add, now int64) script.AddReply {
	reply := script.AddReply{Now: now}
	s.Version = Version
	others := 0
	idle := len(s.Wait) == 0
	quiet := len(s.Marker) == 0
	var waiting, ranked, delayed []string
	var joiners []joiner
	for _, item := range c.Items {
		id := item.ID.String()
		if job, taken := s.Jobs[id]; taken {
			s.reach("add", "exists")
			others++
			reply.Results = append(reply.Results, script.AddResult{Verdict: script.AddVerdictExists, Name: job.Fields["name"], Parent: job.Fields["parentKey"]})
			continue
		}
		if item.Unique != "" {
			if owner, held := s.holder(item.Unique, now); held {
				s.reach("add", "duplicate")
				others++
				reply.Results = append(reply.Results, script.AddResult{Verdict: script.AddVerdictDuplicate, Owner: owner})
				continue
			}
			s.reach("add", "unique")
			s.hold(item.Unique, id, item.Term, now)
		}
		due := item.Due
		if due == 0 {
			due = now + item.Delay
		}
		s.Jobs[id] = &Job{Fields: addedFields(item, due, now)}
		if item.Parent != "" {
			s.reach("add", "child")
		}
		switch {
		case item.Children > 0:
			s.reach("add", "parent")
			s.await(item, now)
		case due > now:
			s.reach("add", "delayed")
			s.Delayed[id] = due
			delayed = append(delayed, id)
		case item.Group != "":
			s.reach("add", "to a group")
			joiners = append(joiners, joiner{id: id, group: item.Group, priority: item.Priority})
		case item.Priority > 0:
			s.reach("add", "prioritized")
			s.enqueue(id, item.Priority)
			ranked = append(ranked, id)
		default:
			s.reach("add", "waiting")
			s.enqueue(id, 0)
			waiting = append(waiting, id)
		}
		s.event(c.Events == script.AddEventsAll, "added", id, "name", item.Name, "delay", number(max(due-now, 0)))
		reply.Results = append(reply.Results, script.AddResult{Verdict: script.AddVerdictAdded})
	}
	s.join(joiners)
	some := len(waiting) > 0 && idle || len(waiting)+len(ranked)+len(joiners) > 0 && quiet
	switch {
	case s.stopped(now):
		s.wakeForDue(delayed)
	case some && len(s.Next(1)) > 0:
		s.wake()
	default:
		s.wakeForDue(delayed)
	}
	if others == 0 {
		reply.Results = nil
	}
	return reply
}

func addedFields(item script.AddItem, due, now int64) map[string]string {
	fields := map[string]string{
		"name":      item.Name,
		"data":      string(item.Data),
		"timestamp": strconv.FormatInt(now, 10),
	}
	if item.Codec != "" {
		fields["cdc"] = item.Codec
	}
	if item.Version != 1 {
		fields["ver"] = strconv.FormatInt(item.Version, 10)
	}
	if len(item.Opts) > 0 {
		fields["opts"] = string(item.Opts)
	}
	if item.Priority > 0 {
		fields["priority"] = strconv.FormatInt(item.Priority, 10)
	}
	if item.Parent != "" {
		fields["parentKey"], fields["parent"] = item.Parent, item.Edge
	}
	if item.Children > 0 {
		fields["chn"] = strconv.FormatInt(item.Children, 10)
	}
	if item.Unique != "" {
		fields["deid"], fields["deu"] = item.Unique, string(item.Until)
	}
	if item.Group != "" {
		fields["grp"] = item.Group
	}
	if due > now {
		fields["delay"] = strconv.FormatInt(due-now, 10)
	}
	return fields
}
