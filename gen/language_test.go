package gen_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
)

const languagesDir = casesDir + "/lang"

// TestLanguages compares what is written for other languages with what cases want,
// under want/ and the name of the language. What they all have alike, the text of
// their own, is not in there.
func TestLanguages(t *testing.T) {
	t.Parallel()
	found, err := readCases(languagesDir)
	require.NoError(t, err)
	for _, c := range found {
		dir := newModule(t, nil)
		require.NoError(t, c.writeSource(dir))
		result := run(t, dir)
		require.Empty(t, result.Diagnostics)
		got := outcome{}
		for _, language := range gen.Languages() {
			var first map[string][]byte
			for range 5 {
				files, err := gen.Language(language, result.Packages)
				require.NoError(t, err)
				if first == nil {
					first = files
				}
				require.Equal(t, first, files, "the same every time")
			}
			for name, content := range first {
				if !strings.HasPrefix(name, "emq.") {
					got[wantPrefix+language+"/"+name] = string(content)
				}
			}
		}
		if *update {
			c.update(t, got)
			continue
		}
		require.Equal(t, c.wants(), map[string]string(got))
	}
}

func TestLanguageErrors(t *testing.T) {
	t.Parallel()
	_, err := gen.Language("cobol", nil)
	require.ErrorContains(t, err, `no language "cobol"; there are `)
	dir := newModule(t, map[string]string{"a/mail.go": simpleSource, "b/mail.go": simpleSource})
	result, err := gen.Run(t.Context(), gen.Options{Dir: dir, Patterns: []string{"./..."}})
	require.NoError(t, err)
	_, err = gen.Language("ts", result.Packages)
	require.ErrorContains(t, err, "are both called mail")
}
