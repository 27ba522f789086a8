package special

import (
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// distinguish gives every local a name of its own, by which it can be told from
// others of the same name: the second a becomes a#2. plainName is the way back.
// The scopes stay as they are, so names that were printed plainly mean the same.
func distinguish(chunk []ast.Stmt) {
	d := &distinguisher{seen: map[string]int{}}
	d.block(chunk)
}

func plainName(name string) string {
	name, _, _ = strings.Cut(name, "#")
	return name
}

type distinguisher struct {
	seen   map[string]int
	scopes []map[string]string
}

func (d *distinguisher) declare(name string) string {
	d.seen[name]++
	own := name
	if d.seen[name] > 1 {
		own = fmt.Sprintf("%s#%d", name, d.seen[name])
	}
	d.scopes[len(d.scopes)-1][name] = own
	return own
}

func (d *distinguisher) scope(names []string, body []ast.Stmt) {
	d.scopes = append(d.scopes, map[string]string{})
	for i := range names {
		names[i] = d.declare(names[i])
	}
	d.statements(body)
	d.scopes = d.scopes[:len(d.scopes)-1]
}

func (d *distinguisher) block(body []ast.Stmt) { d.scope(nil, body) }

func (d *distinguisher) statements(body []ast.Stmt) {
	for _, stmt := range body {
		switch s := stmt.(type) {
		case *ast.LocalAssignStmt:
			_, function := single(s.Exprs).(*ast.FunctionExpr)
			if function { // a function knows its own name
				s.Names[0] = d.declare(s.Names[0])
			}
			for _, expr := range s.Exprs {
				d.expr(expr)
			}
			for i := range s.Names {
				if !function {
					s.Names[i] = d.declare(s.Names[i])
				}
			}
		case *ast.NumberForStmt:
			d.exprs(s.Init, s.Limit, s.Step)
			names := []string{s.Name}
			d.scope(names, s.Stmts)
			s.Name = names[0]
		case *ast.GenericForStmt:
			d.exprs(s.Exprs...)
			d.scope(s.Names, s.Stmts)
		default:
			d.exprs(expressions(stmt)...)
			for _, body := range syntax.Bodies(stmt) {
				d.block(body)
			}
		}
	}
}

func (d *distinguisher) exprs(exprs ...ast.Expr) {
	for _, expr := range exprs {
		if expr != nil {
			d.expr(expr)
		}
	}
}

func (d *distinguisher) expr(expr ast.Expr) {
	switch e := expr.(type) {
	case *ast.IdentExpr:
		for i := len(d.scopes) - 1; i >= 0; i-- {
			if own, ok := d.scopes[i][e.Value]; ok {
				e.Value = own
				return
			}
		}
	case *ast.FunctionExpr:
		d.scope(e.ParList.Names, e.Stmts)
	default:
		d.exprs(syntax.Children(expr)...)
	}
}

func single(exprs []ast.Expr) ast.Expr {
	if len(exprs) == 1 {
		return exprs[0]
	}
	return nil
}
