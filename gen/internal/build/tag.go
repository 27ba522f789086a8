package build

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"
	"unicode"

	"github.com/echomq/echomq-go/annotations"
)

// jsonTag is what a struct tag says to encoding/json.
type jsonTag struct {
	name string
	skip bool
}

// jsonOptions are the options that encoding/json knows.
var jsonOptions = []string{"omitempty", "omitzero", "string"}

// readTag returns what a struct tag says to encoding/json.
func readTag(text string) jsonTag {
	value, _ := reflect.StructTag(text).Lookup("json")
	if value == "-" {
		return jsonTag{skip: true}
	}
	name, _, _ := strings.Cut(value, ",")
	if !isValidName(name) {
		name = ""
	}
	return jsonTag{name: name}
}

// isValidName reports whether encoding/json takes a name from a tag; it ignores
// any other.
func isValidName(name string) bool {
	for _, r := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return false
		}
	}
	return name != ""
}

// tag returns what a struct tag says, and reports what of it would have no
// effect.
func (c *crossing) tag(field *types.Var, text string, at place) jsonTag {
	if !at.foreign {
		c.checkTag(field, text, at)
	}
	return readTag(text)
}

func (c *crossing) checkTag(field *types.Var, text string, at place) {
	switch value, ours := reflect.StructTag(text).Lookup(annotations.FieldTagKey); {
	case ours && !annotations.IsFieldTag(value):
		hint := annotations.FieldTagHint(value)
		hint.Message = fmt.Sprintf("the tag of %s has emq:%q, which has no meaning%s", at.path, value, hint)
		hint.Replacement = c.retagged(field, at, fmt.Sprintf("emq:%q", value), hint.Replacement)
		c.refuse(annotations.RuleTag, at, hint)
	case ours && readTag(text).skip:
		c.refuse(annotations.RuleTag, at, fmt.Sprintf("the tag of %s has emq:%q, and the field does not cross the wire", at.path, value))
	}
	value, ok := reflect.StructTag(text).Lookup("json")
	if !ok {
		if strings.Contains(text, "json") {
			c.refuse(annotations.RuleTag, at, "the tag of "+at.path+" cannot be read; write `json:\"name\"`")
		}
		return
	}
	name, options, _ := strings.Cut(value, ",")
	if name != "" && !isValidName(name) {
		c.refuse(annotations.RuleTag, at, fmt.Sprintf("the tag of %s has the name %q, which encoding/json ignores: it takes letters, digits and punctuation other than quotes, commas and backslashes", at.path, name))
	}
	for option := range strings.SplitSeq(options, ",") {
		c.checkOption(field, option, at)
	}
}

func (c *crossing) checkOption(field *types.Var, option string, at place) {
	if option == "" || option == "string" && quotable(field.Type()) || option == "omitempty" || option == "omitzero" {
		return
	}
	if option == "string" {
		c.refuse(annotations.RuleTag, at, "the tag of "+at.path+" has option string, which encoding/json ignores for "+c.string(field.Type()))
		return
	}
	near := annotations.Nearest(option, jsonOptions)
	hint := annotations.DidYouMean(near, c.retagged(field, at, ","+option, ","+near))
	hint.Message = "the tag of " + at.path + " has option " + option + ", which encoding/json ignores" + hint.Message
	c.refuse(annotations.RuleTag, at, hint)
}

// retagged returns the tag of a field, which is at a place, with another text in
// the place of a part; "" where it is not known which part that is.
func (c *crossing) retagged(field *types.Var, at place, part, other string) string {
	tag := c.tagsByField()[field.Pos()]
	if tag == nil || tag.Pos() != at.pos || other == "" || strings.Count(tag.Value, part) != 1 {
		return ""
	}
	return strings.Replace(tag.Value, part, other, 1)
}

// quotable reports whether encoding/json can write a value of type t inside a
// string.
func quotable(t types.Type) bool {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	basic, ok := t.Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsBoolean|types.IsNumeric|types.IsString) != 0
}

// tagPlace returns the place of a field's tag, for what is wrong with it.
func (c *crossing) tagPlace(field *types.Var, at place) place {
	at = c.fieldPlace(field, at)
	if at.pos != field.Pos() {
		return at
	}
	if tag := c.tagsByField()[field.Pos()]; tag != nil {
		at.pos, at.end = tag.Pos(), tag.End()
	}
	return at
}

// tagsByField finds the tags of the package's fields, by the places of the
// fields' names.
func (b *builder) tagsByField() map[token.Pos]*ast.BasicLit {
	if b.tags != nil {
		return b.tags
	}
	b.tags = map[token.Pos]*ast.BasicLit{}
	for _, file := range b.Source.Files {
		ast.Inspect(file.File, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				for _, name := range field.Names {
					b.tags[name.Pos()] = field.Tag
				}
			}
			return true
		})
	}
	return b.tags
}
