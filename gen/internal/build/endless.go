package build

import (
	"go/types"

	"github.com/echomq/echomq-go/annotations"
)

// The bounds of a walk over types: far beyond what anybody writes, and small
// enough to be reached at once.
const (
	// maxInstance is how many types the type arguments of one instance of a
	// generic type may mention.
	maxInstance = 100
	// maxTypes is how many types a payload or result may consist of.
	maxTypes = 1 << 16
)

// endless reports a value that consists of ever more types, as with
//
//	type G[T any] struct{ Next *G[G[T]] }
//
// Neither the other walks nor a look-up of methods would end there, so this one
// comes first, and goes wherever one of them does.
func (c *crossing) endless(t types.Type, at place) bool {
	if _, ok := types.Unalias(t).(*types.Named); ok {
		at.foreign = isForeign(t, c.Types.Package)
	}
	structure, ok := t.Underlying().(*types.Struct)
	if !ok {
		return c.endlessAt(t, at)
	}
	found := false
	for field := range structure.Fields() {
		found = c.endlessAt(field.Type(), c.fieldPlace(field, at)) || found
	}
	return found
}

func (c *crossing) endlessAt(t types.Type, at place) bool {
	g := &growth{seen: map[types.Type]bool{}}
	g.walk(t)
	if g.reason != "" {
		c.refuse(annotations.RuleUnresolved, at, at.path, g.reason)
	}
	return g.reason != ""
}

// growth is a walk over all types of which a value consists, until there is a
// reason to give up.
type growth struct {
	seen   map[types.Type]bool
	reason string
}

func (g *growth) walk(t types.Type) {
	t = types.Unalias(t)
	if g.reason != "" || g.seen[t] {
		return
	}
	g.seen[t] = true
	if len(g.seen) > maxTypes {
		g.reason = "it consists of too many types"
		return
	}
	if named, ok := t.(*types.Named); ok && instanceSize(named, maxInstance) < 0 {
		g.reason = named.Obj().Name() + " is a generic type that contains ever larger instances of itself"
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		g.walk(u.Elem())
	case *types.Slice:
		g.walk(u.Elem())
	case *types.Array:
		g.walk(u.Elem())
	case *types.Map:
		g.walk(u.Key())
		g.walk(u.Elem())
	case *types.Struct:
		for field := range u.Fields() {
			g.walk(field.Type())
		}
	}
}

// instanceSize counts the types that t mentions when it is spelled out, and returns
// what is then left of a limit, or less than 0 where it is exceeded.
func instanceSize(t types.Type, left int) int {
	left--
	if left < 0 {
		return left
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		for argument := range t.TypeArgs().Types() {
			left = instanceSize(argument, left)
		}
	case *types.Pointer:
		return instanceSize(t.Elem(), left)
	case *types.Slice:
		return instanceSize(t.Elem(), left)
	case *types.Array:
		return instanceSize(t.Elem(), left)
	case *types.Chan:
		return instanceSize(t.Elem(), left)
	case *types.Map:
		return instanceSize(t.Elem(), instanceSize(t.Key(), left))
	case *types.Struct:
		for field := range t.Fields() {
			left = instanceSize(field.Type(), left)
		}
	case *types.Signature:
		return instanceSize(t.Results(), instanceSize(t.Params(), left))
	case *types.Tuple:
		for v := range t.Variables() {
			left = instanceSize(v.Type(), left)
		}
	case *types.Interface:
		for method := range t.ExplicitMethods() {
			left = instanceSize(method.Type(), left)
		}
		for embedded := range t.EmbeddedTypes() {
			left = instanceSize(embedded, left)
		}
	}
	return left
}
