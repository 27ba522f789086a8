package lock

import "github.com/echomq/echomq-go/gen/ir"

// Change is the kind of a [Difference].
type Change int

// The changes that jobs or programs would not survive.
const (
	// Removed is a field that is always there, and now is not.
	Removed Change = iota
	// Renamed is a field with another name on the wire.
	Renamed
	// Retyped is a value of another type.
	Retyped
	// Required is a field that jobs lack, or may lack.
	Required
	// Relaxed is a field that was always there, and now may be left out.
	Relaxed
	// Recoded is another codec.
	Recoded
	// Result is a job that has a result and had none, or the other way round.
	Result
)

// Difference is what both sides of a contract would not survive.
type Difference struct {
	Change Change
	// Path leads to the value: Welcome.Address.City.
	Path string
	// Old and New are names or types, or empty.
	Old, New string
	// Pos is where the value, or the type around it, is declared; zero outside
	// the package.
	Pos ir.Position
}

// Compare returns what of a change from old to new would not survive in jobs
// that are enqueued, or in programs that were built before. Fields whose absence
// is usual may come and go.
func Compare(old, new *ir.Contract) []Difference {
	c := &comparison{old: old, new: new, compared: map[[2]string]bool{}}
	// Every worker reads JSON, and one that does not know another codec gives the
	// job back.
	if old.Codec != new.Codec && old.Codec != "json" {
		c.add(Difference{Change: Recoded, Old: old.Codec, New: new.Codec})
	}
	c.value(pair{old.Payload, new.Payload}, place{path: new.Payload.Name})
	switch {
	case old.Result == nil && new.Result == nil:
	case old.Result == nil:
		c.add(Difference{Change: Result, New: spell(new.Result)})
	case new.Result == nil:
		c.add(Difference{Change: Result, Old: spell(old.Result)})
	default:
		c.value(pair{old.Result, new.Result}, place{path: resultPath(new)})
	}
	return c.found
}

// resultPath names the result in a message.
func resultPath(contract *ir.Contract) string {
	if contract.Result.Kind == ir.WireStructRef {
		return contract.Result.Name
	}
	return "the result of " + contract.Payload.Name
}

type comparison struct {
	old, new *ir.Contract
	// compared are pairs of structs, which may contain themselves.
	compared map[[2]string]bool
	found    []Difference
}

func (c *comparison) add(d Difference) { c.found = append(c.found, d) }

// pair is a type before and after.
type pair struct{ old, new *ir.WireType }

// place is a value of the new contract.
type place struct {
	path string
	pos  ir.Position
}

// value compares two types, and reports at most that they differ, or what
// differs inside of them.
func (c *comparison) value(whole pair, at place) {
	var structs []pair
	if !same(whole, &structs) {
		c.add(Difference{Change: Retyped, Path: at.path, Old: spell(whole.old), New: spell(whole.new), Pos: at.pos})
		return
	}
	for _, p := range structs {
		c.structs(p, at)
	}
}

// same compares two types but for the insides of their structs, which it
// collects.
func same(p pair, structs *[]pair) bool {
	if p.old.Kind != p.new.Kind {
		return false
	}
	switch p.old.Kind {
	case ir.WireBasic, ir.WireQuoted:
		return canonical(p.old.Name) == canonical(p.new.Name)
	case ir.WireNullable, ir.WireList:
		return same(pair{p.old.Elem, p.new.Elem}, structs)
	case ir.WireArray:
		return p.old.Len == p.new.Len && same(pair{p.old.Elem, p.new.Elem}, structs)
	case ir.WireMap:
		return same(pair{p.old.Key, p.new.Key}, structs) && same(pair{p.old.Elem, p.new.Elem}, structs)
	case ir.WireOwn:
		return spell(p.old) == spell(p.new)
	default:
		*structs = append(*structs, p)
		return true
	}
}

func (c *comparison) structs(p pair, at place) {
	key := [2]string{p.old.Name, p.new.Name}
	if c.compared[key] {
		return
	}
	c.compared[key] = true
	old, new := c.old.Struct(p.old.Name), c.new.Struct(p.new.Name)
	if new.Pos != (ir.Position{}) {
		at.pos = new.Pos
	}
	removed, added := c.kept(old, new, at)
	for _, field := range removed {
		now := renamed(field, removed, added)
		switch {
		case now != nil:
			inner := at.inside(now)
			c.add(Difference{Change: Renamed, Path: inner.path, Old: field.Name, New: now.Name, Pos: inner.pos})
		case !field.Tolerant():
			c.add(Difference{Change: Removed, Path: at.path + "." + field.GoName, Old: field.Name, Pos: at.pos})
		}
	}
	for _, field := range added {
		if !field.Tolerant() && origin(field, removed, added) == nil {
			inner := at.inside(field)
			c.add(Difference{Change: Required, Path: inner.path, New: field.Name, Pos: inner.pos})
		}
	}
}

// kept compares the fields that both structs have, and returns the others.
func (c *comparison) kept(old, new *ir.WireStruct, at place) (removed, added []*ir.WireField) {
	for i := range old.Fields {
		before := &old.Fields[i]
		after := new.Field(before.Name)
		if after == nil {
			removed = append(removed, before)
			continue
		}
		c.field(before, after, at.inside(after))
	}
	for i := range new.Fields {
		if old.Field(new.Fields[i].Name) == nil {
			added = append(added, &new.Fields[i])
		}
	}
	return removed, added
}

func (c *comparison) field(before, after *ir.WireField, at place) {
	p := pair{&before.Type, &after.Type}
	was, is := before.Tolerant(), after.Tolerant()
	if was || is {
		p = pair{bare(p.old), bare(p.new)}
	}
	found := len(c.found)
	c.value(p, at)
	switch {
	case len(c.found) > found:
	case was && !is:
		c.add(Difference{Change: Required, Path: at.path, Old: after.Name, New: after.Name, Pos: at.pos})
	case is && !was:
		c.add(Difference{Change: Relaxed, Path: at.path, Old: after.Name, New: after.Name, Pos: at.pos})
	}
}

// bare returns a type without being null: where a field may be left out, both
// mean the same.
func bare(t *ir.WireType) *ir.WireType {
	if t.Kind == ir.WireNullable {
		return t.Elem
	}
	return t
}

// renamed returns the field that took the place of one that is gone, or nil: it
// has its name in Go, or it is the only one of its type that came as the only
// one went.
func renamed(field *ir.WireField, removed, added []*ir.WireField) *ir.WireField {
	for _, candidate := range added {
		if candidate.GoName == field.GoName {
			return candidate
		}
	}
	if len(removed) == 1 && len(added) == 1 && !field.Tolerant() && !added[0].Tolerant() && spell(&field.Type) == spell(&added[0].Type) {
		return added[0]
	}
	return nil
}

// origin returns the field whose place one has taken, or nil.
func origin(field *ir.WireField, removed, added []*ir.WireField) *ir.WireField {
	for _, candidate := range removed {
		if renamed(candidate, removed, added) == field {
			return candidate
		}
	}
	return nil
}

// inside returns the place of a field of the struct at a place.
func (p place) inside(field *ir.WireField) place {
	p.path += "." + field.GoName
	if field.Pos != (ir.Position{}) {
		p.pos = field.Pos
	}
	return p
}
