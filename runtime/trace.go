package echomq

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

const (
	// maxReason is how many bytes of an error are kept as the reason.
	maxReason = 4 << 10
	// maxTraceEntry is how many bytes of one attempt's error and stack are kept.
	maxTraceEntry = 8 << 10
	// maxTrace is how many bytes all attempts' errors come to; the oldest go.
	maxTrace = 32 << 10
)

// reason returns an error as the reason of a failure.
func reason(err error) []byte { return []byte(shorten(err.Error(), maxReason)) }

// addTrace appends an error to the errors of earlier attempts, a JSON array,
// newest last.
func addTrace(earlier string, err error) []byte {
	var entries []string
	if earlier != "" && json.Unmarshal([]byte(earlier), &entries) != nil {
		entries = []string{shorten(earlier, maxTraceEntry)}
	}
	entry := err.Error()
	var panicked *panicError
	if errors.As(err, &panicked) {
		entry += "\n" + string(panicked.stack)
	}
	entries = append(entries, shorten(entry, maxTraceEntry))
	for {
		encoded, encodeErr := json.Marshal(entries)
		switch {
		case encodeErr == nil && len(encoded) <= maxTrace:
			return encoded
		case len(entries) > 1:
			entries = entries[1:]
		default: // its characters take several bytes each, as JSON
			entries[0] = shorten(entries[0], len(entries[0])/2)
		}
	}
}

// shorten cuts a text at a number of bytes, between two characters, and makes
// it valid UTF-8.
func shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
