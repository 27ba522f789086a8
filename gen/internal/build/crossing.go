package build

import (
	"go/token"
	"go/types"

	"github.com/echomq/echomq-go/annotations"
)

// crosses reports what keeps a value of type t from crossing the wire as JSON.
// The value is called name and stands between pos and end. It returns false
// where no walk over the type would end.
func (b *builder) crosses(t types.Type, name string, pos, end token.Pos) bool {
	c := &crossing{builder: b, progress: map[visit]bool{}, reported: map[token.Pos]bool{}}
	at := place{path: name, pos: pos, end: end}
	if c.endless(t, at) {
		return false
	}
	c.value(t, at)
	return true
}

// crossing walks over everything that a value holds.
type crossing struct {
	*builder
	// progress holds the types that are being looked at, which may contain
	// themselves, and those in which nothing was found.
	progress map[visit]bool
	// reported are the places with a mistake: one is enough for each.
	reported map[token.Pos]bool
	refusals int
	// visits counts the types that were looked at, again after a mistake.
	visits int
}

type visit struct {
	named       types.Type
	addressable bool
}

// place is a value by its path from the payload, and where to report what is
// wrong with it: at the innermost field that the package itself declares.
type place struct {
	path     string
	pos, end token.Pos
	// addressable is set where encoding/json can call methods that have a
	// pointer receiver.
	addressable bool
	// foreign is set inside a type of another package.
	foreign bool
}

func (c *crossing) refuse(rule *annotations.Rule, at place, arguments ...any) {
	c.refusals++
	if c.reported[at.pos] {
		return
	}
	c.reported[at.pos] = true
	c.report.Report(rule, at.pos, at.end, arguments...)
}

func (c *crossing) value(t types.Type, at place) {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		c.structural(t, at)
		return
	}
	key := visit{named, at.addressable}
	at.foreign = named.Obj().Pkg() != c.Types.Package
	if c.progress[key] || at.foreign && c.reported[at.pos] {
		return
	}
	if c.visits++; c.visits > maxTypes && c.refusals > 0 {
		return // enough was found
	}
	c.progress[key] = true
	before := c.refusals
	if !c.codec(named, at) {
		c.structural(t, at)
	}
	if c.refusals > before {
		// It is to be reported in every place where it is used.
		delete(c.progress, key)
	}
}

func (c *crossing) structural(t types.Type, at place) {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		c.basic(u, at)
	case *types.Pointer:
		at.addressable = true
		c.value(u.Elem(), at)
	case *types.Slice:
		at.addressable = true
		c.value(u.Elem(), at)
	case *types.Array:
		c.value(u.Elem(), at)
	case *types.Map:
		c.mapKey(u.Key(), at)
		at.addressable = false
		c.value(u.Elem(), at)
	case *types.Struct:
		c.structure(u, at)
	case *types.Interface:
		if !u.Empty() {
			c.refuse(annotations.RuleCannotCross, at, at.path, c.string(t)+" is an interface with methods, which cannot be decoded")
		}
	case *types.Chan:
		c.refuse(annotations.RuleCannotCross, at, at.path, c.string(t)+" is a channel")
	case *types.Signature:
		c.refuse(annotations.RuleCannotCross, at, at.path, c.string(t)+" is a function")
	}
}

// string spells a type as its package's own source would.
func (c *crossing) string(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == c.Types.Package {
			return ""
		}
		return p.Name()
	})
}

func (c *crossing) basic(t *types.Basic, at place) {
	switch {
	case t.Kind() == types.Invalid:
		c.refuse(annotations.RuleUnresolved, at, at.path, c.reason(at))
	case t.Info()&types.IsComplex != 0:
		c.refuse(annotations.RuleCannotCross, at, at.path, t.Name()+" is a complex number")
	case t.Kind() == types.UnsafePointer, t.Kind() == types.Uintptr:
		c.refuse(annotations.RuleCannotCross, at, at.path, c.string(t)+" is an address, which means nothing to another process")
	}
}

// reason finds what the type checker said about the line of a field.
func (c *crossing) reason(at place) string {
	line := c.report.Position(at.pos)
	for _, err := range c.Types.Errors {
		if p := c.report.Position(err.Pos); !err.Soft && p.Filename == line.Filename && p.Line == line.Line {
			return err.Msg
		}
	}
	return "it is not declared, or its package was not found"
}

// structure walks over the fields of a struct.
func (c *crossing) structure(structure *types.Struct, at place) {
	for i := range structure.NumFields() {
		field := structure.Field(i)
		tag := c.tag(field, structure.Tag(i), c.tagPlace(field, at))
		if !tag.skip && field.Name() != "_" {
			c.field(field, tag, at)
		}
	}
	c.sameNames(structure, at)
}

func (c *crossing) field(field *types.Var, tag jsonTag, at place) {
	inner := c.fieldPlace(field, at)
	if !field.Embedded() || tag.name != "" {
		if !field.Exported() {
			c.hidden(inner)
			return
		}
		c.value(field.Type(), inner)
		return
	}
	_, pointer := types.Unalias(field.Type()).(*types.Pointer)
	structure := isStruct(field.Type())
	switch {
	case field.Exported() || structure && !pointer:
		c.value(field.Type(), inner)
	case structure:
		c.refuse(annotations.RuleCannotCross, inner, inner.path, "a pointer to an unexported struct cannot be decoded when it is embedded")
	default:
		c.hidden(inner)
	}
}

func (c *crossing) hidden(at place) {
	cure := `export it, or leave it out on purpose with the tag json:"-"`
	if at.foreign {
		cure = "its type has no MarshalJSON; use a type that has, or fields of your own"
	}
	c.refuse(annotations.RuleHiddenField, at, at.path, cure)
}

func isStruct(t types.Type) bool {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// fieldPlace returns the place of a field inside the struct at a place.
func (c *crossing) fieldPlace(field *types.Var, at place) place {
	at.path += "." + field.Name()
	if field.Pkg() == c.Types.Package && !at.foreign {
		at.pos, at.end = field.Pos(), field.Pos()+token.Pos(len(field.Name()))
	}
	return at
}
