package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// guarded is the parameter of a guard: the compiler names it in its error.
const guarded = "runGoGenerate"

// guard makes the file fail to compile when the fields of a payload change and
// the file does not: a struct converts to a copy of itself, and to nothing
// else.
func (f *file) guard(job *ir.Job) {
	copied := f.structType(job.Payload.Fields)
	f.add(comment(fmt.Sprintf("If this function does not compile, the fields of %s have changed since this file was generated: run go generate.", job.Payload.Type)),
		jen.Func().Id("_").Params(f.local(guarded).Id(job.Payload.Type)).
			Block(jen.Id("_").Op("=").Add(copied).Call(f.local(guarded))))
}

func (f *file) structType(fields []ir.Field) *jen.Statement {
	var list []jen.Code
	for _, field := range fields {
		if field.Embedded {
			list = append(list, f.typeOf(field.Type))
		} else {
			list = append(list, jen.Id(field.Name).Add(f.typeOf(field.Type)))
		}
	}
	return jen.Struct(list...)
}

// typeOf writes a type as its source spells it.
func (f *file) typeOf(t ir.Type) *jen.Statement {
	switch t.Kind {
	case ir.Named:
		return f.named(t)
	case ir.Pointer:
		return jen.Op("*").Add(f.typeOf(*t.Elem))
	case ir.Slice:
		return jen.Index().Add(f.typeOf(*t.Elem))
	case ir.Array:
		return jen.Index(jen.Lit(int(t.Len))).Add(f.typeOf(*t.Elem))
	case ir.Map:
		return jen.Map(f.typeOf(*t.Key)).Add(f.typeOf(*t.Elem))
	case ir.Chan:
		elem := f.typeOf(*t.Elem)
		if t.Elem.Kind == ir.Chan {
			elem = jen.Parens(elem) // which of the two is it that an arrow belongs to
		}
		return jen.Id(t.Name).Add(elem)
	case ir.Struct:
		return f.structType(t.Fields)
	case ir.Func:
		return jen.Func().Add(f.signature(t))
	case ir.Interface:
		return f.interfaceType(t)
	}
	return jen.Id(t.Name)
}

func (f *file) named(t ir.Type) *jen.Statement {
	name := jen.Id(t.Name)
	if t.Path != "" {
		name = jen.Qual(t.Path, t.Name)
	}
	if len(t.Args) == 0 {
		return name
	}
	return name.Types(f.typesOf(t.Args)...)
}

func (f *file) typesOf(types []ir.Type) []jen.Code {
	written := make([]jen.Code, len(types))
	for i, t := range types {
		written[i] = f.typeOf(t)
	}
	return written
}

func (f *file) signature(t ir.Type) *jen.Statement {
	parameters := f.typesOf(t.Params)
	if t.Variadic {
		last := len(parameters) - 1
		parameters[last] = jen.Op("...").Add(f.typeOf(*t.Params[last].Elem))
	}
	return jen.Params(parameters...).Params(f.typesOf(t.Results)...)
}

func (f *file) interfaceType(t ir.Type) *jen.Statement {
	var members []jen.Code
	for _, method := range t.Fields {
		members = append(members, jen.Id(method.Name).Add(f.signature(method.Type)))
	}
	members = append(members, f.typesOf(t.Args)...)
	return jen.Interface(members...)
}
