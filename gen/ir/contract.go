package ir

// Contract is what a job looks like to other programs, and to the jobs that are
// in queues already.
type Contract struct {
	// Codec is the name of the codec of payloads and results.
	Codec string
	// Payload and Result are types as they cross the wire; Result is nil where
	// the job has none.
	Payload *WireType
	Result  *WireType
	// Structs are the structs that they mention, by name, in the order in which
	// they are met.
	Structs []WireStruct
}

// Older is an older version of a job, of which jobs may still be enqueued.
type Older struct {
	Version  int
	Contract Contract
}

// TypeName returns the Go type of a struct of the version: that of the payload,
// or with its name behind.
func (o Older) TypeName(job *Job, name string) string {
	if o.Contract.Payload.Name == name {
		return job.VersionType(o.Version)
	}
	return job.VersionType(o.Version) + upperFirst(name)
}

// OlderTypes returns the Go types of all older versions.
func (j Job) OlderTypes() []string {
	var names []string
	for _, older := range j.Older {
		for _, s := range older.Contract.Structs {
			names = append(names, older.TypeName(&j, s.Name))
		}
	}
	return names
}

// Struct returns the struct of the given name, or nil.
func (c *Contract) Struct(name string) *WireStruct {
	for i := range c.Structs {
		if c.Structs[i].Name == name {
			return &c.Structs[i]
		}
	}
	return nil
}

// WireStruct is a struct as it crosses the wire: the fields of embedded structs
// are its own.
type WireStruct struct {
	// Name is that of the Go type, with a number where two have the same.
	Name   string
	Fields []WireField
	// Pos is where the type is declared; zero outside the package.
	Pos Position
}

// Field returns the field that has the given name on the wire, or nil.
func (s *WireStruct) Field(name string) *WireField {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	return nil
}

// WireField is a field as it crosses the wire.
type WireField struct {
	// Name is its name on the wire, and GoName the one in the source.
	Name, GoName string
	// Optional is set where the field may be left out.
	Optional bool
	// Redacted is set where its value is not to be shown.
	Redacted bool
	// Public is set where its value may be shown, whatever its name. It is no part
	// of the contract.
	Public bool
	Type   WireType
	// Pos is where the field is declared; zero outside the package.
	Pos Position
}

// Tolerant reports whether the absence of the field is something that handlers
// see, or that its author said to be usual.
func (f *WireField) Tolerant() bool {
	switch f.Type.Kind {
	case WireNullable, WireList, WireMap:
		return true
	case WireBasic:
		return f.Optional || f.Type.Name == "any"
	}
	return f.Optional
}

// WireKind is the kind of a [WireType].
type WireKind string

// The kinds of type on the wire.
const (
	// WireBasic is a predeclared type by its Name; any stands for whatever the
	// codec takes.
	WireBasic WireKind = "basic"
	// WireQuoted is a WireBasic in a string.
	WireQuoted WireKind = "quoted"
	// WireNullable has an Elem, or is null.
	WireNullable WireKind = "nullable"
	// WireList has an Elem; of byte it is bytes.
	WireList WireKind = "list"
	// WireArray is a list of Len.
	WireArray WireKind = "array"
	// WireMap has a Key and an Elem.
	WireMap WireKind = "map"
	// WireStructRef is the struct called Name.
	WireStructRef WireKind = "struct"
	// WireOwn is a type that encodes itself, by Path, Name and Args. Path is empty
	// for a type of the package.
	WireOwn WireKind = "own"
)

// WireType is a type as it crosses the wire.
type WireType struct {
	Kind WireKind
	Path string
	Name string
	Args []WireType
	Key  *WireType
	Elem *WireType
	Len  int64
}
