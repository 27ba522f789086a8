package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/echomq/echomq-go/annotations"
)

// subcommand is what emqgen does besides generating. Its name is taken as such
// only as the first argument; a directory of that name is ./NAME.
type subcommand struct {
	name, arguments, does string
	run                   func(c *command, arguments []string) int
}

func subcommands() []subcommand {
	return []subcommand{
		{"help", "[DIRECTIVE…]", "print what emqgen takes, or all items of directives", (*command).help},
		{"explain", "[CODE…]", "list the codes of all errors, or explain some", (*command).explain},
		{"completion", "SHELL", "print what completes the command in " + either(shellNames()), (*command).completion},
	}
}

// subcommandOf returns the subcommand that arguments begin with, or nil.
func subcommandOf(arguments []string) *subcommand {
	for _, s := range subcommands() {
		if len(arguments) > 0 && arguments[0] == s.name {
			return &s
		}
	}
	return nil
}

// usage prints how emqgen is called.
func (c *command) usage(w io.Writer) {
	fmt.Fprint(w, "usage: emqgen [flags] [packages]\n")
	for _, s := range subcommands() {
		fmt.Fprintf(w, "       emqgen %s  %s\n", pad(s.name+" "+s.arguments, 20), s.does)
	}
	fmt.Fprintln(w)
	flags := c.flags()
	flags.SetOutput(w)
	flags.PrintDefaults()
}

// help prints how emqgen is called and which directives there are, or the items
// of some.
func (c *command) help(names []string) int {
	if len(names) == 0 {
		c.usage(c.stdout)
		fmt.Fprint(c.stdout, "\ndirectives:\n")
		for _, spec := range annotations.Directives() {
			fmt.Fprintf(c.stdout, "  //%s%s  %s\n", annotations.Prefix, pad(spec.Name, widest()), firstSentence(spec.Doc))
		}
		return exitFine
	}
	for i, name := range names {
		spec, near := findDirective(name)
		if spec == nil {
			return c.cannot("there is no directive %s%s; there are %s", name, near, strings.Join(directiveNames(), ", "))
		}
		if i > 0 {
			fmt.Fprintln(c.stdout)
		}
		printDirective(c.stdout, spec)
	}
	return exitFine
}

// findDirective returns the directive of a name, which may be written as in the
// source; if there is none, what ends a message about it.
func findDirective(name string) (spec *annotations.Spec, near string) {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "//"), annotations.Prefix)
	for _, spec := range annotations.Directives() {
		if spec.Name == name {
			return &spec, ""
		}
	}
	if annotations.RuleByCode(strings.ToUpper(name)) != nil {
		return nil, "; for the error, write emqgen explain " + strings.ToUpper(name)
	}
	if found := annotations.MeantDirective(name); found != "" {
		return nil, "; did you mean " + found + "?"
	}
	return nil, ""
}

func directiveNames() []string {
	var names []string
	for _, spec := range annotations.Directives() {
		names = append(names, spec.Name)
	}
	return names
}

// widest returns the length of the longest name of a directive.
func widest() int {
	width := 0
	for _, name := range directiveNames() {
		width = max(width, len(name))
	}
	return width
}

func pad(text string, width int) string { return fmt.Sprintf("%-*s", width, text) }

func firstSentence(doc string) string {
	sentence, _, _ := strings.Cut(doc, ". ")
	return strings.TrimSuffix(sentence, ".")
}

func printDirective(w io.Writer, spec *annotations.Spec) {
	often := ""
	if spec.Repeats {
		often = ", once or several times"
	}
	fmt.Fprintf(w, "//%s%s, above %s%s\n    %s\n\n        %s\n", annotations.Prefix, spec.Name, spec.On, often, spec.Doc, spec.Example)
	for _, item := range spec.Items {
		required := ""
		if item.Required {
			required = ", required"
		}
		fmt.Fprintf(w, "\n    %s%s\n        %s\n", usage(item), required, item.Doc)
		if item.Default != "" {
			fmt.Fprintf(w, "        Default: %s.\n", item.Default)
		}
	}
}

// usage shows how an item is written.
func usage(item annotations.Item) string {
	values := item.Wants()
	if item.Key == "" {
		return values
	}
	return item.Key + "=…  " + values
}

// either lists the words of a choice.
func either(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
