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
// one, and of which name. The replacement is the whole comment, as a directive.
func nearMiss(comment string) (name Suggestion, missed bool) {
	if m := squeezed.FindStringSubmatch(comment); m != nil {
		meant := strings.ToLower(m[1])
		if near := MeantDirective(meant); near != "" {
			meant = near
		}
		if meant == "" {
			return Suggestion{Message: "job"}, true
		}
		return Suggestion{meant, asDirective(comment, m[0], meant)}, true
	}
	m := spaced.FindStringSubmatch(comment)
	if m == nil {
		return Suggestion{}, false
	}
	meant := strings.ToLower(m[1])
	if lookup(meant) == nil || !strings.Contains(m[0], ":") {
		return Suggestion{}, false
	}
	return Suggestion{meant, asDirective(comment, m[0], meant)}, true
}

// asDirective returns a line comment with the directive's name in the place of
// its beginning; "" where that gives no directive.
func asDirective(comment, beginning, name string) string {
	rest, line := strings.CutPrefix(comment, beginning)
	if !line || !strings.HasPrefix(comment, "//") || lookup(name) == nil || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return ""
	}
	return "//" + Prefix + name + rest
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
