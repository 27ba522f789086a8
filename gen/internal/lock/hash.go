package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/gen/ir"
)

// hashLength is how many bytes of a contract's hash are kept.
const hashLength = 8

// Hash returns a hash of what both sides of a contract rely on: the names and
// types of all fields that are always there. The codec is not one of them, since a
// job carries its name. So it is the same
// before and after every change that [Compare] has nothing to say about, and two
// programs that were built before and after such a change agree. Names of Go
// types and the order of fields do not matter.
func Hash(contract *ir.Contract) string {
	h := &hasher{contract: contract, seen: map[string]int{}}
	h.write(contract.Payload)
	if contract.Result != nil {
		h.WriteString(" ")
		h.write(contract.Result)
	}
	sum := sha256.Sum256([]byte(h.String()))
	return hex.EncodeToString(sum[:hashLength])
}

type hasher struct {
	strings.Builder
	contract *ir.Contract
	// seen numbers the structs that were written, in their order.
	seen map[string]int
}

func (h *hasher) write(t *ir.WireType) {
	switch t.Kind {
	case ir.WireBasic:
		h.WriteString(canonical(t.Name))
	case ir.WireQuoted:
		h.WriteString("string(" + canonical(t.Name) + ")")
	case ir.WireNullable:
		h.WriteByte('*')
		h.write(t.Elem)
	case ir.WireList:
		h.WriteString("[]")
		h.write(t.Elem)
	case ir.WireArray:
		fmt.Fprintf(h, "[%d]", t.Len)
		h.write(t.Elem)
	case ir.WireMap:
		h.WriteString("map[")
		h.write(t.Key)
		h.WriteByte(']')
		h.write(t.Elem)
	case ir.WireOwn:
		h.WriteString(spell(t))
	case ir.WireStructRef:
		h.structure(t.Name)
	}
}

func (h *hasher) structure(name string) {
	if number, known := h.seen[name]; known {
		fmt.Fprintf(h, "#%d", number)
		return
	}
	h.seen[name] = len(h.seen)
	fields := slices.Clone(h.contract.Struct(name).Fields)
	slices.SortFunc(fields, func(a, b ir.WireField) int { return strings.Compare(a.Name, b.Name) })
	h.WriteByte('{')
	for i := range fields {
		if fields[i].Tolerant() {
			continue
		}
		fmt.Fprintf(h, "%q ", fields[i].Name)
		h.write(&fields[i].Type)
		h.WriteByte(';')
	}
	h.WriteByte('}')
}

// canonical returns one name for predeclared types that look the same on the
// wire.
func canonical(name string) string {
	switch name {
	case "int":
		return "int64"
	case "uint":
		return "uint64"
	case "byte":
		return "uint8"
	}
	return name
}
