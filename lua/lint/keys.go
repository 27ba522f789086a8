package lint

import (
	"fmt"
	"strings"

	"github.com/yuin/gopher-lua/ast"
)

// keysOrigin tells which declared key KEYS[…] is.
func (p *prover) keysOrigin(expr *ast.AttrGetExpr) built {
	index, ok := p.linear(expr.Key)
	if !ok {
		return fault(Index, "%s, whose index is neither a constant nor of the form a*i + b", show(expr))
	}
	if len(index.terms) == 0 {
		return p.fixedKey(expr, index.constant)
	}
	t, stride, ok := index.single()
	if !ok || t.variable == nil {
		return fault(Index, "%s, whose index varies with more than the variable of one loop", show(expr))
	}
	if why := p.itemLoop(t.variable); why != "" {
		return fault(Index, "%s, where %s", show(expr), why)
	}
	return p.itemKey(expr, stride, index.constant)
}

// fixedKey tells which of the queue's keys KEYS[n] is.
func (p *prover) fixedKey(expr ast.Expr, n int) built {
	fixed := p.script.Keys
	switch {
	case n >= 1 && n <= len(fixed):
		key := fixed[n-1]
		return built{origin: Declared, refs: []keyRef{{key.Suffix, key.Type}}}
	case n > len(fixed) && len(p.script.Each) > 0:
		return fault(Index, "%s, but the header declares %d @key; a key of an item is KEYS[%s] in a loop over the items", show(expr), len(fixed), p.itemForms())
	default:
		return fault(Index, "%s, but the header declares %d @key", show(expr), len(fixed))
	}
}

// itemKey tells which of an item's keys KEYS[stride*i + offset] is, for the
// items i from 1.
func (p *prover) itemKey(expr ast.Expr, stride, offset int) built {
	fixed, each := len(p.script.Keys), p.script.Each
	place := offset - fixed + len(each)
	switch {
	case len(each) == 0:
		return fault(Index, "%s, but the header declares no @each", show(expr))
	case stride != len(each):
		return fault(Index, "%s, whose stride is %d, but an item brings %d keys; they are KEYS[%s]", show(expr), stride, len(each), p.itemForms())
	case place < 1 || place > len(each):
		return fault(Index, "%s, which is KEYS[%d] for the first item; its keys are KEYS[%s]", show(expr), stride+offset, p.itemForms())
	}
	key := each[place-1]
	return built{origin: Declared, refs: []keyRef{{key.Name, key.Type}}}
}

// itemForms lists the indices of an item's keys, for messages.
func (p *prover) itemForms() string {
	fixed, each := len(p.script.Keys), len(p.script.Each)
	var forms []string
	for j := 1; j <= each; j++ {
		form := "i"
		if each > 1 {
			form = fmt.Sprintf("%d*i", each)
		}
		if b := fixed - each + j; b != 0 {
			form += strings.NewReplacer("+-", "- ", "+", "+ ").Replace(fmt.Sprintf(" +%d", b))
		}
		forms = append(forms, form)
	}
	return strings.Join(forms, "], KEYS[")
}

// itemLoop returns why v is not the variable of a loop over the items, or "".
func (p *prover) itemLoop(v *variable) string {
	loop, ok := v.declared.(*ast.NumberForStmt)
	if !ok || v.kind != counter {
		return fmt.Sprintf("%s is not the variable of a loop `for i = 1, count do`", v.name)
	}
	first, ok := p.linear(loop.Init)
	if !ok || len(first.terms) > 0 || first.constant < 1 {
		return fmt.Sprintf("the loop over %s begins at %s and not at 1", v.name, show(loop.Init))
	}
	if loop.Step != nil {
		if step, ok := p.linear(loop.Step); !ok || len(step.terms) > 0 || step.constant < 1 {
			return fmt.Sprintf("the loop over %s does not step by a positive constant", v.name)
		}
	}
	return p.itemLimit(v.name, loop.Limit)
}

// itemLimit returns why a loop over name does not end with the last item.
func (p *prover) itemLimit(name string, limit ast.Expr) string {
	value := limit
	if v := p.local(limit); v != nil {
		if !v.constant() {
			return fmt.Sprintf("the loop over %s ends at %s, which is assigned more than once", name, v.name)
		}
		value, _ = v.value()
	}
	want := p.countForm()
	count, ok := itemCount{}, false
	if value != nil {
		count, ok = p.count(value)
	}
	if !ok || count.list != "KEYS" || count.fixed != len(p.script.Keys) || count.each != len(p.script.Each) {
		return fmt.Sprintf("the loop over %s ends at %s, which is not the number of items, %s", name, show(limit), want)
	}
	return ""
}

// countForm is how the script computes the number of items.
func (p *prover) countForm() string {
	if len(p.script.Each) > 1 {
		return fmt.Sprintf("math.floor((#KEYS - %d) / %d)", len(p.script.Keys), len(p.script.Each))
	}
	return fmt.Sprintf("#KEYS - %d", len(p.script.Keys))
}

// unpackOrigin tells what an operand unpack(t) stands for, where every step-th
// operand from there on is a key.
func (p *prover) unpackOrigin(call *ast.FuncCallExpr, step int) built {
	if len(call.Args) != 1 {
		return fault(Unpacked, "unpacked with a range: %s", show(call))
	}
	if p.isGlobal(call.Args[0], "KEYS") && !p.strict() && step == 1 {
		return built{origin: Declared}
	}
	t, ok := p.table(p.local(call.Args[0]))
	if !ok {
		return fault(Unpacked, "unpacked from %s, which is not a local table that is filled with keys", show(call.Args[0]))
	}
	if step == 1 {
		return p.onlyKeys(t)
	}
	return p.keysInTurn(t)
}

// onlyKeys accepts a table that is filled with declared keys and nothing else.
func (p *prover) onlyKeys(t *table) built {
	if b, ok := p.contained(t); !ok {
		return b
	}
	all := built{origin: Declared}
	for _, field := range t.fields {
		if field.Key != nil {
			if _, ok := field.Key.(*ast.NumberExpr); !ok {
				return fault(Unpacked, "unpacked from %s, which has named elements", t.variable.name)
			}
		}
		if b := p.element(t, field.Value); !all.join(b) {
			return b
		}
	}
	for _, w := range t.writes {
		if b := p.element(t, w.value); !all.join(b) {
			return b
		}
	}
	if len(all.refs) == 0 && p.strict() {
		return fault(Unpacked, "unpacked from %s, which is never filled", t.variable.name)
	}
	return all
}

// keysInTurn accepts a table that is filled with a declared key and a value in
// turn. The value must not be nil, which would put the next key in its place.
func (p *prover) keysInTurn(t *table) built {
	if b, ok := p.contained(t); !ok {
		return b
	}
	keys, values, broken := p.pairs(t)
	if broken != nil {
		return fault(Unpacked, "unpacked from %s, which is not filled with a key and a value in two consecutive statements (%s at %s)", t.variable.name, show(broken), p.source.line(broken))
	}
	all := built{origin: Declared}
	for _, key := range keys {
		if b := p.element(t, key); !all.join(b) {
			return b
		}
	}
	for _, value := range values {
		if !p.neverNil(value) {
			return fault(Unpacked, "unpacked from %s, whose value %s at %s may be nil", t.variable.name, show(value), p.source.line(value))
		}
	}
	return all
}

// contained refuses a table that other code may fill.
func (p *prover) contained(t *table) (built, bool) {
	name := t.variable.name
	if t.escape != nil {
		return fault(Unpacked, "unpacked from %s, which is handed on at %s", name, p.source.line(t.escape)), false
	}
	if n := len(t.fields); n > 0 && t.fields[n-1].Key == nil && !p.isOneValue(t.fields[n-1].Value) {
		return fault(Unpacked, "unpacked from %s, which is filled with what cannot be told", name), false
	}
	for _, w := range t.writes {
		if _, inserted := w.stmt.(*ast.FuncCallStmt); w.value == nil || inserted && !p.isOneValue(w.value) {
			return fault(Unpacked, "unpacked from %s, which is filled with what cannot be told", name), false
		}
		if p.function(w.stmt) != p.function(t.variable.declared) {
			return fault(Unpacked, "unpacked from %s, which a function fills at %s", name, p.source.line(w.stmt)), false
		}
	}
	return built{}, true
}

// element tells how an element of a table of keys came to be.
func (p *prover) element(t *table, value ast.Expr) built {
	b := p.origin(value)
	if b.origin != Declared {
		b.how = fmt.Sprintf("unpacked from %s, which is filled at %s with what is %s", t.variable.name, p.source.line(value), b.how)
	}
	return b
}

// join adds the keys that other can be, if it is declared.
func (b *built) join(other built) bool {
	b.refs = append(b.refs, other.refs...)
	return other.origin == Declared
}

// function returns the function that a node stands in, or nil.
func (r *scopes) function(at node) node {
	var found node
	r.enclosing(at, func(around node) bool {
		if _, ok := around.(*ast.FunctionExpr); ok {
			found = around
		}
		return found == nil
	})
	return found
}
