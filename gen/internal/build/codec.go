package build

import (
	"go/types"

	"github.com/echomq/echomq-go/annotations"
)

// method is a method by which a type writes or reads itself.
type method struct {
	name string
	// writes is set for func() ([]byte, error); the others are
	// func([]byte) error.
	writes bool
}

var (
	marshalJSON   = method{"MarshalJSON", true}
	marshalText   = method{"MarshalText", true}
	unmarshalJSON = method{"UnmarshalJSON", false}
	unmarshalText = method{"UnmarshalText", false}
)

// codec reports whether t writes and reads itself, so that its structure does
// not matter. A type that does only half of it is refused.
func (c *crossing) codec(t *types.Named, at place) bool {
	writer, writes := firstMethod(t, at.addressable, marshalJSON, marshalText)
	reader, reads := firstMethod(t, true, unmarshalJSON, unmarshalText)
	switch hidden, pointer := firstMethod(t, true, marshalJSON, marshalText); {
	case writes && reads:
		c.promoted(t, writer, at)
	case writes:
		c.refuse(annotations.RuleOneWay, at, at.path, c.string(t), writer.name, "Un"+lower(writer.name))
	case pointer && reads:
		c.refuse(annotations.RulePointerReceiver, at, at.path, hidden.name, c.string(t), c.pointerCure(t, at))
	case reads && reader == unmarshalJSON:
		// Usual for a type that also reads an older form of itself.
		return false
	case reads:
		c.refuse(annotations.RuleOneWay, at, at.path, c.string(t), reader.name, "M"+reader.name[len("Unm"):])
	case pointer:
		c.refuse(annotations.RuleOneWay, at, at.path, c.string(t), hidden.name, "Un"+lower(hidden.name))
	default:
		return false
	}
	return true
}

func lower(name string) string { return "m" + name[1:] }

func (c *crossing) pointerCure(t *types.Named, at place) string {
	if at.foreign {
		return "use *" + c.string(t)
	}
	return "give the method a value receiver"
}

// promoted refuses a struct whose encoding is that of an embedded field: its
// other fields would silently vanish.
func (c *crossing) promoted(t *types.Named, m method, at place) {
	structure, ok := t.Underlying().(*types.Struct)
	if !ok || structure.NumFields() < 2 {
		return
	}
	object, path, _ := types.LookupFieldOrMethod(t, true, t.Obj().Pkg(), m.name)
	if object == nil || len(path) < 2 {
		return
	}
	embedded := structure.Field(path[0])
	c.refuse(annotations.RuleCannotCross, c.fieldPlace(embedded, at), at.path,
		m.name+" of the embedded "+embedded.Name()+" would stand for the whole struct, and the other fields would silently vanish; give the field a name")
}

// firstMethod returns the first of methods that t has.
func firstMethod(t types.Type, addressable bool, methods ...method) (method, bool) {
	for _, m := range methods {
		if hasMethod(t, addressable, m) {
			return m, true
		}
	}
	return method{}, false
}

// hasMethod reports whether m can be called on a value of type t.
func hasMethod(t types.Type, addressable bool, m method) bool {
	object, _, _ := types.LookupFieldOrMethod(t, addressable, nil, m.name)
	f, ok := object.(*types.Func)
	if !ok {
		return false
	}
	signature := f.Signature()
	parameters, results := signature.Params(), signature.Results()
	if m.writes {
		return parameters.Len() == 0 && results.Len() == 2 && isBytes(results.At(0).Type()) && isError(results.At(1).Type())
	}
	return parameters.Len() == 1 && results.Len() == 1 && isBytes(parameters.At(0).Type()) && isError(results.At(0).Type())
}

func isBytes(t types.Type) bool {
	slice, ok := types.Unalias(t).(*types.Slice)
	return ok && types.Identical(slice.Elem(), types.Typ[types.Byte])
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}
