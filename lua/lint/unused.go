package lint

import (
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// unused checks that the header declares what the script uses, and only that.
func (c *checker) unused() {
	for _, key := range c.script.Keys {
		c.unusedKey(key.Position, key.Suffix)
	}
	for _, key := range c.script.Each {
		c.unusedKey(key.Position, key.Name)
	}
	c.unusedArguments()
	words := c.words()
	for _, field := range c.script.Fields {
		used := words[field.Name]
		if field.Name == header.AnyField {
			used = c.openFields[field.Key] || c.wholeHash(field.Key)
		}
		if !used {
			c.addAt(RuleUnused, field.Position, "field %q of %s is declared and not used", field.Name, field.Key)
		}
	}
	for _, reply := range c.script.Replies {
		for _, value := range append([]header.Value{reply.Value}, reply.Record...) {
			for _, word := range value.Words {
				if !words[word] {
					c.addAt(RuleUnused, value.Position, "the word %q of %s is never answered", word, value.Name)
				}
			}
		}
	}
	c.errors()
}

func (c *checker) unusedKey(at header.Position, name string) {
	if !c.used[name] {
		c.addAt(RuleUnused, at, "key %s is declared and no command uses it", name)
	}
}

// wholeHash reports whether a command reads all of a hash.
func (c *checker) wholeHash(name string) bool {
	return slices.ContainsFunc(c.calls, func(call *call) bool {
		if !slices.Contains([]string{"HGETALL", "HSCAN", "HKEYS", "HVALS", "HLEN"}, call.command.name) || len(call.operands) == 0 {
			return false
		}
		return slices.ContainsFunc(c.origin(call.operands[0]).refs, func(ref keyRef) bool { return ref.name == name })
	})
}

func (c *checker) unusedArguments() {
	args, items := make([]bool, len(c.script.Args)), make([]bool, len(c.script.Items))
	all := false
	c.arguments(func(place argumentPlace) {
		switch {
		case place.index < 0:
			all = true
		case place.declared && place.item:
			items[place.index] = true
		case place.declared:
			args[place.index] = true
		}
	})
	if all {
		return
	}
	report := func(used []bool, values []header.Value) {
		for i, value := range values {
			// The id is there for the keys.
			if !used[i] && value.Kind != header.KindID && value.Kind != header.KindScheduler {
				c.addAt(RuleUnused, value.Position, "argument %s is declared and not used", value.Name)
			}
		}
	}
	report(args, c.script.Args)
	report(items, c.script.Items)
}

// words are all constant strings of the script, and the names of elements of
// tables.
func (c *checker) words() map[string]bool {
	words := map[string]bool{}
	for at := range c.parents {
		if text, ok := at.(*ast.StringExpr); ok {
			words[text.Value] = true
		}
	}
	return words
}

// errors checks that the errors which are answered are the declared ones.
func (c *checker) errors() {
	answered := map[string]bool{}
	for at := range c.parents {
		call, ok := at.(*ast.FuncCallExpr)
		if !ok || !c.isLibrary(call.Func, "redis", "error_reply") || len(call.Args) != 1 {
			continue
		}
		code, ok := c.errorCode(call.Args[0])
		switch {
		case !ok:
			c.add(RuleError, call, "the error's code is not a constant: begin with 'EMQ… '")
		case !c.declares(code):
			c.add(RuleError, call, "the error %s is answered and not declared; write @error %s TEXT", code, code)
		}
		answered[code] = true
	}
	for _, declared := range c.script.Errors {
		if !answered[declared.Code] {
			c.addAt(RuleUnused, declared.Position, "the error %s is declared and never answered", declared.Code)
		}
	}
}

func (c *checker) declares(code string) bool {
	return slices.ContainsFunc(c.script.Errors, func(e header.ErrorReply) bool { return e.Code == code })
}

// errorCode returns the first word of an error's text, if that begins with a
// constant which has more than that word.
func (c *checker) errorCode(expr ast.Expr) (string, bool) {
	for {
		concat, ok := expr.(*ast.StringConcatOpExpr)
		if !ok {
			break
		}
		expr = concat.Lhs
	}
	text, ok := expr.(*ast.StringExpr)
	if !ok {
		return "", false
	}
	code, _, more := strings.Cut(text.Value, " ")
	return code, more && strings.HasPrefix(code, "EMQ")
}
