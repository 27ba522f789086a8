package build

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

// declaredNames returns every name that the files of a package declare at
// package scope, or import: those of its own test files and of files that this
// build ignores too, because the generated file shares a scope with them in
// some build.
func declaredNames(source *load.Source, position func(token.Pos) ir.Position) []ir.Declared {
	s := &scope{meta: source.Meta, position: position}
	for _, files := range [][]*load.File{source.Files, source.Tests, source.Ignored} {
		for _, file := range files {
			if file.Name.Name == source.Name {
				s.file(file.File)
			}
		}
	}
	slices.SortStableFunc(s.names, func(a, b ir.Declared) int { return strings.Compare(a.Name, b.Name) })
	return s.names
}

type scope struct {
	meta     *packages.Package
	position func(token.Pos) ir.Position
	names    []ir.Declared
}

func (s *scope) add(name string, pos token.Pos, imported bool) {
	if name != "_" && name != "." && name != "" {
		s.names = append(s.names, ir.Declared{Name: name, Import: imported, Pos: s.position(pos)})
	}
}

func (s *scope) file(file *ast.File) {
	for _, spec := range file.Imports {
		s.add(s.importName(spec), spec.Pos(), true)
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && decl.Name.Name != "init" {
				s.add(decl.Name.Name, decl.Name.Pos(), false)
			}
		case *ast.GenDecl:
			s.decl(decl)
		}
	}
}

// importName returns the name that an import has in its file. A package that
// was not found is taken to have the name that its path suggests.
func (s *scope) importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	path, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return ""
	}
	if imported := s.meta.Imports[path]; imported != nil && imported.Name != "" {
		return imported.Name
	}
	return load.AssumedName(path)
}

func (s *scope) decl(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.add(spec.Name.Name, spec.Name.Pos(), false)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				s.add(name.Name, name.Pos(), false)
			}
		}
	}
}
