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
	Extended     Origin = "extended"     // a declared key with something joined to its end; only without a header
	Concatenated Origin = "concatenated" // joined by .. in another way
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

// meet makes b what it is if it may also be other, and reports whether nothing
// else can change that. Declared yields to all, and Extended to all others.
func (b *built) meet(other built) (settled bool) {
	switch {
	case other.origin == Declared:
		return false
	case other.origin == Extended && b.origin != Declared:
		return false
	}
	*b = other
	return other.origin != Extended
}

// prover tells where operands come from. Without a header it takes every
// element of KEYS for declared, and follows parameters to their calls.
type prover struct {
	*scopes
	script *header.Script // nil without a header
	// keys is how many keys the script is declared to have by its file's name,
	// or noCount.
	keys  int
	depth int
	steps int
	// frame is the call that is being followed into its function, or nil.
	frame *frame
	// following are the parameters and locals that are being followed, without
	// a header. One that leads back to itself is what else it can be.
	following map[followed]bool
}

// noCount stands for a number of keys that is not declared.
const noCount = -1

// followed is a variable as of a call.
type followed struct {
	variable *variable
	frame    *frame
}

// maxDepth bounds how far an operand is followed, and maxSteps how much.
const (
	maxDepth = 40
	maxSteps = 100_000
)

// strict reports whether only the forms are accepted that the package
// documentation lists.
func (p *prover) strict() bool { return p.script != nil }

// origin tells how an operand, which stands for one value, came to be.
func (p *prover) origin(expr ast.Expr) built {
	p.depth++
	defer func() { p.depth-- }()
	if p.steps++; p.depth > maxDepth || !p.strict() && p.steps > maxSteps {
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
		return p.joinedOrigin(expr)
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
		return p.countedKey(expr)
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

// countedKey accepts an element of KEYS unless it is past their declared number.
// One whose index varies is a key or else nil, which no command takes.
func (p *prover) countedKey(expr *ast.AttrGetExpr) built {
	index, ok := p.linear(expr.Key)
	if ok && len(index.terms) == 0 && p.keys != noCount && (index.constant < 1 || index.constant > p.keys) {
		return fault(Index, "%s, but the name of the file declares %d", show(expr), p.keys)
	}
	return built{origin: Declared}
}

// joinedOrigin tells, without a header, whether it is a declared key that
// something is joined to. In a cluster such a key is where the declared one is,
// if that has a hash tag, but it is not declared.
func (p *prover) joinedOrigin(expr *ast.StringConcatOpExpr) built {
	if !p.strict() {
		if first := p.origin(expr.Lhs); first.origin == Declared || first.origin == Extended {
			return fault(Extended, "a declared key with something joined to it: %s", show(expr))
		}
	}
	return fault(Concatenated, "concatenated: %s", show(expr))
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
	case v.constant() && v.initial == nil && p.strict():
		return fault(Unknown, "local %s, whose value cannot be told", v.name)
	case v.constant() && p.strict():
		return p.origin(v.initial).through(v)
	case p.strict():
		return fault(Reassigned, "local %s, which is assigned more than once", v.name)
	default:
		return p.localOrigin(v)
	}
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
		return p.resultOrigin(call, 0)
	}
}

// branchOrigin accepts a choice if all that can be chosen is declared. With a
// header the choice must be between keys.
func (p *prover) branchOrigin(expr *ast.LogicalOpExpr) built {
	all := built{origin: Declared}
	if expr.Operator == "or" && !isNothing(expr.Lhs) {
		first := p.origin(expr.Lhs)
		all.refs = first.refs
		if all.meet(first) {
			return all
		}
	}
	if !isNothing(expr.Rhs) {
		second := p.origin(expr.Rhs)
		all.refs = append(all.refs, second.refs...)
		all.meet(second)
	}
	if p.strict() && all.origin == Declared && len(all.refs) == 0 {
		return fault(Branched, "chosen by a condition: %s", show(expr))
	}
	return all
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
