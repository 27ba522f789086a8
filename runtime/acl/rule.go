package acl

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/lua/header"
	"github.com/echomq/echomq-go/lua/lint"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Request says what rule is wanted.
type Request struct {
	Role   Role
	User   string
	Queues []wire.Queue
	// Legacy are the prefixes under which clients look for v1 queues, as the
	// client option LegacyPrefixes has them.
	Legacy []string
	// Database is the number of the database that clients select. Key patterns
	// hold in all databases.
	Database int
	// ReplicaAck says that the programs have the option WithReplicaAck. It takes the
	// right to let keys of the queues expire.
	ReplicaAck bool
	// Also says to leave the user what rights it has, and add to them.
	Also bool
}

// Rule is what a user may do.
type Rule struct {
	User string
	// Grants are the user's rights: a command may be run if one of them has it
	// and all its keys and channels. The first is about the keys of the queues, each other one
	// about keys that are shared with other queues.
	Grants []Grant

	also bool
}

// Grant is a set of commands and the keys that they may be run on.
type Grant struct {
	// Commands are names of commands, in order.
	Commands []string
	// Keys are patterns of keys as rules have them: ~ and a pattern, with %R or
	// %W before it for what is only read or only written.
	Keys []string
	// Channels are patterns of channels, with & before them.
	Channels []string
}

// RuleFor returns the rule that a request asks for.
func RuleFor(request Request) (Rule, error) {
	if err := request.check(); err != nil {
		return Rule{}, err
	}
	queues, err := request.queueGrant()
	if err != nil {
		return Rule{}, err
	}
	rule := Rule{User: request.User, Grants: []Grant{queues}, also: request.Also}
	for _, place := range []Place{StoreVersion, StoreQueues, LegacyMeta} {
		if grant := request.sharedGrant(place); len(grant.Keys) > 0 {
			rule.Grants = append(rule.Grants, grant)
		}
	}
	return rule, nil
}

func (r Request) check() error {
	if _, err := ParseRole(string(r.Role)); err != nil {
		return err
	}
	if len(r.Queues) == 0 {
		return errors.New("a rule needs at least one queue")
	}
	if r.User == "" || !isWord(r.User) {
		return fmt.Errorf("user name %q: it must not be empty, nor have blanks, quotes, parentheses or backslashes", r.User)
	}
	for _, prefix := range r.Legacy {
		if !isWord(prefix) {
			return fmt.Errorf("legacy prefix %q: a rule cannot name a key with blanks, quotes, parentheses or backslashes", prefix)
		}
	}
	if r.Database < 0 {
		return fmt.Errorf("database %d: it must not be negative", r.Database)
	}
	return nil
}

// isWord reports whether text stands for itself in a rule, both as the engine
// reads it and as its command line client does.
func isWord(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune(`"'()\`, r)
	})
}

// queueGrant returns the rights to the keys of the queues.
func (r Request) queueGrant() (Grant, error) {
	var grant Grant
	for _, name := range r.Role.Scripts() {
		script, ok := lua.Lookup(name)
		if !ok {
			return Grant{}, fmt.Errorf("there is no script %s", name)
		}
		if err := grant.addScript(script, r.Queues); err != nil {
			return Grant{}, fmt.Errorf("the rights for %s: %w", name, err)
		}
	}
	for _, command := range r.Role.Commands(r.ReplicaAck) {
		switch command.On {
		case Control:
			for _, queue := range r.Queues {
				grant.Channels = append(grant.Channels, "&"+escape(queue.ControlChannel()))
			}
			fallthrough
		case NoKey, Queue:
			grant.Commands = append(grant.Commands, command.Name)
		}
	}
	slices.Sort(grant.Channels)
	grant.Channels = slices.Compact(grant.Channels)
	if r.Database > 0 {
		grant.Commands = append(grant.Commands, "select|"+strconv.Itoa(r.Database))
	}
	slices.Sort(grant.Commands)
	grant.Commands = slices.Compact(grant.Commands)
	grant.Keys = widest(grant.Keys)
	return grant, nil
}

// addScript adds the commands of a script and the keys that its header declares.
func (g *Grant) addScript(script lua.Script, queues []wire.Queue) error {
	file, text := script.Name+".lua", []byte(script.Source)
	declared, err := header.Parse(file, text)
	if err != nil {
		return err
	}
	commands, err := lint.Commands(file, text)
	if err != nil {
		return err
	}
	for _, command := range commands {
		g.Commands = append(g.Commands, strings.ToLower(command))
	}
	for _, queue := range queues {
		for _, key := range declared.Keys {
			g.Keys = append(g.Keys, "~"+escape(queue.Key(key.Suffix)))
		}
		for _, key := range declared.Each {
			pattern := strings.NewReplacer("<id>", "*", "<scheduler>", "*").Replace(key.Pattern())
			g.Keys = append(g.Keys, "~"+escape(queue.Key(""))+pattern)
		}
	}
	return nil
}

// widest leaves out patterns that fall under another which ends with *.
func widest(patterns []string) []string {
	var kept []string
	for _, pattern := range patterns {
		covered := slices.ContainsFunc(patterns, func(other string) bool {
			base, open := strings.CutSuffix(other, "*")
			return open && other != pattern && strings.HasPrefix(pattern, base)
		})
		if !covered && !slices.Contains(kept, pattern) {
			kept = append(kept, pattern)
		}
	}
	return kept
}

// sharedGrant returns the rights to keys that are shared with other queues.
func (r Request) sharedGrant(place Place) Grant {
	var grant Grant
	var does access
	for _, command := range r.Role.Commands(r.ReplicaAck) {
		if command.On == place {
			grant.Commands = append(grant.Commands, command.Name)
			does |= command.does
		}
	}
	slices.Sort(grant.Commands)
	mark := map[access]string{reads: "%R~", writes: "%W~", reads | writes: "~"}[does]
	for _, key := range r.keys(place) {
		if pattern := mark + escape(key); !slices.Contains(grant.Keys, pattern) {
			grant.Keys = append(grant.Keys, pattern)
		}
	}
	return grant
}

// keys returns the keys of a place.
func (r Request) keys(place Place) []string {
	var keys []string
	switch place {
	case StoreVersion:
		keys = []string{wire.StoreVersionKey}
	case StoreQueues:
		keys = []string{wire.StoreQueuesKey}
	case LegacyMeta:
		for _, queue := range r.Queues {
			for _, prefix := range r.Legacy {
				keys = append(keys, queue.LegacyMetaKey(prefix))
			}
		}
	}
	return keys
}

// escape returns the pattern that fits the key alone.
func escape(key string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(key)
}

// words returns the grant as a rule has it.
func (g Grant) words() []string {
	words := make([]string, 0, len(g.Commands)+len(g.Keys))
	for _, command := range g.Commands {
		words = append(words, "+"+command)
	}
	return slices.Concat(words, g.Keys, g.Channels)
}

// Args returns the words of the command ACL SETUSER, these two included.
func (r Rule) Args() []string {
	args := []string{"ACL", "SETUSER", r.User}
	grants := r.Grants
	if !r.also {
		args = append(args, "on", "resetkeys", "resetchannels", "clearselectors", "-@all")
		args = append(args, grants[0].words()...)
		grants = grants[1:]
	}
	for _, grant := range grants {
		args = append(args, "("+strings.Join(grant.words(), " ")+")")
	}
	return args
}

// String returns the command as the engine's command line client takes it from
// its standard input.
func (r Rule) String() string { return strings.Join(r.Args(), " ") }
