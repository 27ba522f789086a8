package lint

import (
	"fmt"
	"slices"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// Origin is how an operand came to be.
type Origin string

// The origins. All but the first are faults.
const (
	Declared     Origin = "declared"     // one of KEYS
	Index        Origin = "index"        // an element of KEYS that is not shown to be declared
	Constant     Origin = "constant"     // written in the script
	Concatenated Origin = "concatenated" // joined by ..
	Computed     Origin = "computed"     // made by a function or an operator
	Argument     Origin = "argument"     // taken from ARGV
	Replied      Origin = "reply"        // taken from what a command answered
	Branched     Origin = "branch"       // one of two, by and and or
	Parameter    Origin = "parameter"    // handed to a function
	Reassigned   Origin = "reassigned"   // a local that is assigned again
	Element      Origin = "element"      // an element of a table
	Unpacked     Origin = "unpacked"     // unpack of a table
	Unknown      Origin = "unknown"      // anything else
)

// built tells how an operand came to be.
type built struct {
	origin Origin
	// how says it in words.
	how string
	// refs are the keys that it can be, if it is declared and the script has a
	// header.
	refs []keyRef
}

// keyRef is a key of a header.
type keyRef struct {
	name    string
	keyType header.KeyType
}

func fault(origin Origin, format string, args ...any) built {
	return built{origin: origin, how: fmt.Sprintf(format, args...)}
}

// through says by which local an operand came.
func (b built) through(v *variable) built {
	if b.origin != Declared {
		b.how = fmt.Sprintf("local %s, which is %s", v.name, b.how)
	}
	return b
}

// prover tells where operands come from. Without a header it takes every
// element of KEYS for declared, and follows parameters to their calls.
type prover struct {
	*scopes
	script *header.Script // nil without a header
	depth  int
	// following are the parameters and locals that are being followed, without
	// a header. One that leads back to itself is what else it can be.
	following map[*variable]bool
}

// maxDepth bounds how far an operand is followed.
const maxDepth = 40

// strict reports whether only the forms are accepted that the package
// documentation lists.
func (p *prover) strict() bool { return p.script != nil }

// origin tells how an operand, which stands for one value, came to be.
func (p *prover) origin(expr ast.Expr) built {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxDepth {
		return fault(Unknown, "%s, which is handed on too often to be followed", show(expr))
	}
	switch expr := expr.(type) {
	case *ast.AttrGetExpr:
		return p.indexOrigin(expr)
	case *ast.IdentExpr:
		return p.nameOrigin(expr)
	case *ast.StringExpr, *ast.NumberExpr:
		return fault(Constant, "the constant %s", show(expr))
	case *ast.StringConcatOpExpr:
		return fault(Concatenated, "concatenated: %s", show(expr))
	case *ast.FuncCallExpr:
		return p.callOrigin(expr)
	case *ast.LogicalOpExpr:
		return p.branchOrigin(expr)
	case *ast.ArithmeticOpExpr, *ast.UnaryMinusOpExpr, *ast.UnaryLenOpExpr:
		return fault(Computed, "computed: %s", show(expr))
	default:
		return fault(Unknown, "%s", show(expr))
	}
}

func (p *prover) indexOrigin(expr *ast.AttrGetExpr) built {
	switch {
	case p.isGlobal(expr.Object, "KEYS"):
		if p.strict() {
			return p.keysOrigin(expr)
		}
		if p.keysChanged() {
			return fault(Reassigned, "an element of KEYS, which the script changes: %s", show(expr))
		}
		return built{origin: Declared}
	case p.isGlobal(expr.Object, "ARGV"):
		return fault(Argument, "taken from ARGV: %s", show(expr))
	}
	object := expr.Object
	if value, ok := p.local(object).value(); ok {
		object = value
	}
	if call, ok := object.(*ast.FuncCallExpr); ok && p.callsServer(call.Func) {
		return fault(Replied, "taken from the reply of %s: %s", commandOf(call), show(expr))
	}
	if !p.strict() {
		if t, ok := p.table(p.local(expr.Object)); ok && p.onlyKeys(t).origin == Declared {
			return built{origin: Declared}
		}
	}
	return fault(Element, "an element of a table: %s", show(expr))
}

func commandOf(call *ast.FuncCallExpr) string {
	if name := newCall(call).name; name != "" {
		return name
	}
	return show(call.Func)
}

func (p *prover) nameOrigin(expr *ast.IdentExpr) built {
	v := p.locals[expr]
	switch {
	case v == nil:
		return fault(Unknown, "the global %s", expr.Value)
	case v.kind == parameter:
		return p.parameterOrigin(v)
	case v.kind == counter:
		return fault(Computed, "the loop variable %s", v.name)
	case v.kind == iterator:
		return p.iteratorOrigin(v)
	case !v.constant():
		return p.reassignedOrigin(v)
	case v.initial == nil:
		return fault(Unknown, "local %s, whose value cannot be told", v.name)
	default:
		return p.origin(v.initial).through(v)
	}
}

// reassignedOrigin accepts a local that is assigned more than once only without
// a header, if all that it is assigned is declared.
func (p *prover) reassignedOrigin(v *variable) built {
	if !p.strict() {
		if !p.follow(v) {
			return built{origin: Declared}
		}
		defer delete(p.following, v)
		values := v.assigned
		if v.initial != nil {
			values = append([]ast.Expr{v.initial}, values...)
		}
		for _, value := range values {
			if value == nil {
				return fault(Unknown, "local %s, whose value cannot be told", v.name)
			}
			if b := p.origin(value); b.origin != Declared {
				return b.through(v)
			}
		}
		return built{origin: Declared}
	}
	return fault(Reassigned, "local %s, which is assigned more than once", v.name)
}

// iteratorOrigin accepts, without a header, a variable that runs over keys.
func (p *prover) iteratorOrigin(v *variable) built {
	loop, ok := v.declared.(*ast.GenericForStmt)
	if ok && !p.strict() && v.constant() && len(loop.Exprs) == 1 && len(loop.Names) == 2 && loop.Names[1] == v.name {
		if call, ok := loop.Exprs[0].(*ast.FuncCallExpr); ok && len(call.Args) == 1 && (p.isGlobal(call.Func, "ipairs") || p.isGlobal(call.Func, "pairs")) {
			if p.isGlobal(call.Args[0], "KEYS") {
				return built{origin: Declared}
			}
			if t, ok := p.table(p.local(call.Args[0])); ok {
				return p.onlyKeys(t)
			}
		}
	}
	return fault(Element, "the loop variable %s", v.name)
}

func (p *prover) callOrigin(call *ast.FuncCallExpr) built {
	switch {
	case p.callsServer(call.Func):
		return fault(Replied, "the reply of %s: %s", commandOf(call), show(call))
	case p.isUnpack(call):
		return fault(Unpacked, "unpacked where only one key can stand: %s", show(call))
	default:
		return fault(Computed, "made by a function: %s", show(call))
	}
}

// branchOrigin accepts a choice only without a header, if all that can be
// chosen is declared.
func (p *prover) branchOrigin(expr *ast.LogicalOpExpr) built {
	if !p.strict() {
		rhs := p.origin(expr.Rhs)
		if expr.Operator == "and" {
			return rhs
		}
		if lhs := p.origin(expr.Lhs); lhs.origin != Declared {
			return lhs
		}
		return rhs
	}
	return fault(Branched, "chosen by a condition: %s", show(expr))
}

// parameterOrigin follows a parameter to all calls of its function, if there is
// no header.
func (p *prover) parameterOrigin(v *variable) built {
	name, calls, ok := p.functionCalls(v.declared)
	if p.strict() || !ok || !v.constant() {
		return fault(Parameter, "the parameter %s of a function", v.name)
	}
	if !p.follow(v) {
		return built{origin: Declared}
	}
	defer delete(p.following, v)
	for _, call := range calls {
		if v.parameter >= len(call.Args) {
			continue // nil, which no command takes
		}
		if b := p.origin(call.Args[v.parameter]); b.origin != Declared {
			b.how = fmt.Sprintf("the parameter %s of %s, called at line %d with what is %s", v.name, name, p.source.position(call).Line, b.how)
			return b
		}
	}
	return built{origin: Declared}
}

// follow begins to follow a variable, and reports whether it was not begun yet.
func (p *prover) follow(v *variable) bool {
	if p.following[v] {
		return false
	}
	if p.following == nil {
		p.following = map[*variable]bool{}
	}
	p.following[v] = true
	return true
}

// functionCalls returns all calls of a local function that is only ever called.
func (p *prover) functionCalls(function node) (name string, calls []*ast.FuncCallExpr, ok bool) {
	stmt, ok := p.parents[function].(*ast.LocalAssignStmt)
	if !ok {
		return "", nil, false
	}
	for _, v := range p.variables {
		if v.declared != node(stmt) || v.initial == nil || node(v.initial) != function || !v.constant() {
			continue
		}
		for _, use := range v.uses {
			call, ok := p.parents[use].(*ast.FuncCallExpr)
			if !ok || call.Func != ast.Expr(use) {
				return "", nil, false
			}
			calls = append(calls, call)
		}
		return v.name, calls, true
	}
	return "", nil, false
}

// keysChanged reports whether a script may put something else into KEYS.
func (p *prover) keysChanged() bool {
	for _, ident := range p.globals {
		if ident.Value != "KEYS" {
			continue
		}
		switch parent := p.parents[ident].(type) {
		case *ast.UnaryLenOpExpr:
			continue
		case *ast.AttrGetExpr:
			stmt, assigned := p.parents[parent].(*ast.AssignStmt)
			if parent.Object == ast.Expr(ident) && (!assigned || !slices.Contains(stmt.Lhs, ast.Expr(parent))) {
				continue
			}
		case *ast.FuncCallExpr:
			if p.readsOnly(parent) {
				continue
			}
		}
		return true
	}
	return false
}
