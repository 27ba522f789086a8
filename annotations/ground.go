package annotations

import (
	"go/ast"
	"go/token"
)

// ground is the declaration on which a comment stands.
type ground struct {
	kind groundKind
	// spec is the type, for onStruct and onOtherType.
	spec *ast.TypeSpec
}

type groundKind int

const (
	nowhere groundKind = iota
	onPackage
	onStruct
	onAlias
	onOtherType
	onTypeGroup
	onLocalType
	onField
	onFunction
	onImport
	onConstant
	onVariable
)

// describe names the ground in a message.
func (g ground) describe() string {
	switch g.kind {
	case onPackage:
		return "the package clause"
	case onStruct:
		return "type " + g.spec.Name.Name
	case onAlias:
		return "alias " + g.spec.Name.Name
	case onOtherType:
		return "type " + g.spec.Name.Name + ", which is not declared as a struct"
	case onTypeGroup:
		return "a group of types"
	case onLocalType:
		return "a declaration inside a function"
	case onField:
		return "a field"
	case onFunction:
		return "a function"
	case onImport:
		return "an import"
	case onConstant:
		return "a constant"
	case onVariable:
		return "a variable"
	}
	return "nothing"
}

// groundsOf returns on what the comments of file stand; a comment that is not
// in the map stands on nothing.
func groundsOf(file *ast.File) map[*ast.CommentGroup]ground {
	grounds := map[*ast.CommentGroup]ground{}
	set := func(group *ast.CommentGroup, g ground) {
		if _, known := grounds[group]; group != nil && !known {
			grounds[group] = g
		}
	}
	set(file.Doc, ground{kind: onPackage})
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			set(decl.Doc, ground{kind: onFunction})
		case *ast.GenDecl:
			groundsOfDecl(decl, set)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			set(n.Doc, ground{kind: onField})
			set(n.Comment, ground{kind: onField})
		case *ast.DeclStmt:
			if decl, ok := n.Decl.(*ast.GenDecl); ok {
				groundsOfLocal(decl, set)
			}
		}
		return true
	})
	return grounds
}

func groundsOfDecl(decl *ast.GenDecl, set func(*ast.CommentGroup, ground)) {
	grouped := decl.Lparen.IsValid()
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			g := groundOfType(spec)
			if !grouped {
				set(decl.Doc, g)
			}
			set(spec.Doc, g)
		case *ast.ValueSpec:
			g := ground{kind: onVariable}
			if decl.Tok == token.CONST {
				g.kind = onConstant
			}
			set(decl.Doc, g)
			set(spec.Doc, g)
			set(spec.Comment, g)
		case *ast.ImportSpec:
			set(decl.Doc, ground{kind: onImport})
			set(spec.Doc, ground{kind: onImport})
			set(spec.Comment, ground{kind: onImport})
		}
	}
	if decl.Tok == token.TYPE {
		set(decl.Doc, ground{kind: onTypeGroup})
	}
}

func groundOfType(spec *ast.TypeSpec) ground {
	g := ground{kind: onOtherType, spec: spec}
	if spec.Assign.IsValid() {
		g.kind = onAlias
	} else if _, ok := spec.Type.(*ast.StructType); ok {
		g.kind = onStruct
	}
	return g
}

func groundsOfLocal(decl *ast.GenDecl, set func(*ast.CommentGroup, ground)) {
	set(decl.Doc, ground{kind: onLocalType})
	for _, spec := range decl.Specs {
		if spec, ok := spec.(*ast.TypeSpec); ok {
			set(spec.Doc, ground{kind: onLocalType})
		}
	}
}
