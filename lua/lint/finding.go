package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/echomq/echomq-go/lua/header"
)

// Rule is the rule that a finding is against; see the package documentation.
type Rule string

// The rules.
const (
	RuleHeader  Rule = "header"
	RuleSyntax  Rule = "syntax"
	RuleKey     Rule = "key"
	RuleType    Rule = "type"
	RuleField   Rule = "field"
	RuleMemory  Rule = "memory"
	RuleDialect Rule = "dialect"
	RuleArity   Rule = "arity"
	RuleUnused  Rule = "unused"
	RuleError   Rule = "error"
)

// Finding is one thing that is wrong with a script, or cannot be proven.
type Finding struct {
	Position header.Position
	Rule     Rule
	Message  string
}

// String returns the finding as file:line:column: rule: message.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s: %s", f.Position, f.Rule, f.Message)
}

// findings collects, and drops what is found twice at one place.
type findings struct {
	source *source
	list   []Finding
}

// add notes a finding at a node of the syntax tree.
func (f *findings) add(rule Rule, at node, format string, args ...any) {
	f.addAt(rule, f.source.position(at), format, args...)
}

func (f *findings) addAt(rule Rule, at header.Position, format string, args ...any) {
	finding := Finding{Position: at, Rule: rule, Message: fmt.Sprintf(format, args...)}
	if !slices.Contains(f.list, finding) {
		f.list = append(f.list, finding)
	}
}

func (f *findings) sorted() []Finding {
	slices.SortStableFunc(f.list, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Position.Line, b.Position.Line),
			cmp.Compare(a.Position.Column, b.Position.Column),
		)
	})
	return f.list
}
