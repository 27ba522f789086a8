package special

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// layout is where things stand in KEYS and ARGV, and what is fixed of them.
type layout struct {
	script *header.Script
	values map[string]string // the fixed arguments and items
	used   map[place]bool
}

// place is an element of KEYS or ARGV: the n-th from 0 of the queue's own and of
// the call, or of each item.
type place struct {
	list string
	item bool
	n    int
}

func (l *layout) count(list string) (fixed, each int) { return countOf(l.script, list) }

func countOf(script *header.Script, list string) (fixed, each int) {
	if list == "KEYS" {
		return len(script.Keys), len(script.Each)
	}
	return len(script.Args), len(script.Items)
}

// argument returns the name of what stands at a place in ARGV.
func (l *layout) argument(p place) string {
	if p.item {
		return l.script.Items[p.n].Name
	}
	return l.script.Args[p.n].Name
}

func (l *layout) fixed(p place) (string, bool) {
	if p.list != "ARGV" {
		return "", false
	}
	value, ok := l.values[l.argument(p)]
	return value, ok
}

// resolve tells at which place the element of a list stands that key yields.
func (l *layout) resolve(f facts, list string, key ast.Expr) (place, error) {
	fixed, each := l.count(list)
	sum, ok := linearOf(f, key)
	if ok && sum.of == nil && sum.constant >= 1 && sum.constant <= fixed {
		return place{list: list, n: sum.constant - 1}, nil
	}
	n := sum.constant - fixed + each
	if ok && sum.of != nil && sum.factor == each && n >= 1 && n <= each {
		return place{list: list, item: true, n: n - 1}, nil
	}
	p := &printer{}
	return place{}, fmt.Errorf("%s[%s] is no place that the header declares, or no plain one", list, p.expr(key, 0))
}

// linear is constant + factor * of; of is nil for a constant.
type linear struct {
	constant, factor int
	of               ast.Expr
}

// linearOf reads an expression as a linear one of something, the locals in it
// replaced by what they are.
func linearOf(f facts, expr ast.Expr) (linear, bool) {
	if n, ok := numberOf(expr); ok {
		return linear{constant: n}, true
	}
	switch e := expr.(type) {
	case *ast.IdentExpr:
		if v := f[e.Value]; v != nil && v.assigned == 0 {
			if arithmetic, ok := v.init.(*ast.ArithmeticOpExpr); ok {
				return linearOf(f, arithmetic)
			}
		}
		return linear{factor: 1, of: e}, true
	case *ast.AttrGetExpr:
		return linear{factor: 1, of: e}, true
	case *ast.ArithmeticOpExpr:
		a, ok := linearOf(f, e.Lhs)
		b, ok2 := linearOf(f, e.Rhs)
		switch {
		case !ok || !ok2:
			return linear{}, false
		case e.Operator == "*" && a.of == nil:
			return linear{a.constant * b.constant, a.constant * b.factor, b.of}, true
		case e.Operator == "+" && (a.of == nil || b.of == nil):
			return linear{a.constant + b.constant, a.factor + b.factor, either(a.of, b.of)}, true
		case e.Operator == "-" && b.of == nil:
			return linear{a.constant - b.constant, a.factor, a.of}, true
		}
	}
	return linear{}, false
}

func either(a, b ast.Expr) ast.Expr {
	if a != nil {
		return a
	}
	return b
}

// use notes which places the folded script looks at, and refuses a special whose
// arguments without a value are among them.
func (l *layout) use(chunk []ast.Stmt, special *header.Special) error {
	l.used = map[place]bool{}
	f := factsOf(chunk)
	var fault error
	eachExpr(chunk, func(expr ast.Expr) {
		list, key := listElement(expr)
		if list == "" || fault != nil {
			return
		}
		at, err := l.resolve(f, list, key)
		if err != nil {
			fault = err
			return
		}
		l.used[at] = true
		if list != "ARGV" {
			return
		}
		name := l.argument(at)
		if slices.ContainsFunc(special.Values, func(v header.SpecialValue) bool { return v.Name == name }) {
			fault = fmt.Errorf("%q is still looked at; give it a value, or fix what else decides over it", name)
		}
	})
	return fault
}

// listElement returns which list an expression takes an element of, and the key.
func listElement(expr ast.Expr) (list string, key ast.Expr) {
	element, ok := expr.(*ast.AttrGetExpr)
	if !ok {
		return "", nil
	}
	name, ok := element.Object.(*ast.IdentExpr)
	if !ok || name.Value != "KEYS" && name.Value != "ARGV" {
		return "", nil
	}
	return name.Value, element.Key
}

// derived returns the header of the script that was derived: what is used of the
// keys and of their fields, and the arguments that are not fixed.
func (l *layout) derived(special *header.Special, chunk []ast.Stmt) *header.Script {
	s := l.script
	d := &header.Script{Name: special.Name, Doc: docOf(s, special), Memory: s.Memory}
	keys := map[string]bool{}
	for n, key := range s.Keys {
		if l.used[place{"KEYS", false, n}] {
			d.Keys = append(d.Keys, key)
			keys[key.Suffix] = true
		}
	}
	for n, key := range s.Each {
		if l.used[place{"KEYS", true, n}] {
			d.Each = append(d.Each, key)
			keys[key.Name] = true
		}
	}
	values := map[string]bool{}
	left := func(all []header.Value) []header.Value {
		return slices.DeleteFunc(slices.Clone(all), func(v header.Value) bool {
			gone := slices.ContainsFunc(special.Values, func(fixed header.SpecialValue) bool { return fixed.Name == v.Name })
			values[v.Name] = !gone
			return gone
		})
	}
	d.Args, d.Items = left(s.Args), left(s.Items)
	texts := map[string]bool{}
	eachExpr(chunk, func(expr ast.Expr) {
		if text := textOf(expr); text != "" {
			texts[text] = true
			word, _, _ := strings.Cut(text, " ")
			texts[word] = true
		}
	})
	d.Replies = slices.Clone(s.Replies)
	for i := range d.Replies {
		reply := &d.Replies[i]
		reply.Words = told(reply.Words, texts)
		reply.Record = slices.Clone(reply.Record)
		for k := range reply.Record {
			reply.Record[k].Words = told(reply.Record[k].Words, texts)
		}
	}
	fields := map[[2]string]bool{}
	for _, field := range s.Fields {
		if keys[field.Key] && (field.Name == header.AnyField || texts[field.Name]) {
			d.Fields = append(d.Fields, field)
			fields[[2]string{field.Name, field.Key}] = true
		}
	}
	for _, store := range s.Stores {
		if fields[[2]string{store.Field, store.Key}] && values[store.Value] {
			d.Stores = append(d.Stores, store)
		}
	}
	for _, e := range s.Errors {
		if texts[e.Code] {
			d.Errors = append(d.Errors, e)
		}
	}
	return d
}

// told returns the words that the script can answer.
func told(words []string, texts map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !texts[word] })
}

func docOf(s *header.Script, special *header.Special) string {
	var parts []string
	for _, v := range special.Values {
		if len(v.Words) == 0 {
			continue
		}
		words := slices.Clone(v.Words)
		for i, word := range words {
			if word == "" {
				words[i] = "empty"
			}
		}
		parts = append(parts, v.Name+" is "+strings.Join(words, " or "))
	}
	last := len(parts) - 1
	if last > 0 {
		parts[last-1] += " and " + parts[last]
		parts = parts[:last]
	}
	return fmt.Sprintf("%s is %s for calls in which %s.", special.Name, s.Name, strings.Join(parts, ", "))
}

// renumber has the script look where the keys and arguments stand by the new
// header.
func (l *layout) renumber(chunk []ast.Stmt, shape *header.Script) error {
	f := factsOf(chunk)
	places := l.places(shape)
	bases := map[string]bool{}
	var fault error
	eachExpr(chunk, func(expr ast.Expr) {
		list, key := listElement(expr)
		if list == "" {
			return
		}
		at, err := l.resolve(f, list, key)
		if err != nil {
			fault = err
			return
		}
		n, element := places[at], expr.(*ast.AttrGetExpr)
		fixed, each := countOf(shape, list)
		if !at.item {
			element.Key = numeral(n + 1)
			return
		}
		if base, ok := baseOf(f, key); ok {
			bases[base] = true
			key.(*ast.ArithmeticOpExpr).Rhs = numeral(n + 1)
			return
		}
		sum, _ := linearOf(f, key)
		element.Key = linearExpr(fixed-each+n+1, each, sum.of)
	})
	fixed, each := countOf(shape, "ARGV")
	eachStmt(chunk, func(stmt ast.Stmt) {
		local, ok := stmt.(*ast.LocalAssignStmt)
		if !ok || len(local.Names) != 1 || !bases[local.Names[0]] {
			return
		}
		product := local.Exprs[0]
		if sum := product.(*ast.ArithmeticOpExpr); sum.Operator == "+" {
			product = sum.Rhs
		}
		product.(*ast.ArithmeticOpExpr).Lhs = numeral(each)
		if fixed > 0 {
			product = &ast.ArithmeticOpExpr{Operator: "+", Lhs: numeral(fixed), Rhs: product}
		}
		local.Exprs[0] = product
	})
	return fault
}

// places returns the new number of each place that stays.
func (l *layout) places(shape *header.Script) map[place]int {
	places := map[place]int{}
	for n, key := range l.script.Keys {
		places[place{"KEYS", false, n}] = slices.IndexFunc(shape.Keys, func(k header.Key) bool { return k.Suffix == key.Suffix })
	}
	for n, key := range l.script.Each {
		places[place{"KEYS", true, n}] = slices.IndexFunc(shape.Each, func(k header.EachKey) bool { return k.Name == key.Name })
	}
	named := func(all []header.Value, name string) int {
		return slices.IndexFunc(all, func(v header.Value) bool { return v.Name == name })
	}
	for n, arg := range l.script.Args {
		places[place{"ARGV", false, n}] = named(shape.Args, arg.Name)
	}
	for n, item := range l.script.Items {
		places[place{"ARGV", true, n}] = named(shape.Items, item.Name)
	}
	return places
}

// baseOf returns the local a of a key a + n, where an item's arguments begin.
func baseOf(f facts, key ast.Expr) (string, bool) {
	sum, ok := key.(*ast.ArithmeticOpExpr)
	if !ok || sum.Operator != "+" {
		return "", false
	}
	name, ok := sum.Lhs.(*ast.IdentExpr)
	if _, number := numberOf(sum.Rhs); !ok || !number {
		return "", false
	}
	v := f[name.Value]
	if v == nil {
		return "", false
	}
	_, arithmetic := v.init.(*ast.ArithmeticOpExpr)
	return name.Value, arithmetic
}

// linearExpr writes constant + factor * of.
func linearExpr(constant, factor int, of ast.Expr) ast.Expr {
	expr := of
	if factor != 1 {
		expr = &ast.ArithmeticOpExpr{Operator: "*", Lhs: numeral(factor), Rhs: of}
	}
	switch {
	case constant > 0:
		return &ast.ArithmeticOpExpr{Operator: "+", Lhs: numeral(constant), Rhs: expr}
	case constant < 0:
		return &ast.ArithmeticOpExpr{Operator: "-", Lhs: expr, Rhs: numeral(-constant)}
	}
	return expr
}

// writeHeader writes the declarations of a script.
func writeHeader(b *bytes.Buffer, s *header.Script) {
	line := func(format string, args ...any) { fmt.Fprintf(b, "--- "+format+"\n", args...) }
	for _, text := range wrapped(s.Doc, 80) {
		line("%s", text)
	}
	b.WriteString("---\n")
	line("@memory %s", s.Memory)
	for _, key := range s.Keys {
		line("@key %s %s %s", key.Suffix, key.Type, key.Doc)
	}
	for _, key := range s.Each {
		line("@each %s %s %s %s", key.Name, key.Type, key.Pattern(), key.Doc)
	}
	for _, arg := range s.Args {
		line("@arg %s %s %s", arg.Name, kindOf(arg), arg.Doc)
	}
	for _, item := range s.Items {
		line("@item %s %s %s", item.Name, kindOf(item), item.Doc)
	}
	for _, field := range s.Fields {
		line("@field %s %s", field.Name, field.Key)
	}
	for _, store := range s.Stores {
		line("@stores %s %s %s", store.Field, store.Key, store.Value)
	}
	for _, reply := range s.Replies {
		line("@reply %s %s %s", reply.Name, kindOf(reply.Value), reply.Doc)
		for _, element := range reply.Record {
			line("@record %s %s %s %s", reply.Name, element.Name, kindOf(element), element.Doc)
		}
	}
	for _, e := range s.Errors {
		line("@error %s %s", e.Code, e.Doc)
	}
}

func kindOf(v header.Value) string {
	if v.Kind == header.KindWord {
		return fmt.Sprintf("word(%s)", strings.Join(v.Words, "|"))
	}
	return string(v.Kind)
}

func wrapped(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
