package gen_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
)

const (
	examplesDir = "../annotations/examples"
	vetFile     = wantPrefix + "vet"
)

var codeOf = regexp.MustCompile(`\((E[0-9]{3})\)$`)

// TestExamples holds that each error is explained by an example, which breaks
// its rule and no other. The cases are those that emqgen explain prints.
func TestExamples(t *testing.T) {
	t.Parallel()
	found, err := readCases(examplesDir)
	require.NoError(t, err)
	results, err := runCases(found)
	require.NoError(t, err)
	explained := map[string]bool{}
	for _, c := range found {
		explained[c.name] = true
		require.NotNil(t, annotations.RuleByCode(c.name), "%s: there is no such error", c.path)
		if c.wants()[vetFile] != "" {
			continue // emqvet's own tests run it
		}
		if *update && results[c.name] != nil {
			c.update(t, outcome{errorsFile: results[c.name][errorsFile]})
		}
		said := outcome{errorsFile: results[c.name][errorsFile]}
		for line := range strings.Lines(said[errorsFile]) {
			require.Equal(t, []string{"(" + c.name + ")", c.name}, codeOf.FindStringSubmatch(strings.TrimSpace(line)), line)
		}
		require.NotEmpty(t, said[errorsFile], "%s: nothing is wrong with the example", c.path)
		if *update {
			continue
		}
		require.Equal(t, c.wants(), map[string]string(said), c.path)
	}
	for _, rule := range annotations.Rules() {
		require.True(t, explained[rule.Code], "%s has no example in %s", rule.Code, examplesDir)
		require.NotContains(t, rule.Example(), "-- want/", rule.Code) // not after its fix either
		require.Contains(t, rule.Example(), "("+rule.Code+")\n", rule.Code)
	}
}
