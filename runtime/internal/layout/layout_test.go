package layout_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/echomq/echomq-go"

// listed is a package as go list shows it.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string // of code that is not a test
	Deps       []string // all that it reaches so
}

// list asks go list about every package of the module and all that they reach.
var list = sync.OnceValues(func() (map[string]listed, error) {
	command := exec.Command("go", "list", "-e", "-deps",
		"-json=ImportPath,Standard,Imports,Deps", "./...")
	command.Dir = filepath.Join("..", "..", "..")
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return nil, errors.Join(err, errors.New(stderr.String()))
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var one listed
		if err := decoder.Decode(&one); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages[one.ImportPath] = one
	}
})

func packages(t *testing.T) map[string]listed {
	t.Helper()
	packages, err := list()
	require.NoError(t, err)
	return packages
}

// short returns the name of a package of this module without the module's path,
// and whether it is one.
func short(importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// fits reports whether the package called name falls under pattern.
func fits(pattern, name string) bool {
	if pattern == "..." {
		return true
	}
	parent, everything := strings.CutSuffix(pattern, "/...")
	return name == parent || everything && strings.HasPrefix(name, parent+"/")
}

// within reports whether importPath is the package or module, or lies in it.
func within(importPath, name string) bool {
	return importPath == name || strings.HasPrefix(importPath, name+"/")
}

func ruleFor(name string) *rule {
	for i := range rules {
		if fits(rules[i].path, name) {
			return &rules[i]
		}
	}
	return nil
}

// breaches returns what is wrong with the imports of a package under a rule.
func breaches(rule *rule, one listed, all map[string]listed) []string {
	var found []string
	for _, path := range one.Imports {
		name, ours := short(path)
		switch {
		case ours && !slices.ContainsFunc(rule.ours, func(pattern string) bool { return fits(pattern, name) }):
			found = append(found, "it imports "+name)
		case !ours && !all[path].Standard && path != "C" &&
			!slices.ContainsFunc(rule.theirs, func(module string) bool { return within(path, module) }):
			found = append(found, "it imports "+path)
		}
	}
	for _, path := range one.Deps {
		for _, forbidden := range rule.never {
			if reaches(path, forbidden, all) && !slices.Contains(found, "it reaches "+forbidden) {
				found = append(found, "it reaches "+forbidden)
			}
		}
	}
	return found
}

// reaches reports whether importPath is what rules name as forbidden. The module
// has a package runtime as the standard library has.
func reaches(importPath, forbidden string, all map[string]listed) bool {
	if name, ours := short(importPath); ours {
		return name == forbidden
	}
	if all[importPath].Standard {
		return "std:"+importPath == forbidden
	}
	return within(importPath, forbidden)
}

func TestImportRules(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for path, one := range all {
		name, ours := short(path)
		if !ours {
			continue
		}
		rule := ruleFor(name)
		if rule == nil {
			t.Errorf("%s: no rule says what it may import; add one to rules_test.go", name)
			continue
		}
		assert.Empty(t, breaches(rule, one, all), name)
	}
}

func TestPackagesOfTheHouseExist(t *testing.T) {
	t.Parallel()
	all := packages(t)
	for _, rule := range rules {
		if rule.optional {
			continue
		}
		found := false
		for path := range all {
			name, ours := short(path)
			found = found || ours && fits(rule.path, name)
		}
		assert.True(t, found, "there is no package %s", rule.path)
	}
}

func TestTestSupportStaysInTests(t *testing.T) {
	t.Parallel()
	for path, one := range packages(t) {
		name, ours := short(path)
		if !ours || slices.Contains(onlyInTests, name) {
			continue
		}
		for _, imported := range one.Imports {
			imported, _ := short(imported)
			assert.NotContains(t, onlyInTests, imported, "imported by %s", name)
		}
	}
}

func TestFoldersAtTheTop(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	for _, entry := range entries {
		hidden := strings.HasPrefix(entry.Name(), ".")
		if entry.IsDir() && !hidden {
			assert.Contains(t, folders, entry.Name())
		}
		if !entry.IsDir() {
			assert.NotEqual(t, ".go", filepath.Ext(entry.Name()), "%s: no package lies at the top", entry.Name())
		}
	}
}

// The test must be able to fail.
func TestBreachesAreFound(t *testing.T) {
	t.Parallel()
	all := map[string]listed{}
	for _, path := range []string{"fmt", "os/exec", "runtime", "testing", "testing/iotest"} {
		all[path] = listed{ImportPath: path, Standard: true}
	}
	for _, test := range []struct {
		name string
		one  listed
		want []string
	}{
		{"runtime/wire", listed{Imports: []string{"fmt"}, Deps: []string{"fmt"}}, nil},
		{"runtime/wire", listed{Imports: []string{module + "/lua"}}, []string{"it imports lua"}},
		{"runtime/wire", listed{Imports: []string{goRedis + "/v9"}}, []string{"it imports " + goRedis + "/v9"}},
		{"runtime", listed{Imports: []string{"fmt", module + "/lua", module + "/runtime/internal/script", goRedis + "/v9"}}, nil},
		{"runtime", listed{Deps: []string{"runtime", "testing/iotest"}}, nil},
		{"runtime", listed{Deps: []string{"testing"}}, []string{"it reaches std:testing"}},
		{"runtime", listed{Imports: []string{module + "/gen"}}, []string{"it imports gen"}},
		{"runtime", listed{Deps: []string{miniredis + "/v2/server"}}, []string{"it reaches " + miniredis}},
		{"runtime", listed{Deps: []string{"os/exec"}}, []string{"it reaches std:os/exec"}},
		{"cmd/emqgen", listed{Deps: []string{module + "/runtime/wire", module + "/gen/ir"}}, nil},
		{"cmd/emqgen", listed{Deps: []string{module + "/runtime"}}, []string{"it reaches runtime"}},
		{"gen/internal/emit", listed{Imports: []string{module + "/gen/ir", module + "/lua"}}, []string{"it imports lua"}},
		{"annotations", listed{Imports: []string{module + "/runtime/wire", module + "/gen"}}, []string{"it imports gen"}},
	} {
		assert.Equal(t, test.want, breaches(ruleFor(test.name), test.one, all), test.name)
	}
	assert.Nil(t, ruleFor("util"))
}
