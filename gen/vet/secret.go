package vet

import (
	"go/token"
	"path/filepath"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
	"github.com/echomq/echomq-go/gen/ir"
)

// secrets reports the fields of payloads that look like secrets, and of which it
// is not said whether they may be seen.
func (p *reporter) secrets(result *gen.Result) {
	reported := map[ir.Position]bool{}
	for _, pkg := range result.Packages {
		for _, queue := range pkg.Queues {
			for i := range queue.Jobs {
				s := secrets{reporter: p, contract: &queue.Jobs[i].Contract, open: map[string]bool{}, reported: reported}
				if payload := s.contract.Payload; payload != nil {
					s.value(payload, queue.Jobs[i].Payload.Type, queue.Jobs[i].Pos)
				}
			}
		}
	}
}

// secrets is a walk over one payload.
type secrets struct {
	*reporter
	contract *ir.Contract
	// open are the structs that were looked at: once is enough for each.
	open map[string]bool
	// reported are the places with a secret: a tag there speaks for all that is in
	// them.
	reported map[ir.Position]bool
}

// value looks into a value by its path from the payload. The place is that of the
// innermost field which the package declares itself.
func (s *secrets) value(t *ir.WireType, path string, at ir.Position) {
	switch t.Kind {
	case ir.WireNullable, ir.WireList, ir.WireArray, ir.WireMap:
		s.value(t.Elem, path, at)
	case ir.WireStructRef:
		if s.open[t.Name] {
			return
		}
		s.open[t.Name] = true
		structure := s.contract.Struct(t.Name)
		for i := range structure.Fields {
			s.field(&structure.Fields[i], path, at)
		}
	}
}

func (s *secrets) field(field *ir.WireField, path string, at ir.Position) {
	if field.Redacted || field.Public {
		return
	}
	path += "." + field.GoName
	if field.Pos != (ir.Position{}) {
		at = field.Pos
	}
	number, text := holds(&field.Type)
	if (number || text) && (isSecret(field.GoName, number) || isSecret(field.Name, number)) {
		if !s.reported[at] {
			s.reported[at] = true
			from := token.Position{Filename: filepath.Join(s.dir, at.File), Line: at.Line, Column: at.Column}
			s.found(annotations.RuleSecret.At(from, token.Position{}, path))
		}
		return
	}
	s.value(&field.Type, path, at)
}

// holds reports whether a value is, or consists of, whole numbers, or what may be
// text.
func holds(t *ir.WireType) (number, text bool) {
	switch t.Kind {
	case ir.WireNullable, ir.WireArray, ir.WireMap:
		return holds(t.Elem)
	case ir.WireList:
		if t.Elem.Kind == ir.WireBasic && t.Elem.Name == "byte" {
			return false, true
		}
		return holds(t.Elem)
	case ir.WireBasic, ir.WireQuoted:
		return strings.HasPrefix(t.Name, "int") || strings.HasPrefix(t.Name, "uint"), t.Name == "string" || t.Name == "any"
	case ir.WireOwn:
		return false, t.Path != "time"
	}
	return false, true
}
