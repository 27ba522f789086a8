package build

import (
	"go/types"

	"github.com/echomq/echomq-go/annotations"
)

// sameNames reports fields of one JSON object that claim the same name, those
// of embedded structs included: encoding/json leaves out all but one of them,
// or all.
func (c *crossing) sameNames(structure *types.Struct, at place) {
	c.flatten(structure, at, map[string]string{}, map[types.Type]bool{})
}

// flatten walks over the fields that structure adds to an object. In names are
// the paths of those that it has.
func (c *crossing) flatten(structure *types.Struct, at place, names map[string]string, embedded map[types.Type]bool) {
	for i := range structure.NumFields() {
		field := structure.Field(i)
		tag := readTag(structure.Tag(i))
		inner := c.fieldPlace(field, at)
		if tag.skip {
			continue
		}
		if promoted := promotedStruct(field, tag); promoted != nil {
			if !embedded[field.Type()] {
				embedded[field.Type()] = true
				inner.foreign = inner.foreign || isForeign(field.Type(), c.Types.Package)
				c.flatten(promoted, inner, names, embedded)
			}
			continue
		}
		if !field.Exported() {
			continue
		}
		name := tag.name
		if name == "" {
			name = field.Name()
		}
		if other := names[name]; other != "" {
			c.refuse(annotations.RuleFieldName, inner, other, inner.path, name)
			continue
		}
		names[name] = inner.path
	}
}

// promotedStruct returns the struct whose fields an embedded field adds to the
// object around it, or nil.
func promotedStruct(field *types.Var, tag jsonTag) *types.Struct {
	if !field.Embedded() || tag.name != "" {
		return nil
	}
	t := field.Type()
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if _, writes := firstMethod(t, true, marshalJSON, marshalText); writes {
		return nil
	}
	structure, _ := t.Underlying().(*types.Struct)
	return structure
}

// isForeign reports whether t is declared in another package than pkg.
func isForeign(t types.Type, pkg *types.Package) bool {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != pkg
}
