package build

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/echomq/echomq-go/annotations"
)

// jsonTag is what a struct tag says to encoding/json.
type jsonTag struct {
	name string
	skip bool
}

// jsonOptions are the options that encoding/json knows.
var jsonOptions = []string{"omitempty", "omitzero", "string"}

func (c *crossing) tag(text string, at place) jsonTag {
	value, ok := lookupTag(text)
	if !ok {
		if strings.Contains(text, "json") && !at.foreign {
			c.refuse(annotations.RuleTag, at, "the tag of "+at.path+" cannot be read; write `json:\"name\"`")
		}
		return jsonTag{}
	}
	if value == "-" {
		return jsonTag{skip: true}
	}
	name, options, _ := strings.Cut(value, ",")
	for option := range strings.SplitSeq(options, ",") {
		c.tagOption(option, at)
	}
	return jsonTag{name: name}
}

func (c *crossing) tagOption(option string, at place) {
	for _, known := range jsonOptions {
		if option == "" || option == known || at.foreign {
			return
		}
	}
	hint := ""
	if near := annotations.Nearest(option, jsonOptions); near != "" {
		hint = "; did you mean " + near + "?"
	}
	c.refuse(annotations.RuleTag, at, "the tag of "+at.path+" has option "+option+", which encoding/json ignores"+hint)
}

func lookupTag(text string) (string, bool) { return reflect.StructTag(text).Lookup("json") }

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
