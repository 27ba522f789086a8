package emit

import (
	"time"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/ir"
)

// literal is a composite literal of a struct of the runtime in the making.
// Fields that are zero are left out.
type literal struct {
	file   *file
	name   string
	fields []jen.Code
}

func (f *file) literal(name string) *literal { return &literal{file: f, name: name} }

func (l *literal) set(field string, value jen.Code) {
	l.fields = append(l.fields, jen.Id(field).Op(":").Add(value))
}

func (l *literal) text(field, value string) {
	if value != "" {
		l.set(field, jen.Lit(value))
	}
}

func (l *literal) texts(field string, values []string) {
	var literals []jen.Code
	for _, value := range values {
		literals = append(literals, jen.Lit(value))
	}
	if len(literals) > 0 {
		l.set(field, jen.Index().String().Values(literals...))
	}
}

func (l *literal) number(field string, value int) {
	if value != 0 {
		l.set(field, jen.Lit(value))
	}
}

func (l *literal) duration(field string, value ir.Duration) {
	if value != 0 {
		l.set(field, duration(value))
	}
}

// word sets a field to the runtime's constant for a word of a directive.
func (l *literal) word(field, value string, constants map[string]string) {
	if value != "" {
		l.set(field, l.file.echomq(constants[value]))
	}
}

func (l *literal) inner(field string, value *literal, multi bool) {
	if len(value.fields) > 0 {
		l.set(field, value.code(multi))
	}
}

// code returns the literal, on one line or with one field a line.
func (l *literal) code(multi bool) *jen.Statement {
	separator := ", "
	if multi {
		separator = ","
	}
	return l.file.echomq(l.name).Custom(jen.Options{Open: "{", Close: "}", Separator: separator, Multi: multi}, l.fields...)
}

// units are those in which a duration may be written, the longest first.
var units = []struct {
	length time.Duration
	name   string
}{{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"}}

// duration writes a duration as a person would: 24 * time.Hour.
func duration(value ir.Duration) jen.Code {
	d := time.Duration(value)
	const day = 24 * time.Hour
	if d > day && d%day == 0 {
		return jen.Lit(int(d/day)).Op("*").Lit(24).Op("*").Qual("time", "Hour")
	}
	for _, unit := range units {
		if d == unit.length {
			return jen.Qual("time", unit.name)
		}
		if d%unit.length == 0 {
			return jen.Lit(int(d/unit.length)).Op("*").Qual("time", unit.name)
		}
	}
	return jen.Qual("time", "Duration").Call(jen.Lit(int(d)))
}
