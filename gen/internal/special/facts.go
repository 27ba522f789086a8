package special

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// variable is what a script does with one of its locals.
type variable struct {
	init     ast.Expr // nil for a parameter and what a loop counts
	assigned int      // how often something else is assigned to it
	reads    int
	written  int // how often an element is assigned to
	escapes  int // how often it is read otherwise than #t, t[k] and unpack(t)
	// highest is the highest number by which an element is read, and numbered
	// whether all are read by numbers.
	highest  int
	numbered bool
}

// constant returns the value that a local has from its beginning to its end.
func (v *variable) constant() (ast.Expr, bool) {
	if v == nil || v.assigned > 0 || !isConstant(v.init) {
		return nil, false
	}
	return v.init, true
}

// table returns the table that a local is throughout, unchanged.
func (v *variable) table() (*ast.TableExpr, bool) {
	if v == nil || v.assigned+v.written+v.escapes > 0 {
		return nil, false
	}
	table, ok := v.init.(*ast.TableExpr)
	return table, ok
}

type facts map[string]*variable

func factsOf(chunk []ast.Stmt) facts {
	f := facts{}
	eachStmt(chunk, func(stmt ast.Stmt) {
		if local, ok := stmt.(*ast.LocalAssignStmt); ok {
			for i, name := range local.Names {
				v := f.of(name)
				switch {
				case len(local.Exprs) == 0:
					v.init = &ast.NilExpr{}
				case len(local.Exprs) == len(local.Names):
					v.init = local.Exprs[i]
				}
			}
		}
	})
	eachStmt(chunk, f.statement)
	return f
}

func (f facts) of(name string) *variable {
	if f[name] == nil {
		f[name] = &variable{numbered: true}
	}
	return f[name]
}

func (f facts) statement(stmt ast.Stmt) {
	assign, ok := stmt.(*ast.AssignStmt)
	if !ok {
		for _, expr := range expressions(stmt) {
			f.read(expr, "")
		}
		return
	}
	for _, lhs := range assign.Lhs {
		switch to := lhs.(type) {
		case *ast.IdentExpr:
			f.of(to.Value).assigned++
		case *ast.AttrGetExpr:
			table, ok := to.Object.(*ast.IdentExpr)
			if !ok {
				f.read(to.Object, "")
				f.read(to.Key, "")
				continue
			}
			f.of(table.Value).written++
			f.read(to.Key, table.Value)
		}
	}
	for _, rhs := range assign.Rhs {
		f.read(rhs, "")
	}
}

// read notes what an expression reads. Of the table to which an element is being
// appended, the length is no read.
func (f facts) read(expr ast.Expr, appended string) {
	switch e := expr.(type) {
	case *ast.IdentExpr:
		f.of(e.Value).reads++
		f.of(e.Value).escapes++
		return
	case *ast.FunctionExpr:
		return // its statements are visited by themselves
	case *ast.UnaryLenOpExpr:
		if name, ok := e.Expr.(*ast.IdentExpr); ok {
			if name.Value != appended {
				f.of(name.Value).reads++
				f.of(name.Value).numbered = false
			}
			return
		}
	case *ast.AttrGetExpr:
		if name, ok := e.Object.(*ast.IdentExpr); ok {
			v := f.of(name.Value)
			v.reads++
			if n, ok := numberOf(e.Key); ok {
				v.highest = max(v.highest, n)
			} else {
				v.numbered = false
			}
			f.read(e.Key, appended)
			return
		}
	case *ast.FuncCallExpr:
		if calledName(e) == "unpack" && len(e.Args) == 1 {
			if name, ok := e.Args[0].(*ast.IdentExpr); ok {
				f.of(name.Value).reads++
				f.of(name.Value).numbered = false
				return
			}
		}
	}
	for _, operand := range syntax.Children(expr) {
		f.read(operand, appended)
	}
}

// pure reports whether evaluating an expression does nothing but to yield a value.
func (f facts) pure(expr ast.Expr) bool {
	if call, ok := expr.(*ast.FuncCallExpr); ok {
		if !f.pureCall(calledName(call)) {
			return false
		}
	}
	for _, operand := range syntax.Children(expr) {
		if !f.pure(operand) {
			return false
		}
	}
	return true
}

func (f facts) pureCall(name string) bool {
	switch name {
	case "tonumber", "tostring", "type", "unpack", "math.floor", "math.max", "math.min",
		"string.find", "string.match", "string.sub", "string.format", "string.rep":
		return true
	}
	v := f[name]
	if v == nil || v.assigned > 0 {
		return false
	}
	function, ok := v.init.(*ast.FunctionExpr)
	if !ok {
		return false
	}
	pure := true
	eachStmt(function.Stmts, func(stmt ast.Stmt) {
		switch s := stmt.(type) {
		case *ast.AssignStmt, *ast.FuncCallStmt:
			pure = false
		default:
			for _, expr := range expressions(s) {
				pure = pure && f.pure(expr)
			}
		}
	})
	return pure
}
