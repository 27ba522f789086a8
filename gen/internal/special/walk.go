package special

import "github.com/yuin/gopher-lua/ast"

// bodies returns the statement lists in a statement, but for functions.
func bodies(stmt ast.Stmt) [][]ast.Stmt {
	switch s := stmt.(type) {
	case *ast.DoBlockStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.WhileStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.RepeatStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.IfStmt:
		return [][]ast.Stmt{s.Then, s.Else}
	case *ast.NumberForStmt:
		return [][]ast.Stmt{s.Stmts}
	case *ast.GenericForStmt:
		return [][]ast.Stmt{s.Stmts}
	}
	return nil
}

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

// operands returns the expressions in an expression, but for a function's body.
func operands(expr ast.Expr) []ast.Expr {
	switch e := expr.(type) {
	case *ast.AttrGetExpr:
		return []ast.Expr{e.Object, e.Key}
	case *ast.TableExpr:
		var all []ast.Expr
		for _, field := range e.Fields {
			if field.Key != nil {
				all = append(all, field.Key)
			}
			all = append(all, field.Value)
		}
		return all
	case *ast.FuncCallExpr:
		var all []ast.Expr
		if e.Func != nil {
			all = append(all, e.Func)
		}
		if e.Receiver != nil {
			all = append(all, e.Receiver)
		}
		return append(all, e.Args...)
	case *ast.UnaryMinusOpExpr:
		return []ast.Expr{e.Expr}
	case *ast.UnaryNotOpExpr:
		return []ast.Expr{e.Expr}
	case *ast.UnaryLenOpExpr:
		return []ast.Expr{e.Expr}
	}
	if _, lhs, rhs := binary(expr); lhs != nil {
		return []ast.Expr{*lhs, *rhs}
	}
	return nil
}

// binary returns the operator of a binary expression and where its operands stand.
func binary(expr ast.Expr) (op string, lhs, rhs *ast.Expr) {
	switch e := expr.(type) {
	case *ast.LogicalOpExpr:
		return e.Operator, &e.Lhs, &e.Rhs
	case *ast.RelationalOpExpr:
		return e.Operator, &e.Lhs, &e.Rhs
	case *ast.ArithmeticOpExpr:
		return e.Operator, &e.Lhs, &e.Rhs
	case *ast.StringConcatOpExpr:
		return "..", &e.Lhs, &e.Rhs
	}
	return "", nil, nil
}

// eachExpr visits every expression in the statements, in their order, an outer
// one before those in it.
func eachExpr(body []ast.Stmt, visit func(expr ast.Expr)) {
	var inside func(expr ast.Expr)
	inside = func(expr ast.Expr) {
		visit(expr)
		if function, ok := expr.(*ast.FunctionExpr); ok {
			eachExpr(function.Stmts, visit)
		}
		for _, operand := range operands(expr) {
			inside(operand)
		}
	}
	for _, stmt := range body {
		for _, expr := range expressions(stmt) {
			inside(expr)
		}
		for _, body := range bodies(stmt) {
			eachExpr(body, visit)
		}
	}
}

// eachStmt visits every statement, those of functions too.
func eachStmt(body []ast.Stmt, visit func(stmt ast.Stmt)) {
	statements := func(body []ast.Stmt) {}
	var inside func(expr ast.Expr)
	inside = func(expr ast.Expr) {
		if function, ok := expr.(*ast.FunctionExpr); ok {
			statements(function.Stmts)
		}
		for _, operand := range operands(expr) {
			inside(operand)
		}
	}
	statements = func(body []ast.Stmt) {
		for _, stmt := range body {
			visit(stmt)
			for _, expr := range expressions(stmt) {
				inside(expr)
			}
			for _, body := range bodies(stmt) {
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
