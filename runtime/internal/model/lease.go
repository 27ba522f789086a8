package model

import (
	"fmt"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) extend(c script.Extend, now int64) script.ExtendReply {
	reply := script.ExtendReply{Now: now}
	for _, item := range c.Items {
		id := item.ID.String()
		result := script.ExtendResult{Verdict: script.ExtendVerdictLost}
		if s.holds(id, item.Token) {
			result.Verdict = script.ExtendVerdictExtended
			s.Active[id] = now + c.Lease
			if s.Cancels && s.Cancelled(id) {
				result = script.ExtendResult{Verdict: script.ExtendVerdictCancelled, Reason: s.Jobs[id].Fields["defa"]}
			}
		}
		s.reach("extend", string(result.Verdict))
		reply.Results = append(reply.Results, result)
	}
	return reply
}

// holds reports whether a token holds a job.
func (s *State) holds(id, token string) bool {
	held, locked := s.Locks[id]
	return locked && held == token
}

func (s *State) leave(c script.Leave, now int64) script.LeaveReply {
	reply := script.LeaveReply{Now: now}
	for _, item := range c.Items {
		id := item.ID.String()
		result := script.LeaveResult{Verdict: script.LeaveVerdictLost}
		if s.holds(id, item.Token) {
			result.Verdict = script.LeaveVerdictLeft
			if s.Active[id] > now {
				s.reach("leave", "ends the lease")
				s.Active[id] = now
				s.event(c.Events != script.LeaveEventsNone, "stuck", id, "name", item.Job)
			}
		}
		s.reach("leave", string(result.Verdict))
		reply.Results = append(reply.Results, result)
	}
	return reply
}

func (s *State) recover(c script.Recover, now int64) script.RecoverReply {
	reply := script.RecoverReply{Now: now}
	back := &comeback{state: s}
	before := len(s.Active)
	for _, item := range c.Items {
		verdict := s.recoverOne(item, now, back)
		s.reach("recover", string(verdict))
		switch verdict {
		case script.RecoverVerdictStalled, script.RecoverVerdictOrphan, script.RecoverVerdictQuarantined:
			var fields []string
			if verdict == script.RecoverVerdictStalled {
				job := s.Jobs[item.ID.String()].Fields
				fields = []string{"name", job["name"], "stalls", job["stc"]}
			}
			s.event(c.Events != script.RecoverEventsNone, string(verdict), item.ID.String(), fields...)
		}
		reply.Results = append(reply.Results, script.RecoverResult{Verdict: verdict})
	}
	back.finish(now, len(s.Active) < before && s.open("recover"))
	return reply
}

func (s *State) recoverOne(item script.RecoverItem, now int64, back *comeback) script.RecoverVerdict {
	id := item.ID.String()
	deadline, active := s.Active[id]
	switch {
	case !active:
		return script.RecoverVerdictGone
	case deadline != item.Deadline || deadline > now:
		return script.RecoverVerdictRenewed
	}
	_, locked := s.Locks[id]
	delete(s.Active, id)
	delete(s.Locks, id)
	delete(s.Reserved, id)
	back.left = append(back.left, id)
	switch s.condition(id) {
	case absent:
		return script.RecoverVerdictOrphan
	case unusable:
		s.Quarantine[id] = now
		return script.RecoverVerdictQuarantined
	}
	fields := s.Jobs[id].Fields
	priority, _ := strconv.ParseInt(fields["priority"], 10, 64)
	if group := s.groupOf(id); group != "" {
		s.reach("recover", "to its group")
		back.joiners = append(back.joiners, joiner{id: id, group: group, priority: priority, front: true})
	} else {
		back.bring(id, priority)
	}
	if !locked {
		return script.RecoverVerdictReturned
	}
	stalls, _ := strconv.ParseInt(fields["stc"], 10, 64)
	stalls++
	fields["stc"] = strconv.FormatInt(stalls, 10)
	switch {
	case stalls > item.Stalls && has(fields, "defa"):
		s.reach("recover", "past the allowed stalls and marked already")
	case stalls > item.Stalls:
		s.reach("recover", "past the allowed stalls")
		fields["defa"] = fmt.Sprintf("the job stalled %d times; %d allowed", stalls, item.Stalls)
	}
	return script.RecoverVerdictStalled
}
