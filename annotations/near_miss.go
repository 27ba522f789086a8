package annotations

import (
	"regexp"
	"strings"
)

// squeezed matches comments that begin directly with our prefix, in whatever
// spelling: nobody writes prose like that.
var squeezed = regexp.MustCompile(`^(?://|/\*)\+?(?i:emq)\s*[:.=_/-]\s*([A-Za-z_]*)`)

// spaced matches comments that begin with our prefix after a space. They may be
// prose, so only the exact name of a directive makes them a mistake.
var spaced = regexp.MustCompile(`^(?://|/\*)\s*\+?(?i:emq)\s*[:.]?\s*([A-Za-z_]+)`)

// nearMiss reports whether comment, which is not a directive, was meant to be
// one, and of which name.
func nearMiss(comment string) (name string, missed bool) {
	if m := squeezed.FindStringSubmatch(comment); m != nil {
		name = strings.ToLower(m[1])
		if near := Nearest(name, names()); near != "" {
			name = near
		}
		if name == "" {
			name = "job"
		}
		return name, true
	}
	m := spaced.FindStringSubmatch(comment)
	if m == nil {
		return "", false
	}
	name = strings.ToLower(m[1])
	if lookup(name) == nil || !strings.Contains(m[0], ":") {
		return "", false
	}
	return name, true
}

// quoted shortens the first line of a comment for a message.
func firstWords(comment string) string {
	comment, _, _ = strings.Cut(comment, "\n")
	const limit = 40
	if runes := []rune(comment); len(runes) > limit {
		return string(runes[:limit]) + "…"
	}
	return comment
}
