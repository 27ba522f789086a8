package lint

import (
	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/syntax"
)

// containsBreak reports whether a statement of the list may break out of a loop
// around it.
func containsBreak(stmts []ast.Stmt) bool {
	for _, stmt := range stmts {
		switch stmt.(type) {
		case *ast.BreakStmt, *ast.GotoStmt:
			return true
		case *ast.IfStmt, *ast.DoBlockStmt:
			for _, body := range syntax.Bodies(stmt) {
				if containsBreak(body) {
					return true
				}
			}
		}
	}
	return false
}

// isLoop reports whether a node is a loop.
func isLoop(at node) bool {
	switch at.(type) {
	case *ast.NumberForStmt, *ast.GenericForStmt, *ast.WhileStmt, *ast.RepeatStmt:
		return true
	}
	return false
}
