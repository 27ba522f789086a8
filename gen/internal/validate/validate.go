// Package validate checks the intermediate representation of a package for what
// generated code could not be compiled with.
package validate

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/ir"
)

// Package returns what is wrong with the names that would be generated for pkg,
// whose files lie in dir.
func Package(pkg *ir.Package, dir string) []annotations.Diagnostic {
	v := &validator{dir: dir, declared: map[string]ir.Declared{}, generated: map[string]owner{}, collided: map[[2]owner]bool{}}
	for _, d := range pkg.Declared {
		if _, known := v.declared[d.Name]; !known {
			v.declared[d.Name] = d
		}
	}
	v.shadowed()
	for _, queue := range pkg.Queues {
		title := fmt.Sprintf("queue %q", queue.Name)
		for _, name := range queue.Names().All() {
			v.packageScope(name, owner{title, queue.NamePos})
		}
		methods := map[string]owner{}
		for _, job := range queue.Jobs {
			v.job(job, methods)
			v.upgrades(job)
		}
	}
	return v.found
}

// owner is the queue or job for which a name is generated.
type owner struct {
	title string
	pos   ir.Position
}

type validator struct {
	dir       string
	declared  map[string]ir.Declared
	generated map[string]owner
	// collided holds the pairs that were reported: two that have one Go name
	// meet in all their names.
	collided map[[2]owner]bool
	found    []annotations.Diagnostic
}

func (v *validator) collide(by, other owner, name string) {
	if pair := [2]owner{by, other}; !v.collided[pair] {
		v.collided[pair] = true
		v.report(annotations.RuleNamesCollide, by.pos, by.title, other.title, name)
	}
}

func (v *validator) report(rule *annotations.Rule, pos ir.Position, arguments ...any) {
	at := token.Position{Filename: filepath.Join(v.dir, pos.File), Line: pos.Line, Column: pos.Column}
	v.found = append(v.found, rule.At(at, token.Position{}, arguments...))
}

func (v *validator) job(job ir.Job, methods map[string]owner) {
	names, by := job.Names(), owner{"job " + job.Payload.Type, job.NamePos}
	for _, name := range names.All() {
		v.packageScope(name, by)
	}
	for _, name := range job.OlderTypes() {
		v.packageScope(name, by)
	}
	for _, name := range names.Methods() {
		if other, taken := methods[name]; taken && other != by {
			v.collide(by, other, name)
			continue
		}
		methods[name] = by
	}
}

// upgrades refuses older versions of which no function makes payloads of the next
// one. What type it has is for the compiler to say.
func (v *validator) upgrades(job ir.Job) {
	for i, older := range job.Older {
		name := job.Upgrade(older.Version)
		if d, declared := v.declared[name]; declared && !strings.HasSuffix(d.Pos.File, "_test.go") {
			continue
		}
		v.report(annotations.RuleUpgradeMissing, job.VersionPos, older.Version, job.Payload.Type,
			name, job.VersionType(older.Version), job.TypeAfter(i), older.Version+1)
	}
}

// packageScope claims a name in the scope of the package.
func (v *validator) packageScope(name string, by owner) {
	if other, taken := v.generated[name]; taken {
		v.collide(by, other, name)
		return
	}
	v.generated[name] = by
	if d, taken := v.declared[name]; taken {
		v.report(annotations.RuleNameTaken, by.pos, by.title, name, fmt.Sprintf("%s:%d:%d", d.Pos.File, d.Pos.Line, d.Pos.Column))
	}
}

// shadowed refuses packages in which a predeclared identifier that generated
// code may use has another meaning: a type or a value, true among them. It calls
// no predeclared function, and many a package declares its own max.
func (v *validator) shadowed() {
	for _, name := range types.Universe.Names() {
		if _, function := types.Universe.Lookup(name).(*types.Builtin); function {
			continue
		}
		if d, declared := v.declared[name]; declared && !d.Import {
			v.report(annotations.RuleShadowed, d.Pos, name)
		}
	}
}
