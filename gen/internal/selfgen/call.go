package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/echomq/echomq-go/lua/header"
)

// generateCall writes the typed call of one script, which is that of a script
// derived from it where that is enough.
func generateCall(s script, derived []script, taken map[string]string) ([]byte, error) {
	n, err := newNames(s, taken)
	if err != nil {
		return nil, err
	}
	f := newFile("lua/"+s.Name+".lua", "script")
	f.line("import (")
	f.line("%q", "github.com/echomq/echomq-go/lua")
	f.line("%q", "github.com/echomq/echomq-go/runtime/wire")
	f.line(")")
	c := &callWriter{file: f, script: s, names: n}
	c.arguments()
	c.line("")
	c.line("// Call builds the call for queue.")
	c.call("Call", s, derived)
	for _, d := range derived {
		c.admits(d)
		c.line("")
		c.line("// %s builds the call of %s.lua, which is enough if %s is true.", lowerName(d.Name), d.Name, admitsName(d))
		c.call(lowerName(d.Name), d, nil)
	}
	c.replyTypes()
	c.decode()
	c.wordTypes()
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	return f.source()
}

// callWriter writes the parts of one script's file.
type callWriter struct {
	*file
	script script
	names  *names
	order  []header.Value // the first value of each word type
	faults []error
}

// arguments writes the structs of the call and of its items.
func (c *callWriter) arguments() {
	s, n := c.script, c.names
	c.line("")
	c.comment("", fmt.Sprintf("%s is a call of %s.lua: %s", n.call, s.Name, strings.TrimPrefix(s.Doc, s.Name+" ")))
	c.line("type %s struct {", n.call)
	c.fields(s.Args, c.argType)
	if len(s.Items) > 0 {
		c.line("// %s are the items of the call.", itemsField)
		c.line("%s []%s", itemsField, n.item)
	}
	c.line("}")
	if len(s.Items) == 0 {
		return
	}
	c.line("")
	c.line("// %s is an item of [%s].", n.item, n.call)
	c.line("type %s struct {", n.item)
	c.fields(s.Items, c.argType)
	c.line("}")
}

const itemsField = "Items"

func (c *callWriter) fields(values []header.Value, typeOf func(header.Value) string) {
	for _, v := range values {
		c.comment("\t", sentence(upperName(v.Name)+": "+v.Doc))
		c.line("%s %s", upperName(v.Name), typeOf(v))
	}
}

func sentence(text string) string { return strings.TrimSuffix(text, ".") + "." }

// argType is the Go type of an argument.
func (c *callWriter) argType(v header.Value) string {
	switch v.Kind {
	case header.KindInt, header.KindMS:
		return "int64"
	case header.KindFlag:
		return "bool"
	case header.KindID:
		return "wire.JobID"
	case header.KindScheduler:
		return "wire.SchedulerID"
	case header.KindBytes:
		return "[]byte"
	case header.KindWord:
		return c.wordType(v)
	default:
		return "string"
	}
}

// argument is the Go expression of an argument as an element of ARGV.
func argument(receiver string, v header.Value) string {
	field := receiver + "." + upperName(v.Name)
	switch v.Kind {
	case header.KindFlag:
		return "flag(" + field + ")"
	case header.KindID, header.KindScheduler:
		return field + ".String()"
	case header.KindWord:
		return "string(" + field + ")"
	default:
		return field
	}
}

// call writes a method that builds KEYS and ARGV of a script, or has a derived one
// do it.
func (c *callWriter) call(method string, s script, derived []script) {
	c.line("func (c %s) %s(queue wire.Queue) Call {", c.names.call, method)
	for _, d := range derived {
		c.line("if c.%s() {", admitsName(d))
		c.line("return c.%s(queue)", lowerName(d.Name))
		c.line("}")
	}
	c.line("keys := make([]string, 0, %s)", capacity(len(s.Keys), len(s.Each)))
	c.line("keys = append(keys,")
	for _, key := range s.Keys {
		c.line("queue.Key(%q),", key.Suffix)
	}
	c.line(")")
	c.line("args := make([]any, 0, %s)", capacity(len(s.Args), len(s.Items)))
	c.appendArguments("c", s.Args)
	if len(s.Items) > 0 {
		c.line("for i := range c.%s {", itemsField)
		c.line("item := &c.%s[i]", itemsField)
		c.appendKeys(s)
		c.appendArguments("item", s.Items)
		c.line("}")
	}
	c.line("return Call{Script: lua.%s(), Keys: keys, Args: args}", upperName(s.Name))
	c.line("}")
}

func capacity(fixed, each int) string {
	items := fmt.Sprintf("%d*len(c.%s)", each, itemsField)
	switch {
	case each == 0:
		return fmt.Sprint(fixed)
	case each == 1:
		items = fmt.Sprintf("len(c.%s)", itemsField)
	}
	if fixed == 0 {
		return items
	}
	return fmt.Sprintf("%d+%s", fixed, items)
}

func admitsName(derived script) string { return "admits" + upperName(derived.Name) }

// admits writes the method that tells whether a derived script is enough.
func (c *callWriter) admits(d script) {
	var call, items []string
	for _, fixed := range d.special.Values {
		if len(fixed.Words) == 0 {
			continue
		}
		for _, v := range c.script.Args {
			if v.Name == fixed.Name {
				call = append(call, other("c", v, fixed.Words))
			}
		}
		for _, v := range c.script.Items {
			if v.Name == fixed.Name {
				items = append(items, other("item", v, fixed.Words))
			}
		}
	}
	c.line("")
	c.line("// %s reports whether %s.lua is enough for the call.", admitsName(d), d.Name)
	c.line("func (c %s) %s() bool {", c.names.call, admitsName(d))
	if len(call) > 0 {
		c.line("if %s {", strings.Join(call, " ||\n"))
		c.line("return false")
		c.line("}")
	}
	if len(items) > 0 {
		c.line("for i := range c.%s {", itemsField)
		c.line("item := &c.%s[i]", itemsField)
		c.line("if %s {", strings.Join(items, " ||\n"))
		c.line("return false")
		c.line("}")
		c.line("}")
	}
	c.line("return true")
	c.line("}")
}

// other is the Go expression that an argument has another value than the given.
func other(receiver string, v header.Value, words []string) string {
	field := receiver + "." + upperName(v.Name)
	var all []string
	for _, word := range words {
		switch v.Kind {
		case header.KindInt, header.KindMS:
			all = append(all, fmt.Sprintf("%s != %s", field, word))
		case header.KindFlag:
			if word == "0" {
				all = append(all, field)
			} else {
				all = append(all, "!"+field)
			}
		case header.KindBytes:
			all = append(all, fmt.Sprintf("len(%s) > 0", field))
		default:
			all = append(all, fmt.Sprintf("%s != %q", field, word))
		}
	}
	return strings.Join(all, " && ")
}

func (c *callWriter) appendKeys(s script) {
	if len(s.Each) == 0 {
		return
	}
	var keys []string
	for _, key := range s.Each {
		switch {
		case key.Of == header.KindScheduler:
			keys = append(keys, "queue.SchedulerKey(item.Scheduler)")
		case key.Part == "":
			keys = append(keys, "queue.Job(item.ID)")
		default:
			keys = append(keys, fmt.Sprintf("queue.JobKey(item.ID, %q)", key.Part))
		}
	}
	c.line("keys = append(keys, %s)", strings.Join(keys, ", "))
}

func (c *callWriter) appendArguments(receiver string, values []header.Value) {
	if len(values) == 0 {
		return
	}
	c.line("args = append(args,")
	for _, v := range values {
		c.line("%s,", argument(receiver, v))
	}
	c.line(")")
}
