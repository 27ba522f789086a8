package build

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// unique resolves what makes two jobs of a type the same.
func (b *builder) unique(job *annotations.Job) *ir.Unique {
	d := job.Directive("unique")
	if d == nil {
		return nil
	}
	unique := &ir.Unique{
		Fields: []ir.UniqueField{},
		Until:  d.Text("until"), For: ir.Duration(d.Duration("for")), Conflict: d.Text("conflict"),
	}
	payload, ok := b.lookup(job.Type.Name.Name)
	if !ok || d.Off("by") {
		return unique
	}
	seen := map[string]token.Pos{}
	for _, value := range d.Argument("by").Values {
		field, ok := b.uniqueField(payload, value, annotations.RuleUniqueField)
		if !ok {
			continue
		}
		path := strings.Join(field.Path, ".")
		if first, again := seen[path]; again {
			b.report.Report(annotations.RuleUniqueTwice, value.Pos, value.End, value.Text, b.report.Position(first).Column)
			continue
		}
		seen[path] = value.Pos
		unique.Fields = append(unique.Fields, field)
	}
	return unique
}

// group resolves the field that names the group of a job.
func (b *builder) group(job *annotations.Job) *ir.UniqueField {
	by := job.Directive("group").Argument("by")
	payload, ok := b.lookup(job.Type.Name.Name)
	if by == nil || !ok || len(by.Values) != 1 {
		return nil
	}
	field, ok := b.uniqueField(payload, by.Values[0], annotations.RuleGroupField)
	if !ok {
		return nil
	}
	return &field
}

// uniqueField resolves one field that a directive names, or reports what is
// wrong with it, by the given rule if the field cannot be used.
func (b *builder) uniqueField(payload *types.TypeName, value annotations.Value, rule *annotations.Rule) (field ir.UniqueField, ok bool) {
	refuse := func(reason string) (ir.UniqueField, bool) {
		b.report.Report(rule, value.Pos, value.End, payload.Name()+"."+value.Text, reason)
		return ir.UniqueField{}, false
	}
	at, title := payload.Type(), payload.Name()
	names := strings.Split(value.Text, ".")
	for i, name := range names {
		if i > 0 {
			if m, writes := firstMethod(at, true, marshalJSON, marshalText); writes {
				return refuse(title + " writes itself by " + m.name + ", so its fields do not cross the wire")
			}
		}
		object, steps, _ := types.LookupFieldOrMethod(at, true, b.Types.Package, name)
		if _, found := object.(*types.Var); !found {
			b.report.Report(annotations.RuleUnknownField, value.Pos, value.End, title, name, nearestField(at, names, i))
			return ir.UniqueField{}, false
		}
		for _, step := range steps {
			structure := structOf(at)
			if readTag(structure.Tag(step)).skip {
				return refuse(structure.Field(step).Name() + ` is left out of the wire by json:"-"`)
			}
			at = structure.Field(step).Type()
			if _, pointer := types.Unalias(at).Underlying().(*types.Pointer); pointer {
				field.Pointers = append(field.Pointers, len(field.Path))
			}
			field.Path = append(field.Path, structure.Field(step).Name())
		}
		title += "." + name
	}
	if pointer, is := types.Unalias(at).Underlying().(*types.Pointer); is {
		at = pointer.Elem()
	}
	var reason string
	if field.Form, reason = uniqueForm(at); reason != "" {
		return refuse((&crossing{builder: b}).string(at) + " " + reason)
	}
	standard := uniqueTypes[field.Form]
	field.Converted = standard != nil && !types.Identical(at, standard)
	return field, true
}

// uniqueTypes are the types of the forms that values are converted to.
var uniqueTypes = map[ir.UniqueForm]types.Type{
	ir.UniqueBool:  types.Typ[types.Bool],
	ir.UniqueInt:   types.Typ[types.Int64],
	ir.UniqueUint:  types.Typ[types.Uint64],
	ir.UniqueText:  types.Typ[types.String],
	ir.UniqueBytes: types.NewSlice(types.Typ[types.Byte]),
}

// uniqueForm returns how a value enters a unique key, or why it cannot.
func uniqueForm(t types.Type) (form ir.UniqueForm, reason string) {
	switch {
	case isNamed(t, "time", "Time"):
		return ir.UniqueTime, ""
	case isNamed(t, "encoding/json", "Number"):
		return "", "is a number that may be written in several ways"
	case hasMethod(t, true, marshalJSON):
		return "", "has a JSON form of its own, MarshalJSON, which another language need not write alike"
	case hasMethod(t, true, marshalText):
		return ir.UniqueMarshaled, ""
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return uniqueBasic(u)
	case *types.Slice:
		if types.Identical(u.Elem(), types.Typ[types.Byte]) {
			return ir.UniqueBytes, ""
		}
		return "", "is a list; only []byte can be"
	case *types.Struct:
		return "", "is a struct; name its fields, one by one"
	case *types.Pointer:
		return "", "is a pointer behind a pointer"
	case *types.Array:
		return "", "is an array"
	case *types.Map:
		return "", "is a map, which has no order"
	}
	return "", "has no one form"
}

func uniqueBasic(t *types.Basic) (form ir.UniqueForm, reason string) {
	switch info := t.Info(); {
	case info&types.IsBoolean != 0:
		return ir.UniqueBool, ""
	case info&types.IsUnsigned != 0:
		return ir.UniqueUint, ""
	case info&types.IsInteger != 0:
		return ir.UniqueInt, ""
	case info&types.IsString != 0:
		return ir.UniqueText, ""
	case info&types.IsFloat != 0:
		return "", "is a floating-point number, which is not written alike everywhere; use a whole number of its smallest unit"
	}
	return "", "has no one form"
}

func isNamed(t types.Type, path, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == path && named.Obj().Name() == name
}

// structOf returns the struct that t is or points to, or nil.
func structOf(t types.Type) *types.Struct {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	structure, _ := t.Underlying().(*types.Struct)
	return structure
}

// nearestField ends a message with the field of t that was probably meant by the
// name at an index of the path to a field.
func nearestField(t types.Type, path []string, index int) annotations.Suggestion {
	structure := structOf(t)
	if structure == nil {
		return annotations.Suggestion{Message: ", for it is no struct"}
	}
	var names []string
	for i := range structure.NumFields() {
		if field := structure.Field(i); field.Exported() {
			names = append(names, field.Name())
		}
	}
	near := annotations.Nearest(path[index], names)
	meant := slices.Clone(path)
	meant[index] = near
	return annotations.DidYouMean(near, strings.Join(meant, "."))
}
