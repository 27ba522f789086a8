package model

import (
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) counts(_ script.Counts, now int64) script.CountsReply {
	s.reach("counts", "counts")
	return script.CountsReply{
		Now: now, Paused: s.Paused,
		Waiting: int64(len(s.Wait)), Prioritized: int64(len(s.Prioritized)), Delayed: int64(len(s.Delayed)),
		Active: int64(len(s.Active)), Reserved: int64(len(s.Reserved)),
		Completed: int64(len(s.Completed)), Failed: int64(len(s.Failed)), Quarantined: int64(len(s.Quarantine)), WaitingChildren: int64(len(s.Waiting)),
		Grouped: int64(len(s.Groups.Members())), Groups: int64(len(s.Groups.Ring)),
	}
}

// drift is how far from its place the last id of a page of those that wait is
// looked for.
const drift = 1000

func (s *State) list(c script.List, now int64) script.ListReply {
	reply := script.ListReply{Now: now, Place: c.Place, Last: c.Last}
	if c.Set == script.ListSetGrouped {
		return s.listGrouped(c, reply)
	}
	if c.Set == script.ListSetWait {
		return s.listWaiting(c, reply)
	}
	set := s.Set(string(c.Set))
	rest := set.Order()
	falling := c.Order == script.ListOrderFalling
	if falling {
		slices.Reverse(rest)
	}
	if c.Begun {
		s.reach("list", "a further page")
		rest = slices.DeleteFunc(rest, func(id string) bool {
			order := compareScored(set[id], id, c.Place, c.Last)
			return order == 0 || (order < 0) != falling
		})
	}
	for _, id := range rest[:min(int(c.Limit), len(rest))] {
		s.reach("list", string(c.Order))
		reply.IDs = append(reply.IDs, script.ListID{ID: id, Score: set[id]})
		reply.Place, reply.Last = set[id], id
	}
	return reply
}

func compareScored(scoreA int64, a string, scoreB int64, b string) int {
	switch {
	case scoreA != scoreB && scoreA < scoreB:
		return -1
	case scoreA != scoreB:
		return 1
	}
	return strings.Compare(a, b)
}

func (s *State) listWaiting(c script.List, reply script.ListReply) script.ListReply {
	from := int64(0)
	if c.Begun && c.Place > 0 {
		from = max(c.Place-drift, 0)
		for place := min(c.Place, int64(len(s.Wait))) - 1; place >= from; place-- {
			if s.Wait[place] == c.Last {
				s.reach("list", "a further page of those that wait")
				from = place + 1
				break
			}
		}
	}
	rest := s.Wait[min(from, int64(len(s.Wait))):]
	for _, id := range rest[:min(int(c.Limit), len(rest))] {
		s.reach("list", "waiting")
		reply.IDs = append(reply.IDs, script.ListID{ID: id})
		reply.Last = id
	}
	reply.Place = from + int64(len(reply.IDs))
	return reply
}

// Set returns one of the sorted sets of ids, by its name.
func (s *State) Set(name string) ZSet {
	return map[string]ZSet{
		"prioritized": s.Prioritized, "delayed": s.Delayed, "active": s.Active,
		"completed": s.Completed, "failed": s.Failed, "quarantine": s.Quarantine, "waiting-children": s.Waiting,
	}[name]
}

func (s *State) view(c script.View, now int64) script.ViewReply {
	reply := script.ViewReply{Now: now}
	bytes := int64(0)
	for _, item := range c.Items {
		result, size := s.viewOne(item.ID.String())
		if bytes > 0 && (bytes >= c.Limit || bytes+size > c.Limit) {
			result = script.ViewResult{State: script.ViewStateCrowded, Kept: true}
		}
		if bytes == 0 || bytes < c.Limit {
			bytes += size
		}
		what := string(result.State)
		if !result.Kept {
			what = "a stub"
		}
		s.reach("view", what)
		reply.Results = append(reply.Results, result)
	}
	return reply
}

// viewOne returns a job and its size in bytes, one more than that of its fields.
func (s *State) viewOne(id string) (script.ViewResult, int64) {
	job := s.Jobs[id]
	result := script.ViewResult{State: script.ViewStateMissing, Kept: true}
	size := int64(1)
	if job != nil && job.Foreign == "" {
		result.Job = flatten(job.Fields)
		for _, value := range job.Fields {
			size += int64(len(value))
		}
	}
	place := s.Place(id)
	switch {
	case s.Quarantine.has(id), job != nil && job.Foreign != "":
		result.State, result.Score = script.ViewStateQuarantined, s.Quarantine[id]
	case job == nil:
	case job.Stub:
		_, outcome, _ := strings.Cut(job.Fields["lst"], " ")
		result.State, result.Kept = script.ViewState(outcome), false
	case place == "wait" || place == "" || place == "grouped":
		result.State = script.ViewStateWaiting
	default:
		result.State, result.Score = script.ViewState(place), s.Set(place)[id]
	}
	return result, size
}
