// Package syntax walks the syntax trees of Lua that gopher-lua parses.
package syntax

import "github.com/yuin/gopher-lua/ast"

// Bodies returns the statement lists in a statement, but for functions.
func Bodies(stmt ast.Stmt) [][]ast.Stmt {
	switch stmt := stmt.(type) {
	case *ast.DoBlockStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.WhileStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.RepeatStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.IfStmt:
		return [][]ast.Stmt{stmt.Then, stmt.Else}
	case *ast.NumberForStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.GenericForStmt:
		return [][]ast.Stmt{stmt.Stmts}
	}
	return nil
}

// Children returns the expressions that an expression is made of, in the order
// in which they are evaluated; none for a function.
func Children(expr ast.Expr) []ast.Expr {
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
	if op, lhs, rhs := Binary(expr); op != "" {
		return []ast.Expr{*lhs, *rhs}
	}
	return nil
}

// Binary returns the operator of a binary expression and where its operands
// stand; of any other no operator.
func Binary(expr ast.Expr) (op string, lhs, rhs *ast.Expr) {
	switch expr := expr.(type) {
	case *ast.LogicalOpExpr:
		return expr.Operator, &expr.Lhs, &expr.Rhs
	case *ast.RelationalOpExpr:
		return expr.Operator, &expr.Lhs, &expr.Rhs
	case *ast.ArithmeticOpExpr:
		return expr.Operator, &expr.Lhs, &expr.Rhs
	case *ast.StringConcatOpExpr:
		return "..", &expr.Lhs, &expr.Rhs
	}
	return "", nil, nil
}

// IsIdentifier reports whether a text can stand as a name.
func IsIdentifier(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
