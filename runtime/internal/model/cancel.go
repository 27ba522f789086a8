package model

import (
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) cancel(c script.Cancel, now int64) script.CancelReply {
	reply := script.CancelReply{Now: now}
	var fresh []string
	for _, item := range c.Items {
		id := item.ID.String()
		result := script.CancelResult{Verdict: s.cancellable(id, item.Name)}
		if s.condition(id) == usable && result.Verdict != script.CancelVerdictQuarantined {
			result.Name = s.Jobs[id].Fields["name"]
		}
		switch result.Verdict {
		case script.CancelVerdictMarked, script.CancelVerdictActive:
			if s.Cancelled(id) || slices.Contains(fresh, id) {
				s.reach("cancel", "again")
			} else {
				fresh = append(fresh, id)
			}
		}
		s.reach("cancel", string(result.Verdict))
		reply.Results = append(reply.Results, result)
	}
	for _, id := range fresh {
		s.mark(c, id, now)
	}
	return reply
}

// cancellable tells what cancelling a job comes to.
func (s *State) cancellable(id, name string) script.CancelVerdict {
	job := s.Jobs[id]
	_, lst, _ := strings.Cut(fieldOf(job, "lst"), " ")
	place := s.Place(id)
	switch {
	case s.Quarantine.has(id), job != nil && job.Foreign != "":
		return script.CancelVerdictQuarantined
	case s.condition(id) != usable:
		return script.CancelVerdictMissing
	case name != "" && job.Fields["name"] != name:
		return script.CancelVerdictMismatch
	case place == "completed", place == "failed", job.Stub && (lst == "completed" || lst == "failed"):
		return script.CancelVerdictEnded
	case place == "active":
		return script.CancelVerdictActive
	}
	return script.CancelVerdictMarked
}

func fieldOf(job *Job, name string) string {
	if job == nil {
		return ""
	}
	return job.Fields[name]
}

// mark marks a job as cancelled.
func (s *State) mark(c script.Cancel, id string, now int64) {
	s.Jobs[id].Fields["defa"] = c.Mark
	due, delayed := s.Delayed[id]
	switch {
	case s.Active.has(id):
		s.Cancels = true
	case s.Waiting.has(id):
		s.reach("cancel", "waiting for children")
		delete(s.Waiting, id)
		s.Delayed[id] = now
		s.Marker[DueMember] = 1
	case delayed && due > now:
		s.reach("cancel", "due at once")
		s.Delayed[id] = now
		s.Marker[DueMember] = 1
	}
	s.event(c.Events != script.CancelEventsNone, "cancelled", id,
		"name", s.Jobs[id].Fields["name"], "reason", c.Mark)
}

// Cancelled reports whether a job, the id of which is given, is marked so.
func (s *State) Cancelled(id string) bool {
	defa := fieldOf(s.Jobs[id], "defa")
	return defa == "cancelled" || strings.HasPrefix(defa, "cancelled: ")
}
