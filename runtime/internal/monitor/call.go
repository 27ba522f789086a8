package monitor

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// scriptCommands are the commands that call a script.
var scriptCommands = []string{"eval", "eval_ro", "evalsha", "evalsha_ro", "fcall", "fcall_ro"}

// ScriptCommands returns the names of the commands that call a script, in lower
// case.
func ScriptCommands() []string { return slices.Clone(scriptCommands) }

// Call is the call of a script.
type Call struct {
	// Command is the command that made it, in lower case.
	Command string
	// Script is the SHA-1 digest of the script, its body for EVAL, or the
	// function's name.
	Script string
	// Keys are the KEYS of the call.
	Keys []string

	declared map[string]bool
}

// ParseCall reads the call of a script. ok is false for a command that calls
// none, or that the server refuses.
func ParseCall(line Line) (call Call, ok bool, err error) {
	name, err := line.Arguments(1)
	if err != nil || line.Lua || !slices.Contains(scriptCommands, strings.ToLower(name[0])) {
		return Call{}, false, err
	}
	head, err := line.Arguments(3)
	if err != nil || len(head) < 3 {
		return Call{}, false, err
	}
	count, err := strconv.Atoi(head[2])
	if err != nil {
		return Call{}, false, nil
	}
	arguments, err := line.Arguments(3 + max(0, count))
	if err != nil {
		return Call{}, false, err
	}
	call = Call{
		Command: strings.ToLower(name[0]), Script: head[1], Keys: arguments[3:],
		declared: make(map[string]bool, len(arguments)),
	}
	for _, key := range call.Keys {
		call.declared[key] = true
	}
	return call, true, nil
}

// Declares reports whether key is, literally, one of KEYS.
func (c Call) Declares(key string) bool { return c.declared[key] }

// Operands returns the keys of a command that the call's script ran, and those
// of them that the call does not declare.
func (c Call) Operands(ctx context.Context, keys *Keys, line Line) (all []Key, undeclared []string, err error) {
	all, err = keys.Of(ctx, line)
	for _, key := range all {
		if !c.declared[key.Name] {
			undeclared = append(undeclared, key.Name)
		}
	}
	return all, undeclared, err
}
