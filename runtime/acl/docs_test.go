package acl_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/acl"
)

// docs/operations.md names the scripts of each role.
func TestDocumentedScripts(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/operations.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`([a-z]+)`")
	for _, role := range acl.Roles() {
		if role == acl.Operator { // all of them
			continue
		}
		begin := "| `" + string(role) + "` |"
		at := strings.Index(string(page), begin)
		require.GreaterOrEqual(t, at, 0, begin)
		line, _, _ := strings.Cut(string(page[at:]), "\n")
		columns := strings.Split(line, "|")
		require.Len(t, columns, 5, line)
		var names []string
		for _, match := range named.FindAllStringSubmatch(columns[3], -1) {
			names = append(names, match[1])
		}
		want := role.Scripts()
		slices.Sort(names)
		slices.Sort(want)
		assert.Equal(t, want, names, "%s of docs/operations.md", role)
	}
}
