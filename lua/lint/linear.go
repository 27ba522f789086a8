package lint

import (
	"maps"
	"slices"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// linear is a sum: a constant, and terms that are a variable times a number.
type linear struct {
	constant int
	terms    map[term]int
}

// term is what a linear expression varies with: a local variable that is never
// assigned again, or the length of KEYS or ARGV.
type term struct {
	variable *variable
	length   string
}

// linear returns expr as a sum of terms, if it is one. Locals that are assigned
// once stand for their values, but for the counts of items, which are terms.
func (r *scopes) linear(expr ast.Expr) (linear, bool) {
	switch expr := expr.(type) {
	case *ast.NumberExpr:
		n, err := strconv.Atoi(expr.Value)
		return linear{constant: n}, err == nil
	case *ast.UnaryMinusOpExpr:
		l, ok := r.linear(expr.Expr)
		return l.times(-1), ok
	case *ast.UnaryLenOpExpr:
		for _, name := range []string{"KEYS", "ARGV"} {
			if r.isGlobal(expr.Expr, name) {
				return linear{terms: map[term]int{{length: name}: 1}}, true
			}
		}
	case *ast.IdentExpr:
		return r.linearVariable(r.locals[expr])
	case *ast.ArithmeticOpExpr:
		lhs, ok := r.linear(expr.Lhs)
		rhs, ok2 := r.linear(expr.Rhs)
		if ok && ok2 {
			return lhs.combine(expr.Operator, rhs)
		}
	}
	return linear{}, false
}

func (r *scopes) linearVariable(v *variable) (linear, bool) {
	if v == nil || !v.constant() {
		return linear{}, false
	}
	if value, ok := v.value(); ok {
		if _, isCount := r.count(value); !isCount {
			return r.linear(value)
		}
	} else if v.kind != counter {
		return linear{}, false
	}
	return linear{terms: map[term]int{{variable: v}: 1}}, true
}

func (l linear) combine(operator string, other linear) (linear, bool) {
	switch {
	case operator == "+":
		return l.plus(other), true
	case operator == "-":
		return l.plus(other.times(-1)), true
	case operator == "*" && len(other.terms) == 0:
		return l.times(other.constant), true
	case operator == "*" && len(l.terms) == 0:
		return other.times(l.constant), true
	}
	return linear{}, false
}

func (l linear) times(factor int) linear {
	product := linear{constant: l.constant * factor, terms: map[term]int{}}
	for t, n := range l.terms {
		if n*factor != 0 {
			product.terms[t] = n * factor
		}
	}
	return product
}

func (l linear) plus(other linear) linear {
	sum := linear{constant: l.constant + other.constant, terms: map[term]int{}}
	maps.Copy(sum.terms, l.terms)
	for t, n := range other.terms {
		sum.terms[t] += n
		if sum.terms[t] == 0 {
			delete(sum.terms, t)
		}
	}
	return sum
}

// single returns the one term of l and its factor.
func (l linear) single() (t term, factor int, ok bool) {
	for t, factor := range l.terms {
		return t, factor, len(l.terms) == 1
	}
	return term{}, 0, false
}

// itemCount is a number of items as a script computes it: (#list - fixed) / each.
type itemCount struct {
	list  string // KEYS or ARGV
	fixed int
	each  int
}

// count returns what expr says of the number of items, if that is its form:
// #KEYS - n, or the quotient of that and a number, floored or not.
func (r *scopes) count(expr ast.Expr) (itemCount, bool) {
	each := 1
	if call, ok := expr.(*ast.FuncCallExpr); ok && r.isLibrary(call.Func, "math", "floor") && len(call.Args) == 1 {
		expr = call.Args[0]
	}
	if quotient, ok := expr.(*ast.ArithmeticOpExpr); ok && quotient.Operator == "/" {
		divisor, ok := r.linear(quotient.Rhs)
		if !ok || len(divisor.terms) > 0 || divisor.constant < 1 {
			return itemCount{}, false
		}
		expr, each = quotient.Lhs, divisor.constant
	}
	if _, ok := expr.(*ast.IdentExpr); ok {
		return itemCount{}, false
	}
	l, ok := r.linear(expr)
	if !ok {
		return itemCount{}, false
	}
	t, factor, ok := l.single()
	if !ok || factor != 1 || t.length == "" {
		return itemCount{}, false
	}
	return itemCount{list: t.length, fixed: -l.constant, each: each}, true
}

// isLibrary reports whether expr is library.name of the global library.
func (r *scopes) isLibrary(expr ast.Expr, library string, names ...string) bool {
	index, ok := expr.(*ast.AttrGetExpr)
	if !ok || !r.isGlobal(index.Object, library) {
		return false
	}
	key, ok := index.Key.(*ast.StringExpr)
	return ok && slices.Contains(names, key.Value)
}
