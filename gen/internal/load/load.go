package load

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Config says what to load.
type Config struct {
	// Dir is the directory in which patterns are read.
	Dir string
	// Tags are build tags, separated by commas.
	Tags string
	// Patterns are those of the go command.
	Patterns []string
}

// ErrLoad is what every error of [Metadata] is: the packages could not be
// found, so nothing is known about their directives.
var ErrLoad = errors.New("packages could not be loaded")

// Metadata returns the packages that match the patterns, with the metadata of
// all that they import. It never compiles.
func Metadata(ctx context.Context, config Config) ([]*packages.Package, error) {
	query := &packages.Config{
		Context: ctx,
		Dir:     config.Dir,
		Mode:    packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}
	if config.Tags != "" {
		query.BuildFlags = []string{"-tags=" + config.Tags}
	}
	found, err := packages.Load(query, config.Patterns...)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrLoad, reasonOf(err))
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: %s matched no packages", ErrLoad, strings.Join(config.Patterns, " "))
	}
	var unusable []error
	for _, pkg := range found {
		switch {
		case pkg.PkgPath == "command-line-arguments":
			unusable = append(unusable, fmt.Errorf("%w: name packages, not files: a package is generated from all its files", ErrLoad))
		case pkg.Dir == "" || !exists(pkg):
			unusable = append(unusable, missingError(pkg))
		}
	}
	return found, errors.Join(unusable...)
}

// reasonOf returns what the go command printed, without what go/packages puts
// around it.
func reasonOf(err error) string {
	reason := err.Error()
	if _, printed, ok := strings.Cut(reason, "stderr: "); ok {
		reason = printed
	}
	return strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(reason), "go: "))
}

// exists reports whether pkg is a directory with Go files in it. Errors in the
// files do not matter.
func exists(pkg *packages.Package) bool {
	return len(pkg.GoFiles) > 0 || len(pkg.IgnoredFiles) > 0 || len(testFiles(pkg.Dir)) > 0
}

func missingError(pkg *packages.Package) error {
	if len(pkg.Errors) > 0 {
		return fmt.Errorf("%w: %s", ErrLoad, pkg.Errors[0].Msg)
	}
	return fmt.Errorf("%w: %s has no Go files", ErrLoad, pkg.ID)
}
