package lint

import "github.com/yuin/gopher-lua/ast"

// commandNames returns the names that the operand can have which says what
// command to call, if they are all constants of the script. It follows locals
// and parameters, as [prover.origin] does.
func (p *prover) commandNames(expr ast.Expr) ([]string, bool) {
	n := &names{prover: p, followed: map[*variable]bool{}}
	known := n.collect(expr)
	return n.found, known
}

// names collects constants.
type names struct {
	*prover
	found    []string
	followed map[*variable]bool
}

// collect notes what expr can be, and reports whether that is known.
func (n *names) collect(expr ast.Expr) bool {
	if isNothing(expr) {
		return true // no command is called then
	}
	switch expr := expr.(type) {
	case *ast.StringExpr:
		n.found = append(n.found, expr.Value)
		return true
	case *ast.LogicalOpExpr:
		return n.collect(expr.Rhs) && (expr.Operator == "and" || n.collect(expr.Lhs))
	case *ast.IdentExpr:
		return n.collectVariable(n.locals[expr])
	}
	return false
}

func (n *names) collectVariable(v *variable) bool {
	switch {
	case v == nil:
		return false
	case n.followed[v]:
		return true
	}
	n.followed[v] = true
	switch v.kind {
	case plain:
		return (v.bare || v.initial != nil && n.collect(v.initial)) && n.collectAll(v.assigned)
	case parameter:
		return n.collectArguments(v) && n.collectAll(v.assigned)
	}
	return false
}

func (n *names) collectAll(values []ast.Expr) bool {
	for _, value := range values {
		if value == nil || !n.collect(value) {
			return false
		}
	}
	return true
}

func (n *names) collectArguments(v *variable) bool {
	_, calls, ok := n.functionCalls(v.declared)
	if !ok {
		return false
	}
	for _, call := range calls {
		last := len(call.Args) - 1
		switch {
		case v.parameter <= last:
			if !n.collect(call.Args[v.parameter]) {
				return false
			}
		case last >= 0 && isMany(call.Args[last]):
			return false
		}
	}
	return true
}
