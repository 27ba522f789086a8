package lint

import (
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// effect is what a command does to the data, as far as memory goes.
type effect int

const (
	reads effect = iota
	grows        // the engine refuses it with maxmemory reached
	frees        // it writes, and the engine allows it then
)

// command is what is known of a command of the server.
type command struct {
	name string
	// arity counts the name too; negative for "at least".
	arity int
	// first, last and step say which operands are keys, counted from 1; last
	// counts from the end if it is negative. first is 0 if there are none.
	first, last, step int
	// numkeys is the place of the operand that says how many keys follow, or 0.
	numkeys int
	effect  effect
	// keyType is the type that the key must have; empty for any.
	keyType header.KeyType
	// fields and fieldStep say which operands are fields of a hash: from that
	// place on, every fieldStep-th; only the first if fieldStep is 0.
	fields, fieldStep int
	// allowed says that scripts of the protocol may use it: it means the same on
	// every engine.
	allowed bool
}

// findCommand returns the command called name, in any case.
func findCommand(name string) (command, bool) {
	c, ok := commands[strings.ToUpper(name)]
	return c, ok
}

// commands are all commands by name.
var commands = parseCommands(allowedCommands, true, parseCommands(otherCommands, false, map[string]command{}))

func parseCommands(table string, allowed bool, into map[string]command) map[string]command {
	types := map[string]header.KeyType{
		"hash": header.Hash, "list": header.List, "zset": header.ZSet, "set": header.Set,
		"string": header.String, "stream": header.Stream,
	}
	effects := map[string]effect{"reads": reads, "grows": grows, "frees": frees}
	for line := range strings.Lines(table) {
		columns := strings.Fields(line)
		if len(columns) == 0 {
			continue
		}
		number := func(i int) int {
			n, _ := strconv.Atoi(columns[i])
			return n
		}
		c := command{
			name: columns[0], arity: number(1), first: number(2), last: number(3), step: number(4),
			effect: effects[columns[5]], keyType: types[columns[6]], allowed: allowed,
		}
		for _, extra := range columns[7:] {
			name, value, _ := strings.Cut(extra, "=")
			switch first, step, _ := strings.Cut(value, "/"); name {
			case "numkeys":
				c.numkeys, _ = strconv.Atoi(value)
			case "fields":
				c.fields, _ = strconv.Atoi(first)
				c.fieldStep, _ = strconv.Atoi(step)
			}
		}
		into[c.name] = c
	}
	return into
}

// keys returns which operands of a call are keys, counted from 1; an unpack at
// the end is one if it may give keys. It is not known if a number of keys is not
// a constant.
func (c command) keys(operands []ast.Expr, isUnpack func(ast.Expr) bool) (places []int, known bool) {
	count := len(operands)
	if c.first > 0 {
		last := c.last
		if last < 0 {
			last = max(c.first, count+1+last)
		}
		for i := c.first; i <= last && i <= count; i += c.step {
			places = append(places, i)
		}
		if c.last < 0 && count > 0 && isUnpack(operands[count-1]) && !slices.Contains(places, count) {
			places = append(places, count)
		}
	}
	if c.numkeys == 0 {
		return places, true
	}
	if count < c.numkeys {
		return places, false
	}
	number, ok := operands[c.numkeys-1].(*ast.NumberExpr)
	if !ok {
		return places, false
	}
	n, err := strconv.Atoi(number.Value)
	if err != nil || c.numkeys+n > count {
		return places, false
	}
	for i := range n {
		places = append(places, c.numkeys+1+i)
	}
	return places, true
}
