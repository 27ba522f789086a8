package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
)

// wordType is the Go type of a value of kind word, which is written once.
func (c *callWriter) wordType(v header.Value) string {
	_, known := c.names.words[c.names.call+upperName(v.Name)]
	name, err := c.names.word(v)
	if err != nil {
		if !slices.ContainsFunc(c.faults, func(fault error) bool { return fault.Error() == err.Error() }) {
			c.faults = append(c.faults, err)
		}
		return "string"
	}
	if !known {
		c.order = append(c.order, v)
	}
	return name
}

// wordTypes writes the types of the words that the script uses, with a decoder
// for those that a reply has.
func (c *callWriter) wordTypes() {
	for _, v := range c.order {
		name := c.names.call + upperName(v.Name)
		c.line("")
		c.comment("", sentence(fmt.Sprintf("%s: %s", name, v.Doc)))
		c.line("type %s string", name)
		c.line("")
		c.line("// The words of [%s].", name)
		c.line("const (")
		for _, word := range v.Words {
			c.line("%s%s %s = %q", name, upperName(word), name, word)
		}
		c.line(")")
		if c.replies(v.Name) {
			c.decodeWord(name, v)
		}
	}
}

func (c *callWriter) decodeWord(name string, v header.Value) {
	c.line("")
	c.line("func decode%s(d *decoder, element string, value any) %s {", name, name)
	c.line("switch word := %s(d.text(element, value)); word {", name)
	var constants []string
	for _, word := range v.Words {
		constants = append(constants, name+upperName(word))
	}
	c.line("case %s:", strings.Join(constants, ", "))
	c.line("return word")
	c.line("default:")
	c.line("d.fail(element, \"is %%s and none of %s\", describe(value))", strings.Join(v.Words, ", "))
	c.line("return \"\"")
	c.line("}")
	c.line("}")
}

// replies reports whether a word called name is part of the reply.
func (c *callWriter) replies(name string) bool {
	isWord := func(v header.Value) bool { return v.Kind == header.KindWord && v.Name == name }
	return slices.ContainsFunc(c.script.Replies, func(reply header.Reply) bool {
		return isWord(reply.Value) || slices.ContainsFunc(reply.Record, isWord)
	})
}
