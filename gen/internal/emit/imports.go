package emit

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

const (
	runtimeModule = "github.com/echomq/echomq-go"
	runtimePath   = runtimeModule + "/runtime"
	runtimeName   = "echomq"
	msgpackPath   = runtimePath + "/msgpack"
	msgpackName   = "msgpack"
)

// locals are the names of receivers, parameters and variables in generated
// functions. No import may have one of them.
var locals = slices.Concat([]string{"ctx", "client", "opts", "p", "payload", "items", "handler", "job", "producer", "key", "progress", "handle"}, amidTypes)

// amidTypes are those of them in functions whose bodies mention unexported types of
// the package, which they must not hide.
var amidTypes = []string{"e", "d", "v", guarded}

// importNames decides the name of every import, before anything is emitted: so
// that the names do not depend on the order of use.
type importNames struct {
	names []importName
	// locals are the names in place of those of amidTypes that the package declares.
	locals map[string]string
}

type importName struct {
	path, name string
	spelled    bool // the import names the package
}

// nameImports gives the packages that the file may import names that meet
// neither each other, nor the package's own declarations, nor locals.
func nameImports(pkg *ir.Package) *importNames {
	taken := map[string]bool{}
	for _, local := range locals {
		taken[local] = true
	}
	for _, d := range pkg.Declared {
		if !d.Import {
			taken[d.Name] = true
		}
	}
	for _, queue := range pkg.Queues {
		for _, name := range queue.Names().All() {
			taken[name] = true
		}
		for _, job := range queue.Jobs {
			for _, name := range job.OlderTypes() {
				taken[name] = true
			}
		}
	}
	wanted := []ir.Import{{Path: "context", Name: "context"}, {Path: "time", Name: "time"}, {Path: runtimePath, Name: runtimeName}, {Path: msgpackPath, Name: msgpackName}}
	named := &importNames{locals: map[string]string{}}
	seen := map[string]bool{}
	wanted = append(wanted, pkg.Imports...)
	known := len(wanted)
	for at, i := range append(wanted, olderImports(pkg)...) {
		if seen[i.Path] {
			continue
		}
		seen[i.Path] = true
		name := free(i.Name, taken)
		taken[name] = true
		named.names = append(named.names, importName{i.Path, name, name != load.AssumedName(i.Path) || at >= known && !isStandard(i.Path)})
	}
	for _, d := range pkg.Declared {
		if !d.Import && slices.Contains(amidTypes, d.Name) {
			named.locals[d.Name] = free(d.Name, taken)
		}
	}
	return named
}

// free returns the first of name, name2, name3 … that can be used.
func free(name string, taken map[string]bool) string {
	for n := 1; ; n++ {
		candidate := name
		if n > 1 {
			candidate = fmt.Sprintf("%s%d", name, n)
		}
		if !taken[candidate] && !token.IsKeyword(candidate) && types.Universe.Lookup(candidate) == nil {
			return candidate
		}
	}
}

// local is a variable of a generated function, one of amidTypes.
func (f *file) local(name string) *jen.Statement {
	if other := f.imports.locals[name]; other != "" {
		name = other
	}
	return jen.Id(name)
}

// declare tells the file the name of each package; it imports those that it
// uses.
func (n *importNames) declare(file *jen.File) {
	for _, i := range n.names {
		if i.spelled {
			file.ImportAlias(i.path, i.name)
		} else {
			file.ImportName(i.path, i.name)
		}
	}
}
