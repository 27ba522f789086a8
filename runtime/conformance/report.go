package conformance

import (
	"cmp"
	"slices"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Verdict is what a report comes to.
type Verdict string

// The verdicts.
const (
	// Conforms says that all five points were shown.
	Conforms Verdict = "conforms"
	// Violates says that a point was shown to be broken.
	Violates Verdict = "violates"
	// Unknown says that it could not be told; [Report.Reason] says why.
	Unknown Verdict = "unknown"
)

// Report is what was found.
type Report struct {
	// Engine describes what answered, for example "valkey 8.0.1".
	Engine string `json:"engine"`
	// Embedded says that the engine was started for this report.
	Embedded bool `json:"embedded"`
	// Nodes are the addresses that were watched.
	Nodes []string `json:"nodes"`
	// Queue is the queue, and Slot the slot of its keys.
	Queue string `json:"queue"`
	Slot  int    `json:"slot"`
	// Bundle is the folder of the scripts that ran; "" for those of this build.
	Bundle string `json:"bundle,omitempty"`
	// Observed says that the traffic of others was watched.
	Observed bool `json:"observed"`
	// Steps are the transitions that were captured, in order.
	Steps []Step `json:"steps"`
	// Points are the five points of the protocol's "Conformance".
	Points []Point `json:"points"`
	// Ignored counts the commands of other clients, on other queues.
	Ignored int `json:"ignored"`
	// Notes are remarks that change nothing about the verdict.
	Notes []string `json:"notes,omitempty"`

	Verdict Verdict `json:"verdict"`
	// Reason says why the verdict is Unknown.
	Reason string `json:"reason,omitempty"`
}

// Step is a part of the probe, with what the engine did in it.
type Step struct {
	// Name is the step's name, "plain".
	Name string `json:"name"`
	// Doc says what happens in it.
	Doc string `json:"doc"`
	// Transitions are the calls of scripts.
	Transitions []Transition `json:"transitions"`
	// Plain are the commands that no script ran and that have keys.
	Plain []Command `json:"plain,omitempty"`
}

// Transition is a call of a script, as the engine executed it.
type Transition struct {
	// Script is the script's name, "add"; "" for one that is not known.
	Script string `json:"script,omitempty"`
	// SHA1 is its digest, or what the call has instead.
	SHA1 string `json:"sha1"`
	// Client is the address of the client that made the call, and Node that of
	// the server.
	Client string `json:"client"`
	Node   string `json:"node"`
	// Keys are the KEYS of the call, and Slots the slots of these and of all
	// that its commands touched.
	Keys  []string `json:"keys"`
	Slots []int    `json:"slots"`
	// Wrote and Read are the keys that commands could write, and only read.
	Wrote []string `json:"wrote"`
	Read  []string `json:"read"`
	// Commands are what the script ran.
	Commands []Command `json:"commands"`
}

// Command is a command that the engine ran.
type Command struct {
	// Args are the command's name and arguments; long ones are cut.
	Args []string `json:"args"`
	// Wrote and Read are its keys.
	Wrote []string `json:"wrote,omitempty"`
	Read  []string `json:"read,omitempty"`
	// Undeclared are those of its keys that are not among KEYS.
	Undeclared []string `json:"undeclared,omitempty"`

	// whole are the arguments as they were sent.
	whole []string
}

// Point is one of the five points.
type Point struct {
	// Number is 1 to 5.
	Number int `json:"number"`
	// Claim is what the protocol says.
	Claim string `json:"claim"`
	// Verdict is what was found.
	Verdict Verdict `json:"verdict"`
	// Evidence says what was looked at.
	Evidence string `json:"evidence"`
	// Violations counts what breaks the point, and First is the first of it.
	Violations int        `json:"violations"`
	First      *Violation `json:"first,omitempty"`
}

// Violation is something that breaks a point.
type Violation struct {
	// Reason says what is wrong.
	Reason string `json:"reason"`
	// Transition is the call, if it is one that is at fault.
	Transition *Transition `json:"transition,omitempty"`
	// Command is the command, if it is one that is at fault.
	Command *Command `json:"command,omitempty"`
}

// keys returns every key that the transition was given or has touched.
func (t *Transition) keys() []string {
	return slices.Concat(t.Keys, t.Wrote, t.Read)
}

// summarise fills in what follows from the transition's commands.
func (t *Transition) summarise() {
	for _, command := range t.Commands {
		t.Wrote = append(t.Wrote, command.Wrote...)
		t.Read = append(t.Read, command.Read...)
	}
	t.Wrote = distinct(t.Wrote)
	t.Read = slices.DeleteFunc(distinct(t.Read), func(key string) bool { return slices.Contains(t.Wrote, key) })
	for _, key := range t.keys() {
		t.Slots = append(t.Slots, wire.Slot(key))
	}
	t.Slots = distinct(t.Slots)
}

func distinct[V cmp.Ordered](values []V) []V {
	slices.Sort(values)
	return slices.Compact(values)
}
