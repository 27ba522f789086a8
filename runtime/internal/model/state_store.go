package model

import (
	"slices"
	"strconv"
)

// Store returns the content that the state predicts, without the events.
func (s *State) Store() Store {
	store := Store{}
	meta := Hash{}
	if s.Version != "" {
		meta["version"] = s.Version
	}
	if s.Paused {
		meta["paused"] = "1"
	}
	if s.Cancels {
		meta["cancels"] = "1"
	}
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
	} {
		if len(set) > 0 {
			store[key] = set
		}
	}
	if len(s.Reserved) > 0 {
		store["reserved"] = Hash(s.Reserved)
	}
	for id, job := range s.Jobs {
		switch {
		case job.Foreign != "":
			store[id] = Text(job.Foreign)
		case job.Stub:
			store[id] = Stub(job.Fields)
		default:
			store[id] = Hash(job.Fields)
		}
	}
	for id, token := range s.Locks {
		store[id+":lock"] = Text(token)
	}
	for key, value := range s.Parts {
		store[key] = value
	}
	return store
}
