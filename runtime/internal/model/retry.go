package model

import (
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) retry(c script.Retry, now int64) script.RetryReply {
	reply := script.RetryReply{Now: now}
	retried := false
	var joiners []joiner
	for _, item := range c.Items {
		id := item.ID.String()
		verdict, rival := s.retryOne(id, now, &joiners)
		s.reach("retry", string(verdict))
		switch verdict {
		case script.RetryVerdictRetried:
			retried = true
			s.event(c.Events != script.RetryEventsNone, "retried", id)
		case script.RetryVerdictOrphan, script.RetryVerdictQuarantined:
			s.event(c.Events != script.RetryEventsNone, string(verdict), id)
		}
		result := script.RetryResult{Verdict: verdict, Owner: rival}
		if rival != "" {
			result.Unique = s.Jobs[id].Fields["deid"]
		}
		reply.Results = append(reply.Results, result)
	}
	s.join(joiners)
	if retried && !s.stopped(now) {
		s.wake()
	}
	return reply
}

func (s *State) retryOne(id string, now int64, joiners *[]joiner) (verdict script.RetryVerdict, rival string) {
	if !s.Failed.has(id) {
		if s.Jobs[id] == nil {
			return script.RetryVerdictMissing, ""
		}
		return script.RetryVerdictUnfailed, ""
	}
	if key := s.keyOf(id); key != "" {
		if owner, held := s.holder(key, now); held && owner != id {
			return script.RetryVerdictDuplicate, owner
		} else if !held {
			s.reach("retry", "with its key")
			s.hold(key, id, 0, now)
		}
	}
	delete(s.Failed, id)
	switch s.condition(id) {
	case absent:
		return script.RetryVerdictOrphan, ""
	case unusable:
		s.Quarantine[id] = now
		return script.RetryVerdictQuarantined, ""
	}
	fields := s.Jobs[id].Fields
	for _, field := range []string{"stc", "defa", "finishedOn", "failedReason"} {
		delete(fields, field)
	}
	token, _, known := strings.Cut(fields["lst"], " ")
	if !known {
		token = "-"
	}
	fields["atm"], fields["lst"] = "0", token+" retry"
	priority, _ := strconv.ParseInt(fields["priority"], 10, 64)
	if group := fields["grp"]; group != "" {
		s.reach("retry", "to its group")
		*joiners = append(*joiners, joiner{id: id, group: group, priority: priority})
		return script.RetryVerdictRetried, ""
	}
	s.reach("retry", map[bool]string{true: "to prioritized", false: "to wait"}[priority > 0])
	s.enqueue(id, priority)
	return script.RetryVerdictRetried, ""
}
