package load

import (
	"path"
	"strconv"
	"strings"
	"unicode"
)

// AssumedName returns the name that goimports assumes for the package at
// importPath when nothing else is known. An import whose package is called
// otherwise spells its name out.
func AssumedName(importPath string) string {
	base := path.Base(importPath)
	if version, ok := strings.CutPrefix(base, "v"); ok && path.Dir(importPath) != "." {
		if _, err := strconv.Atoi(version); err == nil {
			base = path.Base(path.Dir(importPath))
		}
	}
	base = strings.TrimPrefix(base, "go-")
	if i := strings.IndexFunc(base, func(r rune) bool {
		return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}); i >= 0 {
		base = base[:i]
	}
	return base
}
