package gen

import (
	"context"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/echomq/echomq-go/gen/internal/load"
)

// Loaded is a package that somebody else has loaded, as drivers of analyzers do.
type Loaded struct {
	// Files gets the files that are parsed.
	Files *token.FileSet
	// Path is the import path.
	Path string
	// Dir is the directory of the package.
	Dir string
	// GoFiles are the files that are built, without tests, and IgnoredFiles those
	// that build constraints exclude, by absolute paths.
	GoFiles, IgnoredFiles []string
	// Imports are the packages that the files import.
	Imports []*types.Package
	// GoVersion is the version of the language, such as "go1.26"; "" for the newest.
	GoVersion string
	// ReadFile reads a file of the directory.
	ReadFile func(path string) ([]byte, error)
}

// Package is [Run] for one package that is loaded already. It starts no other
// program.
func Package(ctx context.Context, loaded Loaded) (*Result, error) {
	meta := &packages.Package{
		PkgPath: loaded.Path, Dir: loaded.Dir, GoFiles: loaded.GoFiles, IgnoredFiles: loaded.IgnoredFiles,
		Imports: map[string]*packages.Package{},
		Module:  &packages.Module{GoVersion: strings.TrimPrefix(loaded.GoVersion, "go")},
	}
	for _, imported := range loaded.Imports {
		meta.Imports[imported.Path()] = &packages.Package{PkgPath: imported.Path(), Name: imported.Name()}
	}
	r := newRun(loaded.Files, &contracts{})
	r.resolve = func(roots []load.Root) []*load.Types {
		resolved := make([]*load.Types, len(roots))
		for i, root := range roots {
			resolved[i] = load.ResolveWith(loaded.Files, root.Source, loaded.Imports)
		}
		return resolved
	}
	if err := r.parse(ctx, meta, loaded.ReadFile); err != nil {
		return nil, err
	}
	return r.finish(ctx)
}
