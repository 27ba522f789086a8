package lint

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

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
		for _, child := range syntax.Children(expr) {
			r.expr(expr, child)
		}
	}
}
