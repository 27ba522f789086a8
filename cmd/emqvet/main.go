// Command emqvet reports mistakes in job directives, as emqgen does, and in the
// code that enqueues and handles jobs.
//
// Usage:
//
//	emqvet [flags] packages
//	go vet -vettool=$(go tool -n emqvet) packages
//
// Each line ends in a code, which "emqgen explain" explains.
//
// Alone it looks at packages that do not compile too, and -fix mends what was
// misspelt; with -diff it shows what it would mend. Under go vet it looks only at
// packages that compile, and go vet repeats what it said of a package until one of
// the package's Go files changes: a change of emq.lock alone it does not see.
//
// The exit status is 0 when all is well, 1 when packages could not be loaded or,
// under go vet, when something was found, and 3 when something was found.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/echomq/echomq-go/gen/vet"
)

func main() { singlechecker.Main(vet.Analyzer) }
