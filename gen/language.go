package gen

import (
	"github.com/echomq/echomq-go/gen/internal/lang"
	"github.com/echomq/echomq-go/gen/ir"
)

// Languages returns the names of the languages and documents, beside Go, that can be
// generated.
func Languages() []string { return lang.Names() }

// Language returns what is generated for packages in another language, by the names
// of files.
func Language(name string, packages []*ir.Package) (map[string][]byte, error) {
	return lang.Files(name, packages)
}
