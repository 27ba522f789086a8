package build

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// codecMsgpack is the codec for whose types functions are generated.
const codecMsgpack = "msgpack"

// pack finds out how the payload and the result of a job are encoded, if not as
// JSON. It expects types that cross the wire as JSON.
func (b *builder) pack(job *annotations.Job, built *ir.Job) {
	if job.Directive("job").Text("codec") != codecMsgpack {
		return
	}
	built.Codec = codecMsgpack
	if built.Payload.Shape != "" {
		name := job.Type.Name
		built.Payload.Packed = b.packType(name.Name, place{path: name.Name, pos: name.Pos(), end: name.End()})
	}
	if built.Result != nil && built.Result.Shape != "" {
		value := job.Directive("result").Argument("").Values[0]
		built.Result.Packed = b.packType(value.Text, place{path: value.Text, pos: value.Pos, end: value.End})
	}
}

// packType returns the value that a type of the package is encoded as.
func (b *builder) packType(name string, at place) *ir.PackedValue {
	declared, ok := b.lookup(name)
	if !ok {
		return nil
	}
	p := &packer{crossing: &crossing{builder: b, progress: map[visit]bool{}, reported: map[token.Pos]bool{}}}
	value := p.value(declared.Type(), at)
	return &value
}

// packer finds out how types are encoded.
type packer struct {
	*crossing
}

func (p *packer) value(t types.Type, at place) ir.PackedValue {
	v := ir.PackedValue{Type: p.spell(t)}
	named, isNamed := types.Unalias(t).(*types.Named)
	if isNamed {
		at.foreign = named.Obj().Pkg() != p.Types.Package
		if form := p.ownForm(named, at); form != "" {
			v.Form = form
			return v
		}
	}
	if structure, is := t.Underlying().(*types.Struct); is {
		v.Form, v.Ref = ir.PackedRef, p.structType(t, structure, at)
		return v
	}
	if isNamed && p.containsItself(named) {
		v.Form, v.Ref = ir.PackedRef, p.recursive(named, at)
		return v
	}
	p.structural(&v, t, at)
	return v
}

// ownForm returns the form of a type that writes itself, or "".
func (p *packer) ownForm(t *types.Named, at place) ir.PackedForm {
	if isTime(t) {
		return ir.PackedTime
	}
	writer, writes := firstMethod(t, true, marshalJSON, marshalText)
	if !writes {
		return ""
	}
	form, reader := ir.PackedJSON, unmarshalJSON
	if writer == marshalText {
		form, reader = ir.PackedText, unmarshalText
	}
	if !hasMethod(t, true, reader) {
		p.refuse(annotations.RuleOneWay, at, at.path, p.string(t), writer.name, reader.name)
	}
	p.spellable(t, at)
	return form
}

func isTime(t types.Type) bool { return isNamed(t, "time", "Time") }

// structural fills in v for a type that does not write itself.
func (p *packer) structural(v *ir.PackedValue, t types.Type, at place) {
	elem := func(t types.Type) *ir.PackedValue {
		value := p.value(t, at)
		return &value
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		v.Form = basicForm(u)
	case *types.Pointer:
		v.Form, v.Elem = ir.PackedPointer, elem(u.Elem())
	case *types.Slice:
		if isBytes(u) {
			v.Form = ir.PackedBytes
			return
		}
		v.Form, v.Elem = ir.PackedSlice, elem(u.Elem())
	case *types.Array:
		if types.Identical(u.Elem(), types.Typ[types.Byte]) {
			v.Form = ir.PackedByteArray
			return
		}
		v.Form, v.Elem = ir.PackedArray, elem(u.Elem())
	case *types.Map:
		p.mapType(v, u, at)
	case *types.Interface:
		p.refuse(annotations.RuleNoCodec, at, at.path, p.string(t)+" may hold anything; use json.RawMessage, or a type that knows what it holds")
	}
}

func basicForm(t *types.Basic) ir.PackedForm {
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return ir.PackedBool
	case info&types.IsUnsigned != 0:
		return ir.PackedUint
	case info&types.IsInteger != 0:
		return ir.PackedInt
	case t.Kind() == types.Float32:
		return ir.PackedFloat32
	case info&types.IsFloat != 0:
		return ir.PackedFloat64
	}
	return ir.PackedString
}

func (p *packer) mapType(v *ir.PackedValue, m *types.Map, at place) {
	v.Form = ir.PackedMap
	key := ir.PackedValue{Type: p.spell(m.Key())}
	basic, isBasic := m.Key().Underlying().(*types.Basic)
	switch {
	case isBasic && basic.Info()&types.IsString != 0:
		key.Form = ir.PackedString
	case hasMethod(m.Key(), false, marshalText):
		v.Form, key.Form = ir.PackedTextMap, ir.PackedText
	case isBasic:
		key.Form = basicForm(basic)
	}
	p.spellable(m.Key(), at)
	value := p.value(m.Elem(), at)
	v.Key, v.Elem = &key, &value
}

// containsItself reports whether a type that is no struct leads to itself without
// a struct between: such as type Tree []Tree.
func (p *packer) containsItself(t *types.Named) bool {
	seen := map[types.Type]bool{}
	var walk func(inner types.Type) bool
	walk = func(inner types.Type) bool {
		inner = types.Unalias(inner)
		if seen[inner] {
			return inner == t
		}
		seen[inner] = true
		switch u := inner.Underlying().(type) {
		case *types.Pointer:
			return walk(u.Elem())
		case *types.Slice:
			return walk(u.Elem())
		case *types.Array:
			return walk(u.Elem())
		case *types.Map:
			return walk(u.Elem())
		}
		return false
	}
	return walk(t)
}

// entry enters a type among those that have functions, and returns its place; new
// is false for one that is there.
func (p *packer) entry(t types.Type, at place) (place int, new bool) {
	t = types.Unalias(t)
	if place, known := p.packedBy.At(t).(int); known {
		return place, false
	}
	p.spellable(t, at)
	place = len(p.packed)
	p.packedBy.Set(t, place)
	name := p.unused(p.packedName(t, at))
	p.packed = append(p.packed, ir.Packed{
		Encode: "encode" + name, Decode: "decode" + name, Type: p.spell(t),
	})
	return place, true
}

func (p *packer) recursive(t *types.Named, at place) int {
	place, new := p.entry(t, at)
	if new {
		value := ir.PackedValue{Type: p.spell(t)}
		p.structural(&value, t, at)
		p.packed[place].Value = &value
	}
	return place
}

func (p *packer) structType(t types.Type, structure *types.Struct, at place) int {
	place, new := p.entry(t, at)
	if new {
		f := &packedFields{packer: p, embedded: map[types.Type]bool{}}
		f.add(structure, at, nil, nil)
		slices.SortFunc(f.fields, func(a, b ir.PackedField) int { return cmp.Compare(a.Name, b.Name) })
		p.packed[place].Fields = f.fields
	}
	return place
}

// packedName returns the part of a function's name that says for which type it is.
func (p *packer) packedName(t types.Type, at place) string {
	text := at.path
	if named, ok := types.Unalias(t).(*types.Named); ok {
		text = p.string(named)
	}
	var name strings.Builder
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		first, size := utf8.DecodeRuneInString(word)
		name.WriteRune(unicode.ToUpper(first))
		name.WriteString(word[size:])
	}
	return name.String() + "Msgpack"
}

// unused returns name, with a number where the package or another type has it.
func (p *packer) unused(name string) string {
	candidate := name
	for n := 2; p.taken("encode"+candidate) || p.taken("decode"+candidate); n++ {
		candidate = fmt.Sprintf("%s%d", name, n)
	}
	return candidate
}

func (p *packer) taken(name string) bool {
	return slices.ContainsFunc(p.declared, func(d ir.Declared) bool { return d.Name == name }) ||
		slices.ContainsFunc(p.packed, func(other ir.Packed) bool { return other.Encode == name || other.Decode == name })
}

// spellable refuses a type that generated code cannot name.
func (p *packer) spellable(t types.Type, at place) {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return
	}
	for argument := range named.TypeArgs().Types() {
		p.spellable(argument, at)
	}
	pkg := named.Obj().Pkg()
	switch {
	case pkg == p.Types.Package:
	case !named.Obj().Exported():
		p.refuse(annotations.RuleNoCodec, at, at.path, p.string(t)+" is not exported, so generated code cannot name it")
	case !importable(pkg.Path(), p.Types.Package.Path()):
		p.refuse(annotations.RuleNoCodec, at, at.path, p.string(t)+" is of an internal package, which generated code cannot import")
	}
}

// importable reports whether the package at by may import the one at path.
func importable(path, by string) bool {
	root, _, internal := cutInternal(path)
	return !internal || root == "" || by == root || strings.HasPrefix(by, root+"/")
}

// cutInternal returns what stands before the last element "internal" of a path.
func cutInternal(path string) (root, rest string, found bool) {
	elements := strings.Split(path, "/")
	for i := len(elements) - 1; i >= 0; i-- {
		if elements[i] == "internal" {
			return strings.Join(elements[:i], "/"), strings.Join(elements[i+1:], "/"), true
		}
	}
	return "", "", false
}
