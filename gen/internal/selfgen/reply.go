package main

import (
	"fmt"

	"github.com/echomq/echomq-go/lua/header"
)

// replyTypes writes the structs of the reply and of its records.
func (c *callWriter) replyTypes() {
	c.line("")
	c.line("// %s is the reply to [%s].", c.names.reply, c.names.call)
	c.line("type %s struct {", c.names.reply)
	for _, reply := range c.script.Replies {
		c.comment("\t", sentence(upperName(reply.Name)+": "+reply.Doc))
		c.line("%s %s", upperName(reply.Name), c.replyType(reply))
	}
	c.line("}")
	for _, reply := range c.script.Replies {
		if reply.Kind != header.KindRecords {
			continue
		}
		c.line("")
		c.line("// %s is a record of [%s.%s].", c.names.record(reply), c.names.reply, upperName(reply.Name))
		c.line("type %s struct {", c.names.record(reply))
		c.fields(reply.Record, c.elementType)
		c.line("}")
	}
}

func (c *callWriter) replyType(reply header.Reply) string {
	if reply.Kind == header.KindRecords {
		return "[]" + c.names.record(reply)
	}
	return c.elementType(reply.Value)
}

// elementType is the Go type of an element of a reply.
func (c *callWriter) elementType(v header.Value) string {
	switch v.Kind {
	case header.KindID, header.KindScheduler:
		return "string"
	case header.KindIDs:
		return "[]string"
	case header.KindHash:
		return "Hash"
	default:
		return c.argType(v)
	}
}

// decode writes the function that reads the reply.
func (c *callWriter) decode() {
	s, n := c.script, c.names
	c.line("")
	c.comment("", fmt.Sprintf("%s reads the reply to [%s] as the client returns it. The error is a [*DecodeError].", n.decode, n.call))
	c.line("func %s(reply any) (%s, error) {", n.decode, n.reply)
	c.line("d := decoder{script: %q}", s.Name)
	c.line("elements := d.reply(reply, %d)", len(s.Replies))
	c.line("if d.err != nil {")
	c.line("return %s{}, d.err", n.reply)
	c.line("}")
	c.line("decoded := %s{", n.reply)
	for i, reply := range s.Replies {
		value := fmt.Sprintf("elements[%d]", i)
		if reply.Kind == header.KindRecords {
			c.line("%s: decode%s(&d, %s),", upperName(reply.Name), n.call+upperName(reply.Name), value)
		} else {
			c.line("%s: %s,", upperName(reply.Name), c.decodeElement(reply.Value, "&d", value))
		}
	}
	c.line("}")
	c.line("if d.err != nil {")
	c.line("return %s{}, d.err", n.reply)
	c.line("}")
	c.line("return decoded, nil")
	c.line("}")
	for _, reply := range s.Replies {
		if reply.Kind == header.KindRecords {
			c.decodeRecords(reply)
		}
	}
}

func (c *callWriter) decodeRecords(reply header.Reply) {
	record, length := c.names.record(reply), len(reply.Record)
	c.line("")
	c.line("func decode%s(d *decoder, value any) []%s {", c.names.call+upperName(reply.Name), record)
	c.line("const length = %d", length)
	c.line("flat := d.flat(%q, value, length)", reply.Name)
	c.line("records := make([]%s, len(flat)/length)", record)
	c.line("d.records = %q", reply.Name)
	c.line("for i := range records {")
	c.line("elements := flat[i*length : (i+1)*length]")
	c.line("d.index = i")
	c.line("records[i] = %s{", record)
	for i, v := range reply.Record {
		c.line("%s: %s,", upperName(v.Name), c.decodeElement(v, "d", fmt.Sprintf("elements[%d]", i)))
	}
	c.line("}")
	c.line("}")
	c.line("d.records = \"\"")
	c.line("return records")
	c.line("}")
}

// decodeElement is the Go expression that decodes value.
func (c *callWriter) decodeElement(v header.Value, pointer, value string) string {
	method := map[header.Kind]string{
		header.KindInt: "integer", header.KindMS: "integer", header.KindFlag: "flag",
		header.KindID: "text", header.KindScheduler: "text", header.KindString: "text", header.KindBytes: "bytes",
		header.KindIDs: "texts", header.KindHash: "hash",
	}[v.Kind]
	if v.Kind == header.KindWord {
		return fmt.Sprintf("decode%s(%s, %q, %s)", c.wordType(v), pointer, v.Name, value)
	}
	return fmt.Sprintf("d.%s(%q, %s)", method, v.Name, value)
}
