package vet

import (
	"go/types"
	"path/filepath"
	"strings"

	"github.com/echomq/echomq-go/gen"
)

// adders are the functions of the runtime by which jobs are added; methods have
// the name of their type before theirs.
var adders = map[string]bool{
	"Enqueue": true, "EnqueueBatch": true, "Prepare": true, "UpsertSchedule": true, "SendFlow": true, "Client.Send": true,
}

// adds reports whether a function adds jobs, or prepares them: one of the runtime,
// or a method that emqgen wrote into whatever package. Export data tells the file
// in which a method stands.
func (p *reporter) adds(f *types.Func) bool {
	if pkg := f.Pkg(); pkg != nil && pkg.Path() == runtimePath {
		return adders[nameOf(f)]
	}
	generated := strings.HasPrefix(f.Name(), "Enqueue") || strings.HasPrefix(f.Name(), "Prepare")
	return generated && f.Signature().Recv() != nil && filepath.Base(p.Fset.Position(f.Pos()).Filename) == gen.Output
}

// nameOf returns the name of a function, behind that of its receiver's type.
func nameOf(f *types.Func) string {
	recv := f.Signature().Recv()
	if recv == nil {
		return f.Name()
	}
	t := recv.Type()
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + f.Name()
	}
	return f.Name()
}
