package special

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// printer writes statements as Lua, two spaces to an indent.
type printer struct {
	*bytes.Buffer
	depth int
}

func (p *printer) line(format string, args ...any) {
	p.WriteString(strings.Repeat("  ", p.depth))
	fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

func (p *printer) inner(body []ast.Stmt) {
	p.depth++
	p.block(body)
	p.depth--
}

func (p *printer) block(body []ast.Stmt) {
	for _, stmt := range body {
		p.statement(stmt)
	}
}

func (p *printer) statement(stmt ast.Stmt) {
	switch s := stmt.(type) {
	case *ast.LocalAssignStmt:
		if function, ok := single(s.Exprs).(*ast.FunctionExpr); ok && len(s.Names) == 1 {
			p.line("local function %s(%s)", plainName(s.Names[0]), p.names(function.ParList.Names))
			p.inner(function.Stmts)
			p.line("end")
			return
		}
		if len(s.Exprs) == 0 {
			p.line("local %s", p.names(s.Names))
			return
		}
		p.line("local %s = %s", p.names(s.Names), p.list(s.Exprs))
	case *ast.AssignStmt:
		p.line("%s = %s", p.list(s.Lhs), p.list(s.Rhs))
	case *ast.FuncCallStmt:
		p.line("%s", p.expr(s.Expr, 0))
	case *ast.ReturnStmt:
		p.line("%s", strings.TrimRight("return "+p.list(s.Exprs), " "))
	case *ast.BreakStmt:
		p.line("break")
	case *ast.DoBlockStmt:
		p.line("do")
		p.inner(s.Stmts)
		p.line("end")
	case *ast.WhileStmt:
		p.line("while %s do", p.expr(s.Condition, 0))
		p.inner(s.Stmts)
		p.line("end")
	case *ast.RepeatStmt:
		p.line("repeat")
		p.inner(s.Stmts)
		p.line("until %s", p.expr(s.Condition, 0))
	case *ast.IfStmt:
		p.branches(s)
	case *ast.NumberForStmt:
		step := ""
		if s.Step != nil {
			step = ", " + p.expr(s.Step, 0)
		}
		p.line("for %s = %s, %s%s do", plainName(s.Name), p.expr(s.Init, 0), p.expr(s.Limit, 0), step)
		p.inner(s.Stmts)
		p.line("end")
	case *ast.GenericForStmt:
		p.line("for %s in %s do", p.names(s.Names), p.list(s.Exprs))
		p.inner(s.Stmts)
		p.line("end")
	default:
		panic(fmt.Sprintf("special: no way to write a %T", stmt))
	}
}

func (p *printer) branches(s *ast.IfStmt) {
	p.line("if %s then", p.expr(s.Condition, 0))
	p.inner(s.Then)
	for len(s.Else) == 1 {
		next, ok := s.Else[0].(*ast.IfStmt)
		if !ok {
			break
		}
		s = next
		p.line("elseif %s then", p.expr(s.Condition, 0))
		p.inner(s.Then)
	}
	if len(s.Else) > 0 {
		p.line("else")
		p.inner(s.Else)
	}
	p.line("end")
}

func (p *printer) names(names []string) string {
	plain := make([]string, len(names))
	for i, name := range names {
		plain[i] = plainName(name)
	}
	return strings.Join(plain, ", ")
}

func (p *printer) list(exprs []ast.Expr) string {
	parts := make([]string, len(exprs))
	for i, expr := range exprs {
		parts[i] = p.expr(expr, 0)
	}
	return strings.Join(parts, ", ")
}

// How tightly operators bind.
const (
	bindsUnary = 7
	bindsIndex = 8
)

func binds(op string) int {
	switch op {
	case "or":
		return 1
	case "and":
		return 2
	case "..":
		return 4
	case "+", "-":
		return 5
	case "*", "/", "%":
		return 6
	default: // comparisons
		return 3
	}
}

// expr writes an expression, in parentheses if what stands around it binds
// tighter.
func (p *printer) expr(expr ast.Expr, around int) string {
	switch e := expr.(type) {
	case *ast.TrueExpr:
		return "true"
	case *ast.FalseExpr:
		return "false"
	case *ast.NilExpr:
		return "nil"
	case *ast.NumberExpr:
		return e.Value
	case *ast.StringExpr:
		return quoted(e.Value)
	case *ast.IdentExpr:
		return plainName(e.Value)
	case *ast.AttrGetExpr:
		object := p.expr(e.Object, bindsIndex)
		if key, ok := e.Key.(*ast.StringExpr); ok && syntax.IsIdentifier(key.Value) {
			return object + "." + key.Value
		}
		return object + "[" + p.expr(e.Key, 0) + "]"
	case *ast.TableExpr:
		return p.table(e)
	case *ast.FuncCallExpr:
		if e.Func == nil {
			return p.expr(e.Receiver, bindsIndex) + ":" + e.Method + "(" + p.list(e.Args) + ")"
		}
		return p.expr(e.Func, bindsIndex) + "(" + p.list(e.Args) + ")"
	case *ast.UnaryMinusOpExpr:
		return p.parenthesized("-"+p.expr(e.Expr, bindsUnary), bindsUnary, around)
	case *ast.UnaryNotOpExpr:
		return p.parenthesized("not "+p.expr(e.Expr, bindsUnary), bindsUnary, around)
	case *ast.UnaryLenOpExpr:
		return p.parenthesized("#"+p.expr(e.Expr, bindsUnary), bindsUnary, around)
	}
	op, lhs, rhs := syntax.Binary(expr)
	if lhs == nil {
		panic(fmt.Sprintf("special: no way to write a %T", expr))
	}
	own := binds(op)
	left, right := own, own+1
	if op == ".." { // which binds to the right
		left, right = own+1, own
	}
	return p.parenthesized(p.expr(*lhs, left)+" "+op+" "+p.expr(*rhs, right), own, around)
}

func (p *printer) parenthesized(text string, own, around int) string {
	if own < around {
		return "(" + text + ")"
	}
	return text
}

func (p *printer) table(e *ast.TableExpr) string {
	if len(e.Fields) == 0 {
		return "{}"
	}
	var parts []string
	for _, field := range e.Fields {
		value := p.expr(field.Value, 0)
		switch {
		case field.Key == nil:
			parts = append(parts, value)
		case syntax.IsIdentifier(textOf(field.Key)):
			parts = append(parts, textOf(field.Key)+" = "+value)
		default:
			parts = append(parts, "["+p.expr(field.Key, 0)+"] = "+value)
		}
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

var escapes = strings.NewReplacer("\\", "\\\\", "'", "\\'", "\n", "\\n", "\r", "\\r", "\x00", "\\0")

func quoted(text string) string { return "'" + escapes.Replace(text) + "'" }
