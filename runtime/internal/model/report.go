package model

import (
	"fmt"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

func (s *State) progress(c script.Progress, now int64) script.ProgressReply {
	reply := script.ProgressReply{Now: now}
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := script.ProgressVerdictRecorded
		switch {
		case s.Locks[id] != item.Token:
			verdict = script.ProgressVerdictLost
		case s.condition(id) != usable:
			verdict = script.ProgressVerdictGone
		default:
			fields := s.Jobs[id].Fields
			fields["progress"] = string(item.Value)
			s.event(c.Events == script.ProgressEventsAll && item.Announce, "progress", id,
				"name", fields["name"], "progress", fields["progress"])
		}
		s.reach("progress", string(verdict))
		reply.Results = append(reply.Results, script.ProgressResult{Verdict: verdict})
	}
	return reply
}

func (s *State) log(c script.Log, now int64) script.LogReply {
	reply := script.LogReply{Now: now}
	for _, item := range c.Items {
		id := item.ID.String()
		verdict := script.LogVerdictRecorded
		switch {
		case s.Locks[id] != item.Token:
			verdict = script.LogVerdictLost
		case s.condition(id) != usable:
			verdict = script.LogVerdictGone
		case item.Number <= s.logged(id):
			s.reach("log", "recorded before")
		default:
			lines := append(s.logs(id), fmt.Sprintf("%d %d %s", item.Number, now, item.Line))
			if over := len(lines) - int(c.Keep); over > 0 {
				s.reach("log", "the oldest goes")
				lines = lines[over:]
			}
			s.Parts[id+":logs"] = lines
			s.Jobs[id].Fields["lgc"] = strconv.FormatInt(item.Number, 10)
		}
		s.reach("log", string(verdict))
		reply.Results = append(reply.Results, script.LogResult{Verdict: verdict})
	}
	return reply
}

func (s *State) report(c script.Report, now int64) script.ReportReply {
	reply := script.ReportReply{Now: now}
	for _, item := range c.Items {
		id := item.ID.String()
		var result script.ReportResult
		if job := s.Jobs[id]; job != nil && job.Foreign == "" {
			result.Known = s.condition(id) == usable
			result.Name, result.Progress = job.Fields["name"], []byte(job.Fields["progress"])
			result.Logged = s.logged(id)
			if newer := result.Logged - item.After; newer > 0 {
				lines := s.logs(id)
				lines = lines[max(int64(len(lines))-newer, 0):]
				result.Lines = lines[:min(int64(len(lines)), c.Limit)]
			}
		}
		switch {
		case len(result.Lines) > 0:
			s.reach("report", "lines")
		case result.Known:
			s.reach("report", "known")
		default:
			s.reach("report", "missing")
		}
		reply.Results = append(reply.Results, result)
	}
	return reply
}

// logs returns the log lines of a job, the oldest first.
func (s *State) logs(id string) List {
	lines, _ := s.Parts[id+":logs"].(List)
	return lines[:len(lines):len(lines)]
}

func (s *State) logged(id string) int64 {
	logged, _ := strconv.ParseInt(s.Jobs[id].Fields["lgc"], 10, 64)
	return logged
}
