package special

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// folder folds a script once through; what one pass finds lets the next find more.
type folder struct {
	layout  *layout
	facts   facts
	changed bool
	err     error
}

func (f *folder) block(body []ast.Stmt) []ast.Stmt {
	var folded []ast.Stmt
	for i, stmt := range body {
		folded = append(folded, f.statement(stmt, i == len(body)-1)...)
	}
	if len(folded) != len(body) {
		f.changed = true
	}
	return folded
}

// statement returns what a statement comes to; last says that nothing follows it
// in its block.
func (f *folder) statement(stmt ast.Stmt, last bool) []ast.Stmt {
	keep := []ast.Stmt{stmt}
	switch s := stmt.(type) {
	case *ast.LocalAssignStmt:
		f.exprs(s.Exprs)
		if f.unused(s) {
			return nil
		}
		if len(s.Names) == 1 && len(s.Exprs) == 1 {
			f.shorten(s.Names[0], s.Exprs[0])
		}
	case *ast.AssignStmt:
		for _, lhs := range s.Lhs {
			if to, ok := lhs.(*ast.AttrGetExpr); ok {
				to.Key = f.expr(to.Key)
			}
		}
		f.exprs(s.Rhs)
		if f.forgotten(s) {
			return nil
		}
	case *ast.FuncCallStmt:
		s.Expr = f.expr(s.Expr)
	case *ast.ReturnStmt:
		f.exprs(s.Exprs)
	case *ast.DoBlockStmt:
		s.Stmts = f.block(s.Stmts)
		return spliced(s.Stmts, last)
	case *ast.WhileStmt:
		s.Condition, s.Stmts = f.condition(s.Condition), f.block(s.Stmts)
	case *ast.RepeatStmt:
		s.Stmts, s.Condition = f.block(s.Stmts), f.condition(s.Condition)
	case *ast.IfStmt:
		return f.branch(s, last)
	case *ast.NumberForStmt:
		s.Init, s.Limit = f.expr(s.Init), f.expr(s.Limit)
		from, ok := numberOf(s.Init)
		to, ok2 := numberOf(s.Limit)
		if ok && ok2 && from > to && (s.Step == nil || positive(s.Step)) {
			return nil
		}
		if s.Stmts = f.block(s.Stmts); len(s.Stmts) == 0 && f.facts.pure(s.Init) && f.facts.pure(s.Limit) {
			return nil
		}
	case *ast.GenericForStmt:
		f.exprs(s.Exprs)
		s.Stmts = f.block(s.Stmts)
	}
	return keep
}

func positive(step ast.Expr) bool {
	n, ok := numberOf(step)
	return ok && n > 0
}

// branch folds an if whose condition is known, or does nothing.
func (f *folder) branch(s *ast.IfStmt, last bool) []ast.Stmt {
	s.Condition = f.condition(s.Condition)
	s.Then, s.Else = f.block(s.Then), f.block(s.Else)
	if holds, known := truth(s.Condition); known {
		f.changed = true
		if holds {
			return spliced(s.Then, last)
		}
		return spliced(s.Else, last)
	}
	if len(s.Then)+len(s.Else) == 0 && f.facts.pure(s.Condition) {
		return nil
	}
	return []ast.Stmt{s}
}

// spliced returns a block's statements as part of the block around it. One with
// locals stays a block, if what follows could mistake them for others.
func spliced(body []ast.Stmt, last bool) []ast.Stmt {
	if last {
		return body
	}
	for _, stmt := range body {
		if _, ok := stmt.(*ast.LocalAssignStmt); ok {
			return []ast.Stmt{&ast.DoBlockStmt{Stmts: body}}
		}
	}
	return body
}

// unused reports whether nobody reads what a statement declares.
func (f *folder) unused(s *ast.LocalAssignStmt) bool {
	for _, name := range s.Names {
		if v := f.facts[name]; v != nil && v.reads+v.assigned+v.written > 0 {
			return false
		}
	}
	for _, expr := range s.Exprs {
		if _, function := expr.(*ast.FunctionExpr); !function && !f.facts.pure(expr) {
			return false
		}
	}
	return true
}

// forgotten reports whether nobody reads what a statement assigns.
func (f *folder) forgotten(s *ast.AssignStmt) bool {
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 || !f.facts.pure(s.Rhs[0]) {
		return false
	}
	to := s.Lhs[0]
	if element, ok := to.(*ast.AttrGetExpr); ok {
		if !f.facts.pure(element.Key) {
			return false
		}
		to = element.Object
	}
	name, ok := to.(*ast.IdentExpr)
	return ok && f.facts[name.Value].reads == 0
}

// shorten leaves out of the end of an HMGET what nobody looks at.
func (f *folder) shorten(name string, expr ast.Expr) {
	call, ok := expr.(*ast.FuncCallExpr)
	v := f.facts[name]
	if !ok || calledName(call) != "redis.call" || textOf(call.Args[0]) != "HMGET" {
		return
	}
	if v == nil || v.assigned+v.written+v.escapes > 0 || !v.numbered {
		return
	}
	for _, field := range call.Args[2:] {
		if _, ok := field.(*ast.StringExpr); !ok {
			return
		}
	}
	if keep := 2 + v.highest; keep > 2 && keep < len(call.Args) {
		call.Args = call.Args[:keep]
		f.changed = true
	}
}

func (f *folder) exprs(exprs []ast.Expr) {
	for i := range exprs {
		exprs[i] = f.expr(exprs[i])
	}
}

// condition folds an expression of which only the truth counts.
func (f *folder) condition(expr ast.Expr) ast.Expr {
	logical, ok := expr.(*ast.LogicalOpExpr)
	if !ok {
		return f.expr(expr)
	}
	logical.Lhs, logical.Rhs = f.condition(logical.Lhs), f.condition(logical.Rhs)
	holds, known := truth(logical.Rhs)
	switch {
	case known && holds == (logical.Operator == "and"):
		f.changed = true
		return logical.Lhs
	case known && f.facts.pure(logical.Lhs):
		f.changed = true
		return logical.Rhs
	}
	return f.logical(logical)
}

func (f *folder) logical(e *ast.LogicalOpExpr) ast.Expr {
	holds, known := truth(e.Lhs)
	if !known {
		return e
	}
	f.changed = true
	if holds == (e.Operator == "and") {
		return e.Rhs
	}
	return e.Lhs
}

// expr folds an expression and what is in it.
func (f *folder) expr(expr ast.Expr) ast.Expr {
	folded := f.fold(expr)
	if folded != expr {
		f.changed = true
	}
	return folded
}

func (f *folder) fold(expr ast.Expr) ast.Expr {
	switch e := expr.(type) {
	case *ast.IdentExpr:
		if value, ok := f.facts[e.Value].constant(); ok {
			return value
		}
		return e
	case *ast.FunctionExpr:
		e.Stmts = f.block(e.Stmts)
		return e
	case *ast.AttrGetExpr:
		return f.element(e)
	case *ast.TableExpr:
		for _, field := range e.Fields {
			if field.Key != nil {
				field.Key = f.expr(field.Key)
			}
			field.Value = f.expr(field.Value)
		}
		return e
	case *ast.FuncCallExpr:
		return f.call(e)
	case *ast.UnaryMinusOpExpr:
		e.Expr = f.expr(e.Expr)
		return e
	case *ast.UnaryNotOpExpr:
		e.Expr = f.condition(e.Expr)
		if holds, known := truth(e.Expr); known {
			return boolean(!holds)
		}
		return e
	case *ast.UnaryLenOpExpr:
		return f.length(e)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = f.expr(e.Lhs), f.expr(e.Rhs)
		return f.logical(e)
	}
	if op, lhs, rhs := syntax.Binary(expr); lhs != nil {
		*lhs, *rhs = f.expr(*lhs), f.expr(*rhs)
		if isConstant(*lhs) && isConstant(*rhs) {
			if value := computed(op, *lhs, *rhs); value != nil {
				return value
			}
		}
	}
	return expr
}

// element folds t[k]: an argument that is fixed, or what is in a table that never
// changes.
func (f *folder) element(e *ast.AttrGetExpr) ast.Expr {
	e.Key = f.expr(e.Key)
	name, ok := e.Object.(*ast.IdentExpr)
	if !ok {
		e.Object = f.expr(e.Object)
		return e
	}
	if name.Value == "ARGV" || name.Value == "KEYS" {
		place, err := f.layout.resolve(f.facts, name.Value, e.Key)
		if err != nil {
			f.err = err
			return e
		}
		if value, fixed := f.layout.fixed(place); fixed {
			return &ast.StringExpr{Value: value}
		}
		return e
	}
	table, ok := f.facts[name.Value].table()
	if !ok {
		return e
	}
	if len(table.Fields) == 0 {
		return &ast.NilExpr{}
	}
	if key, ok := e.Key.(*ast.StringExpr); ok {
		for _, field := range table.Fields {
			if field.Key == nil || !isConstant(field.Value) {
				return e
			}
			if textOf(field.Key) == key.Value {
				return field.Value
			}
		}
		return &ast.NilExpr{}
	}
	return e
}

func (f *folder) length(e *ast.UnaryLenOpExpr) ast.Expr {
	if name, ok := e.Expr.(*ast.IdentExpr); ok {
		if table, ok := f.facts[name.Value].table(); ok && len(table.Fields) == 0 {
			return numeral(0)
		}
		if value, ok := f.facts[name.Value].constant(); ok {
			if text, ok := value.(*ast.StringExpr); ok {
				return numeral(len(text.Value))
			}
		}
		return e
	}
	e.Expr = f.expr(e.Expr)
	if text, ok := e.Expr.(*ast.StringExpr); ok {
		return numeral(len(text.Value))
	}
	return e
}

func (f *folder) call(e *ast.FuncCallExpr) ast.Expr {
	if e.Receiver != nil {
		e.Receiver = f.expr(e.Receiver)
	}
	f.exprs(e.Args)
	if len(e.Args) == 1 {
		switch calledName(e) {
		case "tonumber":
			if n, err := strconv.Atoi(textOf(e.Args[0])); err == nil {
				return numeral(n)
			}
		case "math.floor":
			if n, ok := numberOf(e.Args[0]); ok {
				return numeral(n)
			}
		}
	}
	return e
}
