package vet

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// handler reports the loops of a method that handles jobs, if it is one, which do
// not heed its context.
func (p *reporter) handler(decl *ast.FuncDecl) {
	method, ok := p.TypesInfo.Defs[decl.Name].(*types.Func)
	if !ok || decl.Body == nil || !p.handles(method) {
		return
	}
	h := &heed{info: p.TypesInfo, within: decl, from: map[types.Object]bool{method.Signature().Params().At(0): true}}
	h.spread()
	l := &loops{heed: h, report: func(loop ast.Stmt, why string) {
		p.own(annotations.RuleContextIgnored, head(loop), decl.Name.Name, why)
	}}
	l.in(decl.Body, false)
}

// handles reports whether a method is one of a handler interface that emqgen
// wrote, into the package of the payload.
func (p *reporter) handles(method *types.Func) bool {
	name, named := strings.CutPrefix(method.Name(), "Handle")
	signature := method.Signature()
	if !named || signature.Recv() == nil || signature.Params().Len() != 2 {
		return false
	}
	payload := payloadOf(signature.Params().At(1).Type())
	if payload == nil || payload.Obj().Pkg() == nil {
		return false
	}
	declared := payload.Obj().Pkg().Scope().Lookup(name + "Handler")
	if declared == nil || filepath.Base(p.Fset.Position(declared.Pos()).Filename) != gen.Output {
		return false
	}
	handler, ok := declared.Type().Underlying().(*types.Interface)
	if !ok || handler.NumMethods() != 1 {
		return false
	}
	wanted := handler.Method(0)
	return wanted.Name() == method.Name() && types.Identical(
		types.NewSignatureType(nil, nil, nil, wanted.Signature().Params(), wanted.Signature().Results(), false),
		types.NewSignatureType(nil, nil, nil, signature.Params(), signature.Results(), false))
}

// payloadOf returns the payload's type of a job, or of a batch of jobs; nil for
// anything else.
func payloadOf(t types.Type) *types.Named {
	if slice, ok := types.Unalias(t).(*types.Slice); ok {
		t = slice.Elem()
	}
	pointer, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return nil
	}
	job, ok := types.Unalias(pointer.Elem()).(*types.Named)
	if !ok || job.TypeArgs().Len() != 1 || !isNamed(job, runtimePath, "Job") {
		return nil
	}
	payload, _ := types.Unalias(job.TypeArgs().At(0)).(*types.Named)
	return payload
}

func isNamed(t types.Type, path, name string) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == path && named.Obj().Name() == name
}
