package lint

import "github.com/yuin/gopher-lua/ast"

// variable is a local variable.
type variable struct {
	name string
	kind variableKind
	// declared is the statement or function that declares it.
	declared node
	// initial is the expression it is declared with; nil if it has none, or none
	// of its own.
	initial ast.Expr
	// bare says that it is declared without any expression, so as nil.
	bare bool
	// parameter is its place among the parameters of the function.
	parameter int
	// place is its place among the names of the statement.
	place int
	// assigned are the expressions assigned to it after its declaration; nil
	// stands for a value that cannot be told.
	assigned []ast.Expr
	uses     []*ast.IdentExpr
}

type variableKind int

const (
	plain     variableKind = iota // local x = …
	counter                       // for x = 1, n do
	iterator                      // for x in … do
	parameter                     // function (x)
)

// constant reports whether the variable has one value for all its life.
func (v *variable) constant() bool { return len(v.assigned) == 0 }

// value returns the expression that a variable stands for, if it is a local
// that is assigned once.
func (v *variable) value() (ast.Expr, bool) {
	if v == nil || v.kind != plain || !v.constant() || v.initial == nil {
		return nil, false
	}
	return v.initial, true
}

// scopes is a syntax tree with its names resolved.
type scopes struct {
	source *source
	// locals are the identifiers that name a local variable.
	locals map[*ast.IdentExpr]*variable
	// globals are the others.
	globals []*ast.IdentExpr
	// parents are the nodes that others stand in.
	parents map[node]node
	// blocks are the statement lists that statements stand in.
	blocks map[ast.Stmt]block
	// variables are all local variables, in order.
	variables []*variable
	current   *scope
	// dead are the functions that nothing calls, once they are asked for.
	dead map[*ast.FunctionExpr]bool
}

// block is a statement list and a statement's place in it.
type block struct {
	stmts []ast.Stmt
	index int
}

// scope is the variables of a block and what surrounds it.
type scope struct {
	outer *scope
	names map[string]*variable
}

func resolve(s *source) *scopes {
	r := &scopes{
		source:  s,
		locals:  map[*ast.IdentExpr]*variable{},
		parents: map[node]node{},
		blocks:  map[ast.Stmt]block{},
	}
	r.block(nil, s.chunk)
	return r
}

// isGlobal reports whether expr is the global variable called name.
func (r *scopes) isGlobal(expr ast.Expr, name string) bool {
	ident, ok := expr.(*ast.IdentExpr)
	return ok && ident.Value == name && r.locals[ident] == nil
}

// local returns the local variable that expr names, or nil.
func (r *scopes) local(expr ast.Expr) *variable {
	ident, ok := expr.(*ast.IdentExpr)
	if !ok {
		return nil
	}
	return r.locals[ident]
}

// enclosing calls visit for every node around at, from the inside out, until it
// returns false.
func (r *scopes) enclosing(at node, visit func(node) bool) {
	for parent := r.parents[at]; parent != nil && visit(parent); parent = r.parents[parent] {
	}
}

func (r *scopes) open() { r.current = &scope{outer: r.current, names: map[string]*variable{}} }

func (r *scopes) close() { r.current = r.current.outer }

func (r *scopes) declare(v *variable) {
	r.variables = append(r.variables, v)
	r.current.names[v.name] = v
}

func (r *scopes) lookup(name string) *variable {
	for s := r.current; s != nil; s = s.outer {
		if v := s.names[name]; v != nil {
			return v
		}
	}
	return nil
}

func (r *scopes) block(parent node, stmts []ast.Stmt) {
	r.open()
	r.statements(parent, stmts)
	r.close()
}

func (r *scopes) statements(parent node, stmts []ast.Stmt) {
	for i, stmt := range stmts {
		if parent != nil {
			r.parents[stmt] = parent
		}
		r.blocks[stmt] = block{stmts: stmts, index: i}
		r.statement(stmt)
	}
}

func (r *scopes) statement(stmt ast.Stmt) {
	switch stmt := stmt.(type) {
	case *ast.AssignStmt:
		r.exprs(stmt, stmt.Rhs)
		r.exprs(stmt, stmt.Lhs)
		r.assign(stmt)
	case *ast.LocalAssignStmt:
		r.localAssign(stmt)
	case *ast.FuncCallStmt:
		r.expr(stmt, stmt.Expr)
	case *ast.DoBlockStmt:
		r.block(stmt, stmt.Stmts)
	case *ast.WhileStmt:
		r.expr(stmt, stmt.Condition)
		r.block(stmt, stmt.Stmts)
	case *ast.RepeatStmt:
		r.open()
		r.statements(stmt, stmt.Stmts)
		r.expr(stmt, stmt.Condition)
		r.close()
	case *ast.IfStmt:
		r.expr(stmt, stmt.Condition)
		r.block(stmt, stmt.Then)
		r.block(stmt, stmt.Else)
	case *ast.NumberForStmt:
		r.numberFor(stmt)
	case *ast.GenericForStmt:
		r.exprs(stmt, stmt.Exprs)
		r.open()
		for _, name := range stmt.Names {
			r.declare(&variable{name: name, kind: iterator, declared: stmt})
		}
		r.statements(stmt, stmt.Stmts)
		r.close()
	case *ast.FuncDefStmt:
		r.functionDefinition(stmt)
	case *ast.ReturnStmt:
		r.exprs(stmt, stmt.Exprs)
	}
}

func (r *scopes) localAssign(stmt *ast.LocalAssignStmt) {
	function := false
	if len(stmt.Exprs) == 1 && len(stmt.Names) == 1 {
		_, function = stmt.Exprs[0].(*ast.FunctionExpr)
	}
	if !function { // a local function sees itself
		r.exprs(stmt, stmt.Exprs)
	}
	for i, name := range stmt.Names {
		v := &variable{name: name, kind: plain, declared: stmt, place: i, bare: len(stmt.Exprs) == 0}
		if i < len(stmt.Exprs) {
			v.initial = stmt.Exprs[i]
		}
		r.declare(v)
	}
	if function {
		r.exprs(stmt, stmt.Exprs)
	}
}

// assign notes the values that variables are assigned.
func (r *scopes) assign(stmt *ast.AssignStmt) {
	for i, lhs := range stmt.Lhs {
		if v := r.local(lhs); v != nil {
			var value ast.Expr
			if len(stmt.Lhs) == len(stmt.Rhs) {
				value = stmt.Rhs[i]
			}
			v.assigned = append(v.assigned, value)
		}
	}
}

func (r *scopes) numberFor(stmt *ast.NumberForStmt) {
	r.exprs(stmt, []ast.Expr{stmt.Init, stmt.Limit})
	if stmt.Step != nil {
		r.expr(stmt, stmt.Step)
	}
	r.open()
	r.declare(&variable{name: stmt.Name, kind: counter, declared: stmt})
	r.statements(stmt, stmt.Stmts)
	r.close()
}

func (r *scopes) functionDefinition(stmt *ast.FuncDefStmt) {
	if stmt.Name.Func != nil {
		r.expr(stmt, stmt.Name.Func)
		if v := r.local(stmt.Name.Func); v != nil {
			v.assigned = append(v.assigned, stmt.Func)
		}
	}
	if stmt.Name.Receiver != nil {
		r.expr(stmt, stmt.Name.Receiver)
	}
	r.expr(stmt, stmt.Func)
}
