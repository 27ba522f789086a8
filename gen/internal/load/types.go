package load

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// Root is a package whose annotated declarations are to be resolved.
type Root struct {
	Source *Source
	// Names are the types that its directives mention.
	Names []string
}

// Types is a package of which the reachable declarations are resolved.
type Types struct {
	Package *types.Package
	// Errors are those of the whole package. Most do not matter: they come from
	// what was not loaded or is not generated yet.
	Errors []types.Error
}

// Resolve type-checks the declarations that are reachable from the names of
// roots, from source. The answer has one element for each root.
func Resolve(files *token.FileSet, roots []Root) []*Types {
	u := &universe{files: files, packages: map[string]*declarations{}}
	for _, root := range roots {
		u.add(root.Source.Meta, Syntax(root.Source.Files))
	}
	for _, root := range roots {
		for _, name := range root.Names {
			u.reach(u.packages[root.Source.Meta.PkgPath], name)
		}
	}
	c := &checker{universe: u, checked: map[string]*Types{}, placeholders: map[string]*types.Package{}}
	resolved := make([]*Types, len(roots))
	for i, root := range roots {
		resolved[i] = c.check(root.Source.Meta)
	}
	return resolved
}

type checker struct {
	*universe
	checked      map[string]*Types
	placeholders map[string]*types.Package
}

func (c *checker) check(meta *packages.Package) *Types {
	if done := c.checked[meta.PkgPath]; done != nil {
		return done
	}
	result := declarationsOf(c.files, meta, c.parsed(meta).files, importer{checker: c, meta: meta})
	c.checked[meta.PkgPath] = result
	return result
}

// declarationsOf type-checks the declarations of a package, but no bodies of
// functions.
func declarationsOf(files *token.FileSet, meta *packages.Package, syntax []*ast.File, imports types.Importer) *Types {
	result := &Types{}
	config := &types.Config{
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Importer:         imports,
		Error: func(err error) {
			if err, ok := err.(types.Error); ok {
				result.Errors = append(result.Errors, err)
			}
		},
	}
	if meta.Module != nil && meta.Module.GoVersion != "" {
		config.GoVersion = "go" + meta.Module.GoVersion
	}
	// Errors were collected; a package is returned in any case.
	result.Package, _ = config.Check(meta.PkgPath, files, syntax, nil)
	return result
}

// ResolveWith is [Resolve] for one package, of whose imports the types are known.
func ResolveWith(files *token.FileSet, source *Source, imports []*types.Package) *Types {
	return declarationsOf(files, source.Meta, Syntax(source.Files), known(imports))
}

// known are packages of which the types are known.
type known []*types.Package

// Import returns the package at path, or an empty one in its place.
func (k known) Import(path string) (*types.Package, error) {
	for _, p := range k {
		if p.Path() == path {
			return p, nil
		}
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	missing := types.NewPackage(path, AssumedName(path))
	missing.MarkComplete()
	return missing, nil
}

// importer gives one package the packages that it imports.
type importer struct {
	*checker
	meta *packages.Package
}

// Import returns the package at path: checked from source where something that
// it declares is needed, and else an empty one in its place.
func (i importer) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	meta := i.meta.Imports[path]
	if meta == nil {
		return i.placeholder(path, ""), nil
	}
	if d := i.packages[meta.PkgPath]; d != nil && len(d.needed) > 0 {
		return i.check(meta).Package, nil
	}
	return i.placeholder(meta.PkgPath, meta.Name), nil
}

func (c *checker) placeholder(path, name string) *types.Package {
	if p := c.placeholders[path]; p != nil {
		return p
	}
	if name == "" {
		name = AssumedName(path)
	}
	p := types.NewPackage(path, name)
	p.MarkComplete()
	c.placeholders[path] = p
	return p
}
