package enginetest

import (
	"errors"
	"fmt"
	"strings"
)

// Err returns an error that lists what is wrong, or nil. A run in which no
// command of a script was seen proves nothing, so that is an error too, as is a
// call that the server counted and the auditor did not see.
func (r Report) Err() error {
	var problems []error
	if r.Violated > 0 {
		var list strings.Builder
		for _, violation := range r.Violations {
			fmt.Fprintf(&list, "\n    %s", violation)
		}
		if more := r.Violated - len(r.Violations); more > 0 {
			fmt.Fprintf(&list, "\n    and %d more", more)
		}
		problems = append(problems, fmt.Errorf("%d violations of the rule that every key is declared:%s", r.Violated, list.String()))
	}
	if r.Calls != r.Counted {
		problems = append(problems, fmt.Errorf("%d script calls were audited, but the server counted %d", r.Calls, r.Counted))
	}
	if r.Commands == 0 {
		problems = append(problems, errors.New("no command of a script was audited, so the audit proves nothing"))
	}
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("audit of %s: %w", r.Engine, errors.Join(problems...))
}

func (r Report) String() string {
	return fmt.Sprintf("audit of %s: %d scripts, %d calls, %d commands, %d violations",
		r.Engine, len(r.Scripts), r.Calls, r.Commands, r.Violated)
}
