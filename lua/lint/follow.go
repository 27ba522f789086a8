package lint

import (
	"fmt"

	"github.com/yuin/gopher-lua/ast"
)

// localOrigin accepts a local, without a header, if all that it is ever assigned
// is declared.
func (p *prover) localOrigin(v *variable) built {
	kept := p.frame
	if kept != nil && p.function(v.declared) != node(kept.function) {
		kept = nil // it outlives the call, and what it is comes from any
	}
	return p.in(kept, func() built {
		if !p.follow(v) {
			return built{origin: Declared}
		}
		defer p.unfollow(v)
		all := built{origin: Declared}
		if !v.bare {
			stmt := v.declared.(*ast.LocalAssignStmt)
			if b, present := p.valueOrigin(stmt.Exprs, v.place); present && all.meet(b) {
				return b.through(v)
			}
		}
		for _, value := range v.assigned {
			if value == nil {
				return fault(Unknown, "local %s, whose value cannot be told", v.name)
			}
			if b := p.origin(value); !isNothing(value) && all.meet(b) {
				return b.through(v)
			}
		}
		return all.through(v)
	})
}

// parameterOrigin follows a parameter to the call that is being followed or to
// all calls of its function, if there is no header.
func (p *prover) parameterOrigin(v *variable) built {
	name, calls, ok := p.functionCalls(v.declared)
	inFrame := p.frame != nil && node(p.frame.function) == v.declared
	if p.strict() || !v.constant() || !ok && !inFrame {
		return fault(Parameter, "the parameter %s of a function", v.name)
	}
	if inFrame {
		call := p.frame.call
		return p.in(p.frame.outer, func() built {
			b, present := p.valueOrigin(call.Args, v.parameter)
			if !present {
				return built{origin: Declared} // nil
			}
			return b
		})
	}
	return p.in(nil, func() built {
		if !p.follow(v) {
			return built{origin: Declared}
		}
		defer p.unfollow(v)
		all := built{origin: Declared}
		for _, call := range calls {
			if p.isDead(call) {
				continue
			}
			b, present := p.valueOrigin(call.Args, v.parameter)
			b.how = fmt.Sprintf("the parameter %s of %s, called at %s with what is %s", v.name, name, p.source.line(call), b.how)
			if present && all.meet(b) {
				return all
			}
		}
		return all
	})
}

// follow begins to follow a variable, and reports whether it was not begun yet.
func (p *prover) follow(v *variable) bool {
	key := followed{v, p.frame}
	if p.following[key] {
		return false
	}
	if p.following == nil {
		p.following = map[followed]bool{}
	}
	p.following[key] = true
	return true
}

func (p *prover) unfollow(v *variable) { delete(p.following, followed{v, p.frame}) }

// functionCalls returns all calls of a local function that is only ever called.
func (p *prover) functionCalls(function node) (name string, calls []*ast.FuncCallExpr, ok bool) {
	for _, v := range p.variables {
		if defined := v.function(); defined != nil && node(defined) == function {
			calls, ok = p.callsOf(v)
			return v.name, calls, ok
		}
	}
	return "", nil, false
}
