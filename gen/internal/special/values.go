package special

import (
	"math"
	"strconv"

	"github.com/yuin/gopher-lua/ast"
)

// truth tells whether a value counts as true, if that is known.
func truth(expr ast.Expr) (holds, known bool) {
	switch expr.(type) {
	case *ast.FalseExpr, *ast.NilExpr:
		return false, true
	case *ast.TrueExpr, *ast.StringExpr, *ast.NumberExpr, *ast.TableExpr, *ast.FunctionExpr:
		return true, true
	}
	return false, false
}

func isConstant(expr ast.Expr) bool {
	switch expr.(type) {
	case *ast.FalseExpr, *ast.NilExpr, *ast.TrueExpr, *ast.StringExpr, *ast.NumberExpr:
		return true
	}
	return false
}

// computed returns what an operator makes of constants, nil if that is left to
// the script.
func computed(op string, lhs, rhs ast.Expr) ast.Expr {
	switch op {
	case "==":
		return boolean(same(lhs, rhs))
	case "~=":
		return boolean(!same(lhs, rhs))
	}
	a, ok := numberOf(lhs)
	b, ok2 := numberOf(rhs)
	if !ok || !ok2 {
		return nil
	}
	switch op {
	case "<":
		return boolean(a < b)
	case "<=":
		return boolean(a <= b)
	case ">":
		return boolean(a > b)
	case ">=":
		return boolean(a >= b)
	case "+":
		return numeral(a + b)
	case "-":
		return numeral(a - b)
	case "*":
		return numeral(a * b)
	case "/":
		if b != 0 && a%b == 0 {
			return numeral(a / b)
		}
	}
	return nil
}

// same compares constants as Lua does.
func same(lhs, rhs ast.Expr) bool {
	if a, ok := lhs.(*ast.StringExpr); ok {
		b, ok := rhs.(*ast.StringExpr)
		return ok && a.Value == b.Value
	}
	if a, ok := numberOf(lhs); ok {
		b, ok := numberOf(rhs)
		return ok && a == b
	}
	a, _ := truth(lhs)
	b, _ := truth(rhs)
	_, aNil := lhs.(*ast.NilExpr)
	_, bNil := rhs.(*ast.NilExpr)
	return a == b && aNil == bNil && isBoolean(lhs) == isBoolean(rhs)
}

func isBoolean(expr ast.Expr) bool {
	switch expr.(type) {
	case *ast.FalseExpr, *ast.TrueExpr:
		return true
	}
	return false
}

func boolean(holds bool) ast.Expr {
	if holds {
		return &ast.TrueExpr{}
	}
	return &ast.FalseExpr{}
}

func numeral(n int) ast.Expr { return &ast.NumberExpr{Value: strconv.Itoa(n)} }

// numberOf returns the value of a numeral without a fraction.
func numberOf(expr ast.Expr) (int, bool) {
	n, ok := expr.(*ast.NumberExpr)
	if !ok {
		return 0, false
	}
	value, err := strconv.ParseFloat(n.Value, 64)
	return int(value), err == nil && value == math.Trunc(value) && math.Abs(value) < 1<<53
}

// textOf returns the value of a string constant, or "".
func textOf(expr ast.Expr) string {
	text, ok := expr.(*ast.StringExpr)
	if !ok {
		return ""
	}
	return text.Value
}
