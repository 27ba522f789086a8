package gen

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"path/filepath"

	"golang.org/x/tools/go/packages"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/internal/build"
	"github.com/echomq/echomq-go/gen/internal/emit"
	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/internal/validate"
	"github.com/echomq/echomq-go/gen/ir"
)

// Output is the name of the generated file of every package, and Lock that of
// the file beside it that remembers the contracts of its jobs.
const (
	Output = load.Output
	Lock   = load.LockName
)

// ErrLoad is what the errors of [Run] are when packages could not be found.
var ErrLoad = load.ErrLoad

// ErrRevision is what the errors of [Run] are when contracts cannot be compared
// with the revision that [Options] name.
var ErrRevision = load.ErrRevision

// Options say what to generate for.
type Options struct {
	// Dir is the directory in which patterns are read; "" is the current one.
	Dir string
	// Tags are build tags, separated by commas.
	Tags string
	// Patterns are packages as the go command takes them; none means ".".
	Patterns []string
	// Against is a revision of git. Its locks are those that contracts are compared
	// with, instead of the ones in the packages; with Check, beside them.
	Against string
	// Check says that the result is to be compared, and not written.
	Check bool
	// Accept are breaks of contracts that are to be recorded.
	Accept []Acceptance
}

// Result is everything that a run found out.
type Result struct {
	// Packages are those that declare queues, in the order of their paths.
	Packages []*ir.Package
	// Files maps the path of each generated file to its content.
	Files map[string][]byte
	// Orphans are generated files of packages that declare nothing any more.
	Orphans []string
	// Diagnostics are sorted. Where there is one, Files and Orphans are not to
	// be acted on.
	Diagnostics []annotations.Diagnostic
}

// Run generates for the packages that options name. Mistakes in their source
// are diagnostics; an error means that the packages could not be loaded, or a
// defect of the generator.
func Run(ctx context.Context, options Options) (*Result, error) {
	patterns := options.Patterns
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	found, err := load.Metadata(ctx, load.Config{Dir: options.Dir, Tags: options.Tags, Patterns: patterns})
	if err != nil {
		return nil, err
	}
	contracts, err := newContracts(ctx, options)
	if err != nil {
		return nil, err
	}
	r := newRun(token.NewFileSet(), contracts)
	for _, pkg := range found {
		if err := r.parse(ctx, pkg, os.ReadFile); err != nil {
			return nil, err
		}
	}
	return r.finish(ctx)
}

// run is one call of [Run] or [Package].
type run struct {
	files  *token.FileSet
	report *annotations.Reporter
	result *Result
	// resolve finds the types of packages.
	resolve func(roots []load.Root) []*load.Types
	// sound are the packages whose directives are free of mistakes.
	sound []build.Input
	*contracts
}

func newRun(files *token.FileSet, contracts *contracts) *run {
	return &run{
		files:     files,
		report:    annotations.NewReporter(files),
		result:    &Result{Files: map[string][]byte{}},
		resolve:   func(roots []load.Root) []*load.Types { return load.Resolve(files, roots) },
		contracts: contracts,
	}
}

// parse parses a package, finds its directives and checks them.
func (r *run) parse(ctx context.Context, pkg *packages.Package, read load.ReadFile) error {
	source, err := load.Parse(r.files, pkg, read)
	if err != nil {
		return fmt.Errorf("%w: %w", load.ErrLoad, err)
	}
	if source == nil {
		return nil
	}
	return r.read(ctx, source)
}

// finish generates what was parsed, and returns everything that was found out.
func (r *run) finish(ctx context.Context) (*Result, error) {
	if err := r.generate(ctx); err != nil {
		return nil, err
	}
	r.result.Diagnostics = r.report.Diagnostics()
	if len(r.result.Diagnostics) > 0 {
		return r.result, nil
	}
	return r.result, r.unused()
}

// read finds the directives of a package and checks them.
func (r *run) read(ctx context.Context, source *load.Source) error {
	report := annotations.NewReporter(r.files)
	facts := annotations.Scan(load.Syntax(source.Files), report)
	refuseElsewhere(source, report)
	mistaken := len(report.Diagnostics()) > 0
	declares := len(facts.Queues)+len(facts.Jobs)+len(facts.Retired) > 0
	if declares || mistaken || source.Generated == load.Ours || source.Lock != nil {
		mistaken = broken(source, report) || mistaken
	}
	if declares && source.Generated == load.Foreign {
		foreign(source, report)
	}
	if !mistaken {
		facts.Check(report)
	}
	diagnostics := report.Diagnostics()
	r.report.Add(diagnostics...)
	switch {
	case len(diagnostics) > 0:
	case declares:
		r.sound = append(r.sound, build.Input{Source: source, Facts: facts})
	default:
		if source.Generated == load.Ours {
			r.result.Orphans = append(r.result.Orphans, outputOf(source))
		}
		return r.remember(ctx, source, &ir.Package{}, r.report)
	}
	return nil
}

// generate builds, validates and emits the sound packages. It goes on where
// others have mistakes, to find all mistakes at once.
func (r *run) generate(ctx context.Context) error {
	roots := make([]load.Root, len(r.sound))
	for i, in := range r.sound {
		roots[i] = load.Root{Source: in.Source, Names: build.Mentioned(in.Facts)}
	}
	for i, resolved := range r.resolve(roots) {
		in := r.sound[i]
		in.Types = resolved
		report := annotations.NewReporter(r.files)
		pkg := build.Package(in, report)
		if len(report.Diagnostics()) == 0 {
			if err := r.remember(ctx, in.Source, pkg, report); err != nil {
				return err
			}
		}
		report.Add(validate.Package(pkg, in.Source.Meta.Dir)...)
		if diagnostics := report.Diagnostics(); len(diagnostics) > 0 {
			r.report.Add(diagnostics...)
			continue
		}
		content, err := emit.Package(pkg)
		if err != nil {
			return fmt.Errorf("package %s: %w", pkg.Path, err)
		}
		r.result.Packages = append(r.result.Packages, pkg)
		r.result.Files[outputOf(in.Source)] = content
	}
	return nil
}

func outputOf(source *load.Source) string {
	return filepath.Join(source.Meta.Dir, load.Output)
}
