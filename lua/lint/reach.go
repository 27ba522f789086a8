package lint

import "github.com/yuin/gopher-lua/ast"

// isDead reports whether a node stands in a function that no run can enter.
func (r *scopes) isDead(at node) bool {
	dead := false
	r.enclosing(at, func(around node) bool {
		function, ok := around.(*ast.FunctionExpr)
		dead = ok && r.deadFunctions()[function]
		return !dead
	})
	return dead
}

// deadFunctions are the local functions that nothing calls but functions of the
// same kind, and that are not handed on.
func (r *scopes) deadFunctions() map[*ast.FunctionExpr]bool {
	if r.dead != nil {
		return r.dead
	}
	r.dead = map[*ast.FunctionExpr]bool{}
	calls := map[*ast.FunctionExpr][]*ast.FuncCallExpr{}
	for _, v := range r.variables {
		if function := v.function(); function != nil {
			if found, ok := r.callsOf(v); ok {
				r.dead[function] = true
				calls[function] = found
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for function := range r.dead {
			for _, call := range calls[function] {
				if !r.isDead(call) {
					delete(r.dead, function)
					changed = true
					break
				}
			}
		}
	}
	return r.dead
}

// callsOf returns the calls of a local function, if it is only ever called.
func (r *scopes) callsOf(v *variable) ([]*ast.FuncCallExpr, bool) {
	var calls []*ast.FuncCallExpr
	for _, use := range v.uses {
		switch parent := r.parents[use].(type) {
		case *ast.FuncCallExpr:
			if parent.Func != ast.Expr(use) {
				return nil, false
			}
			calls = append(calls, parent)
		case *ast.FuncDefStmt, *ast.AssignStmt: // where it is defined
			if v.constant() || !r.isTarget(parent, use) {
				return nil, false
			}
		default:
			return nil, false
		}
	}
	return calls, true
}

// isTarget reports whether a statement assigns to a name, and to it alone.
func (r *scopes) isTarget(stmt node, name *ast.IdentExpr) bool {
	switch stmt := stmt.(type) {
	case *ast.FuncDefStmt:
		return stmt.Name.Func == ast.Expr(name)
	case *ast.AssignStmt:
		return len(stmt.Lhs) == 1 && stmt.Lhs[0] == ast.Expr(name)
	}
	return false
}
