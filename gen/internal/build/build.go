package build

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

// Input is everything that is known about one package.
type Input struct {
	Source *load.Source
	Facts  *annotations.Facts
	Types  *load.Types
}

// Mentioned returns the names of the types that the directives mention, whose
// declarations must be resolved.
func Mentioned(facts *annotations.Facts) []string {
	var names []string
	for _, job := range facts.Jobs {
		names = append(names, job.Type.Name.Name)
		for _, directive := range []string{"result", "progress"} {
			if named := job.Directive(directive).Text(""); named != "" {
				names = append(names, named)
			}
		}
	}
	return names
}

// Package returns the intermediate representation of one package. What is wrong
// with its types goes to report, and the result is then of no use.
func Package(in Input, report *annotations.Reporter) *ir.Package {
	b := &builder{Input: in, report: report, imports: map[string]string{}}
	b.declared = declaredNames(in.Source, b.position)
	pkg := &ir.Package{Declared: b.declared, Path: in.Source.Meta.PkgPath, Name: in.Source.Name}
	for _, queue := range in.Facts.Queues {
		pkg.Queues = append(pkg.Queues, b.queue(queue))
	}
	pkg.Packed = b.packed
	for path, name := range b.imports {
		pkg.Imports = append(pkg.Imports, ir.Import{Path: path, Name: name})
	}
	slices.SortFunc(pkg.Imports, func(a, b ir.Import) int { return strings.Compare(a.Path, b.Path) })
	return pkg
}

type builder struct {
	Input
	report *annotations.Reporter
	// imports maps the paths of mentioned packages to their names.
	imports  map[string]string
	declared []ir.Declared
	// packed are the types for which codecs are to be generated; packedBy finds
	// their places.
	packed   []ir.Packed
	packedBy typeutil.Map
	// tags is filled by tagsByField.
	tags map[token.Pos]*ast.BasicLit
}

func (b *builder) position(pos token.Pos) ir.Position {
	at := b.report.Position(pos)
	return ir.Position{File: filepath.Base(at.Filename), Line: at.Line, Column: at.Column}
}

// whereOf returns where an item stands; where it was not written, origin.
func (b *builder) whereOf(d *annotations.Directive, key string, origin token.Pos) ir.Position {
	if d.Has(key) {
		origin = d.Argument(key).Pos
	}
	return b.position(origin)
}

func (b *builder) queue(d *annotations.Directive) ir.Queue {
	queue := ir.Queue{
		Name:        d.Text("name"),
		GoName:      annotations.QueueGoName(d),
		Pos:         b.position(d.Pos),
		NamePos:     b.whereOf(d, "go", d.Argument("name").Pos),
		Concurrency: d.Int("concurrency"),
		Limit:       d.Int("limit"),
		Rate:        ir.Rate{Jobs: d.Int("rate"), Per: ir.Duration(d.Duration("rate"))},
		Lease:       ir.Duration(d.Duration("lease")),
		Events:      d.Text("events"),
	}
	for _, job := range b.Facts.Jobs {
		if b.Facts.QueueOf(job) == d {
			queue.Jobs = append(queue.Jobs, b.job(job))
			queue.GroupLimit = max(queue.GroupLimit, job.Directive("group").Int("limit"))
		}
	}
	for _, d := range b.Facts.Retired {
		if retired, _ := b.Facts.RetiredJob(d); retired.Queue == queue.Name {
			name := d.Argument("name").Values[0]
			queue.Retired = append(queue.Retired, ir.Retired{Name: retired.Name, To: d.Text("to"), Pos: b.position(name.Pos), End: b.position(name.End)})
		}
	}
	return queue
}

func (b *builder) job(job *annotations.Job) ir.Job {
	d := job.Directive("job")
	built := ir.Job{
		Name:       job.WireName(),
		GoName:     job.GoName(),
		Pos:        b.position(job.Type.Name.Pos()),
		NamePos:    b.whereOf(d, "go", job.Type.Name.Pos()),
		Doc:        strings.TrimSpace(job.Doc.Text()),
		Payload:    b.payload(job),
		Result:     b.result(job, "result"),
		Progress:   b.result(job, "progress"),
		Version:    max(d.Int("version"), 1),
		VersionPos: b.whereOf(d, "version", job.Type.Name.Pos()),
		Oldest:     d.Int("oldest"),
		Was:        b.was(job),
		Timeout:    ir.Duration(d.Duration("timeout")),
		NoLimit:    d.Off("timeout"),
		Priority:   d.Int("priority"),
		Delay:      ir.Duration(d.Duration("delay")),
		Retry:      retry(job.Directive("retry")),
		Keep: ir.Keep{
			Completed: retention(job.Directive("keep"), "completed"),
			Failed:    retention(job.Directive("keep"), "failed"),
			Logs:      job.Directive("keep").Int("logs"),
			NoLogs:    job.Directive("keep").Off("logs"),
		},
		Schedules: b.schedules(job),
		Unique:    b.unique(job),
		Group:     b.group(job),
		Batch:     batch(job.Directive("batch")),
	}
	b.pack(job, &built)
	if built.Payload.Shape != "" && (built.Result == nil || built.Result.Shape != "") {
		built.Contract = b.contract(job)
	}
	return built
}

func (b *builder) schedules(job *annotations.Job) []ir.Schedule {
	var schedules []ir.Schedule
	for _, d := range job.Crons() {
		schedule := ir.Schedule{
			ID: job.SchedulerID(d), Cron: d.Text(""), Every: ir.Duration(d.Duration("every")), Zone: d.Text("tz"), Misfire: d.Text("misfire"),
		}
		if _, declared := b.Facts.Functions[job.PayloadFunc()]; declared {
			schedule.Func = job.PayloadFunc()
		}
		schedules = append(schedules, schedule)
	}
	return schedules
}

func batch(d *annotations.Directive) *ir.Batch {
	if d == nil {
		return nil
	}
	return &ir.Batch{Size: d.Int("size"), Wait: ir.Duration(d.Duration("wait"))}
}

func retry(d *annotations.Directive) ir.Retry {
	return ir.Retry{
		Attempts: d.Int("attempts"),
		Backoff:  d.Text("backoff"),
		Base:     ir.Duration(d.Duration("base")),
		Cap:      ir.Duration(d.Duration("cap")),
		Jitter:   d.Text("jitter"),
		Stalls:   d.Int("stalls"),
		NoStalls: d.Off("stalls"),
	}
}

func retention(d *annotations.Directive, key string) ir.Retention {
	kept := ir.Retention{None: d.Off(key)}
	if argument := d.Argument(key); argument != nil {
		for _, value := range argument.Values {
			kept.Age += ir.Duration(value.Duration)
			kept.Count += value.Int
		}
	}
	return kept
}

// payload resolves the struct type of a job.
func (b *builder) payload(job *annotations.Job) ir.Payload {
	name := job.Type.Name
	payload := ir.Payload{Type: name.Name, Fields: []ir.Field{}}
	declared, ok := b.lookup(name.Name)
	if !ok {
		b.report.Report(annotations.RuleUnresolved, name.Pos(), name.End(), name.Name, "it is declared more than once, or hidden by another declaration")
		return payload
	}
	if !b.crosses(declared.Type(), name.Name, name.Pos(), name.End()) {
		return payload
	}
	payload.Shape = b.shape(declared.Type())
	if structure, ok := declared.Type().Underlying().(*types.Struct); ok {
		payload.Fields = b.fields(structure)
	}
	return payload
}

// lookup returns the type that the package declares under name.
func (b *builder) lookup(name string) (*types.TypeName, bool) {
	declared, ok := b.Types.Package.Scope().Lookup(name).(*types.TypeName)
	return declared, ok
}

// result resolves the type that a job's directive result, or progress, names.
func (b *builder) result(job *annotations.Job, directive string) *ir.Result {
	argument := job.Directive(directive).Argument("")
	if argument == nil {
		return nil
	}
	value := argument.Values[0]
	result := &ir.Result{Type: value.Text}
	declared, ok := b.lookup(value.Text)
	switch {
	case !ok || !declared.Exported():
		b.report.Report(annotations.RuleTypeName, value.Pos, value.End, value.Text, b.nearestType(directive, value.Text))
	case isGeneric(declared.Type()):
		b.report.Report(annotations.RuleGeneric, value.Pos, value.End, value.Text)
	default:
		if b.crosses(declared.Type(), value.Text, value.Pos, value.End) {
			result.Shape = b.shape(declared.Type())
		}
	}
	return result
}

func isGeneric(t types.Type) bool {
	switch t := t.(type) {
	case *types.Alias:
		return t.TypeParams().Len() > 0
	case *types.Named:
		return t.TypeParams().Len() > 0
	}
	return false
}

// nearestType ends a message with the exported type that was probably meant.
func (b *builder) nearestType(directive, name string) annotations.Suggestion {
	if types.Universe.Lookup(name) != nil {
		return annotations.Suggestion{Message: "; declare one: type " + strings.ToUpper(directive[:1]) + directive[1:] + " " + name}
	}
	var exported []string
	scope := b.Types.Package.Scope()
	for _, candidate := range scope.Names() {
		if _, ok := scope.Lookup(candidate).(*types.TypeName); ok && token.IsExported(candidate) {
			exported = append(exported, candidate)
		}
	}
	near := annotations.Nearest(name, exported)
	return annotations.DidYouMean(near, near)
}
