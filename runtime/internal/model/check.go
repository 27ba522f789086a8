package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Check returns an error if the state breaks a law: a job that stands nowhere
// or twice, a lock without a lease, work without a marker.
func (s *State) Check() error {
	places := s.places()
	var broken []error
	report := func(id, format string, args ...any) {
		if !s.Tainted[id] {
			broken = append(broken, fmt.Errorf("job %s %s", id, fmt.Sprintf(format, args...)))
		}
	}
	for id, job := range s.Jobs {
		switch count := len(places[id]); {
		case job.Stub && count > 0:
			report(id, "is a stub and stands in %v", places[id])
		case !job.Stub && count != 1:
			report(id, "stands in %v and not in one place", places[id])
		}
	}
	for id := range places {
		if s.Jobs[id] == nil {
			report(id, "stands in %v and has no hash", places[id])
		}
	}
	for id := range s.Active {
		_, locked := s.Locks[id]
		if _, reserved := s.Reserved[id]; locked == reserved {
			report(id, "is active; locked %v, reserved %v", locked, reserved)
		}
	}
	for id := range s.Locks {
		if !s.Active.has(id) {
			report(id, "has a lock and is not active")
		}
	}
	for id := range s.Reserved {
		if !s.Active.has(id) {
			report(id, "is reserved and not active")
		}
	}
	broken = append(broken, s.checkKeys()...)
	return errors.Join(append(broken, s.checkFlows(), s.checkGroups(), s.checkMarker())...)
}

// checkFlows looks for parents that would wait for ever, and for deliveries that
// would never be made.
func (s *State) checkFlows() error {
	for id := range s.Waiting {
		if len(s.pending(id)) == 0 && !s.Tainted[id] {
			return fmt.Errorf("job %s waits for children and there are none", id)
		}
	}
	for entry := range s.Outbox {
		if _, ok := s.Bodies[entry]; !ok {
			return fmt.Errorf("delivery %s has no body", entry)
		}
	}
	for entry := range s.Bodies {
		if !s.Outbox.has(entry) {
			return fmt.Errorf("delivery %s will never be made", entry)
		}
	}
	for id, job := range s.Jobs {
		if job.Lasting && !s.Outbox.has(id) && !s.Tainted[id] {
			return fmt.Errorf("the stub %s stays for ever", id)
		}
	}
	return nil
}

func (s *State) checkMarker() error {
	next := s.Next(1)
	var heads []string
	for id := range s.Marker {
		if id != DueMember {
			heads = append(heads, id)
		}
	}
	switch {
	case len(next)+len(s.Groups.Ring) == 0 && len(heads) > 0:
		return fmt.Errorf("the marker tells of %v and nothing can be taken", heads)
	case s.Blocked == AtLimit && len(s.Active) == 0 && !s.Paused:
		return errors.New("the limit blocks the queue and no job is active whose end would open it")
	case s.Blocked == AtLimit && len(heads) > 0:
		return fmt.Errorf("the limit blocks the queue and the marker tells of %v", heads)
	case len(next) > 0 && len(s.Marker) == 0 && !s.Drained && s.Blocked == "":
		return fmt.Errorf("job %s can be taken and there is no marker", next[0])
	}
	return nil
}

// forget ends the taint of ids of which nothing is left.
func (s *State) forget() {
	places := s.places()
	holders := slices.Collect(maps.Values(s.Dedup))
	for id := range s.Tainted {
		_, locked := s.Locks[id]
		_, reserved := s.Reserved[id]
		if s.Jobs[id] == nil && len(places[id]) == 0 && !locked && !reserved && !slices.Contains(holders, id) {
			delete(s.Tainted, id)
		}
	}
	s.Drained = s.Drained && len(s.Marker) == 0
}

// places returns where each id stands.
func (s *State) places() map[string][]string {
	places := map[string][]string{}
	for _, id := range s.Wait {
		places[id] = append(places[id], "wait")
	}
	for _, members := range s.Groups.Waiting {
		for _, m := range members {
			places[m.ID] = append(places[m.ID], "grouped")
		}
	}
	for _, set := range []struct {
		name string
		ids  ZSet
	}{
		{"prioritized", s.Prioritized}, {"delayed", s.Delayed}, {"active", s.Active},
		{"waiting-children", s.Waiting}, {"completed", s.Completed}, {"failed", s.Failed}, {"quarantine", s.Quarantine},
	} {
		for id := range set.ids {
			places[id] = append(places[id], set.name)
		}
	}
	return places
}

// Place returns where id stands, "" for nowhere.
func (s *State) Place(id string) string {
	for _, place := range []struct {
		name string
		ids  ZSet
	}{
		{"active", s.Active}, {"completed", s.Completed}, {"delayed", s.Delayed}, {"failed", s.Failed},
		{"prioritized", s.Prioritized}, {"quarantine", s.Quarantine},
	} {
		if place.ids.has(id) {
			return place.name
		}
	}
	switch {
	case slices.Contains(s.Wait, id):
		return "wait"
	case s.Waiting.has(id):
		return "waiting-children"
	case s.Groups.waits(id) != "":
		return "grouped"
	}
	return ""
}

func (z ZSet) has(id string) bool {
	_, ok := z[id]
	return ok
}
