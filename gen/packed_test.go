package gen_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// olderDecoder begins a decoder of a payload that only the lock remembers.
var olderDecoder = regexp.MustCompile(`\n// decode\w+ decodes a part of an\s(// )?older payload`)

// TestLinesOfCodecs holds that encoders and decoders stay small: at most 8 lines
// for a field and 30 for a struct.
func TestLinesOfCodecs(t *testing.T) {
	t.Parallel()
	found, err := readCases(casesDir)
	require.NoError(t, err)
	for _, c := range found {
		_, codecs, any := strings.Cut(c.wants()["want/emq_gen.go"], "\n// encode")
		if !any {
			continue
		}
		for codec := range strings.SplitSeq(codecs, "\n// encode") {
			// An encoder and its decoder, and decoders of what the lock remembers.
			parts := olderDecoder.Split(codec, -1)
			lines, fields := strings.Count(codec, "\n")+1, strings.Count(codec, ".Key(\"")
			for _, older := range parts[1:] {
				lines -= strings.Count(older, "\n") + 1
				require.LessOrEqual(t, strings.Count(older, "\n")+1, 4*strings.Count(older, "case \"")+15, older)
			}
			require.LessOrEqual(t, lines, 8*fields+30, codec)
			if fields > 10 {
				require.Less(t, lines, 6*fields, "fields on average")
			}
		}
	}
}
