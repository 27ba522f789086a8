package model

import "github.com/echomq/echomq-go/runtime/internal/script"

func (s *State) pause(c script.Pause, now int64) script.PauseReply {
	changed := !s.Paused
	s.Version, s.Paused = Version, true
	s.Marker = ZSet{}
	if len(s.Delayed) > 0 || s.slot() > 0 {
		s.Marker[DueMember] = 1
	}
	s.turned("pause", "paused", changed, c.Events != script.PauseEventsNone)
	return script.PauseReply{Now: now, Changed: changed}
}

func (s *State) resume(c script.Resume, now int64) script.ResumeReply {
	changed := s.Paused
	s.Paused, s.Blocked = false, ""
	s.wake()
	s.turned("resume", "resumed", changed, c.Events != script.ResumeEventsNone)
	return script.ResumeReply{Now: now, Changed: changed}
}

// turned notes that a queue was paused or resumed, or was so already.
func (s *State) turned(name, event string, changed, written bool) {
	if !changed {
		s.reach(name, "unchanged")
		return
	}
	s.reach(name, event)
	s.event(written, event, "")
}
