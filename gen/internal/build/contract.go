package build

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// contract returns what job looks like on the wire. It expects types that cross
// it.
func (b *builder) contract(job *annotations.Job) ir.Contract {
	w := &wireWriter{builder: b, named: map[string]string{}, taken: map[string]bool{}, open: map[*types.Named]bool{}}
	w.contract.Codec = cmp.Or(job.Directive("job").Text("codec"), "json")
	if declared, ok := b.lookup(job.Type.Name.Name); ok {
		w.contract.Payload = w.pointerTo(declared.Type(), declared.Name())
	}
	if name := job.Directive("result").Text(""); name != "" {
		if declared, ok := b.lookup(name); ok {
			w.contract.Result = w.pointerTo(declared.Type(), declared.Name())
		}
	}
	return w.contract
}

// was returns the names that job had.
func (b *builder) was(job *annotations.Job) []ir.Former {
	var former []ir.Former
	for i, was := range b.Facts.Was(job) {
		value := job.Directive("job").Argument("was").Values[i]
		former = append(former, ir.Former{Queue: was.Queue, Name: was.Name, Pos: b.position(value.Pos), End: b.position(value.End)})
	}
	return former
}

// wireWriter finds the types of one contract.
type wireWriter struct {
	*builder
	contract ir.Contract
	// named maps struct types, spelled out, to their names in the contract.
	named map[string]string
	taken map[string]bool
	// open are the types that are no structs and are being looked at.
	open map[*types.Named]bool
}

// pointerTo is typeOf for a part of another type. The hint names a struct that
// has no name.
func (w *wireWriter) pointerTo(t types.Type, hint string) *ir.WireType {
	found := w.typeOf(t, hint)
	return &found
}

func (w *wireWriter) typeOf(t types.Type, hint string) ir.WireType {
	t = types.Unalias(t)
	if named, ok := t.(*types.Named); ok {
		if _, writes := firstMethod(named, true, marshalJSON, marshalText); writes {
			return w.own(named)
		}
		hint = named.Obj().Name()
		if _, isStruct := named.Underlying().(*types.Struct); !isStruct {
			if w.open[named] {
				return w.own(named) // it contains itself, so only its name can tell what it is
			}
			w.open[named] = true
			defer delete(w.open, named)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return ir.WireType{Kind: ir.WireBasic, Name: types.Typ[u.Kind()].Name()}
	case *types.Pointer:
		elem := w.pointerTo(u.Elem(), hint)
		if elem.Kind == ir.WireNullable {
			return *elem // null is null, however deep
		}
		return ir.WireType{Kind: ir.WireNullable, Elem: elem}
	case *types.Slice:
		if isByte(u.Elem()) {
			return ir.WireType{Kind: ir.WireList, Elem: &ir.WireType{Kind: ir.WireBasic, Name: "byte"}}
		}
		return ir.WireType{Kind: ir.WireList, Elem: w.pointerTo(u.Elem(), hint)}
	case *types.Array:
		return ir.WireType{Kind: ir.WireArray, Len: u.Len(), Elem: w.pointerTo(u.Elem(), hint)}
	case *types.Map:
		return ir.WireType{Kind: ir.WireMap, Key: w.pointerTo(u.Key(), hint+"Key"), Elem: w.pointerTo(u.Elem(), hint)}
	case *types.Struct:
		return ir.WireType{Kind: ir.WireStructRef, Name: w.structure(t, u, hint)}
	}
	return ir.WireType{Kind: ir.WireBasic, Name: "any"}
}

// isByte reports whether a slice of t is written as bytes.
func isByte(t types.Type) bool {
	basic, ok := t.Underlying().(*types.Basic)
	_, writes := firstMethod(t, true, marshalJSON, marshalText)
	return ok && basic.Kind() == types.Uint8 && !writes
}

// own describes a type that encodes itself, or an argument of one.
func (w *wireWriter) own(t types.Type) ir.WireType {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		found := ir.WireType{Kind: ir.WireOwn, Name: t.Obj().Name()}
		if pkg := t.Obj().Pkg(); pkg != nil && pkg != w.Types.Package {
			found.Path = pkg.Path()
		}
		for argument := range t.TypeArgs().Types() {
			found.Args = append(found.Args, w.own(argument))
		}
		return found
	case *types.Pointer:
		elem := w.own(t.Elem())
		return ir.WireType{Kind: ir.WireNullable, Elem: &elem}
	case *types.Slice:
		elem := w.own(t.Elem())
		return ir.WireType{Kind: ir.WireList, Elem: &elem}
	case *types.Array:
		elem := w.own(t.Elem())
		return ir.WireType{Kind: ir.WireArray, Len: t.Len(), Elem: &elem}
	case *types.Map:
		key, elem := w.own(t.Key()), w.own(t.Elem())
		return ir.WireType{Kind: ir.WireMap, Key: &key, Elem: &elem}
	case *types.Basic:
		return ir.WireType{Kind: ir.WireBasic, Name: types.Typ[t.Kind()].Name()}
	}
	return ir.WireType{Kind: ir.WireBasic, Name: "any"}
}

// structure enters a struct into the contract and returns its name there.
func (w *wireWriter) structure(t types.Type, structure *types.Struct, hint string) string {
	key := types.TypeString(t, (*types.Package).Path)
	if name, known := w.named[key]; known {
		return name
	}
	name := hint
	for n := 2; w.taken[name]; n++ {
		name = fmt.Sprintf("%s%d", hint, n)
	}
	w.named[key], w.taken[name] = name, true
	at := len(w.contract.Structs)
	described := ir.WireStruct{Name: name}
	if named, ok := t.(*types.Named); ok {
		described.Pos = w.inPackage(named.Obj().Pos(), named.Obj().Pkg())
	}
	w.contract.Structs = append(w.contract.Structs, described)
	f := &wireFields{wireWriter: w, owner: name, goNames: map[string]bool{}}
	f.add(structure, false, map[types.Type]bool{})
	w.contract.Structs[at].Fields = f.fields
	return name
}

// inPackage returns a position in the package itself.
func (w *wireWriter) inPackage(pos token.Pos, pkg *types.Package) ir.Position {
	if pkg != w.Types.Package {
		return ir.Position{}
	}
	return w.position(pos)
}

// wireFields collects the fields of one struct.
type wireFields struct {
	*wireWriter
	owner   string
	fields  []ir.WireField
	goNames map[string]bool
}

// add collects the fields that structure adds to an object; those of an embedded
// pointer are optional, as it may be nil.
func (f *wireFields) add(structure *types.Struct, optional bool, embedded map[types.Type]bool) {
	for i := range structure.NumFields() {
		field := structure.Field(i)
		tag := readTag(structure.Tag(i))
		if tag.skip {
			continue
		}
		if promoted := promotedStruct(field, tag); promoted != nil {
			if !embedded[field.Type()] {
				embedded[field.Type()] = true
				_, pointer := field.Type().Underlying().(*types.Pointer)
				f.add(promoted, optional || pointer, embedded)
			}
			continue
		}
		if field.Exported() {
			f.fields = append(f.fields, f.field(field, structure.Tag(i), optional))
		}
	}
}

func (f *wireFields) field(field *types.Var, text string, optional bool) ir.WireField {
	tag := readTag(text)
	described := ir.WireField{
		Name: tag.name, GoName: field.Name(), Optional: optional || leftOut(field.Type(), text),
		Redacted: tagged(text, annotations.TagRedact), Public: tagged(text, annotations.TagPublic), Type: f.typeOf(field.Type(), f.owner+field.Name()),
		Pos: f.inPackage(field.Pos(), field.Pkg()),
	}
	if described.Name == "" {
		described.Name = field.Name()
	}
	if isQuoted(text) && described.Type.Kind == ir.WireBasic {
		described.Type.Kind = ir.WireQuoted
	}
	if elem := described.Type.Elem; isQuoted(text) && described.Type.Kind == ir.WireNullable && elem.Kind == ir.WireBasic {
		elem.Kind = ir.WireQuoted
	}
	for n := 2; f.goNames[described.GoName]; n++ {
		described.GoName = fmt.Sprintf("%s%d", field.Name(), n)
	}
	f.goNames[described.GoName] = true
	return described
}

// leftOut reports whether a field's tag has it left out when it is empty.
func leftOut(t types.Type, text string) bool {
	_, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case option == "omitzero":
			return true
		case option == "omitempty":
			array, isArray := t.Underlying().(*types.Array)
			_, isStruct := t.Underlying().(*types.Struct)
			return !isStruct && (!isArray || array.Len() == 0)
		}
	}
	return false
}

func isQuoted(text string) bool {
	_, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	for option := range strings.SplitSeq(options, ",") {
		if option == "string" {
			return true
		}
	}
	return false
}

// tagged reports whether a field has the struct tag of ours with the given value.
func tagged(text, value string) bool {
	return reflect.StructTag(text).Get(annotations.FieldTagKey) == value
}
