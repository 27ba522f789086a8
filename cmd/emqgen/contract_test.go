package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// git runs git in the module.
func (m module) git(arguments ...string) {
	m.Helper()
	command := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, arguments...)...)
	command.Dir = m.dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := command.CombinedOutput()
	require.NoError(m, err, string(out))
}

// commit generates, and commits everything.
func (m module) commit(message string) {
	m.Helper()
	m.git("add", "-A")
	m.git("commit", "-q", "-m", message)
}

// refused runs the command, which is to refuse with a diagnostic of each code and
// to change nothing.
func (m module) refused(codes string, arguments ...string) string {
	m.Helper()
	before := m.files()
	code, _, stderr := m.emqgen(arguments...)
	require.Equal(m, exitWrong, code, stderr)
	var got []string
	for line := range strings.Lines(stderr) {
		got = append(got, line[strings.LastIndex(line, "(")+1:strings.LastIndex(line, ")")])
	}
	require.Equal(m, codes, strings.Join(got, " "), stderr)
	require.Equal(m, before, m.files())
	return stderr
}

// replace changes the source of the module.
func (m module) replace(pairs ...string) {
	m.Helper()
	before := m.read("mail.go")
	after := strings.NewReplacer(pairs...).Replace(before)
	require.NotEqual(m, before, after)
	m.write("mail.go", after)
}

const (
	packed = "package mail\n\n//emq:job\ntype Parcel struct{ Weight int }\n"
	brake  = "UserID int64"
)

func TestAccept(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source, "parcel.go": packed})
	m.quiet()
	m.quiet("-check")
	first := m.read("emq.lock")

	m.replace(brake, "UserID string")
	m.write("parcel.go", strings.Replace(packed, "int", "bool", 1))
	m.refused("E084 E084")
	m.refused("E084 E084", "-check")
	m.refused("E084", "-accept", "Parcel", "-reason", "never sent")
	m.quiet("-accept", "Parcel", "-accept", "mail/Welcome", "-reason", `nobody "used" it`)
	m.quiet("-check")
	m.quiet()
	second := m.read("emq.lock")
	require.Contains(t, second, "\naccepted ")
	require.Contains(t, second, ` "nobody \"used\" it"`)
	require.NotEqual(t, first, second)

	// A second break stands beside the first, and is accepted by itself.
	m.replace("UserID string", "UserID bool")
	m.refused("E084")
	m.quiet("-accept", "Welcome", "-reason", "again")
	require.Equal(t, 3, strings.Count(m.read("emq.lock"), "\naccepted "))

	// A job that goes, too.
	require.NoError(t, os.Remove(filepath.Join(m.dir, "parcel.go")))
	require.True(t, strings.HasPrefix(m.refused("E089"), "emq.lock:6:1: "))
	m.quiet("-accept", "Parcel", "-reason", "sold")
	require.Contains(t, m.read("emq.lock"), "\ngone mail/Parcel\naccepted ")
	m.quiet("-check")

	// And the queue as a whole.
	m.write("mail.go", "package mail\n")
	m.refused("E089")
	m.quiet("-accept", "Welcome", "-reason", "closed")
	require.NoFileExists(t, filepath.Join(m.dir, "emq_gen.go"))
	require.Equal(t, 2, strings.Count(m.read("emq.lock"), "\ngone "))
	m.quiet("-check")
}

func TestAcceptNothing(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail/mail.go": source, "push/push.go": strings.ReplaceAll(source, "mail", "push")})
	m.quiet("./...")
	m.write("mail/mail.go", strings.Replace(source, brake, "UserID string", 1))
	m.write("push/push.go", strings.Replace(m.read("push/push.go"), brake, "UserID string", 1))
	for wrong, arguments := range map[string][]string{
		"emqgen: Farewell cannot be accepted: the contract of no such job is broken\n":                      {"-accept", "Farewell", "-accept", "Welcome"},
		"emqgen: Welcome cannot be accepted: it is one of mail/Welcome, push/Welcome; name the queue too\n": {"-accept", "Welcome"},
		"emqgen: -accept needs a -reason, which the lock keeps\n":                                           {"-accept", "Welcome", "-reason", " "},
		"emqgen: -accept writes to the lock, which -check and -dump do not\n":                               {"-accept", "Welcome", "-check"},
		"emqgen: -reason says why something is accepted; name the job with -accept\n":                       {},
	} {
		before := m.files()
		code, _, stderr := m.emqgen(append(append([]string{"-reason", "why"}, arguments...), "./...")...)
		require.Equal(t, exitCannot, code)
		require.Equal(t, wrong, stderr)
		require.Equal(t, before, m.files())
	}
	m.quiet("-accept", "mail/Welcome", "-accept", "push/Welcome", "-reason", "why", "./...")
}

// TestAgainst holds that what was never merged may change freely, and what was
// may not, wherever the change was made and whatever the lock on disk says.
func TestAgainst(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	m.git("init", "-q", "-b", "trunk")
	m.commit("without directives")
	m.git("tag", "before")
	m.quiet()
	m.commit("first")
	m.git("tag", "first")
	m.quiet("-check", "-against", "trunk")
	m.quiet("-check", "-against", "before") // there was no lock

	// On a branch, version 2 comes to be, and changes once more.
	m.git("switch", "-q", "-c", "branch")
	m.replace("timeout=30s", "timeout=30s version=2", brake, "UserID string")
	m.refused("E097")
	m.write("upgrade.go", "package mail\n\nfunc upgradeWelcomeV1(WelcomeV1) (w Welcome, err error) { return }\n")
	m.quiet()
	m.quiet("-check", "-against", "trunk")
	m.commit("second")
	m.replace("UserID string", "UserID bool")
	m.refused("E084")
	m.refused("E084", "-check", "-against", "trunk")
	m.quiet("-against", "trunk")
	m.quiet("-check", "-against", "trunk")
	m.quiet("-check")
	require.Contains(t, m.read("emq.lock"), "UserID bool UserID")
	require.NotContains(t, m.read("emq.lock"), "UserID string UserID")

	// A break that the lock on disk does not show, because it was deleted.
	m.git("checkout", "-q", "first", "--", ".")
	m.replace(brake, "UserID string")
	require.NoError(t, os.Remove(filepath.Join(m.dir, "emq.lock")))
	m.quiet()
	m.quiet("-check")
	m.refused("E084", "-check", "-against", "trunk")
	m.refused("E084", "-against", "trunk")

	// A break that was accepted is known from the lock on disk.
	m.quiet("-against", "trunk", "-accept", "Welcome", "-reason", "why")
	m.quiet("-check", "-against", "trunk")
	m.quiet("-against", "trunk")
	m.commit("accepted")

	// So is a job that is gone.
	m.git("checkout", "-q", "first", "--", ".")
	m.write("mail.go", "package mail\n")
	m.quiet("-accept", "Welcome", "-reason", "why")
	m.quiet("-check", "-against", "trunk")
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "emq.lock"), nil, 0o644))
	m.refused("E081", "-check", "-against", "trunk")
	m.write("emq.lock", "emq.lock 1\n")
	stderr := m.refused("E089", "-check", "-against", "trunk")
	require.True(t, strings.HasPrefix(stderr, "emq.lock of trunk:6:1: "), stderr)

	code, _, stderr := m.emqgen("-check", "-against", "nowhere")
	require.Equal(t, exitCannot, code)
	require.Equal(t, "emqgen: contracts cannot be compared with a git revision: git knows no revision \"nowhere\" here; in a shallow clone fetch it first\n", stderr)
	code, _, _ = m.emqgen("-check", "-against", "--all")
	require.Equal(t, exitCannot, code)
}

func TestAgainstNeedsARepository(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	code, _, stderr := m.emqgen("-against", "main")
	require.Equal(t, exitCannot, code)
	require.Contains(t, stderr, "not a git repository")
}

// TestLockIsNotTouched holds that a lock which says the same is left alone, and
// that one which was formatted by hand is written anew.
func TestLockIsNotTouched(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source})
	m.quiet()
	written := m.read("emq.lock")
	m.write("emq.lock", strings.ReplaceAll(written, "\n\n", "\n\n\n"))
	code, _, stderr := m.emqgen("-check")
	require.Equal(t, exitWrong, code)
	require.Equal(t, "emqgen: emq.lock is stale; run go generate\n", stderr)
	m.quiet()
	require.Equal(t, written, m.read("emq.lock"))
}

// TestRenameAndRetire takes a job through a new name, a new version, and its end,
// and compares each step with a merged one.
func TestRenameAndRetire(t *testing.T) {
	t.Parallel()
	m := newModule(t, map[string]string{"mail.go": source, "parcel.go": packed})
	m.git("init", "-q", "-b", "trunk")
	m.quiet()
	m.commit("first")
	m.git("tag", "first")

	m.replace("timeout=30s", "timeout=30s was=Welcome", "type Welcome", "type Greeting")
	m.quiet()
	m.quiet("-check", "-against", "trunk")
	require.Contains(t, m.read("emq.lock"), "job mail/Greeting v1\nwas mail/Welcome\n")
	m.commit("renamed")

	m.replace("timeout=30s was=Welcome", "timeout=30s")
	m.refused("E095")
	m.refused("E089 E095", "-check", "-against", "first")
	m.quiet("-accept", "Greeting", "-reason", "none is left")
	require.Contains(t, m.read("emq.lock"), "\naccepted was:mail/Welcome \"none is left\"\n")
	m.git("checkout", "-q", "--", ".")

	m.replace("timeout=30s", "timeout=30s version=2", brake, "UserID string")
	m.write("upgrade.go", "package mail\n\nfunc upgradeGreetingV1(GreetingV1) (g Greeting, err error) { return }\n")
	m.quiet()
	require.Contains(t, m.read("emq_gen.go"), "type GreetingV1 struct")
	m.quiet("-check", "-against", "first")
	m.commit("second version")

	// Ended versions stay in the lock, and come back.
	m.replace("version=2", "version=2 oldest=2")
	m.quiet()
	require.NotContains(t, m.read("emq_gen.go"), "GreetingV1")
	m.replace("version=2 oldest=2", "version=2")
	m.quiet()
	require.Contains(t, m.read("emq_gen.go"), "type GreetingV1 struct")

	// Gone, with its former name.
	m.write("mail.go", "//emq:queue name=mail\n//emq:retired name=Greeting to=failed\npackage mail\n")
	m.refused("E089")
	m.write("mail.go", "//emq:queue name=mail\n//emq:retired name=Greeting to=failed\n//emq:retired name=Welcome to=discard\npackage mail\n")
	m.quiet()
	m.quiet("-check", "-against", "first")
	m.quiet("-check", "-against", "trunk")
	require.Contains(t, m.read("emq.lock"), "\nretired mail/Greeting failed\n\nretired mail/Welcome discard\n")
	m.commit("retired")

	// Once nothing is enqueued any more, the directives go.
	m.write("mail.go", "//emq:queue name=mail\npackage mail\n")
	m.quiet()
	require.NotContains(t, m.read("emq.lock"), "retired")
	m.quiet("-check", "-against", "trunk")
	m.refused("E089", "-check", "-against", "first")
}
