package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// legacyPrefix is the prefix under which the v1 line keeps its queues.
const legacyPrefix = "bull"

// claims are the five points, in the protocol's words.
var claims = [...]string{
	"every produced key matches emq:{queue}:*, the core's own emq:{emq}:*",
	"all keys of a transition share one hash tag, so one slot",
	"no transition read or wrote the v1 keyspace",
	"every operand key of every command that a script ran is among the KEYS[] of that call",
	"meta.version is " + wire.Version,
}

// judge holds the five points against what was captured.
type judge struct {
	queue wire.Queue
	first [len(claims)]*Violation
	count [len(claims)]int

	transitions, plain, commands int
	keys                         map[string]bool // produced
	slots                        map[int]bool
	operands                     int
	looks                        int      // at the v1 name, outside of transitions
	versions                     []string // of meta, as written or read
}

func newJudge(queue wire.Queue) *judge {
	return &judge{queue: queue, keys: map[string]bool{}, slots: map[int]bool{}}
}

// fault notes a violation of a point, numbered from 1.
func (j *judge) fault(point int, transition *Transition, command *Command, format string, args ...any) {
	j.count[point-1]++
	if j.first[point-1] == nil {
		j.first[point-1] = &Violation{Reason: fmt.Sprintf(format, args...), Transition: transition, Command: command}
	}
}

// faulty reports whether any point is broken.
func (j *judge) faulty() bool {
	return slices.ContainsFunc(j.count[:], func(count int) bool { return count > 0 })
}

// transition judges the call of a script.
func (j *judge) transition(t *Transition) {
	j.transitions++
	j.tags(t)
	for _, key := range t.Keys {
		j.produced(key, t, nil)
		j.legacy(key, t, nil)
	}
	for i := range t.Commands {
		command := &t.Commands[i]
		j.commands++
		for _, key := range command.Wrote {
			j.keys[key] = true
			j.produced(key, t, command)
		}
		for _, key := range slices.Concat(command.Wrote, command.Read) {
			j.operands++
			j.legacy(key, t, command)
		}
		for _, key := range command.Undeclared {
			j.fault(4, t, command, "key %q is not one of KEYS", key)
		}
		j.version(t, command)
	}
	for _, slot := range t.Slots {
		j.slots[slot] = true
	}
}

// tags judges point 2. The first key that strays is told with its command.
func (j *judge) tags(t *Transition) {
	keys := t.keys()
	for _, key := range keys {
		if wire.HashTag(key) == wire.HashTag(keys[0]) {
			continue
		}
		var command *Command
		for i, c := range t.Commands {
			if slices.Contains(c.Wrote, key) || slices.Contains(c.Read, key) {
				command = &t.Commands[i]
				break
			}
		}
		j.fault(2, t, command, "key %q is in slot %d, and key %q in slot %d", key, wire.Slot(key), keys[0], wire.Slot(keys[0]))
		return
	}
}

// outside judges a command of the probe's own that no script ran.
func (j *judge) outside(command *Command) {
	j.plain++
	for _, key := range command.Wrote {
		j.keys[key] = true
		j.produced(key, nil, command)
	}
	look := len(command.whole) == 2 && strings.EqualFold(command.whole[0], "exists")
	for _, key := range slices.Concat(command.Wrote, command.Read) {
		if look && key == j.queue.LegacyMetaKey(legacyPrefix) {
			j.looks++ // once before the first contact, as law 7 has it
			continue
		}
		j.legacy(key, nil, command)
	}
	j.version(nil, command)
}

func (j *judge) produced(key string, t *Transition, command *Command) {
	if !tagged(key) {
		j.fault(1, t, command, "key %q does not match emq:{queue}:*", key)
	}
}

// tagged reports whether a key matches emq:{queue}:*.
func tagged(key string) bool {
	rest, ok := strings.CutPrefix(key, wire.Prefix+"{")
	name, suffix, found := strings.Cut(rest, "}:")
	_, err := wire.ParseQueue(name)
	return ok && found && suffix != "" && (err == nil || name == wire.CoreName)
}

func (j *judge) legacy(key string, t *Transition, command *Command) {
	if isLegacy(key, j.queue) {
		j.fault(3, t, command, "key %q is one of the v1 keyspace", key)
	}
}

// isLegacy reports whether a key belongs to the v1 keyspace: prefix:queue:…,
// the prefix usually bull, and no hash tag around the queue's name.
func isLegacy(key string, queue wire.Queue) bool {
	if strings.HasPrefix(key, wire.Prefix+"{") {
		return false
	}
	prefix, rest, found := strings.Cut(key, ":")
	name, _, _ := strings.Cut(rest, ":")
	return found && (prefix == legacyPrefix || prefix == "{"+legacyPrefix+"}" || prefix+":" == wire.Prefix || name == queue.Name())
}

// version judges point 5 for a command that writes the version.
func (j *judge) version(t *Transition, command *Command) {
	args := command.whole
	if len(args) < 4 || !slices.Contains(command.Wrote, j.queue.Key("meta")) {
		return
	}
	switch strings.ToLower(args[0]) {
	case "hset", "hsetnx", "hmset":
		for i := 2; i+1 < len(args); i += 2 {
			if args[i] == wire.FieldVersion {
				j.meta(args[i+1], t, command)
			}
		}
	}
}

// meta judges a version that was written to meta, or read from it.
func (j *judge) meta(version string, t *Transition, command *Command) {
	j.versions = append(j.versions, version)
	if version != wire.Version {
		j.fault(5, t, command, "meta.version is %q", version)
	}
}

// points returns the five points as they stand.
func (j *judge) points() []Point {
	evidence := [len(claims)]string{
		fmt.Sprintf("%d keys written, by %d transitions and %d plain commands", len(j.keys), j.transitions, j.plain),
		fmt.Sprintf("%d transitions, slots %v", j.transitions, slots(j.slots)),
		fmt.Sprintf("no key of %d operands; outside of transitions the v1 name was looked at %s", j.operands, times(j.looks)),
		fmt.Sprintf("%d keys of %d commands in %d calls", j.operands, j.commands, j.transitions),
		"written or read " + times(len(j.versions)),
	}
	points := make([]Point, len(claims))
	for i := range points {
		points[i] = Point{
			Number: i + 1, Claim: claims[i], Evidence: evidence[i],
			Verdict: Conforms, Violations: j.count[i], First: j.first[i],
		}
		shown := j.commands > 0
		if i == 4 {
			shown = len(j.versions) > 0
		}
		switch {
		case j.count[i] > 0:
			points[i].Verdict = Violates
		case !shown:
			points[i].Verdict = Unknown
		}
	}
	return points
}

func slots(set map[int]bool) []int {
	var list []int
	for slot := range set {
		list = append(list, slot)
	}
	return distinct(list)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
