package ir

// Kind is the kind of a [Type].
type Kind string

// The kinds of type.
const (
	// Basic is a predeclared type, or unsafe.Pointer; Name is its name.
	Basic Kind = "basic"
	// Named is a declared type or alias; Path, Name and Args say which. Path is
	// empty for the package itself.
	Named Kind = "named"
	// Pointer, Slice, Array, Map and Chan have an Elem.
	Pointer Kind = "pointer"
	Slice   Kind = "slice"
	// Array has a Len.
	Array Kind = "array"
	// Map has a Key.
	Map Kind = "map"
	// Chan has a Name that is its arrow: "chan", "chan<-" or "<-chan".
	Chan Kind = "chan"
	// Struct has Fields.
	Struct Kind = "struct"
	// Func has Params, Results and Variadic.
	Func Kind = "func"
	// Interface has Fields that are its methods, each of kind Func, and Args
	// that are what it embeds.
	Interface Kind = "interface"
)

// Type is a Go type as its source spells it: aliases keep their names.
type Type struct {
	Kind     Kind    `json:"kind"`
	Path     string  `json:"path,omitempty"`
	Name     string  `json:"name,omitempty"`
	Args     []Type  `json:"args,omitempty"`
	Key      *Type   `json:"key,omitempty"`
	Elem     *Type   `json:"elem,omitempty"`
	Len      int64   `json:"len,omitempty"`
	Fields   []Field `json:"fields,omitempty"`
	Params   []Type  `json:"params,omitempty"`
	Results  []Type  `json:"results,omitempty"`
	Variadic bool    `json:"variadic,omitempty"`
}
