package model

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// holder returns the id of the job that holds a unique key at now.
func (s *State) holder(key string, now int64) (id string, held bool) {
	id, held = s.Dedup[key]
	if end, bounded := s.DedupDue[key]; bounded && end <= now {
		s.reach("add", "time over")
		return "", false
	}
	return id, held
}

// hold gives a key to a job.
func (s *State) hold(key, id string, term, now int64) {
	s.Dedup[key] = id
	delete(s.DedupDue, key)
	if term > 0 {
		s.DedupDue[key] = now + term
	}
}

// releaseKey takes a key from the job id, if it is its own.
func (s *State) releaseKey(key, id string) {
	if key == "" {
		return
	}
	if s.Dedup[key] != id {
		s.reach("key", "of another")
		return
	}
	s.reach("key", "released")
	s.free(key)
}

func (s *State) free(key string) {
	delete(s.Dedup, key)
	delete(s.DedupDue, key)
}

// keyOf returns the key that the job id came with, if the job can be used.
func (s *State) keyOf(id string) string {
	if s.condition(id) != usable {
		return ""
	}
	return s.Jobs[id].Fields["deid"]
}

// keeps reports whether the job id is there and has the key.
func (s *State) keeps(id, key string) bool {
	return s.condition(id) == usable && s.Jobs[id].Fields["deid"] == key
}

func (s *State) heal(c script.Heal, now int64) script.HealReply {
	reply := script.HealReply{Now: now}
	var free []string
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := script.HealVerdictHeld
		switch {
		case s.Dedup[item.Unique] != id:
			verdict = script.HealVerdictPassed
		case !s.keeps(id, item.Unique):
			verdict = script.HealVerdictFreed
			free = append(free, item.Unique)
		}
		s.reach("heal", string(verdict))
		reply.Results = append(reply.Results, script.HealResult{Verdict: verdict})
	}
	for _, key := range free {
		s.free(key)
	}
	return reply
}

func (s *State) prune(c script.Prune, now int64) script.PruneReply {
	over := within(s.DedupDue, now)
	over = over[:min(int(c.Limit), len(over))]
	for _, key := range over {
		s.reach("prune", "freed")
		s.free(key)
	}
	return script.PruneReply{Now: now, Freed: int64(len(over))}
}

func (s *State) replace(c script.Replace, now int64) script.ReplaceReply {
	reply := script.ReplaceReply{Now: now}
	var moved []string
	for _, item := range c.Items {
		verdict := s.replaceable(item)
		s.reach("replace", string(verdict))
		if verdict == script.ReplaceVerdictReplaced && s.Jobs[item.ID.String()].Fields["rpb"] != item.By {
			if s.replaceOne(item, now) {
				moved = append(moved, item.ID.String())
			}
			s.event(c.Events == script.ReplaceEventsAll, "replaced", item.ID.String(), "name", s.Jobs[item.ID.String()].Fields["name"])
		}
		reply.Results = append(reply.Results, script.ReplaceResult{Verdict: verdict})
	}
	s.wakeForDue(moved)
	return reply
}

func (s *State) replaceable(item script.ReplaceItem) script.ReplaceVerdict {
	id := item.ID.String()
	switch job := s.Jobs[id]; {
	case job != nil && job.Fields["rpb"] == item.By:
		s.reach("replace", "again")
		return script.ReplaceVerdictReplaced
	case s.Dedup[item.Unique] != id:
		return script.ReplaceVerdictPassed
	case !s.keeps(id, item.Unique):
		return script.ReplaceVerdictGone
	case s.Reserved[id] != "":
		return script.ReplaceVerdictReserved
	case s.Active.has(id):
		return script.ReplaceVerdictActive
	case s.Completed.has(id):
		return script.ReplaceVerdictCompleted
	case s.Failed.has(id):
		return script.ReplaceVerdictFailed
	case has(s.Jobs[id].Fields, "defa"):
		return script.ReplaceVerdictCancelled
	}
	return script.ReplaceVerdictReplaced
}

// replaceOne writes the content of a job anew, and reports whether its due time
// was set too.
func (s *State) replaceOne(item script.ReplaceItem, now int64) (moved bool) {
	id := item.ID.String()
	fields := s.Jobs[id].Fields
	set := func(name, value string, absent bool) {
		if fields[name] = value; absent {
			delete(fields, name)
		}
	}
	set("data", string(item.Data), false)
	set("cdc", item.Codec, item.Codec == "")
	set("ver", strconv.FormatInt(item.Version, 10), item.Version == 1)
	set("opts", string(item.Opts), len(item.Opts) == 0)
	set("deu", string(item.Until), false)
	set("rpb", item.By, false)
	s.hold(item.Unique, id, item.Term, now)
	if starts, _ := strconv.ParseInt(fields["ats"], 10, 64); starts > 0 || !s.Delayed.has(id) {
		s.reach("replace", "in its place")
		return false
	}
	s.reach("replace", "with its time")
	due := item.Due
	if due == 0 {
		due = now + item.Delay
	}
	due = max(due, now)
	s.Delayed[id] = due
	set("delay", strconv.FormatInt(due-now, 10), false)
	set("priority", strconv.FormatInt(item.Priority, 10), item.Priority == 0)
	set("grp", item.Group, item.Group == "")
	return true
}

// checkKeys returns an error if a key is held by a job that does not have it, or
// longer than the job says.
func (s *State) checkKeys() []error {
	var broken []error
	for key, id := range s.Dedup {
		if s.Tainted[id] {
			continue
		}
		report := func(what string) {
			broken = append(broken, fmt.Errorf("key %s is held by job %s, which %s", key, id, what))
		}
		if !s.keeps(id, key) {
			report("does not have it")
			continue
		}
		_, locked := s.Locks[id]
		ended := s.Completed.has(id) || s.Failed.has(id)
		switch until := s.Jobs[id].Fields["deu"]; {
		case until == "started" && (locked || ended):
			report("was started")
		case until == "finished" && ended:
			report("has ended")
		case !slices.Contains([]string{"started", "finished", "removed"}, until):
			report("does not say until when")
		}
	}
	for key := range s.DedupDue {
		if _, held := s.Dedup[key]; !held {
			broken = append(broken, fmt.Errorf("key %s is held by nobody and has a time", key))
		}
	}
	return broken
}
