package enginetest

import (
	"slices"
	"strings"
	"sync/atomic"
)

// Rule is a fault that a proxy injects whenever a command matches.
type Rule struct {
	proxy       *Proxy
	match       func(command []string) bool
	beforeReply bool

	hits atomic.Int64
	hit  chan struct{}
}

// CutBeforeReply lets a command that matches through to the engine and, when the
// engine has answered, closes the client's connection instead of delivering the
// reply: the command ran, and the client cannot know. Replies to earlier
// commands of the connection are delivered.
//
// The rule holds until [Rule.Remove]; see also [Once]. Calls of match are
// serialised.
func (p *Proxy) CutBeforeReply(match func(command []string) bool) *Rule {
	return p.add(&Rule{match: match, beforeReply: true})
}

// CutBeforeRequest closes the client's connection when a command matches,
// without passing the command on: it did not run. Earlier commands of the
// connection are passed on and answered first, later ones are not read.
//
// The rule holds until [Rule.Remove]; see also [Once]. Calls of match are
// serialised.
func (p *Proxy) CutBeforeRequest(match func(command []string) bool) *Rule {
	return p.add(&Rule{match: match})
}

func (p *Proxy) add(rule *Rule) *Rule {
	rule.proxy = p
	rule.hit = make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, rule)
	return rule
}

// Remove ends the rule. A command that has matched is still cut off.
func (r *Rule) Remove() {
	r.proxy.mu.Lock()
	defer r.proxy.mu.Unlock()
	r.proxy.rules = slices.DeleteFunc(r.proxy.rules, func(other *Rule) bool { return other == r })
}

// Hits returns how often the rule has cut a connection. For
// [Proxy.CutBeforeReply] each hit is a command that the engine has answered.
func (r *Rule) Hits() int { return int(r.hits.Load()) }

// Hit returns a channel that is closed at the first hit.
func (r *Rule) Hit() <-chan struct{} { return r.hit }

func (r *Rule) strike() {
	if r.hits.Add(1) == 1 {
		close(r.hit)
	}
}

// Command matches the commands of these names, in any case.
func Command(names ...string) func(command []string) bool {
	return func(command []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, command[0]) })
	}
}

// Once matches what match does, the first time only.
func Once(match func(command []string) bool) func(command []string) bool {
	var used atomic.Bool
	return func(command []string) bool { return match(command) && used.CompareAndSwap(false, true) }
}
