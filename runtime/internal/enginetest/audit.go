package enginetest

import (
	"context"
	"fmt"

	"github.com/echomq/echomq-go/runtime/internal/monitor"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Violation is a script call that broke the rule of declared keys.
type Violation struct {
	// Script is the SHA-1 digest of the script, its body for EVAL, or the
	// function's name.
	Script string
	// Keys are the KEYS of the call.
	Keys []string
	// Command is the offending command, shortened, or "" if the call itself is
	// at fault.
	Command string
	// Reason says what is wrong.
	Reason string
}

func (v Violation) String() string {
	keys := v.Keys
	more := ""
	if len(keys) > 8 {
		keys, more = keys[:8], fmt.Sprintf(" and %d more", len(v.Keys)-8)
	}
	text := fmt.Sprintf("script %s, KEYS %q%s: %s", monitor.Shorten([]byte(v.Script)), keys, more, v.Reason)
	if v.Command != "" {
		text += "\n      in the command " + v.Command
	}
	return text
}

// keptViolations is how many violations are kept; the rest are counted.
const keptViolations = 20

// audit judges the lines of MONITOR, in order. A script runs atomically, so the
// lines of its commands follow the line of its call with nothing between them.
type audit struct {
	keys *monitor.Keys

	call *monitor.Call // the call that the next lua lines belong to, if any

	scripts    map[string]int // calls of each script
	calls      int
	commands   int
	violations []Violation
	violated   int
}

func newAudit(keys *monitor.Keys) *audit {
	return &audit{keys: keys, scripts: map[string]int{}}
}

// line judges one line. The error means that the audit itself cannot go on.
func (a *audit) line(ctx context.Context, text []byte) error {
	line, err := monitor.ParseLine(text)
	if err != nil {
		return err
	}
	if line.Lua {
		return a.command(ctx, line)
	}
	a.call = nil
	call, ok, err := monitor.ParseCall(line)
	if ok {
		a.begin(call)
	}
	return err
}

// begin judges the call of a script, and makes it the current one.
func (a *audit) begin(call monitor.Call) {
	a.call = &call
	a.calls++
	a.scripts[call.Script]++
	for _, key := range call.Keys {
		if _, err := wire.ParseKey(key); err != nil {
			a.report("", fmt.Sprintf("the declared %v", err))
		} else if tag := wire.HashTag(key); tag != wire.HashTag(call.Keys[0]) {
			a.report("", fmt.Sprintf("key %q has another hash tag than key %q", key, call.Keys[0]))
		}
	}
}

// command judges a command that a script ran.
func (a *audit) command(ctx context.Context, line monitor.Line) error {
	a.commands++
	if a.call == nil {
		a.report(line.String(), "the call that ran this command was not seen")
		return nil
	}
	_, undeclared, err := a.call.Operands(ctx, a.keys, line)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.report(line.String(), fmt.Sprintf("its keys cannot be told: %v", err))
		return nil
	}
	for _, key := range undeclared {
		a.report(line.String(), fmt.Sprintf("key %q is not one of KEYS", key))
	}
	return nil
}

func (a *audit) report(command, reason string) {
	a.violated++
	if len(a.violations) == keptViolations {
		return
	}
	violation := Violation{Reason: reason, Command: command}
	if a.call != nil {
		violation.Script, violation.Keys = a.call.Script, a.call.Keys
	}
	a.violations = append(a.violations, violation)
}
