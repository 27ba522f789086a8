package vet

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/types/typeutil"
)

// heed knows what in a handler has to do with its context.
type heed struct {
	info   *types.Info
	within *ast.FuncDecl
	// from are the context, and the variables that were made from it.
	from map[types.Object]bool
}

// spread finds the variables that were made from the context, or from one that
// was. Contexts that a function in the handler is given count too: whoever calls
// it decides.
func (h *heed) spread() {
	for before := -1; before != len(h.from); {
		before = len(h.from)
		ast.Inspect(h.within.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				h.assign(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				names := make([]ast.Expr, len(n.Names))
				for i, name := range n.Names {
					names[i] = name
				}
				h.assign(names, n.Values)
			case *ast.RangeStmt:
				h.assign([]ast.Expr{n.Key, n.Value}, []ast.Expr{n.X})
			case *ast.FuncLit:
				for _, field := range n.Type.Params.List {
					for _, name := range field.Names {
						if object := h.info.Defs[name]; object != nil && isContext(object.Type()) {
							h.from[object] = true
						}
					}
				}
			}
			return true
		})
	}
}

func (h *heed) assign(to, from []ast.Expr) {
	for i, expression := range to {
		name, ok := expression.(*ast.Ident)
		if !ok {
			continue
		}
		source := from
		if len(to) == len(from) {
			source = from[i : i+1]
		}
		object := h.info.ObjectOf(name)
		if object == nil || !carries(object.Type()) {
			continue
		}
		for _, s := range source {
			if h.heeds(s) {
				h.from[object] = true
			}
		}
	}
}

// carries reports whether a variable of type t may heed the context from which it
// was made, as a request, a command or a function does. An error, a number or a
// list does not.
func carries(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Signature, *types.Chan, *types.Pointer:
		return true
	case *types.Interface:
		return !types.Identical(t, types.Universe.Lookup("error").Type())
	case *types.Struct:
		for field := range u.Fields() {
			if isContext(field.Type()) {
				return true
			}
		}
	}
	return false
}

// heeds reports whether the context, or what was made from it, stands anywhere in
// a piece of code. A context of unknown origin counts as if it were the handler's.
func (h *heed) heeds(n ast.Node) bool {
	if n == nil {
		return false
	}
	found := false
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			found = found || h.from[h.info.Uses[n]]
		case *ast.SelectorExpr:
			selection := h.info.Selections[n]
			found = found || selection != nil && selection.Kind() == types.FieldVal && isContext(selection.Type())
		case *ast.CallExpr:
			if t := h.info.TypeOf(n); t != nil && isContext(t) {
				called := typeutil.Callee(h.info, n)
				found = found || called == nil || called.Pkg() == nil || called.Pkg().Path() != "context"
			}
		}
		return !found
	})
	return found
}

func isContext(t types.Type) bool { return isNamed(t, "context", "Context") }

// local reports whether an expression is a variable that the handler declares.
func (h *heed) local(expression ast.Expr) bool {
	name, ok := ast.Unparen(expression).(*ast.Ident)
	if !ok {
		return false
	}
	object := h.info.ObjectOf(name)
	return object != nil && h.within.Body.Pos() <= object.Pos() && object.Pos() < h.within.Body.End()
}
