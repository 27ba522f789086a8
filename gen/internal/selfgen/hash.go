package main

import (
	"fmt"
	"strings"
)

// absent are the values of fields that mean something when they are absent.
var absent = map[string]string{"ver": "1"}

// generateHash writes what maps the fields of a kind of hash to its struct and
// their wire names to the long ones.
func generateHash(h hash) ([]byte, error) {
	f := newFile(h.file, "wire")
	f.line("import (\n\"errors\"\n\"fmt\"\n)")
	h.wireNames(f)
	h.nameMaps(f)
	h.decoder(f)
	if err := h.set(f); err != nil {
		return nil, err
	}
	f.WriteString(h.named(hashError))
	return f.source()
}

// generated is the name of the file below the module's root that is generated
// for the hash.
func (h hash) generated() string { return strings.TrimSuffix(h.file, ".go") + "_gen.go" }

// named puts the names of the hash into a text.
func (h hash) named(text string) string {
	return strings.NewReplacer("$STRUCT", h.name, "$PREFIX", h.prefix, "$OF", h.of).Replace(text)
}

func (h hash) wireNames(f *file) {
	f.line("")
	f.line("// The wire names of the fields of a %s's hash.", h.of)
	f.line("const (")
	for _, field := range h.fields {
		f.line("%sField%s = %q", h.prefix, field.goName, field.wire)
	}
	f.line(")")
}

func (h hash) nameMaps(f *file) {
	f.line("")
	f.comment("", fmt.Sprintf("%sFields returns the wire names of the fields of a %s's hash, in the order of [%s].", h.name, h.of, h.name))
	f.line("func %sFields() []string {", h.name)
	f.line("return []string{")
	for _, field := range h.fields {
		f.line("%sField%s,", h.prefix, field.goName)
	}
	f.line("}")
	f.line("}")

	f.line("")
	f.comment("", fmt.Sprintf("%sLongName returns the long name of the field whose wire name is wire, and whether it has one.", h.prefix))
	f.line("func %sLongName(wire string) (long string, ok bool) {", h.prefix)
	f.line("switch wire {")
	for _, field := range h.fields {
		if field.long != "" {
			f.line("case %sField%s: return %q, true", h.prefix, field.goName, field.long)
		}
	}
	f.line("}")
	f.line("return \"\", false")
	f.line("}")

	f.line("")
	f.comment("", fmt.Sprintf("%sWireName returns the wire name of the field whose long name is long, and whether there is one.", h.prefix))
	f.line("func %sWireName(long string) (wire string, ok bool) {", h.prefix)
	f.line("switch long {")
	for _, field := range h.fields {
		if field.long != "" {
			f.line("case %q: return %sField%s, true", field.long, h.prefix, field.goName)
		}
	}
	f.line("}")
	f.line("return \"\", false")
	f.line("}")
}

func (h hash) decoder(f *file) {
	f.line("")
	f.comment("", h.named("Decode$STRUCT returns the $OF called id whose hash has the given fields and values, in turn. Fields that it does not know are passed over. The error is of type [*$STRUCTError]."))
	f.line("func Decode%s(id string, hash []string) (%s, error) {", h.name, h.name)
	f.line("decoded := %s{ID: id}", h.name)
	for _, field := range h.fields {
		if value, ok := absent[field.wire]; ok {
			f.line("decoded.%s = %s", field.goName, value)
		}
	}
	f.line("if len(hash)%%2 != 0 {")
	f.line("return %s{}, &%sError{ID: id, Field: hash[len(hash)-1], Reason: \"has no value\"}", h.name, h.name)
	f.line("}")
	f.line("for i := 0; i < len(hash); i += 2 {")
	f.line("if err := decoded.Set(hash[i], hash[i+1]); err != nil {")
	f.line("return %s{}, err", h.name)
	f.line("}")
	f.line("}")
	f.line("return decoded, nil")
	f.line("}")
}

func (h hash) set(f *file) error {
	f.line("")
	f.comment("", h.named("Set sets the field with the given wire name to what value says. A field that it does not know is passed over. The error is of type [*$STRUCTError]."))
	f.line("func (h *%s) Set(wire, value string) error {", h.name)
	f.line("var reason string")
	f.line("switch wire {")
	for _, field := range h.fields {
		f.line("case %sField%s:", h.prefix, field.goName)
		switch field.goType {
		case "string", "[]byte":
			f.line("h.%s = %s(value)", field.goName, field.goType)
		case "int", "int64", "Timestamp", "Milliseconds":
			f.line("reason = setNumber(value, &h.%s)", field.goName)
		default:
			return fmt.Errorf("%s: no way to decode field %s of type %s; teach generateHash", h.file, field.goName, field.goType)
		}
	}
	f.line("}")
	f.line("if reason != \"\" {")
	f.line("return &%sError{ID: h.ID, Field: wire, Reason: reason}", h.name)
	f.line("}")
	f.line("return nil")
	f.line("}")
	return nil
}

const hashError = `
// Err$STRUCT is what every [*$STRUCTError] is, for errors.Is.
var Err$STRUCT = errors.New("hash of a $OF is malformed")

// $STRUCTError tells which field of a $OF's hash cannot be read.
type $STRUCTError struct {
	ID string
	// Field is the wire name of the field.
	Field  string
	Reason string
}

func (e *$STRUCTError) Error() string {
	name := e.Field
	if long, ok := $PREFIXLongName(e.Field); ok && long != e.Field {
		name += " (" + long + ")"
	}
	return fmt.Sprintf("$OF %q: field %s %s", shorten(e.ID), shorten(name), e.Reason)
}

// Is reports whether target is [Err$STRUCT].
func (e *$STRUCTError) Is(target error) bool { return target == Err$STRUCT }
`
