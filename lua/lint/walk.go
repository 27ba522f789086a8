package lint

import "github.com/yuin/gopher-lua/ast"

// bodies returns the statement lists in a statement, but for functions.
func bodies(stmt ast.Stmt) [][]ast.Stmt {
	switch stmt := stmt.(type) {
	case *ast.DoBlockStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.WhileStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.RepeatStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.IfStmt:
		return [][]ast.Stmt{stmt.Then, stmt.Else}
	case *ast.NumberForStmt:
		return [][]ast.Stmt{stmt.Stmts}
	case *ast.GenericForStmt:
		return [][]ast.Stmt{stmt.Stmts}
	}
	return nil
}

// containsBreak reports whether a statement of the list may break out of a loop
// around it.
func containsBreak(stmts []ast.Stmt) bool {
	for _, stmt := range stmts {
		switch stmt.(type) {
		case *ast.BreakStmt, *ast.GotoStmt:
			return true
		case *ast.IfStmt, *ast.DoBlockStmt:
			for _, body := range bodies(stmt) {
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
