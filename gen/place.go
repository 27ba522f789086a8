package gen

import (
	"cmp"
	"go/token"

	"github.com/echomq/echomq-go/annotations"
	"github.com/echomq/echomq-go/gen/internal/load"
)

// refuseElsewhere reports directives in files that are not part of the package
// in every build.
func refuseElsewhere(source *load.Source, report *annotations.Reporter) {
	for _, file := range source.Tests {
		for _, d := range annotations.Find(file.File) {
			report.Report(annotations.RuleInTest, d.Slash, d.End(), d.Name)
		}
	}
	for _, file := range source.Files {
		refuse(file, file.Constraint, report)
	}
	for _, file := range source.Ignored {
		refuse(file, cmp.Or(file.Constraint, "it is not built here"), report)
	}
}

// refuse reports the directives of a file that is under a constraint.
func refuse(file *load.File, constraint string, report *annotations.Reporter) {
	if constraint == "" {
		return
	}
	for _, d := range annotations.Find(file.File) {
		report.Report(annotations.RuleInConstrained, d.Slash, d.End(), d.Name, constraint)
	}
}

// broken reports syntax errors, which may hide directives.
func broken(source *load.Source, report *annotations.Reporter) bool {
	for _, err := range source.Broken {
		report.Add(annotations.RuleBrokenFile.At(err.Pos, token.Position{}, err.Msg))
	}
	return len(source.Broken) > 0
}

// foreign reports a file that stands in the way of the generated one.
func foreign(source *load.Source, report *annotations.Reporter) {
	at := token.Position{Filename: outputOf(source), Line: 1, Column: 1}
	report.Add(annotations.RuleForeignFile.At(at, token.Position{}, load.Output))
}
