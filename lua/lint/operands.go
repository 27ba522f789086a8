package lint

import (
	"fmt"

	"github.com/echomq/echomq-go/lua/header"
)

// Operand is a key operand of a command in a script.
type Operand struct {
	Position header.Position
	// Command is the command as the script writes it; empty if its name is not a
	// constant.
	Command string
	// Expression is the operand as the script writes it.
	Expression string
	Origin     Origin
	// How says in words how the operand is built; empty for one that is declared.
	How string
}

// IsDeclared reports whether the operand is one of KEYS.
func (o Operand) IsDeclared() bool { return o.Origin == Declared }

// String returns the operand as file:line:column: command: what it is.
func (o Operand) String() string {
	if o.IsDeclared() {
		return fmt.Sprintf("%s: %s: %s is declared", o.Position, o.Command, o.Expression)
	}
	return fmt.Sprintf("%s: %s: %s is not declared: %s", o.Position, o.Command, o.Expression, o.How)
}

// Operands returns every key operand of every command in a script that need not
// have a header, in order: whether it is one of KEYS and, if not, how it was
// built. It takes every element of KEYS for declared, and follows locals, tables
// and the parameters of local functions that are only ever called.
//
// A command whose name is not a constant, or that is not known, counts as one
// operand of origin [Unknown]. The error tells that the script is not Lua 5.1.
func Operands(file string, text []byte) ([]Operand, error) {
	source, failed := parseSource(file, text)
	if failed != nil {
		return nil, fmt.Errorf("%s: %s", failed.Position, failed.Message)
	}
	p := &prover{scopes: resolve(source)}
	var found []Operand
	for _, call := range p.calls() {
		if !call.known {
			found = append(found, p.unknownCommand(call))
			continue
		}
		for _, key := range p.keyOperands(call) {
			found = append(found, Operand{
				Position:   source.position(key.expr),
				Command:    call.name,
				Expression: show(key.expr),
				Origin:     key.built.origin,
				How:        key.built.how,
			})
		}
	}
	return found, nil
}

func (p *prover) unknownCommand(call *call) Operand {
	o := Operand{
		Position:   p.source.position(call.expr),
		Command:    call.name,
		Expression: show(call.expr),
		Origin:     Unknown,
		How:        "the command is not known, so its keys cannot be told",
	}
	if call.name == "" {
		o.How = "the command's name is not a constant, so its keys cannot be told"
	}
	return o
}
