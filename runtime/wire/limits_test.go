package wire_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/echomq/echomq-go/runtime/wire"
)

// TestPatternsAreWhatIsParsed holds the patterns, which other languages use,
// against what this one does.
func TestPatternsAreWhatIsParsed(t *testing.T) {
	t.Parallel()
	candidates := []string{"", "a", "A9", "9", "a.b_c-d", ".a", "_a", "-a", "~a", "a b", "a:b", "{a}", "ä", "a\n", "a\x00", "emq", "EMQ"}
	for _, length := range []int{127, 128, 129, 199, 200, 201, 254, 255, 256} {
		candidates = append(candidates, strings.Repeat("a", length))
	}
	for c := range 128 {
		candidates = append(candidates, string(rune(c)), "a"+string(rune(c)))
	}
	candidates = append(candidates, wire.ReservedIDs()...)
	for _, one := range []struct {
		what, pattern string
		reserved      []string
		parse         func(string) error
	}{
		{"queue", wire.QueuePattern, wire.ReservedQueues(), func(s string) error { _, err := wire.ParseQueue(s); return err }},
		{"job", wire.JobIDPattern, wire.ReservedIDs(), func(s string) error { _, err := wire.ParseJobID(s); return err }},
		{"scheduler", wire.SchedulerPattern, nil, func(s string) error { _, err := wire.ParseSchedulerID(s); return err }},
	} {
		pattern := regexp.MustCompile(one.pattern)
		for _, candidate := range candidates {
			want := pattern.MatchString(candidate) && !slices.Contains(one.reserved, candidate)
			if err := one.parse(candidate); (err == nil) != want {
				t.Errorf("%s %q: the pattern says %t, the parser %v", one.what, candidate, want, err)
			}
		}
	}
}
