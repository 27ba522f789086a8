package lint

import (
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// commands checks every command: that it is known and allowed, and its keys,
// their types and their fields.
func (c *checker) commands() {
	for _, call := range c.calls {
		switch {
		case len(call.expr.Args) == 0:
			c.add(RuleKey, call.expr, "a command without a name")
		case call.name == "":
			c.add(RuleKey, call.expr.Args[0], "the command's name is not a constant (%s), so its keys cannot be told", show(call.expr.Args[0]))
		case !call.known:
			c.add(RuleKey, call.expr.Args[0], "unknown command %s, so its keys cannot be told%s", call.name, header.Nearest(strings.ToUpper(call.name), allowedNames()))
		default:
			c.form(call)
			c.keys(call)
			c.fields(call)
		}
	}
}

func allowedNames() []string {
	var names []string
	for name, command := range commands {
		if command.allowed {
			names = append(names, name)
		}
	}
	return names
}

// form checks how a command is written.
func (c *checker) form(call *call) {
	name := call.expr.Args[0]
	if !call.command.allowed {
		c.add(RuleDialect, name, "%s does not mean the same on every engine; use another command", call.command.name)
	}
	if call.name != call.command.name {
		c.add(RuleDialect, name, "write the command's name in capitals: %s", call.command.name)
	}
	given, least := len(call.operands)+1, call.command.arity
	open := len(call.operands) > 0 && c.isUnpack(call.operands[len(call.operands)-1])
	switch {
	case least >= 0 && (given > least || given < least && !open):
		c.add(RuleDialect, call.expr, "%s takes %d operands, not %d", call.command.name, least-1, given-1)
	case least < 0 && given < -least && !open:
		c.add(RuleDialect, call.expr, "%s takes at least %d operands, not %d", call.command.name, -least-1, given-1)
	}
	if call.command.name == "XADD" || call.command.name == "XTRIM" {
		for _, operand := range call.operands {
			if text, ok := operand.(*ast.StringExpr); ok && text.Value == "LIMIT" {
				c.add(RuleDialect, operand, "%s with LIMIT is not known to the embedded server", call.command.name)
			}
		}
	}
}

// keys checks the key operands of a command.
func (c *checker) keys(call *call) {
	for _, operand := range c.keyOperands(call) {
		if operand.built.origin != Declared {
			c.add(RuleKey, operand.expr, "the key of %s is not a declared one: it is %s", call.command.name, operand.built.how)
			continue
		}
		for _, ref := range operand.built.refs {
			c.used[ref.name] = true
			if want := call.command.keyType; want != "" && ref.keyType != want {
				c.add(RuleType, operand.expr, "%s works on a %s, but %s is declared as a %s", call.command.name, want, ref.name, ref.keyType)
			}
		}
	}
}

// keyOperand is an operand that is a key, or an unpack that gives keys.
type keyOperand struct {
	expr  ast.Expr
	built built
}

// keyOperands returns the keys of a command that is known.
func (p *prover) keyOperands(call *call) []keyOperand {
	places, known := call.command.keys(call.operands, p.isUnpack)
	var keys []keyOperand
	for _, place := range places {
		expr := call.operands[place-1]
		keys = append(keys, keyOperand{expr: expr, built: p.keyOrigin(call, place)})
	}
	if !known {
		keys = append(keys, keyOperand{expr: call.expr, built: fault(Unknown, "one of a number that is not a constant: %s", show(call.expr))})
	}
	return keys
}

// keyOrigin tells how the operand at a place, which is a key, came to be.
func (p *prover) keyOrigin(call *call, place int) built {
	expr := call.operands[place-1]
	p.steps = 0
	if place == len(call.operands) && !p.isUnpack(expr) && !p.isOneValue(expr) {
		return fault(Computed, "made by a function that may return more than one value: %s", show(expr))
	}
	if !p.isUnpack(expr) || place < len(call.operands) || call.command.last != -1 {
		return p.origin(expr)
	}
	if (place-call.command.first)%call.command.step != 0 {
		return fault(Unpacked, "unpacked where a value must come first: %s", show(expr))
	}
	return p.unpackOrigin(expr.(*ast.FuncCallExpr), call.command.step)
}

// fields checks the operands of a command that are fields of a hash.
func (c *checker) fields(call *call) {
	first, step := call.command.fields, call.command.fieldStep
	if first == 0 || len(call.operands) == 0 {
		return
	}
	hash := c.origin(call.operands[0])
	last := first
	if step > 0 {
		last = len(call.operands)
	}
	for place := first; place <= last && place <= len(call.operands); place += max(step, 1) {
		for _, ref := range hash.refs {
			c.field(call, ref.name, call.operands[place-1])
		}
	}
	// What an unpack gives, wherever it begins, may be fields.
	if end := len(call.operands); step > 1 && end > first && (end-first)%step != 0 && c.isUnpack(call.operands[end-1]) {
		for _, ref := range hash.refs {
			c.field(call, ref.name, call.operands[end-1])
		}
	}
}

func (c *checker) field(call *call, hash string, operand ast.Expr) {
	if name, ok := c.constant(operand); ok {
		if !c.script.HasField(hash, name) {
			c.add(RuleField, operand, "%s uses the field %q of %s, which is not declared; write @field %s %s", call.command.name, name, hash, name, hash)
		}
		return
	}
	c.openFields[hash] = true
	if !c.script.HasField(hash, "") {
		c.add(RuleField, operand, "%s uses a field of %s that is not a constant: %s; only a hash with @field * %s has such fields", call.command.name, hash, show(operand), hash)
	}
}

// constant returns the string that an operand is, if it is a constant or a
// local that stands for one.
func (p *prover) constant(expr ast.Expr) (string, bool) {
	if value, ok := p.local(expr).value(); ok {
		expr = value
	}
	switch expr := expr.(type) {
	case *ast.StringExpr:
		return expr.Value, true
	case *ast.NumberExpr:
		return expr.Value, true
	}
	return "", false
}
