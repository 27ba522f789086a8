package lint

import (
	"fmt"
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// frame is a call that is followed into its function. What stands in that
// function is meanwhile what it is in this call and not in any.
type frame struct {
	function *ast.FunctionExpr
	call     *ast.FuncCallExpr
	outer    *frame
}

// in tells something as of a frame.
func (p *prover) in(f *frame, tell func() built) built {
	kept := p.frame
	p.frame = f
	defer func() { p.frame = kept }()
	return tell()
}

// valueOrigin tells how the i-th of the values came to be that a list of
// expressions has, counted from 0, the last of which may have more than one.
// There is none if the list ends before, and none is nil, which no command takes.
func (p *prover) valueOrigin(exprs []ast.Expr, i int) (b built, present bool) {
	last := len(exprs) - 1
	switch {
	case i <= last:
		return p.origin(exprs[i]), !isNothing(exprs[i])
	case last < 0 || !isMany(exprs[last]):
		return built{}, false
	}
	call, ok := exprs[last].(*ast.FuncCallExpr)
	switch {
	case !ok:
		return fault(Unknown, "one of ..."), true
	case p.callsServer(call.Func):
		return built{}, false // a command has one reply
	}
	return p.resultOrigin(call, i-last), true
}

// isMany reports whether an expression at the end of a list may stand for any
// number of values.
func isMany(expr ast.Expr) bool {
	switch expr := expr.(type) {
	case *ast.FuncCallExpr:
		return !expr.AdjustRet
	case *ast.Comma3Expr:
		return !expr.AdjustRet
	}
	return false
}

// isOneValue reports whether an expression at the end of a list stands for at
// most one value. Without it, a result past the first could be an operand that
// nobody looks at. The header's strict forms take no result of a function.
func (p *prover) isOneValue(expr ast.Expr) bool {
	call, ok := expr.(*ast.FuncCallExpr)
	if p.strict() || !ok || !isMany(expr) || p.callsServer(call.Func) {
		return true
	}
	function := p.local(call.Func).function()
	if function == nil {
		return true // which is a fault whatever its number
	}
	for _, end := range p.returnsOf(function) {
		if len(end.Exprs) > 1 || len(end.Exprs) == 1 && isMany(end.Exprs[0]) {
			return false
		}
	}
	return true
}

// isNothing reports whether an expression is written as what no command takes
// for a key, so that a call with it touches none.
func isNothing(expr ast.Expr) bool {
	switch expr.(type) {
	case *ast.NilExpr, *ast.FalseExpr, *ast.TrueExpr:
		return true
	}
	return false
}

// resultOrigin tells how the i-th result of a call came to be, by what the
// function returns for the arguments of this very call.
func (p *prover) resultOrigin(call *ast.FuncCallExpr, i int) built {
	v := p.local(call.Func)
	function := v.function()
	if p.strict() || function == nil {
		return fault(Computed, "made by a function: %s", show(call))
	}
	for f := p.frame; f != nil; f = f.outer {
		if f.function == function {
			return fault(Computed, "made by a function that calls itself: %s", show(call))
		}
	}
	return p.in(&frame{function: function, call: call, outer: p.frame}, func() built {
		all := built{origin: Declared}
		for _, end := range p.returnsOf(function) {
			b, present := p.valueOrigin(end.Exprs, i)
			b.how = fmt.Sprintf("the result of %s, returned at %s, which is %s", v.name, p.source.line(end), b.how)
			if present && all.meet(b) {
				return all
			}
		}
		return all
	})
}

// returnsOf returns the return statements of a function; of the script itself
// for nil.
func (r *scopes) returnsOf(function *ast.FunctionExpr) []*ast.ReturnStmt {
	var found []*ast.ReturnStmt
	for stmt := range r.blocks {
		end, ok := stmt.(*ast.ReturnStmt)
		if !ok {
			continue
		}
		if around, _ := r.function(end).(*ast.FunctionExpr); around == function {
			found = append(found, end)
		}
	}
	slices.SortFunc(found, func(a, b *ast.ReturnStmt) int { return rank(a) - rank(b) })
	return found
}

// function returns the function that a local stands for whenever it can be
// called; nil if it is not known.
func (v *variable) function() *ast.FunctionExpr {
	if v == nil || v.kind != plain {
		return nil
	}
	value := v.initial
	switch {
	case v.bare && len(v.assigned) == 1: // declared first and defined later
		value = v.assigned[0]
	case !v.constant():
		return nil
	}
	function, _ := value.(*ast.FunctionExpr)
	return function
}
