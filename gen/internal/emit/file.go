package emit

import (
	"bytes"
	"fmt"

	"github.com/dave/jennifer/jen"
	"golang.org/x/tools/imports"

	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

// Package returns the content of the generated file of pkg.
func Package(pkg *ir.Package) ([]byte, error) {
	f := newFile(pkg)
	f.packOlder()
	f.supports()
	for i := range pkg.Queues {
		f.queue(&pkg.Queues[i])
	}
	for i := range f.packs {
		f.packed(&f.packs[i])
	}
	return f.render()
}

// file is the generated file in the making.
type file struct {
	pkg *ir.Package
	// packs are the types that have encoders and decoders: those of the package, and
	// of older payloads, whose codecs are in olderCodecs by the payloads' types.
	packs       []ir.Packed
	olderCodecs map[string]*ir.PackedValue
	jen         *jen.File
	imports     *importNames
}

func newFile(pkg *ir.Package) *file {
	f := &file{pkg: pkg, jen: jen.NewFilePathName(pkg.Path, pkg.Name), imports: nameImports(pkg)}
	f.jen.NoFormat = true // render formats
	f.jen.HeaderComment(load.Header)
	f.imports.declare(f.jen)
	return f
}

func (f *file) render() ([]byte, error) {
	var raw bytes.Buffer
	if err := f.jen.Render(&raw); err != nil {
		return nil, fmt.Errorf("render generated code: %w", err)
	}
	formatted, err := imports.Process(load.Output, raw.Bytes(), &imports.Options{
		FormatOnly: true, Comments: true, TabIndent: true, TabWidth: 8,
	})
	if err != nil {
		return nil, fmt.Errorf("format generated code: %w", err)
	}
	return formatted, nil
}

// add puts a declaration with its comment into the file, after a blank line.
func (f *file) add(doc []string, declaration jen.Code) {
	f.jen.Line()
	for _, line := range doc {
		f.jen.Comment(line)
	}
	f.jen.Add(declaration)
}

// supports makes a generated file and an older runtime fail to compile
// together, with a name that says why.
func (f *file) supports() {
	f.add(comment("If this line does not compile, the runtime in go.mod is older than the emqgen that wrote this file: go get "+runtimeModule+"@latest, or generate with the emqgen of go.mod, as \"go tool emqgen\" does."),
		jen.Const().Id("_").Op("=").Add(f.echomq("SupportsGen1")))
}

// echomq names something of the runtime.
func (f *file) echomq(name string) *jen.Statement { return jen.Qual(runtimePath, name) }
