package gen

import (
	"bytes"

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

// Foreign reports whether a step for another language would overwrite a file that
// emqgen did not write. One that is empty or torn is as good as missing.
func (s Step) Foreign() bool {
	before := bytes.TrimSpace(bytes.ReplaceAll(s.Before, []byte("\r\n"), []byte("\n")))
	return !bytes.Contains(before, []byte(lang.Header)) && !bytes.HasPrefix(s.After, before)
}
