package lint

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// expression checks one expression for what differs between the dialects,
// above all how numbers are written.
func (c *checker) expression(expr ast.Expr) {
	switch expr := expr.(type) {
	case *ast.Comma3Expr:
		c.add(RuleDialect, expr, "... is not used; name the parameters")
	case *ast.FunctionExpr:
		if expr.ParList.HasVargs {
			c.add(RuleDialect, expr, "... is not used; name the parameters")
		}
	case *ast.NumberExpr:
		c.literal(expr)
	case *ast.ArithmeticOpExpr:
		c.arithmetic(expr)
	case *ast.RelationalOpExpr:
		c.comparison(expr)
	case *ast.StringConcatOpExpr:
		c.written(expr.Lhs, "joined to a string")
		c.written(expr.Rhs, "joined to a string")
	case *ast.FuncCallExpr:
		c.libraryCall(expr)
	}
}

var plainNumber = regexp.MustCompile(`^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$`)

const maxExact = 1 << 53

func (c *checker) literal(expr *ast.NumberExpr) {
	if !plainNumber.MatchString(expr.Value) {
		c.add(RuleDialect, expr, "write the number %s in plain decimals", expr.Value)
	} else if n, err := strconv.ParseFloat(expr.Value, 64); err != nil || n >= maxExact {
		c.add(RuleDialect, expr, "%s is not below 2^53, where integers are exact", expr.Value)
	}
}

func (c *checker) arithmetic(expr *ast.ArithmeticOpExpr) {
	switch expr.Operator {
	case "^":
		c.add(RuleDialect, expr, "^ gives a float in Lua 5.4; multiply")
	case "/":
		if !c.floored(expr) {
			c.add(RuleDialect, expr, "/ gives a float in Lua 5.4; write math.floor(%s)", show(expr))
		}
	}
	if zero, ok := expr.Rhs.(*ast.NumberExpr); ok && zero.Value == "0" && (expr.Operator == "/" || expr.Operator == "%") {
		c.add(RuleDialect, expr, "division by zero differs between the dialects")
	}
	c.numeric(expr.Lhs)
	c.numeric(expr.Rhs)
}

// floored reports whether a quotient is part of a sum or product that
// math.floor or math.ceil makes whole.
func (c *checker) floored(expr ast.Expr) bool {
	switch parent := c.parents[expr].(type) {
	case *ast.ArithmeticOpExpr:
		return c.floored(parent)
	case *ast.UnaryMinusOpExpr:
		return c.floored(parent)
	case *ast.FuncCallExpr:
		return c.isLibrary(parent.Func, "math", "floor", "ceil")
	}
	return false
}

func (c *checker) comparison(expr *ast.RelationalOpExpr) {
	switch expr.Operator {
	case "<", ">", "<=", ">=":
		_, text := expr.Rhs.(*ast.StringExpr)
		_, text2 := expr.Lhs.(*ast.StringExpr)
		if !text && !text2 {
			c.numeric(expr.Lhs)
			c.numeric(expr.Rhs)
		}
	case "==", "~=":
		_, isNil := expr.Rhs.(*ast.NilExpr)
		if call, ok := expr.Lhs.(*ast.FuncCallExpr); ok && isNil && c.callsServer(call.Func) {
			c.add(RuleDialect, expr, "what is missing is answered as false and not as nil; write not %s", show(expr.Lhs))
		}
	}
}

// numeric checks that an operand which must be a number is not a string from
// outside, which not every dialect turns into one.
func (c *checker) numeric(expr ast.Expr) {
	value := expr
	if v, ok := c.local(expr).value(); ok {
		value = v
	}
	if index, ok := value.(*ast.AttrGetExpr); ok && (c.isGlobal(index.Object, "ARGV") || c.isGlobal(index.Object, "KEYS")) {
		c.add(RuleDialect, expr, "%s is a string; write tonumber(%s)", show(expr), show(expr))
	}
}

// written checks that an expression which becomes part of a string is not a
// computed number, which the dialects write in different ways.
func (c *checker) written(expr ast.Expr, how string) {
	if c.isNumber(expr, 0) {
		c.add(RuleDialect, expr, "the number %s is %s; write string.format('%%.0f', %s)", show(expr), how, show(expr))
	}
}

// isNumber reports whether an expression is a number that was computed.
func (c *checker) isNumber(expr ast.Expr, depth int) bool {
	switch expr := expr.(type) {
	case *ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr:
		return true
	case *ast.FuncCallExpr:
		return c.isGlobal(expr.Func, "tonumber") || c.isLibrary(expr.Func, "math", libraries["math"]...)
	case *ast.LogicalOpExpr:
		return c.isNumber(expr.Rhs, depth) || expr.Operator == "or" && c.isNumber(expr.Lhs, depth)
	case *ast.IdentExpr:
		v := c.locals[expr]
		if v == nil || depth > maxDepth {
			return false
		}
		if v.kind == counter || v.initial != nil && c.isNumber(v.initial, depth+1) {
			return true
		}
		for _, value := range v.assigned {
			if value != nil && c.isNumber(value, depth+1) {
				return true
			}
		}
	}
	return false
}

// libraryCall checks a call of a function.
func (c *checker) libraryCall(call *ast.FuncCallExpr) {
	switch {
	case call.Func == nil:
		c.add(RuleDialect, call, "a method call; write string.%s(%s, …)", call.Method, show(call.Receiver))
	case c.isGlobal(call.Func, "tostring") && len(call.Args) == 1:
		c.written(call.Args[0], "made a string")
	case c.isLibrary(call.Func, "string", "format") && len(call.Args) > 0:
		c.format(call)
	case c.isLibrary(call.Func, "string", "find", "match", "gmatch", "gsub") && len(call.Args) > 1:
		if pattern, ok := call.Args[1].(*ast.StringExpr); ok && strings.Contains(strings.ReplaceAll(pattern.Value, "%%", ""), "%f") {
			c.add(RuleDialect, pattern, "the frontier pattern %%f differs on the embedded server")
		}
	case c.isLibrary(call.Func, "table", "concat") && len(call.Args) > 0:
		c.concat(call)
	}
}

// concat checks that a table which is joined holds no computed number.
func (c *checker) concat(call *ast.FuncCallExpr) {
	t, ok := c.table(c.local(call.Args[0]))
	if !ok {
		return
	}
	for _, field := range t.fields {
		c.written(field.Value, "joined to a string")
	}
	for _, w := range t.writes {
		if w.value != nil {
			c.written(w.value, "joined to a string")
		}
	}
}

var verb = regexp.MustCompile(`%[-+ #0-9.]*(.?)`)

// format checks the verbs of string.format.
func (c *checker) format(call *ast.FuncCallExpr) {
	layout, ok := call.Args[0].(*ast.StringExpr)
	if !ok {
		c.add(RuleDialect, call.Args[0], "the layout of string.format is not a constant")
		return
	}
	next := 1
	for _, match := range verb.FindAllStringSubmatch(layout.Value, -1) {
		if match[0] == "%%" {
			continue
		}
		var operand ast.Expr
		if next < len(call.Args) {
			operand = call.Args[next]
		}
		next++
		switch {
		case operand == nil:
			c.add(RuleDialect, call, "string.format has no operand for %s", match[0])
		case match[1] == "s":
			c.written(operand, "formatted by %s")
		case match[1] == "f" && strings.Contains(match[0], "."):
		case (match[1] == "d" || match[1] == "x") && c.whole(operand):
		case match[1] == "d":
			c.add(RuleDialect, operand, "%%d differs for what is not a whole number; write %%.0f")
		default:
			c.add(RuleDialect, layout, "%s of string.format differs between the dialects", match[0])
		}
	}
}

// whole reports whether an expression is shown to be a whole number.
func (c *checker) whole(expr ast.Expr) bool {
	switch expr := expr.(type) {
	case *ast.UnaryLenOpExpr:
		return true
	case *ast.NumberExpr:
		return !strings.Contains(expr.Value, ".")
	case *ast.FuncCallExpr:
		return c.isLibrary(expr.Func, "math", "floor", "ceil")
	}
	return false
}
