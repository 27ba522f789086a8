package lint

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// call is a call of redis.call or redis.pcall, by whatever name.
type call struct {
	expr *ast.FuncCallExpr
	// name is the command as it is written; empty if it is not a constant.
	name     string
	command  command
	known    bool
	operands []ast.Expr
}

// calls returns all commands that the script calls, in order.
func (r *scopes) calls() []*call {
	var found []*call
	for at := range r.parents {
		if expr, ok := at.(*ast.FuncCallExpr); ok && r.callsServer(expr.Func) {
			found = append(found, newCall(expr))
		}
	}
	slices.SortFunc(found, func(a, b *call) int { return rank(a.expr) - rank(b.expr) })
	return found
}

func newCall(expr *ast.FuncCallExpr) *call {
	c := &call{expr: expr}
	if len(expr.Args) == 0 {
		return c
	}
	c.operands = expr.Args[1:]
	if name, ok := expr.Args[0].(*ast.StringExpr); ok {
		c.name = name.Value
		c.command, c.known = findCommand(name.Value)
	}
	return c
}

// callsServer reports whether a function is redis.call or redis.pcall, or a
// local that holds one of them.
func (r *scopes) callsServer(function ast.Expr) bool {
	for _, library := range []string{"redis", "server"} {
		if r.isLibrary(function, library, "call", "pcall") {
			return true
		}
	}
	if index, ok := function.(*ast.AttrGetExpr); ok {
		key, named := index.Key.(*ast.StringExpr)
		return named && (key.Value == "call" || key.Value == "pcall") && r.holdsServer(index.Object)
	}
	value, ok := r.local(function).value()
	return ok && r.callsServer(value)
}

// holdsServer reports whether an expression is a local that holds the library.
func (r *scopes) holdsServer(expr ast.Expr) bool {
	value, ok := r.local(expr).value()
	return ok && (r.isGlobal(value, "redis") || r.isGlobal(value, "server") || r.holdsServer(value))
}

// isUnpack reports whether expr is a call of unpack, which stands for any
// number of operands.
func (r *scopes) isUnpack(expr ast.Expr) bool {
	call, ok := expr.(*ast.FuncCallExpr)
	return ok && !call.AdjustRet && (r.isGlobal(call.Func, "unpack") || r.isLibrary(call.Func, "table", "unpack"))
}
