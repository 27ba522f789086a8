// Package special derives a script from another one for calls in which some
// arguments stand at fixed values: the work that only other values need is
// folded away, and with it the keys and arguments that nothing looks at any
// more. So the common call is short and cheap, and there is one source of what
// it does.
//
// A header declares what is derived from its script:
//
//	--- @special push events=none|final delay=0 priority=0 unique= until
//
// derives push, for calls in which the events are none or final, the delay and
// the priority are 0 and unique is empty. Of until, which has no value, it is
// proven that nothing looks at it then. Where more than one value is given, each
// has to lead to the same script.
//
// What is folded: comparisons and arithmetic of what is known, branches and
// loops that are never taken, locals that never change, tables that stay empty,
// functions and values that nobody uses. A script may be derived from if its
// items stand in ARGV at A + S * (i - 1) + n and in KEYS at K + S * i, and if it
// counts them in a local called count.
package special

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"github.com/echomq/echomq-go/lua/header"
)

// Derive returns the text of the script that special declares, header included.
// The script is that of file, with the given text.
func Derive(file string, text []byte, script *header.Script, special *header.Special) ([]byte, error) {
	var derived []byte
	for _, values := range combinations(special.Values) {
		body, err := derive(file, text, script, special, values)
		if err != nil {
			return nil, fmt.Errorf("%s: derive %s: %w", special.Position, special.Name, err)
		}
		if derived != nil && !bytes.Equal(derived, body) {
			return nil, fmt.Errorf("%s: derive %s: it differs with the values that are given", special.Position, special.Name)
		}
		derived = body
	}
	return derived, nil
}

// combinations returns every choice of one value for each argument.
func combinations(values []header.SpecialValue) []map[string]string {
	all := []map[string]string{{}}
	for _, v := range values {
		if len(v.Words) == 0 {
			continue
		}
		var next []map[string]string
		for _, chosen := range all {
			for _, word := range v.Words {
				more := map[string]string{v.Name: word}
				for name, value := range chosen {
					more[name] = value
				}
				next = append(next, more)
			}
		}
		all = next
	}
	return all
}

func derive(file string, text []byte, script *header.Script, special *header.Special, values map[string]string) ([]byte, error) {
	chunk, err := parse.Parse(bytes.NewReader(text), file)
	if err != nil {
		return nil, err
	}
	distinguish(chunk)
	l := &layout{script: script, values: values}
	f := &folder{layout: l}
	for {
		f.changed = false
		f.facts = factsOf(chunk)
		chunk = f.block(chunk)
		if f.err != nil {
			return nil, f.err
		}
		if !f.changed {
			break
		}
	}
	if err := l.use(chunk, special); err != nil {
		return nil, err
	}
	shape := l.derived(special, chunk)
	if err := l.renumber(chunk, shape); err != nil {
		return nil, err
	}
	if chunk, err = recount(chunk, special.Name, shape); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	writeHeader(&b, shape)
	b.WriteByte('\n')
	p := &printer{Buffer: &b}
	p.block(chunk)
	return b.Bytes(), nil
}

// recount writes anew how a call is counted: the local count, and the refusal
// that follows it.
func recount(chunk []ast.Stmt, name string, shape *header.Script) ([]ast.Stmt, error) {
	at := slices.IndexFunc(chunk, func(stmt ast.Stmt) bool {
		local, ok := stmt.(*ast.LocalAssignStmt)
		return ok && plainName(local.Names[0]) == "count"
	})
	if at < 0 || at+1 >= len(chunk) {
		return nil, fmt.Errorf("the script has no local count with a refusal behind it")
	}
	refusal, ok := chunk[at+1].(*ast.IfStmt)
	if !ok || len(refusal.Then) != 1 {
		return nil, fmt.Errorf("no refusal stands behind the local count")
	}
	count := fmt.Sprintf("#KEYS - %d", len(shape.Keys))
	keys := fmt.Sprintf("count < 1 or #ARGV ~= %s", itemSum(len(shape.Args), len(shape.Items)))
	if each := len(shape.Each); each > 1 {
		count = fmt.Sprintf("math.floor((%s) / %d)", count, each)
		keys = fmt.Sprintf("count < 1 or #KEYS ~= %s or #ARGV ~= %s", itemSum(len(shape.Keys), each), itemSum(len(shape.Args), len(shape.Items)))
	}
	source := fmt.Sprintf(`local count = %s
if %s then
  return redis.error_reply('EMQARGS %s takes %s and %s, then %s and %s for each job')
end`, count, keys, name, number(len(shape.Keys), "key"), number(len(shape.Args), "argument"),
		number(len(shape.Each), "key"), number(len(shape.Items), "argument"))
	written, err := parse.Parse(strings.NewReader(source), name)
	if err != nil {
		return nil, err
	}
	return slices.Concat(chunk[:at], written, chunk[at+2:]), nil
}

func itemSum(fixed, each int) string {
	if fixed == 0 {
		return fmt.Sprintf("%d * count", each)
	}
	return fmt.Sprintf("%d + %d * count", fixed, each)
}

func number(n int, what string) string {
	switch n {
	case 0:
		return "no " + what + "s"
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
