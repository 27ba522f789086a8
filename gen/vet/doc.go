// Package vet is the generator's rules as an analyzer of go/analysis, for go vet,
// editors and linters, with suggested fixes for what was misspelt. It is command
// emqvet.
//
// What [Analyzer] reports of directives, payloads and contracts is what emqgen
// reports: the same steps run over the source, [gen.Package], and the diagnostics
// have the same places, wordings and codes. Beside those it has rules of its own,
// for code that compiles and does what was hardly meant; in
// [annotations.Rules] they are the ones with Vet set.
package vet
