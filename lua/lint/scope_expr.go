package lint

import "github.com/yuin/gopher-lua/ast"

func (r *scopes) exprs(parent node, exprs []ast.Expr) {
	for _, expr := range exprs {
		r.expr(parent, expr)
	}
}

// expr resolves the names in an expression.
func (r *scopes) expr(parent node, expr ast.Expr) {
	r.parents[expr] = parent
	switch expr := expr.(type) {
	case *ast.IdentExpr:
		if v := r.lookup(expr.Value); v != nil {
			r.locals[expr] = v
			v.uses = append(v.uses, expr)
		} else {
			r.globals = append(r.globals, expr)
		}
	case *ast.FunctionExpr:
		r.open()
		for i, name := range expr.ParList.Names {
			r.declare(&variable{name: name, kind: parameter, declared: expr, parameter: i})
		}
		r.statements(expr, expr.Stmts)
		r.close()
	default:
		for _, child := range children(expr) {
			r.expr(expr, child)
		}
	}
}

// children returns the expressions that an expression is made of, in the order
// in which they are evaluated; none for a function.
func children(expr ast.Expr) []ast.Expr {
	switch expr := expr.(type) {
	case *ast.AttrGetExpr:
		return []ast.Expr{expr.Object, expr.Key}
	case *ast.TableExpr:
		var parts []ast.Expr
		for _, field := range expr.Fields {
			if field.Key != nil {
				parts = append(parts, field.Key)
			}
			parts = append(parts, field.Value)
		}
		return parts
	case *ast.FuncCallExpr:
		if expr.Func == nil {
			return append([]ast.Expr{expr.Receiver}, expr.Args...)
		}
		return append([]ast.Expr{expr.Func}, expr.Args...)
	case *ast.UnaryMinusOpExpr:
		return []ast.Expr{expr.Expr}
	case *ast.UnaryNotOpExpr:
		return []ast.Expr{expr.Expr}
	case *ast.UnaryLenOpExpr:
		return []ast.Expr{expr.Expr}
	}
	if op, lhs, rhs := binary(expr); op != "" {
		return []ast.Expr{lhs, rhs}
	}
	return nil
}
