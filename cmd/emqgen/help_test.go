package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
)

// says runs emqgen with arguments that concern no package.
func says(t *testing.T, arguments ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = run(t.Context(), arguments, &out, &err)
	return code, out.String(), err.String()
}

func TestHelp(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := says(t, "help")
	require.Zero(t, code)
	require.Empty(t, stderr)
	require.True(t, strings.HasPrefix(stdout, "usage: emqgen [flags] [packages]\n       emqgen help [DIRECTIVE…]  "), stdout)
	require.Contains(t, stdout, "\n  -against revision\n")
	require.Contains(t, stdout, "\n  //emq:retry     Says what happens after an attempt that failed\n")

	code, usage, printed := says(t, "-h")
	require.Zero(t, code)
	require.Empty(t, usage)
	require.True(t, strings.HasPrefix(stdout, printed), printed)

	for _, spec := range annotations.Directives() {
		code, stdout, stderr := says(t, "help", spec.Name)
		require.Zero(t, code, stderr)
		require.Contains(t, stdout, spec.Doc)
		require.Contains(t, stdout, spec.Example)
		for _, item := range spec.Items {
			require.Contains(t, stdout, "\n    "+usage2(item))
			require.Contains(t, stdout, item.Doc)
		}
	}
	code, stdout, _ = says(t, "help", "//emq:retry", "emq:unique")
	require.Zero(t, code)
	require.True(t, strings.HasPrefix(stdout, "//emq:retry, above a struct type\n"), stdout)
	require.Contains(t, stdout, "\n    cap=…  one duration such as 500ms, 30s, 10m or 14d\n        The longest wait between two attempts.\n        Default: 1h.\n")
	require.Contains(t, stdout, "\n\n//emq:unique, above a struct type\n")

	for name, hint := range map[string]string{"retyr": "did you mean retry?", "dedupe": "did you mean unique?", "e012": "write emqgen explain E012", "xyz": "there are queue,"} {
		code, stdout, stderr = says(t, "help", name)
		require.Equal(t, exitCannot, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, hint)
	}
}

// usage2 is how the item begins in the help.
func usage2(item annotations.Item) string {
	if item.Key == "" {
		return item.Wants()
	}
	return item.Key + "=…"
}

func TestExplain(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := says(t, "explain", "E012")
	require.Zero(t, code)
	require.Empty(t, stderr)
	require.Equal(t, `E012: item written twice

Each item is given once, as it would not be known which one holds.

For example:

    //emq:queue name=mail
    package mail

    //emq:job timeout=30s timeout=40s
    type Welcome struct{ UserID int64 }

    mail.go:4:23: timeout is given twice; the first is at column 11 (E012)
`, stdout)

	code, list, _ := says(t, "explain")
	require.Zero(t, code)
	for _, rule := range annotations.Rules() {
		require.Contains(t, list, rule.Code+"  "+rule.Title+"\n")
		code, stdout, _ := says(t, "explain", strings.ToLower(rule.Code))
		require.Zero(t, code)
		require.Contains(t, stdout, rule.Explanation)
		require.Contains(t, stdout, "("+rule.Code+")\n")
	}
	code, stdout, stderr = says(t, "explain", "E999")
	require.Equal(t, exitCannot, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "no error has the code E999")
}

// TestDirectoryCalledHelp holds that a package whose directory has the name of a
// subcommand is generated for.
func TestDirectoryCalledHelp(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"help/mail.go": source})
	m.quiet("./help")
	require.Contains(t, m.read("help/emq_gen.go"), "NewMailProducer(")
}
