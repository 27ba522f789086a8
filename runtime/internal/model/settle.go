package model

import (
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) settle(c script.Settle, now int64) script.SettleReply {
	reply := script.SettleReply{Now: now}
	back := &comeback{state: s}
	var delayed []string
	running := len(s.Active)
	before := map[string]memory{}
	for _, item := range c.Items {
		before[item.ID.String()] = s.remember(item.ID.String())
	}
	for _, item := range c.Items {
		id := item.ID.String()
		result := s.settleOne(c.Events, item, now, back, before[id])
		if result.Verdict == script.SettleVerdictSettled && s.Delayed.has(id) {
			delayed = append(delayed, id)
		}
		what := string(result.Verdict)
		if result.Outcome != "" {
			what += " " + result.Outcome
		}
		s.reach("settle", what)
		reply.Results = append(reply.Results, result)
	}
	back.finish(now, len(s.Active) < running && s.open("settle"))
	s.wakeForDue(delayed)
	reply.Due = s.Delayed.least()
	return reply
}

func (s *State) settleOne(level script.SettleEvents, item script.SettleItem, now int64, back *comeback, before memory) script.SettleResult {
	id := item.ID.String()
	if token, locked := s.Locks[id]; !locked || token != item.Token {
		return s.settleLate(id, item.Token, before)
	}
	delete(s.Locks, id)
	delete(s.Active, id)
	if !item.Groupless {
		back.left = append(back.left, id)
	}
	s.releaseKey(item.Unique, id)
	gone := script.SettleResult{Verdict: script.SettleVerdictGone}
	ended := item.Outcome == script.SettleOutcomeCompleted || item.Outcome == script.SettleOutcomeFailed
	job := s.Jobs[id]
	switch {
	case job == nil:
		return gone
	case job.Foreign != "" && !(ended && !item.Keep):
		s.reach("settle", "quarantined")
		s.Quarantine[id] = now
		written := level != script.SettleEventsNone || item.Announce
		s.event(written, "quarantined", id, "name", item.Job)
		return gone
	}
	last := item.Token + " " + string(item.Outcome)
	switch {
	case ended && !item.Keep:
		s.reach("settle", "stub")
		delete(s.Parts, id+":logs")
		stub := map[string]string{"name": job.Fields["name"], "lst": last}
		if by, replaced := job.Fields["rpb"]; replaced {
			stub["rpb"] = by
		}
		s.Jobs[id] = &Job{Stub: true, Fields: stub}
		if len(item.Report) > 0 {
			s.reach("settle", "lasting stub")
			s.Jobs[id].Lasting = true
			s.Jobs[id].Fields["parentKey"] = strings.Split(string(item.Report), " ")[1]
		}
	default:
		settledFields(job.Fields, item, now)
		if s.Cancels && !ended && item.Delay > 0 && s.Cancelled(id) {
			s.reach("settle", "comes back cancelled")
			item.Delay = 0
			job.Fields["delay"] = "0"
		}
		job.Fields["lst"] = last
		s.move(item, now, back)
	}
	if ended && len(item.Report) > 0 {
		s.reach("settle", "reported")
		s.Outbox[id] = now
		s.Bodies[id] = strconv.FormatInt(now, 10) + " " + string(item.Report) + "\n" + string(item.Value)
	}
	written := level == script.SettleEventsAll || ended && level == script.SettleEventsFinal || item.Announce
	s.event(written, string(item.Outcome), id, settledEvent(item)...)
	return script.SettleResult{Verdict: script.SettleVerdictSettled, Outcome: string(item.Outcome)}
}

// memory is what the store knew of a job before the call.
type memory struct {
	usable bool
	last   string
}

func (s *State) remember(id string) memory {
	job := s.Jobs[id]
	if job == nil || job.Foreign != "" {
		return memory{}
	}
	return memory{usable: true, last: job.Fields["lst"]}
}

// settleLate answers a caller who does not hold the job: with the outcome of a
// settle of its own, earlier in this call or the last one before it.
func (s *State) settleLate(id, token string, before memory) script.SettleResult {
	for _, last := range []string{s.remember(id).last, before.last} {
		if outcome, mine := strings.CutPrefix(last, token+" "); mine {
			return script.SettleResult{Verdict: script.SettleVerdictAlready, Outcome: outcome}
		}
	}
	if !before.usable {
		return script.SettleResult{Verdict: script.SettleVerdictGone}
	}
	return script.SettleResult{Verdict: script.SettleVerdictLost}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// settledEvent returns what the event of a settled job tells beside its name.
func settledEvent(item script.SettleItem) []string {
	fields := []string{"name", item.Job}
	reason := string(item.Value[:min(len(item.Value), 1024)])
	switch item.Outcome {
	case script.SettleOutcomeCompleted:
		return append(fields, "attempt", number(item.Attempts))
	case script.SettleOutcomeFailed:
		return append(fields, "attempt", number(item.Attempts), "reason", reason)
	case script.SettleOutcomeRetry:
		return append(fields, "attempt", number(item.Attempts), "reason", reason, "delay", number(item.Delay))
	}
	return append(fields, "delay", number(item.Delay))
}

func settledFields(fields map[string]string, item script.SettleItem, now int64) {
	fields["atm"] = number(item.Attempts)
	switch item.Outcome {
	case script.SettleOutcomeCompleted:
		fields["returnvalue"] = string(item.Value)
		fields["finishedOn"] = number(now)
	case script.SettleOutcomeFailed:
		fields["failedReason"] = string(item.Value)
		fields["finishedOn"] = number(now)
	case script.SettleOutcomeRetry:
		fields["failedReason"] = string(item.Value)
		fields["delay"] = number(item.Delay)
		fields["ats"] = number(item.Starts)
	default:
		fields["ukn"] = number(item.Unknown)
		fields["delay"] = number(item.Delay)
		fields["ats"] = number(item.Starts)
	}
	if len(item.Trace) > 0 {
		fields["stacktrace"] = string(item.Trace)
	}
}

// move puts a settled job where its outcome takes it.
func (s *State) move(item script.SettleItem, now int64, back *comeback) {
	id := item.ID.String()
	again := []script.SettleOutcome{script.SettleOutcomeRetry, script.SettleOutcomeSnooze, script.SettleOutcomeRelease}
	switch {
	case item.Outcome == script.SettleOutcomeCompleted:
		s.Completed[id] = now
	case item.Outcome == script.SettleOutcomeFailed:
		s.Failed[id] = now
	case slices.Contains(again, item.Outcome) && item.Delay > 0:
		s.reach("settle", "to delayed")
		s.Delayed[id] = now + item.Delay
	case s.Groups.Of[id] != "":
		s.reach("settle", "to its group")
		back.joiners = append(back.joiners, joiner{id: id, group: s.Groups.Of[id], priority: item.Priority, front: true})
	case item.Priority > 0:
		s.reach("settle", "to prioritized")
		back.bring(id, item.Priority)
	default:
		s.reach("settle", "to wait")
		back.bring(id, 0)
	}
}
