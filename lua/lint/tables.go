package lint

import (
	"slices"

	"github.com/yuin/gopher-lua/ast"
)

// table is all that happens to a local table.
type table struct {
	variable *variable
	fields   []*ast.Field // of its constructor
	writes   []write
	// escape is where it is handed to what may change it unseen; nil if nowhere.
	escape ast.Expr
}

// write is an assignment to an element of a table.
type write struct {
	stmt ast.Stmt
	key  ast.Expr // nil for a push
	// value is nil if it cannot be told.
	value ast.Expr
}

// pushed reports whether the value goes to the end of the table.
func (w write) pushed() bool { return w.key == nil }

// table returns what happens to the table that v holds, if v is a local that is
// declared with a constructor and not assigned again.
func (r *scopes) table(v *variable) (*table, bool) {
	value, ok := v.value()
	if !ok {
		return nil, false
	}
	constructor, ok := value.(*ast.TableExpr)
	if !ok {
		return nil, false
	}
	t := &table{variable: v, fields: constructor.Fields}
	for _, use := range v.uses {
		r.tableUse(t, use)
	}
	return t, true
}

// tableUse notes what one use of a table does to it.
func (r *scopes) tableUse(t *table, use *ast.IdentExpr) {
	switch parent := r.parents[use].(type) {
	case *ast.AttrGetExpr:
		if parent.Object == ast.Expr(use) {
			r.elementUse(t, parent)
			return
		}
	case *ast.UnaryLenOpExpr, *ast.UnaryNotOpExpr, *ast.RelationalOpExpr:
		return
	case *ast.ReturnStmt:
		if r.function(parent) == nil {
			return // the script ends here
		}
	case *ast.IfStmt:
		return // only its condition is an expression of its own
	case *ast.TableExpr:
		if end, returned := r.parents[parent].(*ast.ReturnStmt); returned && r.function(end) == nil {
			return
		}
	case *ast.FuncCallExpr:
		if r.isInsert(parent, t.variable) {
			t.writes = append(t.writes, write{stmt: r.statementOf(parent), value: parent.Args[1]})
			return
		}
		if r.readsOnly(parent) {
			return
		}
	}
	if t.escape == nil {
		t.escape = use
	}
}

// readsOnly reports whether a call of a library function leaves its arguments as
// they are and hands none of them on.
func (r *scopes) readsOnly(call *ast.FuncCallExpr) bool {
	for _, name := range []string{"ipairs", "pairs"} {
		// They answer their argument, which a for loop keeps to itself.
		if _, loop := r.parents[call].(*ast.GenericForStmt); loop && r.isGlobal(call.Func, name) {
			return true
		}
	}
	for _, name := range []string{"unpack", "type", "next"} {
		if r.isGlobal(call.Func, name) {
			return true
		}
	}
	return r.isLibrary(call.Func, "table", "concat", "getn", "maxn")
}

func (r *scopes) isInsert(call *ast.FuncCallExpr, into *variable) bool {
	_, alone := r.parents[call].(*ast.FuncCallStmt)
	return alone && r.isLibrary(call.Func, "table", "insert") && len(call.Args) == 2 && r.local(call.Args[0]) == into
}

// elementUse notes a write to an element; a read changes nothing.
func (r *scopes) elementUse(t *table, element *ast.AttrGetExpr) {
	if _, defined := r.parents[element].(*ast.FuncDefStmt); defined && t.escape == nil {
		t.escape = element
	}
	stmt, ok := r.parents[element].(*ast.AssignStmt)
	if !ok {
		return
	}
	i := slices.Index(stmt.Lhs, ast.Expr(element))
	if i < 0 {
		return
	}
	w := write{stmt: stmt, key: element.Key}
	if r.isEnd(element.Key, t.variable) {
		w.key = nil
	}
	if len(stmt.Lhs) == len(stmt.Rhs) {
		w.value = stmt.Rhs[i]
	}
	t.writes = append(t.writes, w)
}

// isEnd reports whether key is #t + 1.
func (r *scopes) isEnd(key ast.Expr, t *variable) bool {
	sum, ok := key.(*ast.ArithmeticOpExpr)
	if !ok || sum.Operator != "+" {
		return false
	}
	length, ok := sum.Lhs.(*ast.UnaryLenOpExpr)
	one, isNumber := sum.Rhs.(*ast.NumberExpr)
	return ok && isNumber && one.Value == "1" && r.local(length.Expr) == t
}

// statementOf returns the statement that a node stands in.
func (r *scopes) statementOf(at node) ast.Stmt {
	for at != nil {
		if stmt, ok := at.(ast.Stmt); ok {
			return stmt
		}
		at = r.parents[at]
	}
	return nil
}

// pairs returns the writes of a table that is filled with a key and a value in
// turn: each pair two pushes, one statement after the other, so that neither is
// ever done without the other. The expression returned is what breaks this.
func (r *scopes) pairs(t *table) (keys, values []ast.Expr, broken ast.Expr) {
	if len(t.fields)%2 != 0 {
		return nil, nil, t.fields[len(t.fields)-1].Value
	}
	for i, field := range t.fields {
		if field.Key != nil {
			return nil, nil, field.Value
		}
		if i%2 == 0 {
			keys = append(keys, field.Value)
		} else {
			values = append(values, field.Value)
		}
	}
	at := map[ast.Stmt]write{}
	for _, w := range t.writes {
		if _, twice := at[w.stmt]; twice || !w.pushed() || w.value == nil {
			return nil, nil, writeTarget(w)
		}
		at[w.stmt] = w
	}
	for _, w := range t.writes {
		if _, left := at[w.stmt]; !left {
			continue
		}
		b := r.blocks[w.stmt]
		if b.index+1 >= len(b.stmts) {
			return nil, nil, w.value
		}
		next, follows := at[b.stmts[b.index+1]]
		if !follows {
			return nil, nil, w.value
		}
		delete(at, w.stmt)
		delete(at, next.stmt)
		keys, values = append(keys, w.value), append(values, next.value)
	}
	return keys, values, nil
}

// writeTarget is an expression that stands where a write does.
func writeTarget(w write) ast.Expr {
	if w.value != nil {
		return w.value
	}
	if stmt, ok := w.stmt.(*ast.AssignStmt); ok {
		return stmt.Lhs[0]
	}
	return w.key
}
