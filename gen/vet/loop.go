package vet

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// loops looks for the loops of a handler that may go on after its context has
// ended.
type loops struct {
	*heed
	report func(loop ast.Stmt, why string)
}

// in looks at the loops in a piece of code, and, where they are sound, at those
// inside. It is told whether a loop around heeds the context: then a wait that
// comes to an end is short enough.
func (l *loops) in(n ast.Node, heeded bool) {
	ast.Inspect(n, func(inner ast.Node) bool {
		loop, ok := inner.(ast.Stmt)
		if body := bodyOf(inner); inner == n || !ok || body == nil {
			return true
		}
		heeds := l.heeds(loop)
		if !heeds {
			if why := l.why(loop, heeded); why != "" {
				l.report(loop, why)
				return false
			}
		}
		l.in(loop, heeded || heeds)
		return false
	})
}

// bodyOf returns the body of a loop; nil for anything else.
func bodyOf(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.ForStmt:
		return n.Body
	case *ast.RangeStmt:
		return n.Body
	}
	return nil
}

// head returns the line in which a loop begins.
func head(loop ast.Stmt) analysis.Range {
	return span{loop.Pos(), bodyOf(loop).Lbrace}
}

type span struct{ pos, end token.Pos }

func (s span) Pos() token.Pos { return s.pos }
func (s span) End() token.Pos { return s.end }

// why says what is wrong with a loop that does not heed the context, or "".
func (l *loops) why(loop ast.Stmt, heeded bool) string {
	statement, isFor := loop.(*ast.ForStmt)
	endless := isFor && statement.Cond == nil
	switch waits := l.waits(loop); {
	case waits != "" && (endless || !heeded):
		return waits
	case endless && !leaves(loop):
		return "has no end"
	}
	return ""
}

// leaves reports whether a loop can be left from within. A break that may be of
// another statement counts.
func leaves(loop ast.Stmt) bool {
	found := false
	ast.Inspect(loop, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ReturnStmt:
			found = true
		case *ast.BranchStmt:
			found = found || n.Tok == token.BREAK || n.Tok == token.GOTO || n.Tok == token.CONTINUE && n.Label != nil
		case *ast.CallExpr:
			name, _ := ast.Unparen(n.Fun).(*ast.Ident)
			found = found || name != nil && name.Name == "panic"
		}
		return !found
	})
	return found
}

// waits says by what a loop waits, or "". What runs in another goroutine, and the
// functions that are only declared in it, do not hold it up.
func (l *loops) waits(loop ast.Stmt) string {
	why := ""
	if ranging, ok := loop.(*ast.RangeStmt); ok && isChannel(l.info.TypeOf(ranging.X)) && !l.local(ranging.X) {
		return "receives from a channel"
	}
	var look func(n ast.Node) bool
	look = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt:
			return false
		case *ast.SelectStmt:
			if hasDefault(n) {
				for _, clause := range n.Body.List {
					for _, statement := range clause.(*ast.CommClause).Body {
						ast.Inspect(statement, look)
					}
				}
				return false
			}
		case *ast.UnaryExpr:
			if n.Op == token.ARROW && !l.local(n.X) {
				why = "receives from a channel"
			}
		case *ast.SendStmt:
			if !l.local(n.Chan) {
				why = "sends to a channel"
			}
		case *ast.CallExpr:
			if called, ok := typeutil.Callee(l.info, n).(*types.Func); ok {
				why = waiting(called)
			}
		}
		return why == ""
	}
	ast.Inspect(loop, look)
	return why
}

func isChannel(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Chan)
	return ok
}

func hasDefault(s *ast.SelectStmt) bool {
	return slices.ContainsFunc(s.Body.List, func(clause ast.Stmt) bool { return clause.(*ast.CommClause).Comm == nil })
}

// slow are the functions and methods of the standard library that may take long,
// and of which there is a form that takes a context.
var slow = map[string][]string{
	"net": {
		"Dial", "DialTimeout", "Dialer.Dial", "LookupHost", "LookupIP", "LookupAddr", "LookupCNAME", "LookupMX", "LookupNS", "LookupTXT", "LookupSRV",
	},
	"net/http": {
		"Get", "Head", "Post", "PostForm", "Client.Get", "Client.Head", "Client.Post", "Client.PostForm", "Client.Do",
	},
	"database/sql": {
		"DB.Exec", "DB.Query", "DB.QueryRow", "DB.Begin", "DB.Ping", "DB.Prepare",
		"Tx.Exec", "Tx.Query", "Tx.QueryRow", "Tx.Prepare", "Stmt.Exec", "Stmt.Query", "Stmt.QueryRow",
	},
	"os/exec": {"Cmd.Run", "Cmd.Output", "Cmd.CombinedOutput", "Cmd.Wait"},
}

// waiting says how a function waits, or "".
func waiting(called *types.Func) string {
	if called.Pkg() == nil {
		return ""
	}
	path, name := called.Pkg().Path(), called.Name()
	switch {
	case path == "time" && name == "Sleep":
		return "sleeps"
	case path == "context" && (name == "Background" || name == "TODO"):
		return "begins a context of its own"
	case slices.Contains(slow[path], nameOf(called)):
		return "calls " + called.Pkg().Name() + "." + nameOf(called)
	}
	return ""
}
