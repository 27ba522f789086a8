package build

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/gen/internal/load"
	"github.com/echomq/echomq-go/gen/ir"
)

// declaredNames returns every name that the files of a package declare at
// package scope, or import: those of its own test files and of files that this
// build ignores too, because the generated file shares a scope with them in
// some build.
func declaredNames(source *load.Source, position func(token.Pos) ir.Position) []ir.Declared {
	s := &scope{position: position}
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
		if path, err := strconv.Unquote(spec.Path.Value); err == nil && spec.Name == nil {
			s.add(load.AssumedName(path), spec.Pos(), true)
		} else if spec.Name != nil {
			s.add(spec.Name.Name, spec.Pos(), true)
		}
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
