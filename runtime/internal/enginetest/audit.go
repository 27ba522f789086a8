package enginetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// scriptCommands are the commands that call a script.
var scriptCommands = []string{"eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"}

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
	text := fmt.Sprintf("script %s, KEYS %q%s: %s", shorten([]byte(v.Script)), keys, more, v.Reason)
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
	keys *commandKeys

	call *scriptCall // the call that the next lua lines belong to, if any

	scripts    map[string]int // calls of each script
	calls      int
	commands   int
	violations []Violation
	violated   int
}

type scriptCall struct {
	script   string
	keys     []string
	declared map[string]bool
}

func newAudit(keys *commandKeys) *audit {
	return &audit{keys: keys, scripts: map[string]int{}}
}

// line judges one line. The error means that the audit itself cannot go on.
func (a *audit) line(ctx context.Context, text []byte) (err error) {
	line, err := parseMonitorLine(text)
	if err != nil {
		return err
	}
	if line.lua {
		return a.command(ctx, line)
	}
	a.call = nil
	name, err := line.arguments(1)
	if err != nil {
		return err
	}
	if slices.Contains(scriptCommands, strings.ToLower(name[0])) {
		return a.begin(line)
	}
	return nil
}

// begin judges the call of a script, and makes it the current one.
func (a *audit) begin(line monitorLine) error {
	head, err := line.arguments(3)
	if err != nil {
		return err
	}
	if len(head) < 3 {
		return nil // the server refuses it
	}
	count, err := strconv.Atoi(head[2])
	if err != nil {
		return nil // the server refuses it
	}
	arguments, err := line.arguments(3 + max(0, count))
	if err != nil {
		return err
	}
	call := &scriptCall{script: head[1], keys: arguments[3:], declared: map[string]bool{}}
	a.call = call
	a.calls++
	a.scripts[call.script]++
	for _, key := range call.keys {
		call.declared[key] = true
		if _, err := wire.ParseKey(key); err != nil {
			a.report(nil, fmt.Sprintf("the declared %v", err))
		} else if tag := wire.HashTag(key); tag != wire.HashTag(call.keys[0]) {
			a.report(nil, fmt.Sprintf("key %q has another hash tag than key %q", key, call.keys[0]))
		}
	}
	return nil
}

// command judges a command that a script ran.
func (a *audit) command(ctx context.Context, line monitorLine) error {
	a.commands++
	if a.call == nil {
		a.report(line.args, "the call that ran this command was not seen")
		return nil
	}
	keys, err := a.keys.of(ctx, line)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		a.report(line.args, fmt.Sprintf("its keys cannot be told: %v", err))
		return nil
	}
	for _, key := range keys {
		if !a.call.declared[key] {
			a.report(line.args, fmt.Sprintf("key %q is not one of KEYS", key))
		}
	}
	return nil
}

func (a *audit) report(command []byte, reason string) {
	a.violated++
	if len(a.violations) == keptViolations {
		return
	}
	violation := Violation{Reason: reason, Command: shorten(command)}
	if a.call != nil {
		violation.Script, violation.Keys = a.call.script, a.call.keys
	}
	a.violations = append(a.violations, violation)
}
