package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// The exit codes.
const (
	exitFine   = 0
	exitWrong  = 1
	exitCannot = 2
)

// command is one call of emqgen.
type command struct {
	options     gen.Options
	check, dump bool
	reason      string
	verbose     bool
	// arguments are those of the call.
	arguments []string
	// language is what is written in place of Go, into the directory out.
	language, out  string
	stdout, stderr io.Writer
}

// run is the whole command, and returns its exit code.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	c := &command{stdout: stdout, stderr: stderr, arguments: arguments}
	if s := subcommandOf(arguments); s != nil {
		return s.run(c, arguments[1:])
	}
	if err := c.parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitFine
		}
		return exitCannot
	}
	code, err := c.generate(ctx)
	if err != nil {
		return c.cannot("%v", err)
	}
	return code
}

// cannot says why emqgen could not run.
func (c *command) cannot(format string, arguments ...any) int {
	fmt.Fprintf(c.stderr, "emqgen: "+format+"\n", arguments...)
	return exitCannot
}

// flags returns the flags of the command, which set its fields.
func (c *command) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("emqgen", flag.ContinueOnError)
	flags.SetOutput(c.stderr)
	flags.Usage = func() { c.usage(c.stderr) }
	flags.StringVar(&c.options.Dir, "C", "", "work in `dir`")
	flags.StringVar(&c.options.Tags, "tags", "", "build tags, separated by commas, as a `list`")
	flags.StringVar(&c.options.Against, "against", "", "compare contracts with the locks of a git `revision`")
	flags.Func("accept", "record that the contract of the `job` is broken on purpose; needs -reason, may be repeated", func(name string) error {
		c.options.Accept = append(c.options.Accept, gen.Acceptance{Name: name})
		return nil
	})
	flags.StringVar(&c.reason, "reason", "", "why contracts are broken, as a `text` for the lock")
	flags.BoolVar(&c.check, "check", false, "write nothing; print a diff of what is stale, missing or orphaned")
	flags.BoolVar(&c.dump, "dump", false, "write nothing; print what was understood, as JSON")
	flags.BoolVar(&c.verbose, "v", false, "list files as they are written, unchanged or removed")
	flags.StringVar(&c.language, "lang", "", "write for another `language` in place of Go: "+strings.Join(gen.Languages(), ", "))
	flags.StringVar(&c.out, "out", "", "with -lang, write into `dir`; default the current directory, or that of -C")
	return flags
}

func (c *command) parse(arguments []string) error {
	flags := c.flags()
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	c.options.Patterns = flags.Args()
	c.options.Check = c.check
	for i := range c.options.Accept {
		c.options.Accept[i].Reason = c.reason
	}
	if complaint := c.contradiction(); complaint != "" {
		fmt.Fprintln(c.stderr, "emqgen: "+complaint)
		return errors.New(complaint)
	}
	return nil
}

// contradiction says what is wrong with the flags together, or "".
func (c *command) contradiction() string {
	accepts := len(c.options.Accept) > 0
	switch {
	case c.language == "" && c.out != "":
		return "-out says where what -lang writes goes"
	case c.language != "" && (c.dump || accepts):
		return "-lang goes with neither -dump nor -accept"
	case c.language != "" && !slices.Contains(gen.Languages(), c.language):
		return fmt.Sprintf("there is no language %q; there are %s", c.language, strings.Join(gen.Languages(), ", "))
	case c.check && c.dump:
		return "-check and -dump exclude each other"
	case accepts && (c.check || c.dump):
		return "-accept writes to the lock, which -check and -dump do not"
	case accepts && strings.TrimSpace(c.reason) == "":
		return "-accept needs a -reason, which the lock keeps"
	case !accepts && c.reason != "":
		return "-reason says why something is accepted; name the job with -accept"
	}
	return ""
}

// generate runs the generator and acts on what it found.
func (c *command) generate(ctx context.Context) (int, error) {
	dir, err := filepath.Abs(c.options.Dir)
	if err != nil {
		return 0, err
	}
	c.options.Dir = dir
	result, err := gen.Run(ctx, c.options)
	if err != nil {
		return 0, err
	}
	if len(result.Diagnostics) > 0 {
		c.printDiagnostics(result.Diagnostics)
		return exitWrong, nil
	}
	if c.language != "" {
		if err := c.translate(result); err != nil {
			return 0, err
		}
	}
	steps, err := result.Compare(os.ReadFile)
	if err != nil {
		return 0, err
	}
	foreign := c.foreign(steps)
	switch {
	case len(foreign) > 0:
		c.printDiagnostics(foreign)
		return exitWrong, nil
	case c.dump:
		return exitFine, c.printJSON(result)
	case c.check:
		return c.printStale(steps)
	default:
		return exitFine, c.carryOut(steps)
	}
}

// translate puts what is written for another language in the place of what was
// generated for Go.
func (c *command) translate(result *gen.Result) error {
	files, err := gen.Language(c.language, result.Packages)
	if err != nil {
		return err
	}
	out := filepath.Join(c.options.Dir, c.out)
	if filepath.IsAbs(c.out) {
		out = c.out
	}
	if !c.check {
		if err := os.MkdirAll(out, 0o777); err != nil {
			return err
		}
	}
	result.Files, result.Orphans = map[string][]byte{}, nil
	for name, content := range files {
		result.Files[filepath.Join(out, name)] = content
	}
	return nil
}

// foreign reports files that stand in the way of what is written for another
// language. For Go the generator has looked itself.
func (c *command) foreign(steps []gen.Step) []annotations.Diagnostic {
	var found []annotations.Diagnostic
	for _, s := range steps {
		if c.language != "" && s.Foreign() {
			at := token.Position{Filename: s.Path, Line: 1, Column: 1}
			found = append(found, annotations.RuleForeignFile.At(at, token.Position{}, filepath.Base(s.Path)))
		}
	}
	return found
}

func (c *command) printJSON(result *gen.Result) error {
	encoder := json.NewEncoder(c.stdout)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if result.Packages == nil {
		return encoder.Encode([]struct{}{})
	}
	return encoder.Encode(result.Packages)
}

// printDiagnostics prints each mistake with its file as one would name it from
// the working directory.
func (c *command) printDiagnostics(diagnostics []annotations.Diagnostic) {
	for _, d := range diagnostics {
		d.Pos.Filename = c.short(d.Pos.Filename)
		fmt.Fprintln(c.stderr, d)
	}
}

// short returns path relative to the working directory, where it lies below.
func (c *command) short(path string) string {
	relative, err := filepath.Rel(c.options.Dir, path)
	if err != nil || !filepath.IsLocal(relative) {
		return path
	}
	return relative
}

// writeFile replaces a file in one step, so that no reader sees half of it.
func writeFile(path string, content []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	_, err = temporary.Write(content)
	if err = errors.Join(err, temporary.Chmod(modeOf(path)), temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// modeOf returns the mode of the file at path, or that of a new one.
func modeOf(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}
