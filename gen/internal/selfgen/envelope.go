package main

import "fmt"

// absent are the values of fields that mean something when they are absent.
var absent = map[string]string{"ver": "1"}

// generateEnvelope writes what maps the fields of a job's hash to the envelope
// and their wire names to the long ones.
func generateEnvelope(fields []envelopeField) ([]byte, error) {
	f := newFile("runtime/wire/envelope.go", "wire")
	f.line("import (\n\"errors\"\n\"fmt\"\n\"strconv\"\n)")
	generateWireNames(f, fields)
	generateNameMaps(f, fields)
	generateDecoder(f, fields)
	if err := generateSet(f, fields); err != nil {
		return nil, err
	}
	f.WriteString(envelopeError)
	return f.source()
}

func generateWireNames(f *file, fields []envelopeField) {
	f.line("")
	f.line("// The wire names of the fields of a job's hash.")
	f.line("const (")
	for _, field := range fields {
		f.line("Field%s = %q", field.goName, field.wire)
	}
	f.line(")")
}

func generateNameMaps(f *file, fields []envelopeField) {
	f.line("")
	f.line("// EnvelopeFields returns the wire names of the fields of a job's hash, in the")
	f.line("// order of [Envelope].")
	f.line("func EnvelopeFields() []string {")
	f.line("return []string{")
	for _, field := range fields {
		f.line("Field%s,", field.goName)
	}
	f.line("}")
	f.line("}")

	f.line("")
	f.line("// LongName returns the long name of the field whose wire name is wire, and")
	f.line("// whether it has one.")
	f.line("func LongName(wire string) (long string, ok bool) {")
	f.line("switch wire {")
	for _, field := range fields {
		if field.long != "" {
			f.line("case Field%s: return %q, true", field.goName, field.long)
		}
	}
	f.line("}")
	f.line("return \"\", false")
	f.line("}")

	f.line("")
	f.line("// WireName returns the wire name of the field whose long name is long, and")
	f.line("// whether there is one.")
	f.line("func WireName(long string) (wire string, ok bool) {")
	f.line("switch long {")
	for _, field := range fields {
		if field.long != "" {
			f.line("case %q: return Field%s, true", field.long, field.goName)
		}
	}
	f.line("}")
	f.line("return \"\", false")
	f.line("}")
}

func generateDecoder(f *file, fields []envelopeField) {
	f.line("")
	f.line("// DecodeEnvelope returns the job called id whose hash has the given fields and")
	f.line("// values, in turn. Fields that it does not know are passed over. The error is an")
	f.line("// [*EnvelopeError].")
	f.line("func DecodeEnvelope(id string, hash []string) (Envelope, error) {")
	f.line("e := Envelope{ID: id}")
	for _, field := range fields {
		if value, ok := absent[field.wire]; ok {
			f.line("e.%s = %s", field.goName, value)
		}
	}
	f.line("if len(hash)%%2 != 0 {")
	f.line("return Envelope{}, &EnvelopeError{ID: id, Field: hash[len(hash)-1], Reason: \"has no value\"}")
	f.line("}")
	f.line("for i := 0; i < len(hash); i += 2 {")
	f.line("if err := e.Set(hash[i], hash[i+1]); err != nil {")
	f.line("return Envelope{}, err")
	f.line("}")
	f.line("}")
	f.line("return e, nil")
	f.line("}")
}

func generateSet(f *file, fields []envelopeField) error {
	f.line("")
	f.line("// Set sets the field with the given wire name to what value says. A field that it")
	f.line("// does not know is passed over. The error is an [*EnvelopeError].")
	f.line("func (e *Envelope) Set(wire, value string) error {")
	f.line("switch wire {")
	for _, field := range fields {
		f.line("case Field%s:", field.goName)
		switch field.goType {
		case "string", "[]byte":
			f.line("e.%s = %s(value)", field.goName, field.goType)
		case "int", "int64", "Timestamp", "Milliseconds":
			f.line("return setNumber(e.ID, wire, value, &e.%s)", field.goName)
		default:
			return fmt.Errorf("%s: no way to decode field %s of type %s; teach generateSet", envelopeFile, field.goName, field.goType)
		}
	}
	f.line("}")
	f.line("return nil")
	f.line("}")
	return nil
}

const envelopeError = `
func setNumber[T ~int | ~int64](id, wire, value string, to *T) error {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || int64(T(number)) != number {
		return &EnvelopeError{ID: id, Field: wire, Reason: fmt.Sprintf("is %q and not a whole number", shorten(value))}
	}
	*to = T(number)
	return nil
}

// ErrEnvelope is what every [*EnvelopeError] is, for errors.Is.
var ErrEnvelope = errors.New("hash of a job is malformed")

// EnvelopeError tells which field of a job's hash cannot be read.
type EnvelopeError struct {
	ID string
	// Field is the wire name of the field.
	Field  string
	Reason string
}

func (e *EnvelopeError) Error() string {
	name := e.Field
	if long, ok := LongName(e.Field); ok && long != e.Field {
		name += " (" + long + ")"
	}
	return fmt.Sprintf("job %q: field %s %s", shorten(e.ID), shorten(name), e.Reason)
}

// Is reports whether target is [ErrEnvelope].
func (e *EnvelopeError) Is(target error) bool { return target == ErrEnvelope }
`
