package build

import (
	"go/types"
	"reflect"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// packedFields collects the fields of one encoded struct, those of embedded
// structs included.
type packedFields struct {
	*packer
	embedded map[types.Type]bool
	fields   []ir.PackedField
}

// add collects the fields that structure adds, which path leads to.
func (f *packedFields) add(structure *types.Struct, at place, path []string, pointers []int) {
	for i := range structure.NumFields() {
		field := structure.Field(i)
		tag := readTag(structure.Tag(i))
		inner := f.fieldPlace(field, at)
		if tag.skip {
			continue
		}
		way := append(slices.Clone(path), field.Name())
		if promoted := promotedStruct(field, tag); promoted != nil {
			if f.embedded[field.Type()] {
				continue
			}
			f.embedded[field.Type()] = true
			if !field.Exported() && field.Pkg() != f.Types.Package {
				way = path // its fields are reached as the outer struct's own
			}
			through := pointers
			if _, pointer := field.Type().Underlying().(*types.Pointer); pointer {
				through = append(slices.Clone(pointers), len(way)-1)
			}
			inner.foreign = inner.foreign || isForeign(field.Type(), f.Types.Package)
			f.add(promoted, inner, way, through)
			continue
		}
		if !field.Exported() {
			continue
		}
		packed := ir.PackedField{Name: tag.name, Path: way, Pointers: pointers}
		if packed.Name == "" {
			packed.Name = field.Name()
		}
		packed.Omit = f.omit(field, structure.Tag(i), f.tagPlace(field, at))
		packed.Value = f.value(field.Type(), inner)
		f.fields = append(f.fields, packed)
	}
}

// omit returns when a field is left out, as its tag says.
func (f *packedFields) omit(field *types.Var, text string, at place) ir.Omit {
	_, options, _ := strings.Cut(reflect.StructTag(text).Get("json"), ",")
	omit := ir.Omit("")
	for option := range strings.SplitSeq(options, ",") {
		switch {
		case option == "omitempty" && omit == "":
			omit = omitEmpty(field.Type())
		case option == "omitzero":
			omit = f.omitZero(field.Type(), at)
		case option == "string" && !at.foreign:
			f.refuse(annotations.RuleTag, at, "the tag of "+at.path+" has option string, which is for JSON only and has no effect with codec=msgpack")
		}
	}
	return omit
}

// omitEmpty returns when encoding/json takes a value for empty.
func omitEmpty(t types.Type) ir.Omit {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return omitBasic(u)
	case *types.Pointer, *types.Interface:
		return ir.OmitNil
	case *types.Slice:
		return ir.OmitList
	case *types.Map:
		return ir.OmitMap
	case *types.Array:
		if u.Len() == 0 {
			return ir.OmitZero
		}
	}
	return ""
}

func omitBasic(t *types.Basic) ir.Omit {
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return ir.OmitFalse
	case info&types.IsString != 0:
		return ir.OmitText
	}
	return ir.OmitNumber
}

// omitZero returns when encoding/json takes a value for zero.
func (f *packedFields) omitZero(t types.Type, at place) ir.Omit {
	_, pointer := t.Underlying().(*types.Pointer)
	switch {
	case hasIsZero(t) && pointer:
		return ir.OmitNilOrIsZero
	case hasIsZero(t):
		return ir.OmitIsZero
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return omitBasic(u)
	case *types.Pointer, *types.Slice, *types.Map, *types.Interface:
		return ir.OmitNil
	}
	if !types.Comparable(t) {
		f.refuse(annotations.RuleNoCodec, at, at.path, "its tag has option omitzero, and "+f.string(t)+" cannot be compared with its zero value; give it a method IsZero, or use a pointer with omitempty")
	}
	return ir.OmitZero
}

// hasIsZero reports whether t has the method by which encoding/json asks.
func hasIsZero(t types.Type) bool {
	object, _, _ := types.LookupFieldOrMethod(t, true, nil, "IsZero")
	f, ok := object.(*types.Func)
	if !ok {
		return false
	}
	signature := f.Signature()
	return signature.Params().Len() == 0 && signature.Results().Len() == 1 &&
		types.Identical(signature.Results().At(0).Type(), types.Typ[types.Bool])
}
