package model

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// stubTime is for how long after its end there is a stub of a job, in ms.
const stubTime = 60_000

func (s *State) trim(c script.Trim, now int64) script.TrimReply {
	reply := script.TrimReply{Now: now}
	set := s.Completed
	if c.Set == script.TrimSetFailed {
		set = s.Failed
	}
	order := set.Order() // as it was before the call
	newer := map[string]int64{}
	for i, id := range order {
		newer[id] = int64(len(order) - 1 - i)
	}
	var leaving []string
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := script.TrimVerdictKept
		switch ended, there := set[id]; {
		case !there:
			verdict = script.TrimVerdictGone
		case s.Outbox.has(id):
			s.reach("trim", "unreported")
		case item.Age >= 0 && now-ended >= item.Age:
			s.reach("trim", "by age")
			verdict = script.TrimVerdictTrimmed
		case item.Newer >= 0 && newer[id] >= item.Newer:
			s.reach("trim", "by number")
			verdict = script.TrimVerdictTrimmed
		}
		if verdict == script.TrimVerdictTrimmed {
			leaving = append(leaving, id)
		}
		s.reach("trim", string(verdict))
		reply.Results = append(reply.Results, script.TrimResult{Verdict: verdict})
	}
	for _, id := range leaving {
		ended, there := set[id]
		if !there {
			continue // it stood there twice
		}
		var stub *Job
		if s.condition(id) == usable && ended+stubTime > now {
			s.reach("trim", "stub")
			fields := s.Jobs[id].Fields
			stub = &Job{Stub: true, Fields: map[string]string{"name": fields["name"], "lst": cmp.Or(fields["lst"], "- "+string(c.Set))}}
			if by, replaced := fields["rpb"]; replaced {
				stub.Fields["rpb"] = by
			}
		}
		delete(set, id)
		s.eraseJob(id)
		if stub != nil {
			s.Jobs[id] = stub
		}
	}
	return reply
}

func (s *State) inspect(c script.Inspect, now int64) script.InspectReply {
	reply := script.InspectReply{Now: now}
	for _, item := range c.Items {
		result := s.inspectOne(item.ID.String())
		what := string(result.State)
		if !result.Kept {
			what += " and not kept"
		}
		s.reach("inspect", what)
		reply.Results = append(reply.Results, result)
	}
	return reply
}

func (s *State) inspectOne(id string) script.InspectResult {
	job := s.Jobs[id]
	if s.Quarantine.has(id) || job != nil && job.Foreign != "" {
		return script.InspectResult{State: script.InspectStateQuarantined, Kept: true}
	}
	result := script.InspectResult{State: script.InspectStateMissing, Kept: true}
	if job == nil {
		return result
	}
	fields := job.Fields
	result.Name, result.Codec = fields["name"], fields["cdc"]
	result.Attempts, _ = strconv.ParseInt(fields["atm"], 10, 64)
	result.Value = []byte(fields["returnvalue"])
	result.Reason, result.Trace = fields["failedReason"], fields["stacktrace"]
	result.Deferred = fields["defa"]
	switch {
	case s.condition(id) == unusable:
	case job.Stub:
		_, outcome, _ := strings.Cut(fields["lst"], " ")
		result.State = script.InspectState(outcome)
		result.Kept = false
	default:
		result.State = map[string]script.InspectState{
			"wait": script.InspectStateWaiting, "grouped": script.InspectStateWaiting, "prioritized": script.InspectStatePrioritized,
			"delayed": script.InspectStateDelayed, "waiting-children": script.InspectStateWaitingChildren,
			"active":    script.InspectStateActive,
			"completed": script.InspectStateCompleted, "failed": script.InspectStateFailed,
		}[s.Place(id)]
	}
	return result
}
