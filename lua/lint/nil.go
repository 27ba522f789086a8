package lint

import (
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// neverNil reports whether expr is shown to have a value that is not nil, in a
// call whose KEYS and ARGV are as the header says.
func (p *prover) neverNil(expr ast.Expr) bool {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return false
	}
	switch expr := expr.(type) {
	case *ast.StringExpr, *ast.NumberExpr, *ast.TrueExpr, *ast.FalseExpr, *ast.TableExpr, *ast.FunctionExpr,
		*ast.StringConcatOpExpr, *ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr,
		*ast.UnaryNotOpExpr, *ast.RelationalOpExpr:
		return true
	case *ast.LogicalOpExpr:
		return p.neverNil(expr.Rhs) && (expr.Operator == "or" || p.neverNil(expr.Lhs))
	case *ast.FuncCallExpr:
		return p.isGlobal(expr.Func, "tostring") || p.isGlobal(expr.Func, "type") ||
			p.isLibrary(expr.Func, "string", "format", "sub", "lower", "upper", "rep") ||
			p.isLibrary(expr.Func, "math", "floor", "ceil", "abs", "max", "min")
	case *ast.IdentExpr:
		v := p.locals[expr]
		if v != nil && v.kind == counter {
			return v.constant()
		}
		value, ok := v.value()
		return ok && p.neverNil(value)
	case *ast.AttrGetExpr:
		return p.givenElement(expr)
	}
	return false
}

// givenElement reports whether an element is one of KEYS or ARGV that every
// call has, or was put into its table for every item before.
func (p *prover) givenElement(expr *ast.AttrGetExpr) bool {
	switch {
	case p.script == nil:
		return false
	case p.isGlobal(expr.Object, "KEYS"):
		return p.keysOrigin(expr).origin == Declared
	case p.isGlobal(expr.Object, "ARGV"):
		places, ok := p.argument(expr.Key)
		return ok && len(places) == 1 && places[0].declared
	default:
		return p.filledElement(expr)
	}
}

// filledElement reports whether t[i], for an item i, was written by an earlier
// loop over the items, which does so for every one of them.
func (p *prover) filledElement(expr *ast.AttrGetExpr) bool {
	index := p.local(expr.Key)
	t, ok := p.table(p.local(expr.Object))
	if !ok || index == nil || !index.constant() || p.itemLoop(index) != "" || t.escape != nil {
		return false
	}
	filled := false
	for _, w := range t.writes {
		if w.value == nil || !p.neverNil(w.value) {
			return false
		}
		filled = filled || p.fillsItems(w) && rank(w.stmt) < rank(index.declared)
	}
	return filled
}

// fillsItems reports whether a write is done once for every item: at once in a
// loop over all of them that stands at the top of the script and is not left.
func (p *prover) fillsItems(w write) bool {
	loop, ok := p.parents[w.stmt].(*ast.NumberForStmt)
	if !ok || p.parents[loop] != nil || containsBreak(loop.Stmts) {
		return false
	}
	first, ok := p.linear(loop.Init)
	index := p.local(w.key)
	return ok && first.constant == 1 && len(first.terms) == 0 && loop.Step == nil &&
		index != nil && index.declared == node(loop) && index.constant() && p.itemLoop(index) == ""
}

// argumentPlace is an argument that ARGV[…] can be.
type argumentPlace struct {
	declared bool
	// item says that it is the item's argument; index is its place among those
	// of its kind.
	item  bool
	index int
}

// argument returns which arguments ARGV[index] can be, if that can be told.
func (p *prover) argument(index ast.Expr) ([]argumentPlace, bool) {
	l, ok := p.linear(index)
	if !ok {
		return nil, false
	}
	fixed, each := len(p.script.Args), len(p.script.Items)
	inItems := false
	spans := []int{l.constant}
	for t, factor := range l.terms {
		switch low, high, bounded := p.bounds(t.variable); {
		case t.variable == nil:
			return nil, false
		case bounded && high-low < 64:
			spans = spread(spans, factor, low, high)
		case factor == each && p.itemLoop(t.variable) == "" && !inItems:
			inItems = true
		default:
			return nil, false
		}
	}
	var places []argumentPlace
	for _, n := range spans {
		if inItems {
			i := n + each - fixed
			places = append(places, argumentPlace{item: true, index: i - 1, declared: i >= 1 && i <= each})
		} else {
			places = append(places, argumentPlace{index: n - 1, declared: n >= 1 && n <= fixed})
		}
	}
	return places, true
}

// bounds returns the bounds of the variable of a loop between two constants.
func (r *scopes) bounds(v *variable) (low, high int, ok bool) {
	if v == nil || v.kind != counter || !v.constant() {
		return 0, 0, false
	}
	loop := v.declared.(*ast.NumberForStmt)
	first, ok1 := loop.Init.(*ast.NumberExpr)
	last, ok2 := loop.Limit.(*ast.NumberExpr)
	if !ok1 || !ok2 || loop.Step != nil {
		return 0, 0, false
	}
	low, err1 := strconv.Atoi(first.Value)
	high, err2 := strconv.Atoi(last.Value)
	return low, high, err1 == nil && err2 == nil && low <= high
}

// spread adds each multiple of factor between low and high to each of spans.
func spread(spans []int, factor, low, high int) []int {
	var all []int
	for _, n := range spans {
		for i := low; i <= high; i++ {
			all = append(all, n+factor*i)
		}
	}
	return all
}
