package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// codecMsgpack is the codec for which decoders are generated.
const codecMsgpack = "msgpack"

// packOlder adds the decoders of older payloads to those of the package.
func (f *file) packOlder() {
	f.packs = append(f.packs, f.pkg.Packed...)
	f.olderCodecs = map[string]*ir.PackedValue{}
	for i := range f.pkg.Queues {
		for j := range f.pkg.Queues[i].Jobs {
			job := &f.pkg.Queues[i].Jobs[j]
			for k := range job.Older {
				older := &job.Older[k]
				if older.Contract.Codec != codecMsgpack {
					continue
				}
				p := &olderPacker{file: f, job: job, older: older, places: map[string]int{}}
				value := p.value(older.Contract.Payload)
				f.olderCodecs[job.VersionType(older.Version)] = &value
			}
		}
	}
}

// olderCodec emits the codec of an older payload, as a further argument; none for
// JSON.
func (f *file) olderCodec(job *ir.Job, version int) []jen.Code {
	value := f.olderCodecs[job.VersionType(version)]
	if value == nil {
		return nil
	}
	return []jen.Code{f.msgpack("NewCodec").Call(jen.Nil(), f.coder(decoding, *value))}
}

// olderPacker finds out how the types of an older payload are decoded.
type olderPacker struct {
	*file
	job    *ir.Job
	older  *ir.Older
	places map[string]int
}

func (p *olderPacker) value(t *ir.WireType) ir.PackedValue {
	v := ir.PackedValue{Type: p.goType(t)}
	elem := func(t *ir.WireType) *ir.PackedValue {
		value := p.value(t)
		return &value
	}
	switch t.Kind {
	case ir.WireNullable:
		v.Form, v.Elem = ir.PackedPointer, elem(t.Elem)
	case ir.WireList:
		v.Form, v.Elem = ir.PackedSlice, elem(t.Elem)
		if isByte(t.Elem) {
			v.Form, v.Elem = ir.PackedBytes, nil
		}
	case ir.WireArray:
		v.Form, v.Elem = ir.PackedArray, elem(t.Elem)
		if isByte(t.Elem) {
			v.Form, v.Elem = ir.PackedByteArray, nil
		}
	case ir.WireMap:
		v.Form, v.Key, v.Elem = ir.PackedMap, elem(t.Key), elem(t.Elem)
		if t.Key.Kind == ir.WireOwn {
			v.Form, v.Key.Form = ir.PackedTextMap, ir.PackedText
		}
	case ir.WireStructRef:
		v.Form, v.Ref = ir.PackedRef, p.structType(t.Name)
	case ir.WireOwn:
		v.Form = ir.PackedOwn
		if t.Path == "time" && t.Name == "Time" {
			v.Form = ir.PackedTime
		}
	default:
		v.Form = basicForms[t.Name]
	}
	return v
}

func isByte(t *ir.WireType) bool {
	return t.Kind == ir.WireBasic && (t.Name == "byte" || t.Name == "uint8")
}

var basicForms = map[string]ir.PackedForm{
	"bool": ir.PackedBool, "string": ir.PackedString, "float32": ir.PackedFloat32, "float64": ir.PackedFloat64,
	"int": ir.PackedInt, "int8": ir.PackedInt, "int16": ir.PackedInt, "int32": ir.PackedInt, "int64": ir.PackedInt, "rune": ir.PackedInt,
	"uint": ir.PackedUint, "uint8": ir.PackedUint, "uint16": ir.PackedUint, "uint32": ir.PackedUint, "uint64": ir.PackedUint, "byte": ir.PackedUint,
	"uintptr": ir.PackedUint,
}

// structType enters a struct among those that have functions, and returns its place.
func (p *olderPacker) structType(name string) int {
	if place, known := p.places[name]; known {
		return place
	}
	place := len(p.packs)
	p.places[name] = place
	goName := p.older.TypeName(p.job, name)
	p.packs = append(p.packs, ir.Packed{Decode: p.free("decode" + goName + "Msgpack"), Type: ir.Type{Kind: ir.Named, Name: goName}})
	var fields []ir.PackedField
	for _, field := range p.older.Contract.Struct(name).Fields {
		fields = append(fields, ir.PackedField{Name: field.Name, Path: []string{field.GoName}, Value: p.value(&field.Type)})
	}
	p.packs[place].Fields = fields
	return place
}

// free returns name, with a number where the package or another function has it.
func (p *olderPacker) free(name string) string {
	taken := func(name string) bool {
		for _, d := range p.pkg.Declared {
			if d.Name == name {
				return true
			}
		}
		for _, other := range p.packs {
			if other.Decode == name {
				return true
			}
		}
		return false
	}
	candidate := name
	for n := 2; taken(candidate); n++ {
		candidate = fmt.Sprintf("%s%d", name, n)
	}
	return candidate
}

// goType returns a type of the lock as olderType writes it.
func (p *olderPacker) goType(t *ir.WireType) ir.Type {
	inner := func(t *ir.WireType) *ir.Type {
		if t == nil {
			return nil
		}
		of := p.goType(t)
		return &of
	}
	switch t.Kind {
	case ir.WireNullable:
		return ir.Type{Kind: ir.Pointer, Elem: inner(t.Elem)}
	case ir.WireList:
		return ir.Type{Kind: ir.Slice, Elem: inner(t.Elem)}
	case ir.WireArray:
		return ir.Type{Kind: ir.Array, Len: t.Len, Elem: inner(t.Elem)}
	case ir.WireMap:
		return ir.Type{Kind: ir.Map, Key: inner(t.Key), Elem: inner(t.Elem)}
	case ir.WireStructRef:
		return ir.Type{Kind: ir.Named, Name: p.older.TypeName(p.job, t.Name)}
	case ir.WireOwn:
		named := ir.Type{Kind: ir.Named, Path: t.Path, Name: t.Name}
		for i := range t.Args {
			named.Args = append(named.Args, p.goType(&t.Args[i]))
		}
		return named
	}
	return ir.Type{Kind: ir.Basic, Name: t.Name}
}
