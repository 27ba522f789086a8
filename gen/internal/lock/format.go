package lock

import (
	"bytes"
	"fmt"
	"go/token"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/gen/ir"
)

// header is the line that makes a file a lock, with the version of its form.
const header = "emq.lock 1"

const preamble = `# What the jobs of this package look like to jobs that are enqueued, and to
# programs that run. emqgen writes this file, and refuses changes of the source
# that they would not survive. Commit it. See docs/guide/contract.md.
`

// Format returns the content of the file.
func (f *File) Format() []byte {
	f.sort()
	var b bytes.Buffer
	b.WriteString(preamble)
	b.WriteString(header + "\n")
	for i := range f.Jobs {
		f.Jobs[i].format(&b)
	}
	for _, ended := range f.Ended {
		word := "retired"
		if ended.To == "" {
			word = "gone"
		}
		fmt.Fprintf(&b, "\n%s\n", line(word, ended.ID.String(), ended.To))
		formatAccepted(&b, ended.Accepted)
	}
	return b.Bytes()
}

func (j *Job) format(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n%s\n", line("job", j.ID.String(), "v"+strconv.Itoa(j.Version)))
	for _, was := range j.Was {
		fmt.Fprintf(b, "%s\n", line("was", was.String()))
	}
	formatAccepted(b, j.Accepted)
	fmt.Fprintf(b, "codec %s\npayload %s\n", j.Contract.Codec, spell(j.Contract.Payload))
	if j.Contract.Result != nil {
		fmt.Fprintf(b, "result %s\n", spell(j.Contract.Result))
	}
	for _, s := range j.Contract.Structs {
		fmt.Fprintf(b, "type %s\n", s.Name)
		for i := range s.Fields {
			fmt.Fprintf(b, "\t%s\n", formatField(&s.Fields[i]))
		}
	}
}

func formatField(field *ir.WireField) string {
	words := []string{field.Name, spell(&field.Type), field.GoName}
	if field.Optional {
		words = append(words, "optional")
	}
	if field.Redacted {
		words = append(words, "redact")
	}
	return line(words...)
}

func formatAccepted(b *bytes.Buffer, accepted []Accepted) {
	for _, a := range accepted {
		fmt.Fprintf(b, "%s %s\n", line("accepted", a.From), strconv.Quote(a.Reason))
	}
}

// line joins words, and quotes those that a reader could not tell apart.
func line(words ...string) string {
	var written []string
	for _, word := range words {
		switch {
		case word == "":
			continue
		case strings.ContainsAny(word, " \"`\\#") || !printable(word):
			word = strconv.Quote(word)
		}
		written = append(written, word)
	}
	return strings.Join(written, " ")
}

func printable(word string) bool {
	for _, r := range word {
		if !strconv.IsPrint(r) {
			return false
		}
	}
	return true
}

// spell writes a type as the file has it.
func spell(t *ir.WireType) string {
	switch t.Kind {
	case ir.WireQuoted:
		return "string(" + t.Name + ")"
	case ir.WireNullable:
		return "*" + spell(t.Elem)
	case ir.WireList:
		return "[]" + spell(t.Elem)
	case ir.WireArray:
		return fmt.Sprintf("[%d]%s", t.Len, spell(t.Elem))
	case ir.WireMap:
		return "map[" + spell(t.Key) + "]" + spell(t.Elem)
	case ir.WireOwn:
		name := t.Path + "." + t.Name
		if len(t.Args) > 0 {
			var args []string
			for i := range t.Args {
				args = append(args, spell(&t.Args[i]))
			}
			name += "[" + strings.Join(args, ",") + "]"
		}
		return name
	}
	return t.Name
}

// basics are the predeclared types that cross the wire.
var basics = map[string]bool{
	"bool": true, "string": true, "any": true, "byte": true, "float32": true, "float64": true,
	"int": true, "int8": true, "int16": true, "int32": true, "int64": true,
	"uint": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
}

// parseType reads what spell wrote.
func parseType(text string) (*ir.WireType, bool) {
	p := &typeParser{rest: text}
	t := p.parse(0)
	return t, t != nil && p.rest == ""
}

type typeParser struct{ rest string }

// maxNesting bounds the depth of a type.
const maxNesting = 100

func (p *typeParser) accept(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *typeParser) parse(depth int) *ir.WireType {
	switch {
	case depth > maxNesting:
		return nil
	case p.accept("*"):
		return p.around(ir.WireNullable, depth)
	case p.accept("[]"):
		return p.around(ir.WireList, depth)
	case p.accept("["):
		digits, rest, ok := strings.Cut(p.rest, "]")
		length, err := strconv.ParseInt(digits, 10, 64)
		if p.rest = rest; !ok || err != nil || length < 0 {
			return nil
		}
		array := p.around(ir.WireArray, depth)
		if array != nil {
			array.Len = length
		}
		return array
	case p.accept("map["):
		key := p.parse(depth + 1)
		if key == nil || !p.accept("]") {
			return nil
		}
		m := p.around(ir.WireMap, depth)
		if m != nil {
			m.Key = key
		}
		return m
	case p.accept("string("):
		name, rest, ok := strings.Cut(p.rest, ")")
		if p.rest = rest; !ok || !basics[name] {
			return nil
		}
		return &ir.WireType{Kind: ir.WireQuoted, Name: name}
	}
	return p.name(depth)
}

func (p *typeParser) around(kind ir.WireKind, depth int) *ir.WireType {
	elem := p.parse(depth + 1)
	if elem == nil {
		return nil
	}
	return &ir.WireType{Kind: kind, Elem: elem}
}

// name reads a predeclared type, a struct of the block, or a type that encodes
// itself.
func (p *typeParser) name(depth int) *ir.WireType {
	end := strings.IndexAny(p.rest, "[],()")
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	dot := strings.LastIndex(word, ".")
	if dot < 0 {
		switch {
		case basics[word]:
			return &ir.WireType{Kind: ir.WireBasic, Name: word}
		case token.IsIdentifier(word):
			return &ir.WireType{Kind: ir.WireStructRef, Name: word}
		}
		return nil
	}
	own := &ir.WireType{Kind: ir.WireOwn, Path: word[:dot], Name: word[dot+1:]}
	if !token.IsIdentifier(own.Name) {
		return nil
	}
	if !p.accept("[") {
		return own
	}
	for {
		argument := p.parse(depth + 1)
		if argument == nil {
			return nil
		}
		own.Args = append(own.Args, *argument)
		if p.accept("]") {
			return own
		}
		if !p.accept(",") {
			return nil
		}
	}
}
