package ir

// Packed is a type for which functions are generated that encode and decode its
// values, in a job's codec other than JSON.
type Packed struct {
	// Encode and Decode are the names of the functions. Encode is empty for a type
	// of which values are only read.
	Encode string `json:"encode"`
	Decode string `json:"decode"`
	// Type is the type as the generated file spells it.
	Type Type `json:"type"`
	// Fields are those of a struct, in the order of their names on the wire.
	Fields []PackedField `json:"fields,omitempty"`
	// Value is set for a type that is no struct.
	Value *PackedValue `json:"value,omitempty"`
}

// PackedField is a field of an encoded struct.
type PackedField struct {
	// Name is its name on the wire.
	Name string `json:"name"`
	// Path are the names of the fields that lead to it, embedded structs included.
	Path []string `json:"path"`
	// Pointers are the places in Path of embedded pointers.
	Pointers []int `json:"pointers,omitempty"`
	// Omit says when the field is left out.
	Omit  Omit        `json:"omit,omitempty"`
	Value PackedValue `json:"value"`
}

// Omit says when a field is left out.
type Omit string

// The conditions.
const (
	OmitFalse  Omit = "false"
	OmitNumber Omit = "0"
	OmitText   Omit = "empty string"
	OmitNil    Omit = "nil"
	OmitList   Omit = "empty list"
	OmitMap    Omit = "empty map"
	// OmitZero leaves out what equals the zero value of its type.
	OmitZero Omit = "zero"
	// OmitIsZero leaves out what says so by its method IsZero; OmitNilOrIsZero is
	// for a pointer to such.
	OmitIsZero      Omit = "IsZero"
	OmitNilOrIsZero Omit = "nil or IsZero"
)

// PackedValue says how a value is encoded.
type PackedValue struct {
	Form PackedForm `json:"form"`
	// Type is the value's Go type.
	Type Type `json:"type"`
	// Ref is the place of its type among the packed ones, of form PackedRef.
	Ref  int          `json:"ref,omitempty"`
	Key  *PackedValue `json:"key,omitempty"`
	Elem *PackedValue `json:"elem,omitempty"`
}

// PackedForm is how a value is encoded.
type PackedForm string

// The forms of values; those from PackedPointer on have an Elem, and PackedMap
// has a Key.
const (
	PackedBool      PackedForm = "bool"
	PackedInt       PackedForm = "int"
	PackedUint      PackedForm = "uint"
	PackedFloat32   PackedForm = "float32"
	PackedFloat64   PackedForm = "float64"
	PackedString    PackedForm = "string"
	PackedBytes     PackedForm = "bytes"
	PackedByteArray PackedForm = "byte array"
	PackedTime      PackedForm = "time"
	// PackedText and PackedJSON are what MarshalText and MarshalJSON return.
	PackedText PackedForm = "text"
	PackedJSON PackedForm = "json"
	// PackedOwn is one of both: the type itself tells.
	PackedOwn PackedForm = "own"
	// PackedRef is a value of another packed type.
	PackedRef     PackedForm = "ref"
	PackedPointer PackedForm = "pointer"
	PackedSlice   PackedForm = "slice"
	PackedArray   PackedForm = "array"
	PackedMap     PackedForm = "map"
	// PackedTextMap is a map whose keys have MarshalText.
	PackedTextMap PackedForm = "text map"
)
