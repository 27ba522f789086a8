package build

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/types"
	"strings"
)

// shapeLength is how many bytes of a shape's hash are kept: enough to tell a
// change, and short to read.
const shapeLength = 6

// shape returns a short hash of how values of the given type look on the wire:
// of every field that crosses, its name, tag and type, at any depth. Nothing of
// the generated code depends on nested types and tags, so this is how a change
// of theirs shows in the generated file.
func (b *builder) shape(of types.Type) string {
	w := &shapeWriter{seen: map[*types.Named]bool{}}
	w.write(of)
	sum := sha256.Sum256([]byte(w.String()))
	return hex.EncodeToString(sum[:shapeLength])
}

type shapeWriter struct {
	strings.Builder
	seen map[*types.Named]bool
}

func (w *shapeWriter) write(t types.Type) {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		w.structural(t)
		return
	}
	w.WriteString(types.TypeString(named, (*types.Package).Path))
	_, writes := firstMethod(named, true, marshalJSON, marshalText)
	if w.seen[named] || writes {
		return // it contains itself, or decides itself how it looks
	}
	w.seen[named] = true
	w.WriteByte('=')
	w.structural(named.Underlying())
}

func (w *shapeWriter) structural(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		w.WriteByte('*')
		w.write(u.Elem())
	case *types.Slice:
		w.WriteString("[]")
		w.write(u.Elem())
	case *types.Array:
		fmt.Fprintf(w, "[%d]", u.Len())
		w.write(u.Elem())
	case *types.Map:
		w.WriteString("map[")
		w.write(u.Key())
		w.WriteByte(']')
		w.write(u.Elem())
	case *types.Struct:
		w.structure(u)
	default:
		w.WriteString(types.TypeString(u, (*types.Package).Path))
	}
}

func (w *shapeWriter) structure(s *types.Struct) {
	w.WriteByte('{')
	for i := range s.NumFields() {
		field := s.Field(i)
		if !field.Exported() && !field.Embedded() {
			continue
		}
		fmt.Fprintf(w, "%s %t %q ", field.Name(), field.Embedded(), s.Tag(i))
		w.write(field.Type())
		w.WriteByte(';')
	}
	w.WriteByte('}')
}
