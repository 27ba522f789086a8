package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
)

// initialisms are the words that Go writes in capitals.
var initialisms = map[string]string{"id": "ID", "ids": "IDs", "json": "JSON", "sha1": "SHA1", "ttl": "TTL", "ms": "MS"}

// upperName is the exported Go name of a name in a header: "job-id" and "jobId"
// are JobID.
func upperName(name string) string {
	var b strings.Builder
	for _, part := range nameParts(name) {
		if upper, ok := initialisms[part]; ok {
			b.WriteString(upper)
		} else {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// lowerName is the unexported Go name of a name in a header.
func lowerName(name string) string {
	parts := nameParts(name)
	return parts[0] + upperName(strings.Join(parts[1:], "-"))
}

// nameParts divides a name at '-' and before capitals, in lower case.
func nameParts(name string) []string {
	var parts []string
	for part := range strings.SplitSeq(name, "-") {
		start := 0
		for i := 1; i < len(part); i++ {
			if part[i] >= 'A' && part[i] <= 'Z' {
				parts = append(parts, strings.ToLower(part[start:i]))
				start = i
			}
		}
		if start < len(part) {
			parts = append(parts, strings.ToLower(part[start:]))
		}
	}
	return parts
}

// singular is the name of one of what the plural name names.
func singular(name string) string {
	switch {
	case strings.HasSuffix(name, "ies"):
		return strings.TrimSuffix(name, "ies") + "y"
	case strings.HasSuffix(name, "ss") || !strings.HasSuffix(name, "s"):
		return name
	default:
		return strings.TrimSuffix(name, "s")
	}
}

// names are the Go names of one script's declarations. Every name of the
// generated calls is made here.
type names struct {
	call, reply, item, decode string
	words                     map[string][]string // type → its words
	taken                     map[string]string   // identifier → who took it
	script                    string
}

// baseNames are the identifiers of the hand-written part of the package.
func baseNames() map[string]string {
	taken := map[string]string{}
	for _, name := range []string{"Call", "Hash", "DecodeError", "ErrReply"} {
		taken[name] = "the hand-written part of " + callsDir
	}
	return taken
}

func newNames(s script, taken map[string]string) (*names, error) {
	base := upperName(s.Name)
	n := &names{
		call: base, reply: base + "Reply", item: base + "Item", decode: "Decode" + base,
		words: map[string][]string{}, taken: taken, script: s.Name,
	}
	identifiers := []string{n.call, n.reply, n.decode}
	if len(s.Items) > 0 {
		identifiers = append(identifiers, n.item)
	}
	for _, reply := range s.Replies {
		if reply.Kind == header.KindRecords {
			identifiers = append(identifiers, n.record(reply))
		}
	}
	for _, identifier := range identifiers {
		if err := n.take(identifier, "script "+s.Name); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// take claims a package-level identifier.
func (n *names) take(identifier, claimant string) error {
	if other, ok := n.taken[identifier]; ok {
		return fmt.Errorf("lua/%s.lua: %s would declare Go's %s, which is taken by %s; rename it in the header", n.script, claimant, identifier, other)
	}
	n.taken[identifier] = claimant
	return nil
}

// record is the type of a record of the reply element called element.
func (n *names) record(element header.Reply) string {
	return n.call + upperName(singular(element.Name))
}

// word is the type of a value of kind word. Values of one name and the same
// words share it.
func (n *names) word(v header.Value) (string, error) {
	name := n.call + upperName(v.Name)
	if words, ok := n.words[name]; ok {
		if slices.Equal(words, v.Words) {
			return name, nil
		}
		return "", fmt.Errorf("%s: %q is a word of another set than before; rename one of them", v.Position, v.Name)
	}
	if err := n.take(name, fmt.Sprintf("%q of script %s", v.Name, n.script)); err != nil {
		return "", err
	}
	for _, word := range v.Words {
		if err := n.take(name+upperName(word), fmt.Sprintf("word %q of script %s", word, n.script)); err != nil {
			return "", err
		}
	}
	n.words[name] = v.Words
	return name, nil
}
