package lint

import (
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// libraries are the functions that mean the same on every engine.
var libraries = map[string][]string{
	"redis":  {"call", "pcall", "error_reply", "status_reply", "sha1hex"},
	"string": {"byte", "char", "find", "format", "gmatch", "gsub", "len", "lower", "match", "rep", "reverse", "sub", "upper"},
	"table":  {"concat", "insert", "remove", "sort"},
	"math":   {"abs", "ceil", "floor", "max", "min"},
}

// globals are the other names that a script may use.
var globals = []string{"KEYS", "ARGV", "tonumber", "tostring", "type", "unpack", "ipairs"}

// instead says what to do in place of a global that is often reached for.
var instead = map[string]string{
	"pairs":    "its order differs; walk an array",
	"next":     "its order differs; walk an array",
	"error":    "return redis.error_reply('EMQ… text')",
	"assert":   "return redis.error_reply('EMQ… text')",
	"pcall":    "use redis.pcall, which answers errors as values",
	"server":   "write redis",
	"cjson":    "take plain arguments",
	"cmsgpack": "take plain arguments",
	"os":       "take the time from TIME",
}

// dialect checks the syntax, the names and the numbers of the script.
func (c *checker) dialect() {
	c.tokens()
	c.names()
	c.libraries()
	times := 0
	for _, call := range c.calls {
		if call.command.name == "TIME" {
			if times++; times > 1 {
				c.add(RuleDialect, call.expr, "TIME is read a second time; read the clock once")
			}
		}
	}
	for at := range c.parents {
		switch at := at.(type) {
		case ast.Stmt:
			c.statement(at)
		case ast.Expr:
			c.expression(at)
		}
	}
	for _, stmt := range c.source.chunk {
		c.statement(stmt)
	}
	c.ending()
}

// tokens checks what the syntax tree does not show.
func (c *checker) tokens() {
	for i, token := range c.source.tokens {
		if token.Type != parse.TString {
			continue
		}
		raw := c.source.raw(i)
		if raw[0] == '[' {
			continue
		}
		for j := 1; j+1 < len(raw); j++ {
			if raw[j] != '\\' {
				continue
			}
			j++
			if !strings.ContainsRune("abfnrtv\\\"'\n0123456789", rune(raw[j])) {
				c.addAt(RuleDialect, c.source.tokenPosition(i), "the escape \\%c does not mean the same in every Lua", raw[j])
			}
		}
	}
}

// names checks the global names.
func (c *checker) names() {
	for _, ident := range c.globals {
		_, isLibrary := libraries[ident.Value]
		switch parent := c.parents[ident].(type) {
		case *ast.AssignStmt:
			if c.assigned(parent, ident) {
				c.add(RuleDialect, ident, "%s is assigned as a global; write local %s", ident.Value, ident.Value)
				continue
			}
		case *ast.FuncDefStmt:
			if ast.Expr(ident) == parent.Name.Func {
				c.add(RuleDialect, ident, "the function %s is a global; write local function", ident.Value)
				continue
			}
		case *ast.AttrGetExpr:
			if parent.Object == ast.Expr(ident) && (isLibrary || ident.Value == "KEYS" || ident.Value == "ARGV") {
				c.listWrite(parent)
				continue
			}
		case *ast.UnaryLenOpExpr:
			if ident.Value == "KEYS" || ident.Value == "ARGV" {
				continue
			}
		case *ast.FuncCallExpr:
			if parent.Func == ast.Expr(ident) && slices.Contains(globals[2:], ident.Value) {
				continue
			}
		}
		c.global(ident)
	}
}

func (c *checker) global(ident *ast.IdentExpr) {
	_, isLibrary := libraries[ident.Value]
	switch hint := instead[ident.Value]; {
	case isLibrary || slices.Contains(globals, ident.Value):
		c.add(RuleDialect, ident, "%s is handed around; use it only where it stands", ident.Value)
	case hint != "":
		c.add(RuleDialect, ident, "the global %s is not used here: %s", ident.Value, hint)
	default:
		c.add(RuleDialect, ident, "the global %s does not exist on every engine", ident.Value)
	}
}

func (c *checker) assigned(stmt *ast.AssignStmt, target ast.Expr) bool {
	return slices.Contains(stmt.Lhs, target)
}

// listWrite refuses a write to an element of KEYS, ARGV or a library.
func (c *checker) listWrite(element *ast.AttrGetExpr) {
	if stmt, ok := c.parents[element].(*ast.AssignStmt); ok && c.assigned(stmt, element) {
		c.add(RuleDialect, element, "%s is assigned; KEYS, ARGV and the libraries stay as they are", show(element))
	}
}

// libraries checks the uses of library functions.
func (c *checker) libraries() {
	for _, ident := range c.globals {
		names, ok := libraries[ident.Value]
		index, isIndex := c.parents[ident].(*ast.AttrGetExpr)
		if !ok || !isIndex || index.Object != ast.Expr(ident) {
			continue
		}
		key, named := index.Key.(*ast.StringExpr)
		call, called := c.parents[index].(*ast.FuncCallExpr)
		switch first := c.source.first(index); {
		case !named || first+1 >= len(c.source.tokens) || c.source.tokens[first+1].Type != '.':
			c.add(RuleDialect, index, "write a function of %s as %s.name", ident.Value, ident.Value)
		case !slices.Contains(names, key.Value):
			c.add(RuleDialect, index, "%s is not used: it is missing on an engine, or differs there", show(index))
		case !called || call.Func != ast.Expr(index):
			c.add(RuleDialect, index, "%s is handed around; call it only where it stands", show(index))
		}
	}
}

// statement checks one statement.
func (c *checker) statement(stmt ast.Stmt) {
	switch stmt := stmt.(type) {
	case *ast.GotoStmt, *ast.LabelStmt:
		c.add(RuleDialect, stmt, "goto and labels are not in Lua 5.1")
	case *ast.WhileStmt, *ast.RepeatStmt:
		c.add(RuleDialect, stmt, "a while or repeat loop has no bound that can be seen; use for i = 1, n")
	case *ast.GenericForStmt:
		if call, ok := stmt.Exprs[0].(*ast.FuncCallExpr); !ok || !c.isGlobal(call.Func, "ipairs") && !c.isLibrary(call.Func, "string", "gmatch") {
			c.add(RuleDialect, stmt, "a for loop runs over numbers, ipairs or string.gmatch")
		}
	}
}

// ending checks that the script ends with a return of something that every
// client reads the same.
func (c *checker) ending() {
	chunk := c.source.chunk
	var last ast.Stmt
	if len(chunk) > 0 {
		last = chunk[len(chunk)-1]
	}
	if end, ok := last.(*ast.ReturnStmt); !ok {
		at := c.source.tokenPositionOrStart(len(c.source.tokens) - 1)
		c.addAt(RuleDialect, at, "the last statement is not a return")
	} else if len(end.Exprs) != 1 {
		c.add(RuleDialect, end, "the script returns %d values; return one", len(end.Exprs))
	}
	for _, stmt := range c.returnsOf(nil) {
		for _, expr := range stmt.Exprs {
			c.answer(expr)
		}
	}
}

// answer checks what a reply is made of.
func (c *checker) answer(expr ast.Expr) {
	switch expr := expr.(type) {
	case *ast.TableExpr:
		for _, field := range expr.Fields {
			if field.Key != nil {
				c.add(RuleDialect, field.Value, "a reply is an array without named elements")
			}
			c.answer(field.Value)
		}
	case *ast.NilExpr:
		c.add(RuleDialect, expr, "nil ends an array; answer false")
	case *ast.TrueExpr:
		c.add(RuleDialect, expr, "true is not the same in every reply; answer 1")
	case *ast.FunctionExpr:
		c.add(RuleDialect, expr, "a function in a reply crashes the embedded server")
	case *ast.NumberExpr:
		if strings.Contains(expr.Value, ".") {
			c.add(RuleDialect, expr, "a fraction in a reply is cut; answer a string")
		}
	}
}
