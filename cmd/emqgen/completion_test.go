package main

// This file runs the scripts of completion in the shells themselves, at a prompt
// where the shell has one that can be driven.

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/annotations"
)

func TestCompletionScripts(t *testing.T) {
	t.Parallel()
	for _, shell := range shellNames() {
		code, script, stderr := says(t, "completion", shell)
		require.Zero(t, code, stderr)
		for _, word := range []string{"unique", "E012", "against", "elixir", "explain"} {
			require.Contains(t, script, word, shell)
		}
	}
	for _, wrong := range [][]string{{}, {"tcsh"}, {"bash", "zsh"}} {
		code, stdout, stderr := says(t, append([]string{"completion"}, wrong...)...)
		require.Equal(t, exitCannot, code)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "bash, zsh or fish")
	}
}

// The drivers print what a shell proposes for a command line, a line each. They
// get the file with the script of completion, and the line.
var drivers = map[string]string{
	// Bash calls what the script registers, with the words as it parts them.
	"bash": `source "$1"
read -ra COMP_WORDS <<<"${2//=/ = }"
[[ $2 == *[\ =] ]] && { [[ $2 == *= ]] || COMP_WORDS+=(""); }
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
registered=$(complete -p emqgen)
[[ $registered =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}"
printf '%s\n' "${COMPREPLY[@]}"
`,
	// Zsh completes at a prompt of its own, in which compadd also writes down what it
	// is given and has a match.
	"zsh": `zmodload zsh/zpty
export SCRIPT=$1 LINE=$2 FOUND=$HOME/found
: >$FOUND
zpty prompt zsh -f -i
zpty -w prompt 'autoload -Uz compinit; compinit -u -d $HOME/dump; source $SCRIPT
compadd() { local -a hits; builtin compadd -O hits "$@"; ((#hits)) && print -rl -- $hits >>$FOUND; builtin compadd "$@" }
complete-and-leave() { BUFFER=$LINE; CURSOR=$#BUFFER; zle list-choices; exit }
zle -N complete-and-leave; bindkey "^T" complete-and-leave; PS1=ready-$((6*7))'
zpty -r prompt shown '*ready-42*'
zpty -w -n prompt $'\C-t'
while zpty -r prompt shown; do :; done
cat $FOUND
`,
	// Fish does so by itself.
	"fish": `source $argv[1]; complete -C $argv[2]`,
}

// TestCompletion completes command lines in each shell.
func TestCompletion(t *testing.T) {
	t.Parallel()
	explained := func(prefix string) []string {
		var codes []string
		for _, rule := range annotations.Rules() {
			if strings.HasPrefix(rule.Code, prefix) {
				codes = append(codes, rule.Code)
			}
		}
		return codes
	}
	lines := map[string][]string{
		"emqgen ":                 {"completion", "explain", "help", "my jobs", "subdirectory"},
		"emqgen ex":               {"explain"},
		"emqgen help un":          {"unique"},
		"emqgen help re":          {"result", "retired", "retry"},
		"emqgen explain E0":       explained("E0"),
		"emqgen explain E012 E10": {"E100", "E101", "E102", "E103"},
		"emqgen explain ":         explained("E"),
		"emqgen completion ":      {"bash", "fish", "zsh"},
		"emqgen -ch":              {"-check"},
		"emqgen -lang e":          {"elixir"},
		"emqgen -lang=e":          {"elixir"},
		"emqgen -lang=":           {"asyncapi", "elixir", "jsonschema", "ts"},
		"emqgen -v -agai":         {"-against"},
		"emqgen -against ":        nil,
		"emqgen -C sub":           {"subdirectory"},
		"emqgen -out=sub":         {"subdirectory"},
		"emqgen -check sub":       {"subdirectory"},
		"emqgen help -ch":         nil,
		"emqgen -check hel":       nil,
		"emqgen -C help ":         {"my jobs", "subdirectory"},
	}
	for _, shell := range shellNames() {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, shell)
			for line, want := range lines {
				require.Equal(t, want, s.complete(line, drivers[shell]), line)
			}
		})
	}
	t.Run("zsh that finds the script in fpath", func(t *testing.T) {
		t.Parallel()
		s := newShell(t, "zsh")
		require.NoError(t, os.Rename(s.script, filepath.Join(s.home, "_emqgen")))
		driver := strings.Replace(drivers["zsh"], "'autoload ", "'fpath=($HOME $fpath); autoload ", 1)
		driver = strings.Replace(driver, "; source $SCRIPT\n", "\n", 1)
		require.Equal(t, explained("E10"), s.complete("emqgen explain E10", driver))
	})
}

// shell is a shell that completes command lines in a module with two packages.
type shell struct {
	module
	path, bare, home, script string
}

func newShell(t *testing.T, name string) shell {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil && os.Getenv("EMQ_ENGINES") == "embedded" {
		t.Skip(name + " is not on PATH")
	}
	require.NoError(t, err, "make install, as root on Debian, installs it")
	m := newModule(t, map[string]string{"subdirectory/a.go": "package a\n", "my jobs/b.go": "package b\n"})
	bare := map[string]string{"bash": "--norc", "zsh": "-f", "fish": "--no-config"}[name]
	s := shell{module: m, path: path, bare: bare, home: t.TempDir()}
	_, script, _ := says(t, "completion", name)
	s.script = filepath.Join(s.home, "script")
	require.NoError(t, os.WriteFile(s.script, []byte(script), 0o644))
	return s
}

// complete returns what the shell proposes for a line, as a driver asks it.
func (s shell) complete(line, driver string) []string {
	s.Helper()
	file := filepath.Join(s.home, "driver")
	require.NoError(s, os.WriteFile(file, []byte(driver), 0o644))
	ctx, cancel := context.WithTimeout(s.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, s.path, s.bare, file, s.script, line)
	command.Dir = s.dir
	command.Env = append(os.Environ(), "HOME="+s.home, "XDG_CONFIG_HOME="+s.home, "XDG_DATA_HOME="+s.home, "XDG_CACHE_HOME="+s.home, "TERM=dumb")
	out, err := command.CombinedOutput()
	require.NoError(s, err, "%s: %s", line, out)
	return candidates(string(out))
}

// candidates sorts what a shell proposes, without what fish says of each and what
// shells add so that it can be typed.
func candidates(printed string) []string {
	var found []string
	for line := range strings.Lines(printed) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if value := strings.IndexByte(word, '='); word != "" && word[0] == '-' {
			word = word[value+1:] // fish proposes -lang=ts, the others the value
		}
		if word != "" {
			found = append(found, strings.ReplaceAll(strings.TrimSuffix(word, "/"), `\`, ""))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
