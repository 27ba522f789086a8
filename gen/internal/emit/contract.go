package emit

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

// contractSpec adds to a job's spec what is said about its contract, older versions,
// former names and redacted fields.
func (f *file) contractSpec(spec *literal, job *ir.Job) {
	contract := f.literal("ContractSpec")
	contract.text("Hash", job.ContractHash)
	contract.texts("Replaces", job.ReplacedHashes)
	spec.inner("Contract", contract, false)
	spec.number("Oldest", job.Oldest)
	hidden := redacted(&job.Contract)
	for i := range job.Older {
		hidden = append(hidden, redacted(&job.Older[i].Contract)...)
	}
	slices.Sort(hidden)
	spec.texts("Redact", slices.Compact(hidden))
	var names []string
	for _, was := range job.Was {
		names = append(names, was.Queue+"/"+was.Name)
	}
	spec.texts("Was", names)
}

// redacted returns the fields of a job's payload that are not to be shown, as JSON
// Pointers in which * stands for any element. In a type that contains itself the
// inner one is hidden whole.
func redacted(contract *ir.Contract) []string {
	var found []string
	open := map[string]bool{}
	var walk func(t *ir.WireType, path string)
	walk = func(t *ir.WireType, path string) {
		switch t.Kind {
		case ir.WireNullable:
			walk(t.Elem, path)
		case ir.WireList, ir.WireArray, ir.WireMap:
			walk(t.Elem, path+"/*")
		case ir.WireStructRef:
			if open[t.Name] {
				if hides(contract, t.Name) {
					found = append(found, path)
				}
				return
			}
			open[t.Name] = true
			defer delete(open, t.Name)
			s := contract.Struct(t.Name)
			for i := range s.Fields {
				inner := path + "/" + pointer.Replace(s.Fields[i].Name)
				if s.Fields[i].Redacted {
					found = append(found, inner)
				} else {
					walk(&s.Fields[i].Type, inner)
				}
			}
		}
	}
	walk(contract.Payload, "")
	return found
}

// pointer escapes a name of a JSON Pointer (RFC 6901).
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// hides reports whether a struct has a redacted field, at any depth.
func hides(contract *ir.Contract, name string) bool {
	for _, s := range contract.Structs {
		for i := range s.Fields {
			if s.Fields[i].Redacted && mentionedIn(contract, &ir.WireType{Kind: ir.WireStructRef, Name: name}, s.Name) {
				return true
			}
		}
	}
	return false
}

// reads emits the call that gives a job type the older versions of its payload.
// Each is upgraded step by step.
func (f *file) reads(job *ir.Job) jen.Code {
	if len(job.Older) == 0 {
		return jen.Null()
	}
	upgrades := make([]jen.Code, len(job.Older))
	var next *jen.Statement
	for i := len(job.Older) - 1; i >= 0; i-- {
		version := job.Older[i].Version
		step := jen.Id(job.Upgrade(version))
		if next != nil {
			step = f.echomq("Then").Call(step, next)
		}
		next = step
		upgrades[i] = f.echomq("Upgrade").Call(append([]jen.Code{jen.Lit(version), step.Clone()}, f.olderCodec(job, version)...)...)
	}
	return jen.Dot("Reads").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}, upgrades...)
}

// older emits the payload types of the versions that the lock remembers, and the
// declarations that do not compile without the functions that upgrade them.
func (f *file) older(queue *ir.Queue, job *ir.Job) {
	for i, older := range job.Older {
		name, next := job.VersionType(older.Version), job.TypeAfter(i)
		for j, s := range older.Contract.Structs {
			if !mentioned(&older.Contract, s.Name) {
				continue
			}
			doc := comment(fmt.Sprintf("%s is a part of %s.", older.TypeName(job, s.Name), name))
			if j == 0 {
				doc = comment(fmt.Sprintf("%s is the payload of job %q of queue %q in version %d, of which jobs may still be enqueued.", name, job.Name, queue.Name, older.Version))
			}
			f.add(doc, jen.Type().Id(older.TypeName(job, s.Name)).Add(f.olderStruct(job, &older, s)))
		}
		upgrade := job.Upgrade(older.Version)
		f.add(comment(fmt.Sprintf("If this line does not compile, write the function %s: it turns a payload of version %d into one of the next version. Or end the version, with oldest=%d.", upgrade, older.Version, older.Version+1)),
			jen.Var().Id("_").Func().Params(jen.Id(name)).Params(jen.Id(next), jen.Error()).Op("=").Id(upgrade))
	}
}

// mentioned reports whether a struct is a part of the payload: an older result is
// of no use.
func mentioned(contract *ir.Contract, name string) bool {
	return mentionedIn(contract, contract.Payload, name)
}

// mentionedIn reports whether a struct is a part of a type.
func mentionedIn(contract *ir.Contract, of *ir.WireType, name string) bool {
	seen := map[string]bool{}
	var walk func(t *ir.WireType)
	walk = func(t *ir.WireType) {
		if t == nil {
			return
		}
		if t.Kind == ir.WireStructRef && !seen[t.Name] {
			seen[t.Name] = true
			for i := range contract.Struct(t.Name).Fields {
				walk(&contract.Struct(t.Name).Fields[i].Type)
			}
		}
		walk(t.Key)
		walk(t.Elem)
	}
	walk(of)
	return seen[name]
}

func (f *file) olderStruct(job *ir.Job, older *ir.Older, s ir.WireStruct) *jen.Statement {
	var fields []jen.Code
	for i := range s.Fields {
		field := &s.Fields[i]
		tag := field.Name
		if quoted(&field.Type) {
			tag += ",string"
		} else if tag == "-" {
			tag += ","
		}
		fields = append(fields, jen.Id(field.GoName).Add(f.olderType(job, older, &field.Type)).Tag(map[string]string{"json": tag}))
	}
	return jen.Struct(fields...)
}

func quoted(t *ir.WireType) bool {
	return t.Kind == ir.WireQuoted || t.Kind == ir.WireNullable && t.Elem.Kind == ir.WireQuoted
}

// olderType writes a type of the lock in Go.
func (f *file) olderType(job *ir.Job, older *ir.Older, t *ir.WireType) *jen.Statement {
	inner := func(t *ir.WireType) *jen.Statement { return f.olderType(job, older, t) }
	switch t.Kind {
	case ir.WireNullable:
		return jen.Op("*").Add(inner(t.Elem))
	case ir.WireList:
		return jen.Index().Add(inner(t.Elem))
	case ir.WireArray:
		return jen.Index(jen.Lit(int(t.Len))).Add(inner(t.Elem))
	case ir.WireMap:
		return jen.Map(inner(t.Key)).Add(inner(t.Elem))
	case ir.WireStructRef:
		return jen.Id(older.TypeName(job, t.Name))
	case ir.WireOwn:
		name := jen.Id(t.Name)
		if t.Path != "" {
			name = jen.Qual(t.Path, t.Name)
		}
		if len(t.Args) == 0 {
			return name
		}
		var args []jen.Code
		for i := range t.Args {
			args = append(args, inner(&t.Args[i]))
		}
		return name.Types(args...)
	}
	return jen.Id(t.Name)
}

// olderImports returns the packages that only older payloads mention. The name of
// one outside the standard library is not known, so its import names it.
func olderImports(pkg *ir.Package) []ir.Import {
	var found []ir.Import
	var walk func(t *ir.WireType)
	walk = func(t *ir.WireType) {
		if t == nil {
			return
		}
		if t.Kind == ir.WireOwn && t.Path != "" {
			found = append(found, ir.Import{Path: t.Path, Name: identifier(load.AssumedName(t.Path))})
		}
		walk(t.Key)
		walk(t.Elem)
		for i := range t.Args {
			walk(&t.Args[i])
		}
	}
	for _, queue := range pkg.Queues {
		for _, job := range queue.Jobs {
			for _, older := range job.Older {
				for _, s := range older.Contract.Structs {
					for i := range s.Fields {
						walk(&s.Fields[i].Type)
					}
				}
			}
		}
	}
	return found
}

func identifier(name string) string {
	if token.IsIdentifier(name) {
		return name
	}
	return "other"
}

// isStandard reports whether a package is of the standard library, whose names
// are those that the paths suggest.
func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// guests returns the jobs of other queues that may still be enqueued in queue.
func guests(pkg *ir.Package, queue *ir.Queue) []*ir.Job {
	var found []*ir.Job
	for i := range pkg.Queues {
		if pkg.Queues[i].Name == queue.Name {
			continue
		}
		for j := range pkg.Queues[i].Jobs {
			job := &pkg.Queues[i].Jobs[j]
			for _, was := range job.Was {
				if was.Queue == queue.Name {
					found = append(found, job)
					break
				}
			}
		}
	}
	return found
}

var retirements = map[string]string{"failed": "RetireFailed", "discard": "RetireDiscard"}

// retired emits the routes of the jobs of a queue that are gone.
func (f *file) retired(queue *ir.Queue) []jen.Code {
	var routes []jen.Code
	for _, retired := range queue.Retired {
		routes = append(routes, f.echomq("Retired").Call(jen.Lit(retired.Name), f.echomq(retirements[retired.To])))
	}
	return routes
}
