package build

import (
	"go/types"

	"github.com/echomq/echomq-go/gen/ir"
)

// fields returns the fields of a struct as its source spells them.
func (b *builder) fields(structure *types.Struct) []ir.Field {
	fields := make([]ir.Field, structure.NumFields())
	for i := range fields {
		field := structure.Field(i)
		fields[i] = ir.Field{
			Name:     field.Name(),
			Embedded: field.Embedded(),
			Type:     b.spell(field.Type()),
			Tag:      structure.Tag(i),
		}
	}
	return fields
}

// spell returns t as its source spells it, and notes the packages that it
// mentions.
func (b *builder) spell(t types.Type) ir.Type {
	switch t := t.(type) {
	case *types.Alias:
		return b.named(t.Obj(), t.TypeArgs())
	case *types.Named:
		return b.named(t.Obj(), t.TypeArgs())
	case *types.Basic:
		return b.basic(t)
	case *types.Pointer:
		return ir.Type{Kind: ir.Pointer, Elem: b.spelled(t.Elem())}
	case *types.Slice:
		return ir.Type{Kind: ir.Slice, Elem: b.spelled(t.Elem())}
	case *types.Array:
		return ir.Type{Kind: ir.Array, Elem: b.spelled(t.Elem()), Len: t.Len()}
	case *types.Map:
		return ir.Type{Kind: ir.Map, Key: b.spelled(t.Key()), Elem: b.spelled(t.Elem())}
	case *types.Chan:
		return ir.Type{Kind: ir.Chan, Name: arrows[t.Dir()], Elem: b.spelled(t.Elem())}
	case *types.Struct:
		return ir.Type{Kind: ir.Struct, Fields: b.fields(t)}
	case *types.Signature:
		return b.signature(t)
	case *types.Interface:
		return b.interfaceType(t)
	}
	return ir.Type{Kind: ir.Basic, Name: t.String()}
}

var arrows = map[types.ChanDir]string{types.SendRecv: "chan", types.SendOnly: "chan<-", types.RecvOnly: "<-chan"}

func (b *builder) spelled(t types.Type) *ir.Type {
	spelled := b.spell(t)
	return &spelled
}

func (b *builder) basic(t *types.Basic) ir.Type {
	if t.Kind() == types.UnsafePointer {
		b.imports["unsafe"] = "unsafe"
		return ir.Type{Kind: ir.Named, Path: "unsafe", Name: "Pointer"}
	}
	return ir.Type{Kind: ir.Basic, Name: t.Name()}
}

func (b *builder) named(object *types.TypeName, arguments *types.TypeList) ir.Type {
	if object.Pkg() == nil {
		return ir.Type{Kind: ir.Basic, Name: object.Name()}
	}
	named := ir.Type{Kind: ir.Named, Name: object.Name()}
	if object.Pkg() != b.Types.Package {
		named.Path = object.Pkg().Path()
		b.imports[named.Path] = object.Pkg().Name()
	}
	for i := range arguments.Len() {
		named.Args = append(named.Args, b.spell(arguments.At(i)))
	}
	return named
}

func (b *builder) signature(t *types.Signature) ir.Type {
	f := ir.Type{Kind: ir.Func, Variadic: t.Variadic()}
	for parameter := range t.Params().Variables() {
		f.Params = append(f.Params, b.spell(parameter.Type()))
	}
	for result := range t.Results().Variables() {
		f.Results = append(f.Results, b.spell(result.Type()))
	}
	return f
}

func (b *builder) interfaceType(t *types.Interface) ir.Type {
	i := ir.Type{Kind: ir.Interface}
	for method := range t.ExplicitMethods() {
		i.Fields = append(i.Fields, ir.Field{Name: method.Name(), Type: b.spell(method.Type())})
	}
	for embedded := range t.EmbeddedTypes() {
		i.Args = append(i.Args, b.spell(embedded))
	}
	return i
}
