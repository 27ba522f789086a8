package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/gen"
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

// TestLanguageRestores holds that one run restores any file of another language,
// whatever became of it, and overwrites none that it did not write.
func TestLanguageRestores(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	for _, language := range gen.Languages() {
		m.quiet("-lang", language, "-out", language)
		entries, err := os.ReadDir(filepath.Join(m.dir, language))
		require.NoError(t, err)
		require.NotEmpty(t, entries)
		for _, entry := range entries {
			name := language + "/" + entry.Name()
			want := m.read(name)
			for title, damaged := range map[string]string{
				"empty": "", "blank": " \n\r\n", "torn": want[:len(want)/2], "torn early": want[:5], "longer": want + "\n", "changed": strings.Replace(want, "e", "x", 1) + want,
				"conflict": "<<<<<<< HEAD\n" + want + "=======\n" + want + ">>>>>>> other\n",
			} {
				m.write(name, damaged)
				code, _, _ := m.emqgen("-lang", language, "-out", language, "-check")
				require.Equal(t, exitWrong, code, "%s: %s", name, title)
				m.quiet("-lang", language, "-out", language)
				require.Equal(t, want, m.read(name), "%s: %s", name, title)
			}
			m.remove(name)
			m.quiet("-lang", language, "-out", language)
			require.Equal(t, want, m.read(name))

			m.write(name, "precious\n")
			before := m.files()
			for _, arguments := range [][]string{{"-check"}, nil} {
				code, stdout, stderr := m.emqgen(append([]string{"-lang", language, "-out", language}, arguments...)...)
				require.Equal(t, exitWrong, code)
				require.Empty(t, stdout)
				require.Equal(t, name+":1:1: "+entry.Name()+" was not written by emqgen, which would overwrite it; rename it (E063)\n", stderr)
				require.Equal(t, before, m.files())
			}
			m.write(name, want)
		}
	}
}
