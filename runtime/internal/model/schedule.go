package model

import (
	"slices"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// slot returns the earliest slot of all schedulers, or 0.
func (s *State) slot() int64 {
	if least := s.Schedulers.least(); least != wire.Never {
		return least
	}
	return 0
}

func (s *State) schedule(c script.Schedule, now int64) script.ScheduleReply {
	reply := script.ScheduleReply{Now: now}
	before := s.slot()
	changed := false
	for _, item := range c.Items {
		result := s.scheduleOne(item, now)
		s.reach("schedule", string(result.Verdict))
		changed = changed || result.Verdict == script.ScheduleVerdictSet
		reply.Results = append(reply.Results, result)
	}
	if !changed {
		return reply
	}
	s.Version = Version
	if slot := s.slot(); slot > 0 && (before == 0 || slot < before) {
		s.reach("schedule", "an earlier slot")
		s.Marker[DueMember] = 1
	}
	return reply
}

func (s *State) scheduleOne(item script.ScheduleItem, now int64) script.ScheduleResult {
	id := item.Scheduler.String()
	set := scheduled(item)
	old := s.Records[id]
	present, there := s.Schedulers[id]
	result := script.ScheduleResult{Verdict: script.ScheduleVerdictSet, Next: item.Next}
	switch {
	case there && old != nil && old["rev"] == item.Revision:
		return script.ScheduleResult{Verdict: script.ScheduleVerdictSame, Next: present}
	case there && present != wire.Never && old != nil && sameSlots(old, set):
		s.reach("schedule", "keeps its slot")
		result.Next = present
	case item.Next <= now:
		return script.ScheduleResult{Verdict: script.ScheduleVerdictWanted}
	}
	s.Schedulers[id] = result.Next
	s.Records[id] = set
	return result
}

func sameSlots(a, b map[string]string) bool {
	return !slices.ContainsFunc([]string{"cron", "every", "tz", "end"}, func(field string) bool { return a[field] != b[field] })
}

func scheduled(item script.ScheduleItem) map[string]string {
	decimal := func(n int64) string { return strconv.FormatInt(n, 10) }
	computed := "0"
	if item.Computed {
		computed = "1"
	}
	return map[string]string{
		"rev": item.Revision, "name": item.Name, "cron": item.Cron, "every": decimal(item.Every), "tz": item.Zone,
		"msf": string(item.Misfire), "cmp": computed, "data": string(item.Data), "cdc": item.Codec,
		"ver": decimal(item.Version), "opts": string(item.Opts), "delay": decimal(item.Delay),
		"priority": decimal(item.Priority), "lim": decimal(item.Limit), "end": decimal(item.End), "cnt": "0", "lsl": "0", "frm": "0", "grp": item.Group,
	}
}

func (s *State) unschedule(c script.Unschedule, now int64) script.UnscheduleReply {
	reply := script.UnscheduleReply{Now: now}
	for _, item := range c.Items {
		verdict := script.UnscheduleVerdictMissing
		if id := item.Scheduler.String(); s.Schedulers.has(id) {
			verdict = script.UnscheduleVerdictRemoved
			delete(s.Schedulers, id)
			delete(s.Records, id)
		}
		s.reach("unschedule", string(verdict))
		reply.Results = append(reply.Results, script.UnscheduleResult{Verdict: verdict})
	}
	return reply
}

func (s *State) tick(c script.Tick, now int64) script.TickReply {
	reply := script.TickReply{Now: now}
	done := map[string]bool{}
	var delayed []string
	for _, item := range c.Items {
		id := item.Scheduler.String()
		result := script.TickResult{Verdict: s.tickVerdict(item, now), Next: s.Schedulers[id]}
		switch {
		case result.Verdict == script.TickVerdictGone:
			result.Next = 0
		case done[id]:
			result.Verdict = script.TickVerdictAlready
		}
		switch result.Verdict {
		case script.TickVerdictAdded:
			delayed = append(delayed, item.ID.String())
			s.Delayed[item.ID.String()] = item.Slot + item.Delay
			s.Jobs[item.ID.String()] = &Job{Fields: tickedFields(item, now)}
			s.event(c.Events == script.TickEventsAll, "added", item.ID.String())
			fallthrough
		case script.TickVerdictSkipped, script.TickVerdictExists:
			done[id] = true
			result.Next = s.moveOn(item, result.Verdict == script.TickVerdictAdded)
		}
		s.reach("tick", string(result.Verdict))
		reply.Results = append(reply.Results, result)
	}
	s.wakeForDue(delayed)
	reply.Due, reply.Slot = s.Delayed.least(), s.slot()
	return reply
}

func (s *State) tickVerdict(item script.TickItem, now int64) script.TickVerdict {
	record := s.Records[item.Scheduler.String()]
	present := s.Schedulers[item.Scheduler.String()]
	switch from, _ := strconv.ParseInt(record["frm"], 10, 64); {
	case present == 0 || record == nil:
		return script.TickVerdictGone
	case present != item.From && from == item.From:
		return script.TickVerdictAlready
	case present != item.From, record["rev"] != item.Revision:
		return script.TickVerdictMoved
	case item.Slot > now:
		return script.TickVerdictEarly
	case !item.Fire:
		return script.TickVerdictSkipped
	case s.Jobs[item.ID.String()] != nil:
		return script.TickVerdictExists
	}
	return script.TickVerdictAdded
}

// moveOn moves a scheduler on to its next slot, which it returns.
func (s *State) moveOn(item script.TickItem, added bool) int64 {
	record := s.Records[item.Scheduler.String()]
	next := item.Next
	record["frm"] = strconv.FormatInt(item.From, 10)
	if added {
		count, _ := strconv.ParseInt(record["cnt"], 10, 64)
		record["cnt"] = strconv.FormatInt(count+1, 10)
		record["lsl"] = strconv.FormatInt(item.Slot, 10)
		if limit, _ := strconv.ParseInt(record["lim"], 10, 64); limit > 0 && count+1 >= limit {
			s.reach("tick", "the last one")
			next = wire.Never
		}
	}
	s.Schedulers[item.Scheduler.String()] = next
	return next
}

func tickedFields(item script.TickItem, now int64) map[string]string {
	fields := addedFields(script.AddItem{
		ID: item.ID, Name: item.Name, Data: item.Data, Codec: item.Codec, Version: item.Version,
		Opts: item.Opts, Priority: item.Priority, Group: item.Group,
	}, item.Slot+item.Delay, now)
	fields["rjk"] = item.Scheduler.String()
	if has(fields, "delay") {
		fields["delay"] = strconv.FormatInt(item.Delay, 10)
	}
	return fields
}
