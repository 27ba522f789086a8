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
		verdict := script.ExtendVerdictLost
		if token, locked := s.Locks[id]; locked && token == item.Token {
			verdict = script.ExtendVerdictExtended
			s.Active[id] = now + c.Lease
		}
		s.reach("extend", string(verdict))
		reply.Results = append(reply.Results, script.ExtendResult{Verdict: verdict})
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
	opened := len(s.Active) < before && s.open("recover")
	back.finish(now)
	if opened && len(s.Marker) == 0 {
		s.wake()
	}
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
	switch s.condition(id) {
	case absent:
		return script.RecoverVerdictOrphan
	case unusable:
		s.Quarantine[id] = now
		return script.RecoverVerdictQuarantined
	}
	fields := s.Jobs[id].Fields
	priority, _ := strconv.ParseInt(fields["priority"], 10, 64)
	back.bring(id, priority)
	if !locked {
		return script.RecoverVerdictReturned
	}
	stalls, _ := strconv.ParseInt(fields["stc"], 10, 64)
	stalls++
	fields["stc"] = strconv.FormatInt(stalls, 10)
	if stalls > item.Stalls {
		s.reach("recover", "past the allowed stalls")
		fields["defa"] = fmt.Sprintf("the job stalled %d times; %d allowed", stalls, item.Stalls)
	}
	return script.RecoverVerdictStalled
}
