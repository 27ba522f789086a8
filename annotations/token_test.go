package annotations

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

func TestTokenize(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args string
		want []word
	}{
		"nothing":      {args: "", want: nil},
		"a comment":    {args: "// says nothing", want: nil},
		"a word":       {args: "Receipt", want: []word{{values: []scalar{{text: "Receipt", start: 0, end: 7}}, end: 7}}},
		"a pair":       {args: "a=b", want: []word{{key: "a", keyed: true, values: []scalar{{text: "b", start: 2, end: 3}}, end: 3}}},
		"a list":       {args: "a=b,c", want: []word{{key: "a", keyed: true, values: []scalar{{text: "b", start: 2, end: 3}, {text: "c", start: 4, end: 5}}, end: 5}}},
		"quoted":       {args: `a="b c",` + "`d`", want: []word{{key: "a", keyed: true, values: []scalar{{text: "b c", start: 2, end: 7, quoted: true}, {text: "d", start: 8, end: 11, quoted: true}}, end: 11}}},
		"more equals":  {args: "a=b=c", want: []word{{key: "a", keyed: true, values: []scalar{{text: "b=c", start: 2, end: 5}}, end: 5}}},
		"any space":    {args: " a \t b\u00a0", want: []word{{values: []scalar{{text: "a", start: 1, end: 2}}, start: 1, end: 2}, {values: []scalar{{text: "b", start: 5, end: 6}}, start: 5, end: 6}}},
		"then comment": {args: `a=b // "c`, want: []word{{key: "a", keyed: true, values: []scalar{{text: "b", start: 2, end: 3}}, end: 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, faults := tokenize(test.args)
			require.Empty(t, faults)
			require.Equal(t, test.want, got)
		})
	}
}

// FuzzTokenize holds that the tokenizer ends, that what it returns lies within
// the text and in order, and that nothing is lost in silence: what is neither
// an item nor reported is space or a trailing comment.
func FuzzTokenize(f *testing.F) {
	for _, seed := range []string{
		"", "a=b c", `name="two words"`, "a = b", "a= b", "a =b", "a,b , c", "a=24h,1000 b=none", "a=`x", `a="\x"`,
		`a="b"c`, "//", "a//b", "=", ",", "=,=", "a==b", "\u00a0a\u2028b", "ä=ö", "\xff=\xfe", "a=b // c", `"a" "b"`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, args string) {
		words, faults := tokenize(args)
		covered := make([]bool, len(args))
		mark := func(start, end int) {
			require.LessOrEqual(t, 0, start)
			require.LessOrEqual(t, start, end)
			require.LessOrEqual(t, end, len(args))
			for i := start; i < end; i++ {
				covered[i] = true
			}
		}
		last := 0
		for _, w := range words {
			require.LessOrEqual(t, last, w.start)
			require.NotEmpty(t, w.values)
			for _, v := range w.values {
				require.LessOrEqual(t, w.start, v.start)
				require.LessOrEqual(t, v.end, w.end)
			}
			mark(w.start, w.end)
			last = w.end
		}
		for _, fault := range faults {
			require.NotEmpty(t, fault.message)
			mark(fault.start, fault.end)
		}
		if len(faults) > 0 {
			return
		}
		for i := 0; i < len(args); i++ {
			if covered[i] {
				continue
			}
			if strings.HasPrefix(args[i:], "//") {
				break
			}
			r := []rune(args[i:])[0]
			require.True(t, unicode.IsSpace(r) || r == unicode.ReplacementChar || args[i] >= 0x80, "byte %d of %q is lost", i, args)
		}
	})
}
