package lint

import (
	"github.com/yuin/gopher-lua/ast"
)

// world is a set of local tables that are known never to be filled in this run.
//
// It is how the checker follows a script that asks twice: after
//
//	if #leaving > 0 then redis.call('ZREM', …) end
//
// a run that has not written has an empty table leaving. So no statement that
// stands in one block with a push to leaving was executed, and no later condition
// holds that needs such a statement, as `#waiting > 0` does if waiting is filled
// only there.
type world map[*variable]bool

// question is whether a variable is ever written, or ever with a word.
//
// A question that comes up again while it is being answered counts as answered
// with no: of all writes that would need another one before them, none can be
// the first.
type question struct {
	variable *variable
	word     string
}

// without returns the world behind an if whose condition does not hold.
func (w *writes) without(stmt *ast.IfStmt, known world) world {
	for _, v := range w.filled(stmt.Condition) {
		if w.settled(v, stmt) {
			known = known.with(v)
		}
	}
	return known
}

// filled returns the tables of which one is not empty if, and only if, a
// condition of the form #t > 0 or #t + #u > 0 holds.
func (w *writes) filled(condition ast.Expr) []*variable {
	compare, ok := condition.(*ast.RelationalOpExpr)
	if !ok {
		return nil
	}
	zero, ok := compare.Rhs.(*ast.NumberExpr)
	if !ok || zero.Value != "0" || compare.Operator != ">" && compare.Operator != "~=" {
		return nil
	}
	return w.lengths(compare.Lhs)
}

// lengths returns the tables whose lengths an expression adds.
func (w *writes) lengths(sum ast.Expr) []*variable {
	switch sum := sum.(type) {
	case *ast.UnaryLenOpExpr:
		if v := w.local(sum.Expr); v != nil {
			return []*variable{v}
		}
	case *ast.ArithmeticOpExpr:
		lhs, rhs := w.lengths(sum.Lhs), w.lengths(sum.Rhs)
		if sum.Operator == "+" && lhs != nil && rhs != nil {
			return append(lhs, rhs...)
		}
	}
	return nil
}

// settled reports whether a table that is empty at stmt is never filled in that
// run: it grows by pushes of what is not nil, each earlier in the script, and
// stmt is reached only once.
func (w *writes) settled(v *variable, stmt ast.Stmt) bool {
	t, ok := w.whole(v)
	if !ok || w.function(stmt) != nil {
		return false
	}
	once := true
	w.enclosing(stmt, func(around node) bool {
		once = !isLoop(around)
		return once
	})
	for _, each := range t.writes {
		if !each.pushed() || each.value == nil || rank(each.stmt) > rank(stmt) || !w.neverNil(each.value) {
			return false
		}
	}
	return once
}

// whole returns the table that v holds, if all its writes are known: it starts
// empty, and is filled by the script's own statements, outside of functions.
func (w *writes) whole(v *variable) (*table, bool) {
	t, ok := w.table(v)
	if !ok || len(t.fields) > 0 || t.escape != nil {
		return nil, false
	}
	for _, each := range t.writes {
		if w.function(each.stmt) != nil {
			return nil, false
		}
	}
	return t, w.function(v.declared) == nil
}

// impossible reports whether a condition cannot hold in a world.
func (w *writes) impossible(condition ast.Expr, known world) bool {
	if len(known) == 0 {
		return false
	}
	if tables := w.filled(condition); tables != nil {
		for _, v := range tables {
			if !w.unwritten(v, known, nil) {
				return false
			}
		}
		return true
	}
	switch condition := condition.(type) {
	case *ast.LogicalOpExpr:
		lhs, rhs := w.impossible(condition.Lhs, known), w.impossible(condition.Rhs, known)
		return lhs && rhs || condition.Operator == "and" && (lhs || rhs)
	case *ast.RelationalOpExpr:
		element, ok := condition.Lhs.(*ast.AttrGetExpr)
		word, ok2 := condition.Rhs.(*ast.StringExpr)
		return ok && ok2 && condition.Operator == "==" && w.unwritten(w.local(element.Object), known, word)
	case *ast.AttrGetExpr:
		return w.unwritten(w.local(condition.Object), known, nil)
	case *ast.IdentExpr:
		return w.unset(w.locals[condition], known)
	}
	return false
}

// idle reports whether a loop up to the length of a table has no round in a
// world, because nothing is ever written to the table.
func (w *writes) idle(loop *ast.NumberForStmt, known world) bool {
	first, ok := w.linear(loop.Init)
	if !ok || len(first.terms) > 0 || first.constant < 1 || len(known) == 0 {
		return false
	}
	if loop.Step != nil {
		if step, ok := w.linear(loop.Step); !ok || len(step.terms) > 0 || step.constant < 1 {
			return false
		}
	}
	length, ok := loop.Limit.(*ast.UnaryLenOpExpr)
	return ok && w.unwritten(w.local(length.Expr), known, nil)
}

// unwritten reports whether nothing is ever written to a table in a world; or,
// if word is given, nothing that may be that word.
func (w *writes) unwritten(v *variable, known world, word *ast.StringExpr) bool {
	if v == nil {
		return false
	}
	asked := question{variable: v}
	if w.asking[asked] {
		return true
	}
	if word != nil {
		asked.word = word.Value
	}
	if w.asking[asked] {
		return true
	}
	w.asking[asked] = true
	defer delete(w.asking, asked)
	t, ok := w.whole(v)
	if !ok {
		return false
	}
	for _, each := range t.writes {
		if other, ok := each.value.(*ast.StringExpr); ok && word != nil && other.Value != word.Value {
			continue
		}
		if !w.dead(each.stmt, known) && (word == nil || !w.overwritten(t, each, known)) {
			return false
		}
	}
	return true
}

// unset reports whether a local that is declared without a value is never given
// one in a world.
func (w *writes) unset(v *variable, known world) bool {
	if v == nil || !v.bare {
		return false
	}
	asked := question{variable: v}
	if w.asking[asked] {
		return true
	}
	w.asking[asked] = true
	defer delete(w.asking, asked)
	dead := 0
	for _, use := range v.uses {
		assign, ok := w.parents[use].(*ast.AssignStmt)
		if ok && w.assigns(assign, use) && w.function(assign) == nil && w.dead(assign, known) {
			dead++
		}
	}
	return dead == len(v.assigned)
}

func (w *writes) assigns(stmt *ast.AssignStmt, target ast.Expr) bool {
	for _, lhs := range stmt.Lhs {
		if lhs == target {
			return true
		}
	}
	return false
}

// dead reports whether a statement is never executed in a world.
func (w *writes) dead(stmt ast.Stmt, known world) bool {
	for {
		if w.besidePush(stmt, known) {
			return true
		}
		around := w.parents[stmt]
		switch around := around.(type) {
		case *ast.IfStmt:
			if within(stmt, around.Then) && w.impossible(around.Condition, known) {
				return true
			}
		case *ast.NumberForStmt:
			if w.idle(around, known) {
				return true
			}
		}
		outer, ok := around.(ast.Stmt)
		if !ok {
			return false
		}
		stmt = outer
	}
}

// within reports whether stmt is one of a list.
func within(stmt ast.Stmt, list []ast.Stmt) bool {
	for _, each := range list {
		if each == stmt {
			return true
		}
	}
	return false
}

// besidePush reports whether a statement is executed only together with a push
// to a table that is never filled: both stand in one block, with no way out
// between them.
func (w *writes) besidePush(stmt ast.Stmt, known world) bool {
	b := w.blocks[stmt]
	for i := b.index; i < len(b.stmts); i++ {
		if w.pushes(b.stmts[i], known) {
			return true
		}
		if containsBreak(b.stmts[i : i+1]) {
			break
		}
	}
	for i := b.index - 1; i >= 0; i-- {
		if w.pushes(b.stmts[i], known) {
			return true
		}
	}
	return false
}

// pushes reports whether a statement is a push to a table of the world.
func (w *writes) pushes(stmt ast.Stmt, known world) bool {
	for v := range known {
		t, _ := w.table(v)
		for _, each := range t.writes {
			if each.stmt == stmt {
				return true
			}
		}
	}
	return false
}
