package annotations

import (
	"go/ast"
	"go/token"
	"time"
)

// Directive is one directive as it was written, with every item checked.
type Directive struct {
	Spec     *Spec
	Pos, End token.Pos
	Items    []Argument
}

// Argument is one item as it was written.
type Argument struct {
	Item     *Item
	Pos, End token.Pos
	Values   []Value
}

// Argument returns the item with the given key ("" for the plain value), or nil
// where it was not written. A nil Directive has no items.
func (d *Directive) Argument(key string) *Argument {
	if d == nil {
		return nil
	}
	for i := range d.Items {
		if d.Items[i].Item.Key == key {
			return &d.Items[i]
		}
	}
	return nil
}

// value returns the first value of an item; it is zero where there is none.
func (d *Directive) value(key string) Value {
	if a := d.Argument(key); a != nil && len(a.Values) > 0 {
		return a.Values[0]
	}
	return Value{}
}

// Has reports whether the item was written.
func (d *Directive) Has(key string) bool { return d.Argument(key) != nil }

// Off reports whether the item was switched off by none.
func (d *Directive) Off(key string) bool { return d.value(key).Off }

// Text returns the item's value as written, or "".
func (d *Directive) Text(key string) string { return d.value(key).Text }

// Int returns the item's whole number, or 0.
func (d *Directive) Int(key string) int { return d.value(key).Int }

// Duration returns the item's duration, or 0.
func (d *Directive) Duration(key string) time.Duration { return d.value(key).Duration }

// Span returns where the item stands; where it was not written, where the
// directive does.
func (d *Directive) Span(key string) (pos, end token.Pos) {
	if a := d.Argument(key); a != nil {
		return a.Pos, a.End
	}
	return d.Pos, d.End
}

// parse reads the items of a directive whose name is known.
func parse(spec *Spec, written ast.Directive, report *Reporter) *Directive {
	p := parser{report: report, origin: written.ArgsPos, directive: &Directive{
		Spec: spec, Pos: written.Slash, End: written.ArgsPos + token.Pos(len(written.Args)),
	}}
	words, faults := tokenize(written.Args)
	for _, f := range faults {
		report.Report(RuleSyntax, p.pos(f.start), p.pos(f.end), f.message)
	}
	for _, w := range words {
		p.item(w)
	}
	if len(faults) == 0 {
		p.missing(len(words))
	}
	return p.directive
}

type parser struct {
	report    *Reporter
	origin    token.Pos
	directive *Directive
}

func (p *parser) pos(offset int) token.Pos { return p.origin + token.Pos(offset) }

// item finds the definition of w and reads its values.
func (p *parser) item(w word) {
	spec := p.directive.Spec
	item := spec.plain()
	if w.keyed || item == nil {
		item = p.keyed(w)
	}
	if item == nil {
		return
	}
	argument := Argument{Item: item, Pos: p.pos(w.start), End: p.pos(w.end)}
	first := p.directive.Argument(item.Key)
	if first != nil && item.Kind == KindCron && len(first.Values) == 0 {
		return // the fields of an expression without quotes, of which the first has been reported
	}
	if first != nil {
		p.report.Report(RuleDuplicateItem, argument.Pos, argument.End, item.title(), p.report.Position(first.Pos).Column)
		return
	}
	argument.Values = p.values(item, w)
	p.directive.Items = append(p.directive.Items, argument)
}

// keyed returns the definition that the key of w names, or reports why there is
// none.
func (p *parser) keyed(w word) *Item {
	spec, key := p.directive.Spec, w.key
	if !w.keyed && len(w.values) > 0 {
		key = w.values[0].text
	}
	item := spec.Item(key)
	switch {
	case key == "" || item == nil:
		end := w.start + len(key)
		if !w.keyed {
			end = w.end
		}
		p.report.Report(RuleUnknownItem, p.pos(w.start), p.pos(end), quoteOdd(key), spec.Name, spec.accepts(), p.elsewhere(key))
		return nil
	case !w.keyed:
		p.report.Report(RuleSyntax, p.pos(w.start), p.pos(w.end), key+" has no value; write "+key+"=VALUE, where it takes "+item.wants())
		return nil
	}
	return item
}

// elsewhere says where a key that this directive lacks may have been meant.
func (p *parser) elsewhere(key string) string {
	if near := didYouMean(key, p.directive.Spec.keys(), same); near != "" {
		return near
	}
	if lookup(key) != nil {
		return "; " + key + " is a directive of its own: //emq:" + key
	}
	var owners []string
	for i := range table {
		if table[i].Item(key) != nil {
			owners = append(owners, "//emq:"+table[i].Name)
		}
	}
	if len(owners) > 0 {
		return "; " + key + " is an item of " + join(owners)
	}
	for i := range table {
		if near := Nearest(key, table[i].keys()); near != "" && len(key) > 3 {
			return "; did you mean " + near + ", which is an item of //emq:" + table[i].Name + "?"
		}
	}
	return ""
}

// values reads the values of w as item defines them.
func (p *parser) values(item *Item, w word) []Value {
	if len(w.values) > max(1, item.List) {
		p.report.Report(RuleOneValue, p.pos(w.start), p.pos(w.end), item.title(), item.wants(), len(w.values))
		return nil
	}
	var values []Value
	for _, s := range w.values {
		v := Value{Pos: p.pos(s.start), End: p.pos(s.end), Text: s.text}
		switch {
		case v.Text == none && item.None && len(w.values) == 1:
			v.Off = true
		case v.Text == none && !item.takesNone():
			p.report.Report(RuleNotOff, v.Pos, v.End, item.title(), item.wants())
			continue
		default:
			if broken, arguments := item.Kind.read(item, &v); broken != nil {
				p.report.Report(broken, v.Pos, v.End, arguments...)
				continue
			}
		}
		values = append(values, v)
	}
	p.ageAndCount(item, values)
	return values
}

// takesNone reports whether "none" is a proper value: one of the words, a name,
// or a part of a retention, whose own check explains it.
func (i *Item) takesNone() bool {
	return i.Kind != KindDuration && i.Kind != KindInt && i.Kind != KindRate
}

// ageAndCount refuses a retention with two ages or two counts.
func (p *parser) ageAndCount(item *Item, values []Value) {
	if item.Kind != KindKeep || len(values) != 2 {
		return
	}
	a, b := values[0], values[1]
	switch {
	case a.Duration != 0 && b.Duration != 0:
		p.report.Report(RuleKeep, b.Pos, b.End, item.title(), a.Text+" and "+b.Text+" are both ages")
	case a.Int != 0 && b.Int != 0:
		p.report.Report(RuleKeep, b.Pos, b.End, item.title(), a.Text+" and "+b.Text+" are both counts")
	}
}

// missing reports what the directive lacks. Items that were written wrongly
// count as written.
func (p *parser) missing(written int) {
	d := p.directive
	for i := range d.Spec.Items {
		item := &d.Spec.Items[i]
		if !item.Required || d.Has(item.Key) {
			continue
		}
		if written > 0 && item.Key == "" {
			continue
		}
		lacks := item.wants()
		if item.Key != "" {
			lacks = item.Key + "=" + "…, " + lacks
		}
		p.report.Report(RuleMissingItem, d.Pos, d.End, d.Spec.Name, lacks)
		return
	}
	if written == 0 && !d.Spec.Bare && d.Spec.plain() == nil {
		p.report.Report(RuleEmptyDirective, d.Pos, d.End, d.Spec.Name, d.Spec.accepts())
	}
}
