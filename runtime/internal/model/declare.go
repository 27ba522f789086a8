package model

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// declare enters the contracts of jobs, by their version and name.
func (s *State) declare(c script.Declare, now int64) script.DeclareReply {
	reply := script.DeclareReply{Now: now}
	for _, item := range c.Items {
		field := fmt.Sprintf("contract:%d:%s", item.Version, item.Name)
		result := script.DeclareResult{Verdict: script.DeclareVerdictConflict}
		result.Hash, result.Program, _ = strings.Cut(s.Contracts[field], " ")
		switch {
		case result.Hash == item.Hash:
			result.Verdict = script.DeclareVerdictAgreed
		case result.Hash == "":
			result.Verdict = script.DeclareVerdictDeclared
		case slices.Contains(strings.Fields(item.Replaces), result.Hash):
			result.Verdict = script.DeclareVerdictReplaced
		}
		if result.Verdict == script.DeclareVerdictDeclared || result.Verdict == script.DeclareVerdictReplaced {
			s.Version = Version
			s.Contracts[field] = item.Hash + " " + item.Program
		}
		s.reach("declare", string(result.Verdict))
		reply.Results = append(reply.Results, result)
	}
	return reply
}
