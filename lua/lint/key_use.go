package lint

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"

	"github.com/echomq/echomq-go/lua/header"
)

// KeyUse is which keys a script declares and which it uses.
type KeyUse struct {
	// Declared is how many keys every call has; -1 if nothing says so.
	Declared int
	// Each is how many more there are for each item, by the header.
	Each int
	// By is what declares them: "header", "name" for the file's, or "".
	By string
	// Used are the constants n of every KEYS[n], in order.
	Used []int
	// Varies says that elements of KEYS are also used in other ways.
	Varies bool
}

var namedCount = regexp.MustCompile(`-([0-9]+)\.lua$`)

// namedKeys returns the number of keys that a file declares by being called
// name-<number>.lua, or noCount.
func namedKeys(file string) int {
	match := namedCount.FindStringSubmatch(filepath.Base(file))
	if match == nil {
		return noCount
	}
	count, err := strconv.Atoi(match[1])
	if err != nil {
		return noCount
	}
	return count
}

// keyUse returns which keys the script uses and how many its name declares.
func (p *prover) keyUse() KeyUse {
	use := KeyUse{Declared: p.keys}
	if p.keys != noCount {
		use.By = "name"
	}
	for _, ident := range p.globals {
		if ident.Value != "KEYS" {
			continue
		}
		switch parent := p.parents[ident].(type) {
		case *ast.UnaryLenOpExpr:
		case *ast.AttrGetExpr:
			if n, ok := p.constantIndex(parent); !ok {
				use.Varies = true
			} else if !slices.Contains(use.Used, n) {
				use.Used = append(use.Used, n)
			}
		default:
			use.Varies = true
		}
	}
	slices.Sort(use.Used)
	return use
}

func (p *prover) constantIndex(expr *ast.AttrGetExpr) (int, bool) {
	index, ok := p.linear(expr.Key)
	return index.constant, ok && len(index.terms) == 0
}

// keyCount finds where the number of keys in a file's name is not that of the
// body.
func (c *checker) keyCount(r *Report) {
	top := header.Position{File: r.File, Line: 1, Column: 1}
	if r.Keys.By == "" {
		c.addAt(RuleHeader, top, "neither a header nor the name of the file, name-<number>.lua, declares how many keys there are")
		return
	}
	for _, ident := range c.globals {
		index, ok := c.parents[ident].(*ast.AttrGetExpr)
		if !ok || ident.Value != "KEYS" {
			continue
		}
		if n, constant := c.constantIndex(index); constant && (n < 1 || n > r.Keys.Declared) {
			c.add(RuleArity, index, "%s, but the name of the file declares %d", show(index), r.Keys.Declared)
		}
	}
	var unused []string
	for n := 1; n <= r.Keys.Declared; n++ {
		if !slices.Contains(r.Keys.Used, n) {
			unused = append(unused, fmt.Sprintf("KEYS[%d]", n))
		}
	}
	if len(unused) > 0 && !r.Keys.Varies {
		c.addAt(RuleUnused, top, "the name of the file declares %d, but the body does not use %s", r.Keys.Declared, strings.Join(unused, ", "))
	}
}
