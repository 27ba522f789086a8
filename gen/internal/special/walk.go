package special

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// expressions returns the expressions that stand in a statement itself.
func expressions(stmt ast.Stmt) []ast.Expr {
	switch s := stmt.(type) {
	case *ast.AssignStmt:
		return append(append([]ast.Expr{}, s.Lhs...), s.Rhs...)
	case *ast.LocalAssignStmt:
		return s.Exprs
	case *ast.FuncCallStmt:
		return []ast.Expr{s.Expr}
	case *ast.WhileStmt:
		return []ast.Expr{s.Condition}
	case *ast.RepeatStmt:
		return []ast.Expr{s.Condition}
	case *ast.IfStmt:
		return []ast.Expr{s.Condition}
	case *ast.NumberForStmt:
		all := []ast.Expr{s.Init, s.Limit}
		if s.Step != nil {
			all = append(all, s.Step)
		}
		return all
	case *ast.GenericForStmt:
		return s.Exprs
	case *ast.ReturnStmt:
		return s.Exprs
	}
	return nil
}

// eachExpr visits every expression in the statements, those of functions too, an
// outer one before those in it.
func eachExpr(body []ast.Stmt, visit func(expr ast.Expr)) {
	var inside func(expr ast.Expr)
	inside = func(expr ast.Expr) {
		visit(expr)
		for _, child := range syntax.Children(expr) {
			inside(child)
		}
	}
	eachStmt(body, func(stmt ast.Stmt) {
		for _, expr := range expressions(stmt) {
			inside(expr)
		}
	})
}

// eachStmt visits every statement, those of functions too.
func eachStmt(body []ast.Stmt, visit func(stmt ast.Stmt)) {
	var statements func(body []ast.Stmt)
	var inside func(expr ast.Expr)
	inside = func(expr ast.Expr) {
		if function, ok := expr.(*ast.FunctionExpr); ok {
			statements(function.Stmts)
		}
		for _, operand := range syntax.Children(expr) {
			inside(operand)
		}
	}
	statements = func(body []ast.Stmt) {
		for _, stmt := range body {
			visit(stmt)
			for _, expr := range expressions(stmt) {
				inside(expr)
			}
			for _, body := range syntax.Bodies(stmt) {
				statements(body)
			}
		}
	}
	statements(body)
}

// calledName returns the name of what an expression calls, as in redis.call, or "".
func calledName(expr ast.Expr) string {
	call, ok := expr.(*ast.FuncCallExpr)
	if !ok {
		return ""
	}
	switch f := call.Func.(type) {
	case *ast.IdentExpr:
		return f.Value
	case *ast.AttrGetExpr:
		object, ok := f.Object.(*ast.IdentExpr)
		key, ok2 := f.Key.(*ast.StringExpr)
		if ok && ok2 {
			return object.Value + "." + key.Value
		}
	}
	return ""
}
