package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

func (s *State) remove(c script.Remove, now int64) script.RemoveReply {
	reply := script.RemoveReply{Now: now}
	var gone []string
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := script.RemoveVerdictRemoved
		job, place := s.Jobs[id], s.Place(id)
		switch {
		case slices.Contains(gone, id), job == nil && (place == "" || place == "wait" || place == "grouped"):
			verdict = script.RemoveVerdictMissing
		case s.Active.has(id):
			verdict = script.RemoveVerdictActive
		default:
			gone = append(gone, id)
		}
		s.reach("remove", string(verdict))
		reply.Results = append(reply.Results, script.RemoveResult{Verdict: verdict})
	}
	for _, id := range gone {
		ended := s.Completed.has(id) || s.Failed.has(id) || s.Quarantine.has(id) || s.Jobs[id] != nil && s.Jobs[id].Stub
		s.event(c.Events == script.RemoveEventsAll || c.Events == script.RemoveEventsFinal && !ended, "removed", id)
		s.reach("remove", "from "+s.Place(id))
		if job := s.Jobs[id]; !ended && job != nil && has(job.Fields, "parentKey") && has(job.Fields, "parent") {
			s.reach("remove", "reported")
			s.Outbox[id] = now
			s.Bodies[id] = strconv.FormatInt(now, 10) + " report " + job.Fields["parentKey"] + " removed " + job.Fields["parent"] + "\nit was removed"
		}
		if s.Place(id) == "grouped" && s.Jobs[id].Foreign != "" {
			s.reach("remove", "leaves it in its group") // which its hash does not say
			s.Tainted[id] = true
		} else {
			s.unjoin(id)
		}
		s.take(id)
		s.eraseJob(id)
	}
	s.quiet(gone)
	return reply
}

func (s *State) drain(c script.Drain, now int64) script.DrainReply {
	reply := script.DrainReply{Now: now}
	front := s.Wait
	if c.Set == script.DrainSetGrouped {
		front = nil
		for _, member := range s.Groups.Members() {
			front = append(front, member[strings.LastIndexByte(member, '|')+1:])
		}
	} else if c.Set != script.DrainSetWait {
		front = s.Set(string(c.Set)).Order()
	}
	there := map[string]bool{}
	var gone, odd []string
	for _, id := range front[:min(int(c.Take), len(front))] {
		there[id] = true
		if !declarable(id) {
			odd = append(odd, id)
		}
	}
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := script.DrainVerdictGone
		if there[id] {
			there[id] = false
			verdict = script.DrainVerdictRemoved
			gone = append(gone, id)
		}
		s.reach("drain", string(verdict)+" of "+string(c.Set))
		reply.Results = append(reply.Results, script.DrainResult{Verdict: verdict})
	}
	for _, id := range odd {
		s.reach("drain", "quarantined id")
		s.take(id)
		s.unjoin(id)
		s.Quarantine[id] = now
		s.event(c.Events != script.DrainEventsNone, "quarantined", id)
	}
	for _, id := range gone {
		if c.Set == script.DrainSetWait {
			s.Wait = slices.DeleteFunc(slices.Clone(s.Wait), func(other string) bool { return other == id })
		} else if c.Set == script.DrainSetGrouped {
			s.unjoin(id)
		} else {
			delete(s.Set(string(c.Set)), id)
		}
		s.eraseJob(id)
		s.event(c.Events != script.DrainEventsNone, "removed", id)
	}
	s.quiet(append(gone, odd...))
	reply.Left = int64(len(s.Wait))
	if c.Set == script.DrainSetGrouped {
		reply.Left = int64(len(s.Groups.Members()))
	} else if c.Set != script.DrainSetWait {
		reply.Left = int64(len(s.Set(string(c.Set))))
	}
	return reply
}

// take takes an id from where it waits or has ended.
func (s *State) take(id string) {
	s.Wait = slices.DeleteFunc(slices.Clone(s.Wait), func(other string) bool { return other == id })
	for _, set := range []ZSet{s.Prioritized, s.Delayed, s.Waiting, s.Completed, s.Failed, s.Quarantine} {
		delete(set, id)
	}
}

// eraseJob deletes every key of a job, and releases its unique key.
func (s *State) eraseJob(id string) {
	if job := s.Jobs[id]; job != nil && job.Fields["deid"] != "" {
		s.releaseKey(job.Fields["deid"], id)
	}
	delete(s.Jobs, id)
	delete(s.Locks, id)
	for _, part := range wire.JobParts() {
		delete(s.Parts, id+":"+part)
	}
}

// quiet keeps the marker true when ids have left.
func (s *State) quiet(ids []string) {
	if len(ids) == 0 {
		return
	}
	told := false
	for _, id := range ids {
		if id != DueMember {
			told = told || s.Marker.has(id)
			delete(s.Marker, id)
		}
	}
	if len(s.Wait)+len(s.Prioritized) == 0 && s.Groups.head() == "" {
		for id := range s.Marker {
			if id != DueMember {
				delete(s.Marker, id)
			}
		}
	} else if told {
		s.wake()
	}
	if len(s.Prioritized) == 0 {
		s.Counter = 0
	}
}

func (s *State) expel(c script.Expel, now int64) script.ExpelReply {
	reply := script.ExpelReply{Now: now}
	for _, item := range c.Items {
		id := item.Member
		verdict := script.ExpelVerdictMissing
		places := slices.DeleteFunc(slices.Clone(s.places()[id]), func(place string) bool {
			return place == "wait" || place == "prioritized" || place == "quarantine"
		})
		switch {
		case declarable(id):
			verdict = script.ExpelVerdictKept
		case c.To == script.ExpelToNowhere && s.Quarantine.has(id):
			verdict = script.ExpelVerdictExpelled
			delete(s.Quarantine, id)
		case c.To == script.ExpelToQuarantine && len(places) > 0:
			verdict = script.ExpelVerdictExpelled
			if s.Active.has(id) && s.open("expel") {
				s.Marker[DueMember] = 1
			}
			for _, set := range []ZSet{s.Delayed, s.Active, s.Completed, s.Failed} {
				delete(set, id)
			}
			delete(s.Reserved, id)
			s.Quarantine[id] = now
			s.event(c.Events != script.ExpelEventsNone, "quarantined", id)
		}
		s.reach("expel", string(verdict)+" to "+string(c.To))
		reply.Results = append(reply.Results, script.ExpelResult{Verdict: verdict})
	}
	return reply
}

func (s *State) erase(c script.Erase, now int64) script.EraseReply {
	reply := script.EraseReply{Now: now, Verdict: script.EraseVerdictRunning}
	if s.Paused {
		reply.Verdict = script.EraseVerdictErased
		var left []string
		for _, item := range c.Items {
			id := item.ID.String()
			s.eraseJob(id)
			for _, set := range []ZSet{s.Prioritized, s.Delayed, s.Waiting, s.Active, s.Completed, s.Failed, s.Quarantine} {
				delete(set, id)
			}
			delete(s.Reserved, id)
			if slices.Contains(s.Wait, id) || s.Groups.waits(id) != "" {
				s.Tainted[id] = true
			}
			left = append(left, id)
		}
		s.part(left)
	}
	s.reach("erase", string(reply.Verdict))
	return reply
}

func (s *State) obliterate(_ script.Obliterate, now int64) script.ObliterateReply {
	reply := script.ObliterateReply{Now: now, Verdict: script.ObliterateVerdictObliterated}
	switch {
	case !s.Paused:
		reply.Verdict = script.ObliterateVerdictRunning
	case len(s.places())+len(s.Schedulers) > 0:
		reply.Verdict = script.ObliterateVerdictHolding
	default:
		s.Version, s.Paused, s.Cancels, s.Counter = "", false, false, 0
		s.Reserved, s.Marker = map[string]string{}, ZSet{}
		s.Dedup, s.DedupDue = map[string]string{}, ZSet{}
		s.Turn, s.Groups = Turn{}, newGroups()
		s.Outbox, s.Bodies = ZSet{}, map[string]string{}
		for id, job := range s.Jobs { // which are the caller's to erase
			s.Tainted[id] = s.Tainted[id] || job.Lasting
		}
		s.Blocked, s.Overrides, s.Bucket, s.Contracts = "", map[string]string{}, nil, map[string]string{}
	}
	s.reach("obliterate", string(reply.Verdict))
	return reply
}
