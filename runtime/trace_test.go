package echomq

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func entriesOf(t *testing.T, trace []byte) []string {
	t.Helper()
	var entries []string
	require.NoError(t, json.Unmarshal(trace, &entries))
	return entries
}

func TestTraceIsCapped(t *testing.T) {
	t.Parallel()
	for _, filling := range []string{"x", "é", "\x01", "\"", "<", "\xff"} {
		trace := []byte("")
		for attempt := 1; attempt <= 14; attempt++ {
			trace = addTrace(string(trace), fmt.Errorf("attempt %d %s", attempt, strings.Repeat(filling, 3000)))
			require.LessOrEqual(t, len(trace), maxTrace, "filled with %q", filling)
			entries := entriesOf(t, trace)
			require.NotEmpty(t, entries)
			require.True(t, strings.HasPrefix(entries[len(entries)-1], fmt.Sprintf("attempt %d ", attempt)), "the newest is last")
		}
	}
}

func TestOneEntryOfTheTraceIsCapped(t *testing.T) {
	t.Parallel()
	for _, filling := range []string{"x", "é", "\x01", "\"", "\xff."} {
		trace := addTrace("", errors.New(strings.Repeat(filling, 1<<16)))
		require.LessOrEqual(t, len(trace), maxTrace, "filled with %q", filling)
		entries := entriesOf(t, trace)
		require.Len(t, entries, 1)
		require.LessOrEqual(t, len(entries[0]), maxTraceEntry)
		require.True(t, strings.HasSuffix(entries[0], "…"))
	}
}

func TestTraceThatCannotBeRead(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"not JSON", "next"}, entriesOf(t, addTrace("not JSON", errors.New("next"))))
	require.Equal(t, []string{"{}", "next"}, entriesOf(t, addTrace("{}", errors.New("next"))))
	require.Equal(t, []string{"next"}, entriesOf(t, addTrace("null", errors.New("next"))))
}

func TestStackOfAPanicIsInTheTrace(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("wrapped: %w", &panicError{reason: "boom", stack: []byte("goroutine 1")})
	require.Equal(t, []string{"wrapped: handler panicked: boom\ngoroutine 1"}, entriesOf(t, addTrace("", err)))
}

func TestReasonIsCapped(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("é", maxReason), strings.Repeat("\xff.", maxReason), strings.Repeat("x", maxReason+1)} {
		short := reason(errors.New(text))
		require.LessOrEqual(t, len(short), maxReason)
		require.Greater(t, len(short), maxReason-8)
		require.True(t, utf8.Valid(short))
	}
	require.Equal(t, "short", string(reason(errors.New("short"))))
	require.Len(t, reason(errors.New(strings.Repeat("x", maxReason))), maxReason)
}
