package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// The times that add gives what it puts aside.
const (
	callersTime  = 2_000  // for which its caller delivers children itself
	childrenTime = 30_000 // after which they are looked for
)

// pending returns the edges of the children that a job waits for.
func (s *State) pending(id string) Set {
	set, _ := s.Parts[id+":dependencies"].(Set)
	return set
}

func (s *State) setPending(id string, edges Set) {
	if len(edges) == 0 {
		delete(s.Parts, id+":dependencies")
		return
	}
	s.Parts[id+":dependencies"] = edges
}

// await puts a job where it waits for its children.
func (s *State) await(item script.AddItem, now int64) {
	id := item.ID.String()
	edges := append(slices.Clone(s.pending(id)), strings.Split(string(item.Edges), "\n")...)
	slices.Sort(edges)
	s.setPending(id, slices.Compact(edges))
	s.Waiting[id] = now + childrenTime
	entry := wire.ChildrenEntry(item.ID)
	s.Outbox[entry] = now + callersTime
	s.Bodies[entry] = strconv.FormatInt(now, 10) + " " + string(item.Delivery)
}

func (s *State) deliver(c script.Deliver, now int64) script.DeliverReply {
	reply := script.DeliverReply{Now: now}
	reasons := map[string]string{}
	hasty := map[string]bool{}
	var order []string // parents, by their last report
	at := map[string]int{}
	for i, item := range c.Items {
		id := item.ID.String()
		verdict := s.deliverOne(item, reasons, hasty)
		reply.Results = append(reply.Results, script.DeliverResult{Verdict: verdict})
		order = append(slices.DeleteFunc(order, func(other string) bool { return other == id }), id)
		at[id] = i
	}
	var delayed []string
	for _, id := range order {
		switch {
		case s.condition(id) == absent:
			for _, part := range []string{"dependencies", "processed", "failed"} {
				delete(s.Parts, id+":"+part)
			}
			if s.Waiting.has(id) {
				s.reach("deliver", "orphan")
				delete(s.Waiting, id)
				s.event(c.Events != script.DeliverEventsNone, "orphan", id)
			}
		case s.Waiting.has(id) && (reasons[id] != "" || hasty[id] || len(s.pending(id)) == 0):
			reply.Results[at[id]].Verdict = script.DeliverVerdictReleased
			s.release(id, reasons[id], now)
			delayed = append(delayed, id)
		}
	}
	for _, result := range reply.Results {
		s.reach("deliver", string(result.Verdict))
	}
	s.wakeForDue(delayed)
	return reply
}

func (s *State) deliverOne(item script.DeliverItem, reasons map[string]string, hasty map[string]bool) script.DeliverVerdict {
	id := item.ID.String()
	pending := s.pending(id)
	at := slices.Index(pending, item.Edge)
	if at >= 0 {
		s.setPending(id, slices.Delete(slices.Clone(pending), at, at+1))
	}
	switch {
	case s.condition(id) == absent:
		return script.DeliverVerdictGone
	case at < 0:
		return script.DeliverVerdictAlready
	}
	edge, err := wire.ParseEdge(item.Edge)
	if err != nil {
		panic("model: " + err.Error())
	}
	s.reach("deliver", string(item.Outcome))
	if item.Outcome != script.DeliverOutcomeCompleted {
		s.reach("deliver", string(edge.Policy))
	}
	switch {
	case item.Outcome == script.DeliverOutcomeCompleted:
		s.record(id+":processed", item.Edge, string(item.Value))
		return script.DeliverVerdictRecorded
	case edge.Policy == wire.PolicyRemove:
		return script.DeliverVerdictRecorded
	case edge.Policy == wire.PolicyContinue:
		hasty[id] = true
	case edge.Policy == wire.PolicyFail && reasons[id] == "":
		what := map[script.DeliverOutcome]string{"failed": "failed", "removed": "was removed", "taken": "was not added"}
		reasons[id] = "child " + edge.ID.String() + " of queue " + edge.Queue.Name() + " " + what[item.Outcome] + ": " + string(item.Value)
	}
	s.record(id+":failed", item.Edge, string(item.Outcome)+" "+string(item.Value))
	return script.DeliverVerdictRecorded
}

func (s *State) record(key, edge, value string) {
	hash, _ := s.Parts[key].(Hash)
	hash = maps.Clone(hash)
	if hash == nil {
		hash = Hash{}
	}
	hash[edge] = value
	s.Parts[key] = hash
}

// release makes a parent due: at once, or when its own delay is over.
func (s *State) release(id, reason string, now int64) {
	delete(s.Waiting, id)
	s.Delayed[id] = now
	fields := s.Jobs[id].Fields
	switch {
	case s.Jobs[id].Foreign != "":
	case has(fields, "defa"):
	case reason != "":
		s.reach("deliver", "deferred failure")
		fields["defa"] = reason
	default:
		added, _ := strconv.ParseInt(fields["timestamp"], 10, 64)
		delay, _ := strconv.ParseInt(fields["delay"], 10, 64)
		if added+delay > now {
			s.reach("deliver", "released for later")
			s.Delayed[id] = added + delay
		}
	}
}

func (s *State) collect(c script.Collect, now int64) script.CollectReply {
	reply := script.CollectReply{Now: now}
	due := within(s.Outbox, now)
	due = due[:min(len(due), int(c.Limit))]
	bytes := 0
	for _, entry := range due {
		if bytes > 0 && int64(bytes+len(s.Bodies[entry])) > c.Bytes {
			s.reach("collect", "too many bytes")
			break
		}
		bytes += len(s.Bodies[entry])
		s.reach("collect", "delivery")
		created, _, _ := strings.Cut(s.Bodies[entry], " ")
		at, _ := strconv.ParseInt(created, 10, 64)
		s.Outbox[entry] = now + max(c.Least, min(c.Most, now-at))
		reply.Deliveries = append(reply.Deliveries, script.CollectDelivery{Entry: entry, Body: []byte(s.Bodies[entry])})
	}
	waiting := within(s.Waiting, now)
	for _, id := range waiting[:min(len(waiting), int(c.Parents))] {
		s.Waiting[id] = now + c.Check
		if s.Outbox.has(id + ":children") {
			s.reach("collect", "children to be delivered")
			continue
		}
		s.reach("collect", "parent")
		reply.Parents = append(reply.Parents, id)
	}
	reply.Left = s.flows()
	return reply
}

func (s *State) acknowledge(c script.Acknowledge, now int64) script.AcknowledgeReply {
	reply := script.AcknowledgeReply{Now: now}
	for _, item := range c.Items {
		verdict := script.AcknowledgeVerdictGone
		if s.Outbox.has(item.Entry) {
			verdict = script.AcknowledgeVerdictAcknowledged
			delete(s.Outbox, item.Entry)
			delete(s.Bodies, item.Entry)
			job := s.Jobs[item.ID.String()]
			if item.Entry == item.ID.String() && job != nil && job.Lasting {
				s.reach("acknowledge", "stub")
				job.Lasting = false
			}
		}
		s.reach("acknowledge", string(verdict))
		reply.Results = append(reply.Results, script.AcknowledgeResult{Verdict: verdict})
	}
	return reply
}

func (s *State) verify(c script.Verify, now int64) script.VerifyReply {
	reply := script.VerifyReply{Now: now}
	left := c.Bytes
	first := true
	for _, item := range c.Items {
		result := s.verifyOne(item)
		size := int64(len(result.Value))
		if !first && size > 0 && size > left {
			s.reach("verify", "too many bytes")
			result = script.VerifyResult{State: script.VerifyStatePending}
			size = 0
		}
		left -= size
		first = first && size == 0
		s.reach("verify", string(result.State))
		reply.Results = append(reply.Results, result)
	}
	return reply
}

func (s *State) verifyOne(item script.VerifyItem) script.VerifyResult {
	id := item.ID.String()
	job := s.Jobs[id]
	if s.Quarantine.has(id) || job != nil && job.Foreign != "" {
		return script.VerifyResult{State: script.VerifyStateQuarantined}
	}
	result := script.VerifyResult{State: script.VerifyStatePending}
	ended := false
	switch {
	case job == nil || !has(job.Fields, "name") && !has(job.Fields, "parentKey"):
		result.State, ended = script.VerifyStateMissing, true
	case job.Fields["parentKey"] != item.Parent:
		result.State = script.VerifyStateTaken
	}
	if job != nil && (job.Stub || has(job.Fields, "finishedOn")) {
		_, outcome, _ := cutLast(job.Fields["lst"])
		ended = ended || outcome == "completed" || outcome == "failed"
		if result.State == script.VerifyStatePending && ended {
			result.State = script.VerifyState(outcome)
		}
	}
	body, reported := s.Bodies[id]
	switch {
	case ended && reported:
		return script.VerifyResult{State: script.VerifyStateReported, Value: []byte(body)}
	case result.State == script.VerifyStateCompleted:
		result.Value = []byte(job.Fields["returnvalue"])
	case result.State == script.VerifyStateFailed:
		result.Value = []byte(job.Fields["failedReason"])
	}
	return result
}

// cutLast cuts a text at its last space.
func cutLast(text string) (before, after string, found bool) {
	at := strings.LastIndex(text, " ")
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}
