package model

import (
	"maps"
	"slices"
	"strconv"
)

// Store returns the content that the state predicts, without the events.
func (s *State) Store() Store {
	store := Store{}
	meta := s.Turn.fields()
	if s.Version != "" {
		meta["version"] = s.Version
	}
	if s.Paused {
		meta["paused"] = "1"
	}
	if slot := s.slot(); slot > 0 {
		meta["slot"] = strconv.FormatInt(slot, 10)
	}
	if s.Blocked != "" {
		meta["blocked"] = s.Blocked
	}
	maps.Copy(meta, s.Overrides)
	maps.Copy(meta, s.Contracts)
	if s.Bucket != nil {
		number := func(n int64) string { return strconv.FormatInt(n, 10) }
		store["limiter"] = Hash{"level": number(s.Bucket.Parts), "interval": number(s.Bucket.Interval), "at": number(s.Bucket.At)}
	}
	if s.Cancels {
		meta["cancels"] = "1"
	}
	s.Groups.store(store, Hash(meta))
	if len(meta) > 0 {
		store["meta"] = meta
	}
	if len(s.Wait) > 0 {
		list := slices.Clone(s.Wait)
		slices.Reverse(list)
		store["wait"] = List(list)
	}
	if s.Counter != 0 {
		store["pc"] = Text(strconv.FormatInt(s.Counter, 10))
	}
	for key, set := range map[string]ZSet{
		"prioritized": s.Prioritized, "delayed": s.Delayed, "active": s.Active, "completed": s.Completed,
		"failed": s.Failed, "quarantine": s.Quarantine, "marker": s.Marker,
		"waiting-children": s.Waiting, "outbox": s.Outbox,
		"schedulers": s.Schedulers,
		"dedup-due":  s.DedupDue,
	} {
		if len(set) > 0 {
			store[key] = set
		}
	}
	if len(s.Reserved) > 0 {
		store["reserved"] = Hash(s.Reserved)
	}
	if len(s.Bodies) > 0 {
		store["outbox-body"] = Hash(s.Bodies)
	}
	if len(s.Dedup) > 0 {
		store["dedup"] = Hash(s.Dedup)
	}
	for id, job := range s.Jobs {
		switch {
		case job.Foreign != "":
			store[id] = Text(job.Foreign)
		case job.Stub && !job.Lasting:
			store[id] = Stub(job.Fields)
		default:
			store[id] = Hash(job.Fields)
		}
	}
	for id, record := range s.Records {
		store["scheduler:"+id] = Hash(record)
	}
	for id, token := range s.Locks {
		store[id+":lock"] = Text(token)
	}
	for key, value := range s.Parts {
		store[key] = value
	}
	return store
}
