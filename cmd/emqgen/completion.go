package main

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// shellNames are the shells for which there is a completion.
func shellNames() []string { return []string{"bash", "zsh", "fish"} }

// completion prints the script that completes the command in a shell.
func (c *command) completion(names []string) int {
	script := map[string]func(words) string{"bash": bash, "zsh": zsh, "fish": fish}[strings.Join(names, " ")]
	if script == nil {
		return c.cannot("emqgen completion takes the name of a shell: %s", either(shellNames()))
	}
	fmt.Fprint(c.stdout, script(c.words()))
	return exitFine
}

// words is everything that can be completed: from the flags of the command, the
// table of directives and the catalogue of errors.
type words struct {
	flags []*flag.Flag
	// commands maps each subcommand to what may follow.
	commands map[string][]string
	names    []string
}

func (c *command) words() words {
	w := words{commands: map[string][]string{}}
	c.flags().VisitAll(func(f *flag.Flag) { w.flags = append(w.flags, f) })
	for _, s := range subcommands() {
		w.names = append(w.names, s.name)
	}
	w.commands["help"] = directiveNames()
	w.commands["completion"] = shellNames()
	for _, rule := range annotations.Rules() {
		w.commands["explain"] = append(w.commands["explain"], rule.Code)
	}
	return w
}

// values returns what completes the value of a flag: words, or directories.
func values(f *flag.Flag) (words []string, directories bool) {
	switch f.Name {
	case "lang":
		return gen.Languages(), false
	case "C", "out":
		return nil, true
	}
	return nil, false
}

func takesValue(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}

func (w words) dashed() []string {
	var all []string
	for _, f := range w.flags {
		all = append(all, "-"+f.Name)
	}
	return all
}

func bash(w words) string {
	var b strings.Builder
	b.WriteString(`# bash completion of emqgen; load it with: source <(emqgen completion bash)
_emqgen_words() {
	COMPREPLY+=($(compgen -W "$1" -- "$word"))
}
_emqgen_directories() {
	local IFS=$'\n'
	COMPREPLY+=($(compgen -d -- "$word"))
}
_emqgen() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD-2]}
	fi
	if ((COMP_CWORD > 1)); then
		case ${COMP_WORDS[1]} in
`)
	for _, name := range w.names {
		fmt.Fprintf(&b, "\t\t%s) _emqgen_words '%s'; return ;;\n", name, strings.Join(w.commands[name], " "))
	}
	b.WriteString("\t\tesac\n\tfi\n\tcase $before in\n")
	for _, f := range w.flags {
		choice, directories := values(f)
		switch {
		case directories:
			fmt.Fprintf(&b, "\t-%s) _emqgen_directories; return ;;\n", f.Name)
		case takesValue(f):
			fmt.Fprintf(&b, "\t-%s) _emqgen_words '%s'; return ;;\n", f.Name, strings.Join(choice, " "))
		}
	}
	fmt.Fprintf(&b, `	esac
	if [[ $word == -* ]]; then
		_emqgen_words '%s'
		return
	fi
	((COMP_CWORD == 1)) && _emqgen_words '%s'
	_emqgen_directories
}
complete -o filenames -F _emqgen emqgen
`, strings.Join(w.dashed(), " "), strings.Join(w.names, " "))
	return b.String()
}

func zsh(w words) string {
	var b strings.Builder
	b.WriteString(`#compdef emqgen
# zsh completion of emqgen; load it with: source <(emqgen completion zsh)
# or write it to a file called _emqgen in a directory of fpath.
_emqgen() {
	if ((CURRENT > 2)); then
		case $words[2] in
`)
	for _, name := range w.names {
		fmt.Fprintf(&b, "\t\t%s) compadd -- %s; return ;;\n", name, strings.Join(w.commands[name], " "))
	}
	b.WriteString("\t\tesac\n\tfi\n\tlocal before=$words[CURRENT-1]\n\tif [[ $PREFIX == -*=* ]]; then\n\t\tbefore=${PREFIX%%=*}\n\t\tcompset -P '*='\n\tfi\n\tcase $before in\n")
	for _, f := range w.flags {
		choice, directories := values(f)
		switch {
		case directories:
			fmt.Fprintf(&b, "\t-%s) _files -/; return ;;\n", f.Name)
		case takesValue(f) && len(choice) > 0:
			fmt.Fprintf(&b, "\t-%s) compadd -- %s; return ;;\n", f.Name, strings.Join(choice, " "))
		case takesValue(f):
			fmt.Fprintf(&b, "\t-%s) return ;;\n", f.Name)
		}
	}
	fmt.Fprintf(&b, `	esac
	if [[ $PREFIX == -* ]]; then
		compadd -- %s
		return
	fi
	((CURRENT == 2)) && compadd -- %s
	_files -/
}
if [[ ${funcstack[1]} == _emqgen ]]; then
	_emqgen "$@"
else
	compdef _emqgen emqgen
fi
`, strings.Join(w.dashed(), " "), strings.Join(w.names, " "))
	return b.String()
}

func fish(w words) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# fish completion of emqgen; load it with: emqgen completion fish | source
function __emqgen_runs
	set -l words (commandline -opc)
	set -q words[2]; and contains -- $words[2] $argv
end
complete -c emqgen -f
complete -c emqgen -n 'not __emqgen_runs %s' -a '(__fish_complete_directories)'
`, strings.Join(w.names, " "))
	for _, s := range subcommands() {
		fmt.Fprintf(&b, "complete -c emqgen -n '__fish_is_first_arg' -a %s -d %s\n", s.name, quoteFish(s.does))
		fmt.Fprintf(&b, "complete -c emqgen -n '__emqgen_runs %s' -a '%s'\n", s.name, strings.Join(w.commands[s.name], " "))
	}
	for _, f := range w.flags {
		_, does := flag.UnquoteUsage(f)
		line := fmt.Sprintf("complete -c emqgen -n 'not __emqgen_runs %s' -o %s -d %s", strings.Join(w.names, " "), f.Name, quoteFish(does))
		switch choice, directories := values(f); {
		case directories:
			line += " -x -a '(__fish_complete_directories)'"
		case takesValue(f):
			line += " -x -a '" + strings.Join(choice, " ") + "'"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func quoteFish(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}

// shellWord quotes an argument for a shell where it needs to be.
func shellWord(argument string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || slices.Contains([]rune("-_./,=:@+%"), r)
	}
	if argument != "" && !strings.ContainsFunc(argument, func(r rune) bool { return !plain(r) }) {
		return argument
	}
	return "'" + strings.ReplaceAll(argument, "'", `'\''`) + "'"
}
