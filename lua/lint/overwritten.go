package lint

import "github.com/yuin/gopher-lua/ast"

// overwritten reports whether a constant that is written to an element does not
// stay there in a world, as in
//
//	verdicts[i] = 'settled'
//	if … then
//	  verdicts[i] = 'lost'
//	else
//	  leaving[#leaving + 1] = id
//	end
//
// where leaving is never filled: one of the following statements of the block
// writes another constant to the same element, or cannot be executed, on each of
// its branches. Nothing in the block reads the table before.
func (w *writes) overwritten(t *table, first write, known world) bool {
	b, ok := w.blocks[first.stmt]
	index := w.local(first.key)
	if !ok || index == nil || !index.constant() || containsBreak(b.stmts) {
		return false
	}
	if w.readWithin(t, w.parents[first.stmt]) {
		return false
	}
	for _, stmt := range b.stmts[b.index+1:] {
		if branch, ok := stmt.(*ast.IfStmt); ok && w.overwrites(t, first, branch, known) {
			return true
		}
	}
	return false
}

// overwrites reports whether every branch of an if writes another constant to
// the element, or is dead.
func (w *writes) overwrites(t *table, first write, branch *ast.IfStmt, known world) bool {
	if !w.branchOverwrites(t, first, branch.Then, known) {
		return false
	}
	if len(branch.Else) == 1 {
		if next, ok := branch.Else[0].(*ast.IfStmt); ok {
			return w.overwrites(t, first, next, known)
		}
	}
	return w.branchOverwrites(t, first, branch.Else, known)
}

func (w *writes) branchOverwrites(t *table, first write, stmts []ast.Stmt, known world) bool {
	for _, stmt := range stmts {
		if w.pushes(stmt, known) {
			return true
		}
		for _, other := range t.writes {
			if other.stmt == stmt && w.local(other.key) == w.local(first.key) && other.key != nil && differs(other, first) {
				return true
			}
		}
	}
	return false
}

// differs reports whether two writes are of different constants.
func differs(a, b write) bool {
	left, ok := a.value.(*ast.StringExpr)
	right, ok2 := b.value.(*ast.StringExpr)
	return ok && ok2 && left.Value != right.Value
}

// readWithin reports whether a table is used for anything but writes below a
// node; the whole script if that is nil.
func (w *writes) readWithin(t *table, around node) bool {
	written := map[ast.Stmt]bool{}
	for _, each := range t.writes {
		written[each.stmt] = true
	}
	for _, use := range t.variable.uses {
		inside := around == nil
		w.enclosing(use, func(at node) bool {
			inside = inside || at == around
			return !inside
		})
		if inside && !written[w.statementOf(use)] {
			return true
		}
	}
	return false
}
