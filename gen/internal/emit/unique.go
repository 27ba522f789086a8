package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

var (
	untils    = map[string]string{"started": "UntilStarted", "finished": "UntilFinished", "removed": "UntilRemoved"}
	conflicts = map[string]string{"existing": "ConflictExisting", "replace": "ConflictReplace", "error": "ConflictError"}
)

func (f *file) uniqueSpec(unique *ir.Unique) *literal {
	spec := f.literal("UniqueSpec")
	if unique != nil {
		spec.word("Until", unique.Until, untils)
		spec.duration("For", unique.For)
		spec.word("Conflict", unique.Conflict, conflicts)
	}
	return spec
}

// uniqueBy emits the call that gives a job type its unique key: a function over
// the fields that the directive names.
func (f *file) uniqueBy(job *ir.Job) jen.Code {
	if job.Unique == nil {
		return jen.Null()
	}
	var values []jen.Code
	for _, field := range job.Unique.Fields {
		values = append(values, f.uniqueValue(field))
	}
	parameters := []jen.Code{jen.Id("key").Op("*").Add(f.echomq("UniqueKey")), jen.Id("payload").Op("*").Id(job.Payload.Type)}
	if len(values) == 0 {
		parameters = []jen.Code{jen.Op("*").Add(f.echomq("UniqueKey")), jen.Op("*").Id(job.Payload.Type)}
	}
	return jen.Dot("UniqueBy").Call(jen.Func().Params(parameters...).Block(values...))
}

// groupBy emits the call that gives a job type its group: a function over the
// field that the directive names.
func (f *file) groupBy(job *ir.Job) jen.Code {
	if job.Group == nil {
		return jen.Null()
	}
	parameters := []jen.Code{jen.Id("key").Op("*").Add(f.echomq("GroupKey")), jen.Id("payload").Op("*").Id(job.Payload.Type)}
	return jen.Dot("GroupBy").Call(jen.Func().Params(parameters...).Block(f.uniqueValue(*job.Group)))
}

// uniqueValue writes one value into the key. What a nil pointer leads to is not
// there.
func (f *file) uniqueValue(field ir.UniqueField) jen.Code {
	write := jen.Id("key").Dot(uniqueMethods[field.Form]).Call(uniqueArgument(field))
	if len(field.Pointers) == 0 {
		return write
	}
	condition := jen.Null()
	for i, at := range field.Pointers {
		if i > 0 {
			condition.Op("||")
		}
		condition.Add(selector(field.Path[:at+1])).Op("==").Nil()
	}
	return jen.If(condition).Block(jen.Id("key").Dot("Nil").Call()).Else().Block(write)
}

var (
	uniqueMethods = map[ir.UniqueForm]string{
		ir.UniqueBool: "Bool", ir.UniqueInt: "Int", ir.UniqueUint: "Uint", ir.UniqueText: "Text",
		ir.UniqueBytes: "Bytes", ir.UniqueTime: "Time", ir.UniqueMarshaled: "Marshaled",
	}
	uniqueTypes = map[ir.UniqueForm]*jen.Statement{
		ir.UniqueBool: jen.Bool(), ir.UniqueInt: jen.Int64(), ir.UniqueUint: jen.Uint64(), ir.UniqueText: jen.String(),
		ir.UniqueBytes: jen.Index().Byte(),
	}
)

func uniqueArgument(field ir.UniqueField) jen.Code {
	value := selector(field.Path)
	if field.Form == ir.UniqueMarshaled {
		return value.Dot("MarshalText").Call()
	}
	if last := len(field.Pointers) - 1; last >= 0 && field.Pointers[last] == len(field.Path)-1 {
		value = jen.Op("*").Add(value)
	}
	if field.Converted {
		return uniqueTypes[field.Form].Clone().Call(value)
	}
	return value
}

// selector names a field of the payload.
func selector(path []string) *jen.Statement {
	value := jen.Id("payload")
	for _, name := range path {
		value.Dot(name)
	}
	return value
}
