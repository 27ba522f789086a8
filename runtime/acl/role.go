package acl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/lua"
)

// Role is a part that a user of the store can have in a queue.
type Role string

// The roles.
const (
	// Producer adds jobs, asks where they stand, changes their time and priority,
	// cancels them and awaits their results.
	Producer Role = "producer"
	// Worker runs jobs, and does the housekeeping of their queues.
	Worker Role = "worker"
	// Flow is beside Worker and Producer: it carries flows between the queues of
	// parents and of children. A worker of either needs it for both, and a program
	// that sends flows for the parents' queues.
	Flow Role = "flow"
	// Operator is a person, or a program, that runs the queues: it may do what both
	// do, pause, limit, inspect and repair queues, and read what lies in them with the commands of the store.
	Operator Role = "operator"
)

// Roles returns all roles.
func Roles() []Role { return []Role{Producer, Worker, Flow, Operator} }

// ParseRole returns the role called name.
func ParseRole(name string) (Role, error) {
	if role := Role(name); slices.Contains(Roles(), role) {
		return role, nil
	}
	var names []string
	for _, role := range Roles() {
		names = append(names, string(role))
	}
	return "", fmt.Errorf("unknown role %q; it is one of %s", name, strings.Join(names, ", "))
}

// scripts are the scripts that each role calls; an operator may call all.
var scripts = map[Role][]string{
	Producer: {"add", "cancel", "change", "declare", "heal", "inspect", "replace", "report", "schedule"},
	Flow:     {"acknowledge", "add", "declare", "deliver", "verify"},
	Worker: {
		"acknowledge", "collect", "declare", "due", "expel", "extend", "leave", "log", "pick", "progress", "promote", "prune", "recover", "schedule", "settle",
		"sweep", "tick", "trim", "unschedule",
	},
	Operator: {
		"override", "pause", "resume", "counts", "list", "view", "remove", "retry", "heal", "drain", "erase", "obliterate",
	},
}

// Scripts returns the names of the scripts that the role calls, those that are
// derived from them among them, in order.
func (r Role) Scripts() []string {
	called := scripts[r]
	if r == Operator {
		called = slices.Concat(scripts[Producer], scripts[Worker], scripts[Flow], scripts[Operator])
	}
	var names []string
	for _, script := range lua.All() {
		if slices.Contains(called, script.Base()) {
			names = append(names, script.Name)
		}
	}
	return names
}

// has reports whether the role includes what one of the others needs.
func (r Role) has(others []Role) bool {
	return r == Operator || slices.Contains(others, r)
}
