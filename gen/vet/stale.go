package vet

import (
	"go/token"
	"path/filepath"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen"
)

// stale reports generated files that are not what emqgen would write. It does so
// where the first queue is declared: linters pass over generated files.
func (p *reporter) stale(result *gen.Result) error {
	steps, err := result.Compare(p.readFile)
	if err != nil {
		return err
	}
	at := p.declared(result)
	for _, step := range steps {
		if state := step.State(); state != gen.Unchanged {
			p.found(annotations.RuleStale.At(at, token.Position{}, filepath.Base(step.Path), state))
		}
	}
	return nil
}

// declared returns where the first queue is declared, or else where the package
// begins.
func (p *reporter) declared(result *gen.Result) token.Position {
	if len(result.Packages) > 0 && len(result.Packages[0].Queues) > 0 {
		pos := result.Packages[0].Queues[0].Pos
		return token.Position{Filename: filepath.Join(p.dir, pos.File), Line: pos.Line, Column: pos.Column}
	}
	var first token.Position
	for _, file := range p.Files {
		at := p.Fset.PositionFor(file.Package, false)
		if !first.IsValid() || filepath.Base(first.Filename) == gen.Output {
			first = at
		}
	}
	return first
}
