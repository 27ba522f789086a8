package lint

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// show writes an expression in one line, for messages.
func show(expr ast.Expr) string {
	const limit = 80
	text := showExpr(expr)
	if len(text) > limit {
		return text[:limit] + "…"
	}
	return text
}

func showExpr(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.TrueExpr:
		return "true"
	case *ast.FalseExpr:
		return "false"
	case *ast.NilExpr:
		return "nil"
	case *ast.NumberExpr:
		return expr.Value
	case *ast.StringExpr:
		return "'" + strings.NewReplacer("\\", "\\\\", "'", "\\'", "\n", "\\n", "\r", "\\r", "\x00", "\\0").Replace(expr.Value) + "'"
	case *ast.Comma3Expr:
		return "..."
	case *ast.IdentExpr:
		return expr.Value
	case *ast.AttrGetExpr:
		return showIndex(expr)
	case *ast.TableExpr:
		return "{…}"
	case *ast.FunctionExpr:
		return "function…"
	case *ast.FuncCallExpr:
		if expr.Func == nil {
			return showExpr(expr.Receiver) + ":" + expr.Method + "(" + showList(expr.Args) + ")"
		}
		return showExpr(expr.Func) + "(" + showList(expr.Args) + ")"
	case *ast.UnaryMinusOpExpr:
		return "-" + showOperand(expr.Expr)
	case *ast.UnaryNotOpExpr:
		return "not " + showOperand(expr.Expr)
	case *ast.UnaryLenOpExpr:
		return "#" + showOperand(expr.Expr)
	default:
		if op, lhs, rhs := syntax.Binary(expr); op != "" {
			return showOperand(*lhs) + " " + op + " " + showOperand(*rhs)
		}
		return "?"
	}
}

func showIndex(expr *ast.AttrGetExpr) string {
	object := showOperand(expr.Object)
	if key, ok := expr.Key.(*ast.StringExpr); ok && syntax.IsIdentifier(key.Value) {
		return object + "." + key.Value
	}
	return object + "[" + showExpr(expr.Key) + "]"
}

// showOperand puts a binary expression into parentheses, but for a product in a
// sum and a chain of concatenations, which read better without.
func showOperand(expr ast.Expr) string {
	op, _, _ := syntax.Binary(expr)
	switch op {
	case "", "*", "..":
		return showExpr(expr)
	default:
		return "(" + showExpr(expr) + ")"
	}
}

func showList(exprs []ast.Expr) string {
	var parts []string
	for _, expr := range exprs {
		parts = append(parts, showExpr(expr))
	}
	return strings.Join(parts, ", ")
}
