package vet

import (
	"go/ast"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// runtimePath is the package whose functions generated code calls.
const runtimePath = "github.com/echomq/echomq-go/runtime"

// code reports what is wrong with the code that enqueues and handles jobs.
func (p *reporter) code() {
	written := make([]*ast.File, 0, len(p.Files))
	for _, file := range p.Files {
		if filepath.Base(p.Fset.File(file.FileStart).Name()) != gen.Output {
			written = append(written, file)
		}
	}
	for node := range inspector.New(written).PreorderSeq((*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil), (*ast.FuncDecl)(nil)) {
		switch node := node.(type) {
		case *ast.ExprStmt:
			if call, ok := ast.Unparen(node.X).(*ast.CallExpr); ok {
				p.dropped(call)
			}
		case *ast.GoStmt:
			p.dropped(node.Call)
		case *ast.DeferStmt:
			p.dropped(node.Call)
		case *ast.FuncDecl:
			p.handler(node)
		}
	}
}

// dropped reports a call whose answer nobody looks at, if it adds jobs.
func (p *reporter) dropped(call *ast.CallExpr) {
	if called, ok := typeutil.Callee(p.TypesInfo, call).(*types.Func); ok && p.adds(called) {
		p.own(annotations.RuleEnqueueIgnored, call, called.Name())
	}
}
