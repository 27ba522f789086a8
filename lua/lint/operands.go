package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// Operand is a key operand of a command in a script.
type Operand struct {
	Position header.Position
	// Command is the command as the script writes it; empty if its name is not a
	// constant.
	Command string
	// Expression is the operand as the script writes it.
	Expression string
	Origin     Origin
	// How says in words how the operand is built; empty for one that is declared.
	How string

	rank int
}

// IsDeclared reports whether the operand is one of KEYS.
func (o Operand) IsDeclared() bool { return o.Origin == Declared }

// String returns the operand as file:line:column: command: what it is.
func (o Operand) String() string {
	command := cmp.Or(o.Command, "a command")
	if o.IsDeclared() {
		return fmt.Sprintf("%s: %s: %s is declared", o.Position, command, o.Expression)
	}
	return fmt.Sprintf("%s: %s: %s is not declared: %s", o.Position, command, o.Expression, o.How)
}

// Operands returns every key operand of every command in a script that need not
// have a header, in order: whether it is one of KEYS and, if not, how it was
// built. It takes every element of KEYS for declared, and follows locals, tables
// and the parameters of local functions that are only ever called.
//
// A command whose name is not a constant, or that is not known, counts as one
// operand of origin [Unknown], unless all that it can be are constants; so does
// each place where redis.call, or what could get hold of it, is handed to where it cannot be followed. What stands in a local function that
// nothing calls does not count. The error tells that the script is not Lua 5.1.
func Operands(file string, text []byte) ([]Operand, error) {
	source, failed := parseSource(file, text)
	if failed != nil {
		return nil, fmt.Errorf("%s: %s", failed.Position, failed.Message)
	}
	p := &prover{scopes: resolve(source), keys: noCount}
	found, _ := p.operands()
	return found, nil
}

// operands returns the operands of every command that a run can come to, in
// order, and how many there are that no run can.
func (p *prover) operands() (found []Operand, dead int) {
	for _, call := range p.calls() {
		operands := p.callOperands(call)
		if p.isDead(call.expr) {
			dead += len(operands)
		} else {
			found = append(found, operands...)
		}
	}
	found = append(found, p.hiddenCalls()...)
	slices.SortStableFunc(found, func(a, b Operand) int { return a.rank - b.rank })
	return found, dead
}

// callOperands returns the operands of one call.
func (p *prover) callOperands(call *call) []Operand {
	alternatives, known := p.alternatives(call)
	var found []Operand
	for _, each := range alternatives {
		for _, key := range p.keyOperands(each) {
			o := Operand{
				Position:   p.source.position(key.expr),
				Command:    call.name,
				Expression: show(key.expr),
				Origin:     key.built.origin,
				How:        key.built.how,
				rank:       rank(key.expr),
			}
			if !slices.Contains(found, o) {
				found = append(found, o)
			}
		}
	}
	if !known {
		found = append(found, p.unknownCommand(call))
	}
	return found
}

// alternatives returns a call as of each command that it can be, and whether
// these are all. It is more than one only without a header.
func (p *prover) alternatives(c *call) ([]*call, bool) {
	if c.known {
		return []*call{c}, true
	}
	if c.name != "" || p.strict() || len(c.expr.Args) == 0 {
		return nil, false
	}
	names, known := p.commandNames(c.expr.Args[0])
	if !known || len(names) == 0 {
		return nil, false
	}
	slices.Sort(names)
	names = slices.Compact(names)
	c.name = strings.Join(names, "|")
	var all []*call
	for _, name := range names {
		each := *c
		if each.command, each.known = findCommand(name); !each.known {
			return nil, false
		}
		all = append(all, &each)
	}
	return all, true
}

func (p *prover) unknownCommand(call *call) Operand {
	o := Operand{
		Position:   p.source.position(call.expr),
		Command:    call.name,
		Expression: show(call.expr),
		Origin:     Unknown,
		rank:       rank(call.expr),
		How:        "the command is not known, so its keys cannot be told",
	}
	if call.name == "" {
		o.How = "the command's name is not a constant, so its keys cannot be told"
	}
	return o
}

// loopholes are globals by which a script can call what is not seen in it.
var loopholes = []string{"_G", "getfenv", "setfenv", "load", "loadstring", "dofile", "require", "rawget", "debug"}

// hiddenCalls returns the places from where on calls cannot be followed.
func (p *prover) hiddenCalls() []Operand {
	var found []Operand
	hidden := func(at ast.Expr) {
		found = append(found, Operand{
			Position:   p.source.position(at),
			Expression: show(at),
			Origin:     Unknown,
			rank:       rank(at),
			How:        "commands that are called through it cannot be told",
		})
	}
	for _, ident := range p.globals {
		switch {
		case slices.Contains(loopholes, ident.Value):
			hidden(ident)
		case ident.Value == "redis" || ident.Value == "server":
			if at := p.escape(ident); at != nil {
				hidden(at)
			}
		}
	}
	return found
}

// escape returns where the library, or a function of it that calls commands, is
// used in another way than to call it or to hold it in a local; nil if nowhere.
func (p *prover) escape(expr ast.Expr) ast.Expr {
	switch parent := p.parents[expr].(type) {
	case *ast.AttrGetExpr:
		if parent.Object != expr {
			return expr
		}
		key, named := parent.Key.(*ast.StringExpr)
		if !named {
			return parent
		}
		if !p.holdsLibrary(expr) || key.Value != "call" && key.Value != "pcall" {
			return nil
		}
		return p.escape(parent)
	case *ast.FuncCallExpr:
		if parent.Func == expr {
			return nil
		}
	case *ast.LocalAssignStmt:
		return p.localEscape(expr, parent)
	}
	return expr
}

func (p *prover) holdsLibrary(expr ast.Expr) bool {
	return p.isGlobal(expr, "redis") || p.isGlobal(expr, "server") || p.holdsServer(expr)
}

// localEscape follows a local that holds the library or a function of it.
func (p *prover) localEscape(expr ast.Expr, stmt *ast.LocalAssignStmt) ast.Expr {
	for _, v := range p.variables {
		if v.declared != node(stmt) || v.initial != expr {
			continue
		}
		if !v.constant() {
			return expr
		}
		for _, use := range v.uses {
			if at := p.escape(use); at != nil {
				return at
			}
		}
		return nil
	}
	return expr
}
