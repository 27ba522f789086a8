package annotations

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
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
	p := parser{report: report, origin: written.ArgsPos, args: written.Args, directive: &Directive{
		Spec: spec, Pos: written.Slash, End: written.ArgsPos + token.Pos(len(written.Args)),
	}}
	words, faults := tokenize(written.Args)
	for _, f := range faults {
		report.Report(RuleSyntax, p.pos(f.start), p.pos(f.end), f.message)
	}
	for _, w := range words {
		p.keys = append(p.keys, w.head())
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
	args      string
	directive *Directive
	// keys are those that were written, as they were.
	keys []string
	// meant are keys that were written, if wrongly.
	meant []string
}

func (p *parser) pos(offset int) token.Pos { return p.origin + token.Pos(offset) }

// item finds the definition of w and reads its values.
func (p *parser) item(w word) {
	spec := p.directive.Spec
	item := spec.plain()
	if w.keyed || item == nil || w.head() != "" && spec.Item(w.head()) != nil {
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
	spec, key := p.directive.Spec, w.head()
	item := spec.Item(key)
	if w.keyed && key != "" && item != nil {
		return item
	}
	end := w.end
	if w.keyed {
		end = w.start + len(key)
	}
	if item == nil || key == "" {
		written := key
		if !w.keyed && len(w.values) > 0 {
			written = w.values[0].text
		}
		hint, meant := p.elsewhere(key)
		if slices.Contains(p.keys, hint.Replacement) || slices.Contains(p.meant, hint.Replacement) {
			hint.Replacement = "" // it would be written twice
		}
		p.meant = append(p.meant, meant...)
		if value, colon := strings.CutPrefix(p.text(w), key+":"); colon && hint.Replacement != "" {
			hint.Replacement += "=" + value
		}
		p.report.Report(RuleUnknownItem, p.pos(w.start), p.pos(end), quoteOdd(written), spec.Name, spec.accepts(), hint)
		return nil
	}
	p.meant = append(p.meant, key)
	fault := Suggestion{Message: key + " has no value; write " + key + "=VALUE, where it takes " + item.wants()}
	if value, colon := strings.CutPrefix(p.text(w), key+":"); colon {
		fault.Message = "a colon stands in the place of \"=\"; write " + key + "=" + cmp.Or(value, "VALUE")
		if value != "" {
			fault.Replacement = key + "=" + value
		}
	}
	p.report.Report(RuleSyntax, p.pos(w.start), p.pos(end), fault)
	return nil
}

// text returns w as it was written.
func (p *parser) text(w word) string { return p.args[w.start:w.end] }

// head returns the key of w, or what may have been meant as one: the text before
// a colon.
func (w word) head() string {
	if w.keyed || len(w.values) == 0 {
		return w.key
	}
	head, _, _ := strings.Cut(w.values[0].text, ":")
	return head
}

// elsewhere says what may have been meant by a key that this directive lacks, and
// which of its items that are.
func (p *parser) elsewhere(key string) (hint Suggestion, meant []string) {
	spec := p.directive.Spec
	if key != spec.Name && lookup(key) != nil {
		return Suggestion{Message: "; " + key + " is a directive of its own: //emq:" + key}, nil
	}
	elsewhere := ""
	if owners := owners(key); len(owners) > 0 {
		elsewhere = key + " is an item of " + join(owners)
	}
	if synonyms := spec.meantItems(key); len(synonyms) > 0 {
		return p.synonyms(key, synonyms, elsewhere)
	}
	if elsewhere != "" {
		return Suggestion{Message: "; " + elsewhere}, nil
	}
	if near := Nearest(key, spec.keys()); near != "" {
		return DidYouMean(near, near), []string{near}
	}
	if near := spec.nearSynonym(key); near != "" {
		return p.synonyms(key, spec.meantItems(near), "")
	}
	return DidYouMean(ofOthers(key), ""), nil
}

// synonyms proposes the items of the directive for which a key stands, and adds
// where else it is one.
func (p *parser) synonyms(key string, found []synonym, elsewhere string) (hint Suggestion, meant []string) {
	var titles []string
	for _, s := range found {
		title := s.item
		if s.item == "" {
			title = "the value alone, without " + key + "="
		}
		if s.but != "" {
			title += ", " + s.but
		}
		titles, meant = append(titles, title), append(meant, s.item)
	}
	hint = DidYouMean(oneOf(titles), "")
	if len(found) == 1 && found[0].item == "" {
		hint.Message = "; write " + titles[0]
	}
	if elsewhere != "" {
		hint.Message += " " + elsewhere
	} else if len(found) == 1 && found[0].but == "" {
		hint.Replacement = found[0].item
	}
	return hint, meant
}

// owners are the directives that have an item of a name.
func owners(key string) []string {
	var found []string
	for i := range table {
		if key != "" && table[i].Item(key) != nil {
			found = append(found, "//emq:"+table[i].Name)
		}
	}
	return found
}

// ofOthers returns the items of other directives that may have been meant by a
// key, or "". A word for items of many directives says nothing.
func ofOthers(key string) string {
	const many = 3
	var found []string
	for i := range table {
		var titles []string
		but := ""
		for _, s := range table[i].meantItems(key) {
			if s.item != "" {
				titles = append(titles, s.item)
			}
			if s.but != "" {
				but = ", " + s.but
			}
		}
		if len(titles) > 0 {
			found = append(found, oneOf(titles)+" of //emq:"+table[i].Name+but)
		}
	}
	if len(found) > 0 && len(found) < many {
		return strings.Join(found, ", or ")
	}
	for i := range table {
		if near := Nearest(key, table[i].keys()); near != "" && len(key) > 3 {
			return near + ", which is an item of //emq:" + table[i].Name
		}
	}
	return ""
}

// values reads the values of w as item defines them.
func (p *parser) values(item *Item, w word) []Value {
	if len(w.values) > max(1, item.List) {
		wants := item.wants()
		if item.List > 2 {
			wants = fmt.Sprintf("at most %d values", item.List)
		}
		p.report.Report(RuleOneValue, p.pos(w.start), p.pos(w.end), item.title(), wants, len(w.values))
		return nil
	}
	var values []Value
	for _, s := range w.values {
		v := Value{Pos: p.pos(s.start), End: p.pos(s.end), Text: s.text}
		switch {
		case v.Text == none && item.None && len(w.values) == 1:
			v.Off = true
		case v.Text == none && !item.takesNone() && !s.quoted:
			p.report.Report(RuleNotOff, v.Pos, v.End, item.title(), item.wants())
			continue
		default:
			broken, arguments := item.Kind.read(item, &v)
			if meant := meantValue(p.directive.Spec, item, v.Text); meant != "" && len(w.values) == 1 {
				broken, arguments = instead(item, v, meant)
			}
			if broken != nil {
				p.report.Report(broken, v.Pos, v.End, arguments...)
				continue
			}
		}
		values = append(values, v)
	}
	p.ageAndCount(item, values)
	return values
}

// takesNone reports whether "none" is a proper value, one of the words, or one
// that the check of its kind explains. A name may be none only in quotes, as
// somebody meant off, more likely.
func (i *Item) takesNone() bool {
	switch i.Kind {
	case KindField:
		return i.None
	case KindWord, KindKeep, KindGoName, KindTypeName, KindCron, KindZone:
		return true
	}
	return false
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
		if !item.Required || d.Has(item.Key) || item.Key != "" && slices.Contains(p.meant, item.Key) {
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
