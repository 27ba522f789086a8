package annotations

import "strings"

// Nearest returns the candidate that a person who typed word most likely
// meant, or "". It compares without regard to case and allows one slip for
// every three letters, an exchange of two neighbours counting as one. Where no
// candidate is that near, it is the only one that word shortens or lengthens.
func Nearest(word string, candidates []string) string {
	word = strings.ToLower(word)
	best, limit := "", max(1, len(word)/3)+1
	for _, candidate := range candidates {
		if len(word)-len(candidate) >= limit || len(candidate)-len(word) >= limit {
			continue // that many insertions at the least
		}
		if d := distance(word, strings.ToLower(candidate)); d < limit {
			best, limit = candidate, d
		}
	}
	if best == "" {
		return extended(word, candidates)
	}
	return best
}

// extended returns the only candidate that begins with word, or that word
// begins with; "" where there are several, or what both share is short.
func extended(word string, candidates []string) string {
	const shared = 3
	found := ""
	for _, candidate := range candidates {
		lower := strings.ToLower(candidate)
		if min(len(word), len(lower)) < shared || !strings.HasPrefix(lower, word) && !strings.HasPrefix(word, lower) {
			continue
		}
		if found != "" {
			return ""
		}
		found = candidate
	}
	return found
}

// distance returns the number of insertions, deletions, substitutions and
// exchanges of neighbours that turn a into b.
func distance(a, b string) int {
	before, previous, current := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(a); i++ {
		current[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			current[j] = min(previous[j]+1, current[j-1]+1, previous[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				current[j] = min(current[j], before[j-2]+1)
			}
		}
		before, previous, current = previous, current, before
	}
	return previous[len(b)]
}

// Suggestion is an argument of a rule: the part of the message that proposes
// something, and the text that does what it proposes.
type Suggestion struct {
	// Message is what stands in the diagnostic's message.
	Message string
	// Replacement is what to write between the diagnostic's Pos and End; "" where
	// no text there would do.
	Replacement string
}

// String returns the message.
func (s Suggestion) String() string { return s.Message }

// DidYouMean ends a message with what was probably meant; without it, it is
// empty. The replacement is what is to be written.
func DidYouMean(meant, replacement string) Suggestion {
	if meant == "" {
		return Suggestion{}
	}
	return Suggestion{"; did you mean " + meant + "?", replacement}
}

// didYouMean ends a message with the candidate that is nearest to word, if one
// is near. It is written behind a prefix.
func didYouMean(word string, candidates []string, prefix string) Suggestion {
	near := Nearest(word, candidates)
	return DidYouMean(near, prefix+near)
}
