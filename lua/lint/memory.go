package lint

import (
	"maps"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
	"github.com/echomq/echomq-go/lua/syntax"
)

// memory checks that the first write on every path suits @memory.
func (c *checker) memory() {
	w := &writes{checker: c, byExpr: map[ast.Expr]*call{}, asking: map[question]bool{}}
	for _, call := range c.calls {
		w.byExpr[call.expr] = call
	}
	w.block(c.source.chunk, path{clean: true})
	for at := range c.parents {
		if function, ok := at.(*ast.FunctionExpr); ok {
			// It may be called before anything is written.
			w.block(function.Stmts, path{clean: true})
		}
	}
}

// writes follows the paths through a script up to their first write.
type writes struct {
	*checker
	byExpr map[ast.Expr]*call
	breaks []path // that leave the innermost loop
	// asking are the questions that are being answered.
	asking map[question]bool
}

// path is what is known of the runs that reach a point.
type path struct {
	// clean says that some of them may not have written yet.
	clean bool
	// world is what is known of those.
	world world
	// ended says that no run goes on from here.
	ended bool
}

// join is what is known where two paths meet.
func join(a, b path) path {
	switch {
	case a.ended || !a.clean && !b.ended:
		return b
	case b.ended || !b.clean:
		return a
	}
	common := world{}
	for v := range a.world {
		if b.world[v] {
			common[v] = true
		}
	}
	return path{clean: true, world: common}
}

func (w *writes) block(stmts []ast.Stmt, p path) path {
	for _, stmt := range stmts {
		if p.ended {
			return p
		}
		p = w.statement(stmt, p)
	}
	return p
}

func (w *writes) statement(stmt ast.Stmt, p path) path {
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		return w.exprs(stmt.Lhs, w.exprs(stmt.Rhs, p))
	case *ast.LocalAssignStmt:
		return w.exprs(stmt.Exprs, p)
	case *ast.FuncCallStmt:
		return w.expr(stmt.Expr, p)
	case *ast.DoBlockStmt:
		return w.block(stmt.Stmts, p)
	case *ast.IfStmt:
		return w.branch(stmt, p)
	case *ast.ReturnStmt:
		w.exprs(stmt.Exprs, p)
		return path{ended: true}
	case *ast.BreakStmt:
		w.breaks = append(w.breaks, p)
		return path{ended: true}
	case *ast.NumberForStmt:
		p = w.exprs([]ast.Expr{stmt.Init, stmt.Limit}, p)
		if p.clean && w.idle(stmt, p.world) {
			return p
		}
		return w.loop(stmt.Stmts, p)
	case *ast.GenericForStmt:
		return w.loop(stmt.Stmts, w.exprs(stmt.Exprs, p))
	case *ast.WhileStmt:
		return w.loop(stmt.Stmts, w.expr(stmt.Condition, p))
	case *ast.RepeatStmt:
		return w.expr(stmt.Condition, w.loop(stmt.Stmts, p))
	}
	return p
}

func (w *writes) branch(stmt *ast.IfStmt, p path) path {
	p = w.expr(stmt.Condition, p)
	then, otherwise := p, p
	if p.clean {
		if w.impossible(stmt.Condition, p.world) {
			then = path{ended: true}
		}
		otherwise.world = w.without(stmt, p.world)
	}
	if !then.ended {
		then = w.block(stmt.Then, then)
	}
	return join(then, w.block(stmt.Else, otherwise))
}

// loop follows the body once: what it may do first, it may do in its first
// round.
func (w *writes) loop(body []ast.Stmt, p path) path {
	outer := w.breaks
	w.breaks = nil
	after := join(p, w.block(body, p))
	for _, left := range w.breaks {
		after = join(after, left)
	}
	w.breaks = outer
	return after
}

func (w *writes) exprs(exprs []ast.Expr, p path) path {
	for _, expr := range exprs {
		p = w.expr(expr, p)
	}
	return p
}

// expr follows the commands in an expression, in the order in which they are
// evaluated.
func (w *writes) expr(expr ast.Expr, p path) path {
	if logical, ok := expr.(*ast.LogicalOpExpr); ok {
		p = w.expr(logical.Lhs, p)
		return join(p, w.expr(logical.Rhs, p))
	}
	p = w.exprs(syntax.Children(expr), p)
	if call := w.byExpr[expr]; call != nil && call.known && call.command.effect != reads {
		if p.clean {
			w.first(call)
		}
		p.clean = false
	}
	return p
}

// first checks a command that may be the first that writes.
func (w *writes) first(call *call) {
	name := call.command.name
	switch memory, effect := w.script.Memory, call.command.effect; {
	case memory == header.MemoryReads:
		w.add(RuleMemory, call.expr, "%s writes, but the header says @memory reads", name)
	case memory == header.MemoryDrains && effect == grows:
		w.add(RuleMemory, call.expr, "%s may be the first write here; with maxmemory reached the engine refuses it, but the header says @memory drains: begin with a write that frees (DEL, ZREM, HDEL …)", name)
	case memory == header.MemoryRefused && effect == frees:
		w.add(RuleMemory, call.expr, "%s may be the first write here; with maxmemory reached the engine lets it pass and refuses none after it, but the header says @memory refused: begin with a write that grows (HSET, ZADD …)", name)
	}
}

// with returns the world in which t is never filled, too.
func (w world) with(t *variable) world {
	more := maps.Clone(w)
	if more == nil {
		more = world{}
	}
	more[t] = true
	return more
}
