package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/gen/ir"
)

// writers are those of all languages, by name.
var writers = map[string]func(*view) []file{
	"asyncapi":   asyncAPI,
	"elixir":     elixir,
	"jsonschema": jsonSchema,
	"ts":         typescript,
}

// file is what a writer writes.
type file struct {
	name    string
	content string
}

// Names returns the names of the languages, sorted.
func Names() []string {
	names := make([]string, 0, len(writers))
	for name := range writers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Files returns what the writer of a language writes for packages, by the names of
// files. Two packages of one name are an error, and so is a language that there is
// not.
func Files(language string, packages []*ir.Package) (map[string][]byte, error) {
	write := writers[language]
	if write == nil {
		return nil, fmt.Errorf("there is no language %q; there are %s", language, strings.Join(Names(), ", "))
	}
	files := map[string][]byte{}
	by := map[string]string{}
	for _, pkg := range packages {
		if other, taken := by[pkg.Name]; taken {
			return nil, fmt.Errorf("packages %s and %s are both called %s; generate for them apart, into different directories", other, pkg.Path, pkg.Name)
		}
		by[pkg.Name] = pkg.Path
		for _, f := range write(newView(pkg)) {
			files[f.name] = []byte(f.content)
		}
	}
	return files, nil
}
