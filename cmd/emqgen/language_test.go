package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLanguage(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	require.NoError(t, os.Mkdir(filepath.Join(m.dir, "web"), 0o755))
	m.quiet("-lang", "ts", "-out", "web")
	require.Contains(t, m.read("web/mail.emq.ts"), "export class MailProducer {")
	require.FileExists(t, filepath.Join(m.dir, "web", "emq.ts"))
	require.NoFileExists(t, filepath.Join(m.dir, "emq_gen.go"), "in place of Go")
	m.quiet("-lang", "ts", "-out", "web", "-check")

	m.write("mail.go", source+"\n//emq:job\ntype Another struct{}\n")
	code, stdout, stderr := m.emqgen("-lang", "ts", "-out", "web", "-check")
	require.Equal(t, exitWrong, code)
	require.Contains(t, stderr, "emqgen: web/mail.emq.ts is stale; run emqgen -C "+m.dir+" -lang ts -out web\n")
	require.Contains(t, stdout, "+export type Another")

	for _, wrong := range [][]string{{"-lang", "cobol"}, {"-out", "web"}, {"-lang", "ts", "-dump"}, {"-lang", "ts", "-accept", "Welcome", "-reason", "x"}} {
		code, _, stderr = m.emqgen(wrong...)
		require.Equal(t, exitCannot, code, wrong)
		require.NotEmpty(t, stderr)
	}
	m.write("mail.go", "//emq:queue name=mail\npackage mail\n\n//emq:jbo\ntype Welcome struct{}\n")
	code, _, _ = m.emqgen("-lang", "ts", "-out", "web")
	require.Equal(t, exitWrong, code)
}
