package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// msgpack names something of the package that encoders and decoders are made of.
func (f *file) msgpack(name string) *jen.Statement { return jen.Qual(msgpackPath, name) }

// withCodec emits the call that gives a job type its codecs.
func (f *file) withCodec(job *ir.Job) jen.Code {
	if job.Codec == "" {
		return jen.Null()
	}
	result := jen.Nil()
	if job.Result != nil {
		result = f.codecOf(job.Result.Packed)
	}
	return jen.Dot("WithCodec").Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true},
		f.codecOf(job.Payload.Packed), result)
}

func (f *file) codecOf(value *ir.PackedValue) *jen.Statement {
	return f.msgpack("NewCodec").Call(f.coder(encoding, *value), f.coder(decoding, *value))
}

// direction is whether values are encoded or decoded.
type direction struct {
	verb, kind, parameter string
}

var (
	encoding = direction{"Encode", "Encoder", "e"}
	decoding = direction{"Decode", "Decoder", "d"}
)

func (d direction) of(p *ir.Packed) string {
	if d == encoding {
		return p.Encode
	}
	return p.Decode
}

// parameters are those of a function that encodes or decodes a value.
func (f *file) coderParameters(d direction, t ir.Type) *jen.Statement {
	return jen.Custom(jen.Options{Open: "(", Close: ")", Separator: ",", Multi: hasLines(t)},
		f.local(d.parameter).Op("*").Add(f.msgpack(d.kind)), f.local("v").Op("*").Add(f.typeOf(t)))
}

// hasLines reports whether a type takes more than one line.
func hasLines(t ir.Type) bool {
	of := func(t *ir.Type) bool { return t != nil && hasLines(*t) }
	return t.Kind == ir.Struct && len(t.Fields) > 0 || of(t.Key) || of(t.Elem) || slices.ContainsFunc(t.Args, hasLines)
}

// packed emits the functions that encode and decode the values of one type.
func (f *file) packed(p *ir.Packed) {
	function := func(d direction, body ...jen.Code) jen.Code {
		return jen.Func().Id(d.of(p)).Add(f.coderParameters(d, p.Type)).Block(body...)
	}
	doc := comment(fmt.Sprintf("%s and %s encode and decode a part of a payload or a result.", p.Encode, p.Decode))
	if p.Value != nil {
		f.add(doc, function(encoding, f.coded(encoding, *p.Value, target{f.local("v"), true})))
		f.add(nil, function(decoding, f.coded(decoding, *p.Value, target{f.local("v"), true})))
		return
	}
	var writes, reads []jen.Code
	for i := range p.Fields {
		writes = append(writes, f.encodeField(&p.Fields[i])...)
		reads = append(reads, jen.Case(jen.Lit(p.Fields[i].Name)).Block(f.decodeField(&p.Fields[i])))
	}
	skip := f.local("d").Dot("Skip").Call()
	read := skip
	if len(reads) > 0 {
		reads = append(reads, jen.Default().Block(skip))
		read = jen.Switch(jen.String().Call(f.local("d").Dot("Key").Call())).Block(reads...)
	}
	decodes := function(decoding, jen.For(f.local("d").Dot("Struct").Call(), f.local("d").Dot("Next").Call(), jen.Empty()).Block(read))
	if p.Encode == "" {
		f.add(comment(p.Decode+" decodes a part of an older payload."), decodes)
		return
	}
	begin := jen.If(jen.Op("!").Add(f.local("e")).Dot("Struct").Call(jen.Lit(len(p.Fields)))).Block(jen.Return())
	end := f.local("e").Dot("End").Call()
	f.add(doc, function(encoding, append(append([]jen.Code{begin}, writes...), end)...))
	f.add(nil, decodes)
}

func (f *file) encodeField(field *ir.PackedField) []jen.Code {
	at := f.fieldOf(field.Path)
	writes := []jen.Code{
		f.local("e").Dot("Key").Call(jen.Lit(field.Name)),
		f.coded(encoding, field.Value, target{at.Clone(), false}),
	}
	var condition *jen.Statement
	and := func(c *jen.Statement) {
		if condition == nil {
			condition = c
			return
		}
		condition.Op("&&").Add(c)
	}
	for _, pointer := range field.Pointers {
		and(f.fieldOf(field.Path[:pointer+1]).Op("!=").Nil())
	}
	for _, c := range f.present(field.Omit, at) {
		and(c)
	}
	if condition == nil {
		return writes
	}
	return []jen.Code{jen.If(condition).Block(writes...)}
}

// present returns the conditions under which a field is encoded.
func (f *file) present(omit ir.Omit, at *jen.Statement) []*jen.Statement {
	at = at.Clone()
	switch omit {
	case ir.OmitFalse:
		return []*jen.Statement{at}
	case ir.OmitNumber:
		return []*jen.Statement{at.Op("!=").Lit(0)}
	case ir.OmitText:
		return []*jen.Statement{at.Op("!=").Lit("")}
	case ir.OmitNil:
		return []*jen.Statement{at.Op("!=").Nil()}
	case ir.OmitList:
		return []*jen.Statement{jen.Op("!").Add(f.msgpack("IsEmpty")).Call(at)}
	case ir.OmitMap:
		return []*jen.Statement{jen.Op("!").Add(f.msgpack("IsEmptyMap")).Call(at)}
	case ir.OmitZero:
		return []*jen.Statement{jen.Op("!").Add(f.msgpack("IsZero")).Call(at)}
	case ir.OmitIsZero:
		return []*jen.Statement{jen.Op("!").Add(at).Dot("IsZero").Call()}
	case ir.OmitNilOrIsZero:
		return []*jen.Statement{at.Clone().Op("!=").Nil(), jen.Op("!").Add(at).Dot("IsZero").Call()}
	}
	return nil
}

func (f *file) decodeField(field *ir.PackedField) jen.Code {
	at := f.local("v")
	for i, name := range field.Path {
		at = at.Dot(name)
		for _, pointer := range field.Pointers {
			if pointer == i {
				at = f.msgpack("Made").Call(jen.Op("&").Add(at))
			}
		}
	}
	return f.coded(decoding, field.Value, target{at, false})
}

// fieldOf names a field of the value v.
func (f *file) fieldOf(path []string) *jen.Statement {
	at := f.local("v")
	for _, name := range path {
		at.Dot(name)
	}
	return at
}

// forms are the names of the functions for the forms of values.
var forms = map[ir.PackedForm]string{
	ir.PackedBool: "Bool", ir.PackedInt: "Int", ir.PackedUint: "Uint", ir.PackedFloat32: "Float32", ir.PackedFloat64: "Float64",
	ir.PackedString: "String", ir.PackedBytes: "Bytes", ir.PackedByteArray: "ByteArray", ir.PackedTime: "Time", ir.PackedText: "Text",
	ir.PackedJSON: "JSON", ir.PackedOwn: "Own", ir.PackedPointer: "Pointer", ir.PackedSlice: "Slice", ir.PackedArray: "Array", ir.PackedMap: "Map",
}

// target is the value that is encoded or decoded: an expression for it, or for a
// pointer to it.
type target struct {
	expression *jen.Statement
	pointer    bool
}

func (t target) address() *jen.Statement {
	if t.pointer {
		return t.expression
	}
	return jen.Op("&").Add(t.expression)
}

// elements are those of an array.
func (t target) elements() *jen.Statement { return t.expression.Clone().Index(jen.Op(":")) }

// coded emits the call that encodes or decodes a value.
func (f *file) coded(d direction, value ir.PackedValue, at target) *jen.Statement {
	if value.Form == ir.PackedRef {
		return jen.Id(d.of(&f.packs[value.Ref])).Call(f.local(d.parameter), at.address())
	}
	name := forms[value.Form]
	arguments := []jen.Code{f.local(d.parameter), at.address()}
	switch value.Form {
	case ir.PackedByteArray:
		arguments[1] = at.elements()
	case ir.PackedArray:
		arguments[1] = at.elements()
		arguments = append(arguments, f.coder(d, *value.Elem))
	case ir.PackedPointer, ir.PackedSlice:
		arguments = append(arguments, f.coder(d, *value.Elem))
	case ir.PackedMap:
		arguments = append(arguments, f.coder(d, *value.Key), f.coder(d, *value.Elem))
	case ir.PackedTextMap:
		if name = "TextMap"; d == decoding {
			name = "Map"
			arguments = append(arguments, f.coder(d, *value.Key))
		}
		arguments = append(arguments, f.coder(d, *value.Elem))
	}
	return f.msgpack(d.verb + name).Call(arguments...)
}

// coder emits the function that encodes or decodes values.
func (f *file) coder(d direction, value ir.PackedValue) *jen.Statement {
	switch value.Form {
	case ir.PackedRef:
		return jen.Id(d.of(&f.packs[value.Ref]))
	case ir.PackedTime:
		return f.msgpack(d.verb + "Time")
	case ir.PackedByteArray, ir.PackedPointer, ir.PackedSlice, ir.PackedArray, ir.PackedMap, ir.PackedTextMap:
		return jen.Func().Add(f.coderParameters(d, value.Type)).Block(f.coded(d, value, target{f.local("v"), true}))
	}
	return f.msgpack(fmt.Sprint(d.verb, forms[value.Form])).Types(f.typeOf(value.Type))
}
