package lint

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// arity checks that the script counts KEYS and ARGV, and as the header does.
func (c *checker) arity() {
	c.counted("KEYS", len(c.script.Keys), len(c.script.Each))
	c.counted("ARGV", len(c.script.Args), len(c.script.Items))
	c.arguments(nil)
	for at := range c.parents {
		switch at := at.(type) {
		case *ast.RelationalOpExpr:
			c.comparedCount(at)
		case *ast.ArithmeticOpExpr:
			c.computedCount(at)
		}
	}
}

// counted demands that the script looks at the length of a list.
func (c *checker) counted(list string, fixed, each int) {
	for _, ident := range c.globals {
		if _, ok := c.parents[ident].(*ast.UnaryLenOpExpr); ok && ident.Value == list {
			return
		}
	}
	if fixed+each > 0 {
		c.addAt(RuleArity, c.source.tokenPositionOrStart(0), "the script never looks at #%s; a malformed call must be refused before anything is written", list)
	}
}

// expected returns how many elements of a list a call has, and how many each
// item adds.
func (c *checker) expected(list string) (fixed, each int) {
	if list == "KEYS" {
		return len(c.script.Keys), len(c.script.Each)
	}
	return len(c.script.Args), len(c.script.Items)
}

// comparedCount checks a comparison of #KEYS or #ARGV with what they should be.
func (c *checker) comparedCount(expr *ast.RelationalOpExpr) {
	if expr.Operator != "~=" && expr.Operator != "==" {
		return
	}
	lhs, ok := c.linear(expr.Lhs)
	rhs, ok2 := c.linear(expr.Rhs)
	if !ok || !ok2 {
		return
	}
	difference := lhs.plus(rhs.times(-1))
	for _, list := range []string{"KEYS", "ARGV"} {
		length := term{length: list}
		factor := difference.terms[length]
		if factor != 1 && factor != -1 {
			continue
		}
		rest := difference.times(-factor) // #list is what remains
		delete(rest.terms, length)
		c.comparedTo(expr, list, rest)
		return
	}
}

func (c *checker) comparedTo(expr ast.Expr, list string, rest linear) {
	fixed, each := c.expected(list)
	stride := 0
	if len(rest.terms) > 0 {
		t, factor, single := rest.single()
		if !single || t.variable == nil {
			return
		}
		if value, ok := t.variable.value(); !ok {
			return
		} else if _, isCount := c.count(value); !isCount {
			return
		}
		stride = factor
	}
	if rest.constant != fixed || stride != each {
		c.add(RuleArity, expr, "#%s is compared with %s, but by the header it is %s", list, sum(rest.constant, stride), sum(fixed, each))
	}
}

func sum(fixed, each int) string {
	switch {
	case each == 0:
		return fmt.Sprint(fixed)
	case each == 1:
		return fmt.Sprintf("%d + the number of items", fixed)
	default:
		return fmt.Sprintf("%d + %d for each item", fixed, each)
	}
}

// computedCount checks a number of items that is computed from #KEYS or #ARGV.
func (c *checker) computedCount(expr *ast.ArithmeticOpExpr) {
	outer := ast.Expr(expr)
	if parent, ok := c.parents[expr].(*ast.ArithmeticOpExpr); ok {
		if parent.Operator == "/" && parent.Lhs == ast.Expr(expr) {
			return // the quotient is checked
		}
		outer = parent
	}
	count, ok := c.count(expr)
	if _, nested := c.count(outer); !ok || nested && outer != ast.Expr(expr) {
		return
	}
	if fixed, each := c.expected(count.list); count.fixed != fixed || count.each != max(each, 1) {
		c.add(RuleArity, expr, "%s is not the number of items: by the header, #%s is %s", show(expr), count.list, sum(fixed, each))
	}
}

// arguments checks every use of ARGV, and notes which arguments are used; all
// are if what is used cannot be told.
func (c *checker) arguments(used func(argumentPlace)) {
	for _, ident := range c.globals {
		index, ok := c.parents[ident].(*ast.AttrGetExpr)
		if ident.Value != "ARGV" || !ok || index.Object != ast.Expr(ident) {
			continue
		}
		places, known := c.argument(index.Key)
		if !known {
			if used != nil {
				used(argumentPlace{index: -1})
			}
			continue
		}
		for _, place := range places {
			switch {
			case used != nil:
				used(place)
			case !place.declared:
				c.add(RuleArity, index, "%s is not an argument: by the header, #ARGV is %s", show(index), sum(len(c.script.Args), len(c.script.Items)))
			}
		}
	}
}
