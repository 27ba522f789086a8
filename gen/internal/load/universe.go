package load

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"

	"golang.org/x/tools/go/packages"
)

// universe holds the parsed declarations of every package that was looked into.
type universe struct {
	files    *token.FileSet
	packages map[string]*declarations
}

// declarations are the package-level types and constants of one package.
type declarations struct {
	meta  *packages.Package
	files []*ast.File
	// of maps a name to its declaration and the file in which it stands.
	of map[string]declaration
	// needed holds the names that are reachable from annotated types.
	needed map[string]bool
}

type declaration struct {
	node ast.Node
	file *ast.File
}

// parsed returns the declarations of a package, which it parses when it is
// first asked. Files that cannot be read count as empty: what they declare is
// then unresolved, and reported where it is needed.
func (u *universe) parsed(meta *packages.Package) *declarations {
	if d := u.packages[meta.PkgPath]; d != nil {
		return d
	}
	var files []*ast.File
	for _, path := range meta.GoFiles {
		if filepath.Base(path) == Output {
			continue
		}
		if file, _ := parser.ParseFile(u.files, path, nil, parser.SkipObjectResolution); file != nil {
			files = append(files, file)
		}
	}
	return u.add(meta, files)
}

func (u *universe) add(meta *packages.Package, files []*ast.File) *declarations {
	d := &declarations{meta: meta, files: files, of: map[string]declaration{}, needed: map[string]bool{}}
	for _, file := range files {
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				d.collect(decl, file)
			}
		}
	}
	u.packages[meta.PkgPath] = d
	return d
}

func (d *declarations) collect(decl *ast.GenDecl, file *ast.File) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			d.of[spec.Name.Name] = declaration{spec, file}
		case *ast.ValueSpec:
			if decl.Tok != token.CONST {
				continue
			}
			for _, name := range spec.Names {
				// The whole group: a constant may repeat the expression above it.
				d.of[name.Name] = declaration{decl, file}
			}
		}
	}
}

// reach marks the declaration called name in d, and everything that it
// mentions, in whatever package.
func (u *universe) reach(d *declarations, name string) {
	found, ok := d.of[name]
	if !ok || d.needed[name] {
		return
	}
	d.needed[name] = true
	ast.Inspect(found.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				u.reachImported(d, found.file, x.Name, n.Sel.Name)
			}
		case *ast.Ident:
			if _, local := d.of[n.Name]; local {
				u.reach(d, n.Name)
			} else {
				u.reachImported(d, found.file, ".", n.Name)
			}
		}
		return true
	})
}

// reachImported follows a name into the packages that file imports under the
// given name.
func (u *universe) reachImported(d *declarations, file *ast.File, as, name string) {
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		imported := d.meta.Imports[path]
		if err != nil || imported == nil || importName(spec, imported) != as {
			continue
		}
		u.reach(u.parsed(imported), name)
	}
}

func importName(spec *ast.ImportSpec, imported *packages.Package) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return imported.Name
}
