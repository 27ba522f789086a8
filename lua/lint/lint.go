package lint

import (
	"errors"

	"github.com/echomq/echomq-go/lua/header"
)

// Check proves the script that file holds against its header and returns what
// is wrong or cannot be proven, in the order of the lines; nothing if the script
// is proven.
func Check(file string, text []byte) []Finding {
	script, err := header.Parse(file, text)
	var diagnostics header.Diagnostics
	if errors.As(err, &diagnostics) {
		var found []Finding
		for _, d := range diagnostics {
			found = append(found, Finding{Position: d.Position, Rule: RuleHeader, Message: d.Message})
		}
		return found
	}
	source, failed := parseSource(file, text)
	if failed != nil {
		return []Finding{*failed}
	}
	c := newChecker(source, script)
	for _, check := range []func(*checker){
		(*checker).commands, (*checker).memory, (*checker).dialect, (*checker).arity, (*checker).unused,
	} {
		check(c)
	}
	return c.sorted()
}

// checker holds one script while it is checked.
type checker struct {
	findings
	*prover
	source *source
	calls  []*call
	// used are the keys that commands use, by name.
	used map[string]bool
	// openFields are the hashes of which a command uses fields that are data.
	openFields map[string]bool
}

func newChecker(s *source, script *header.Script) *checker {
	r := resolve(s)
	return &checker{
		findings:   findings{source: s},
		prover:     &prover{scopes: r, script: script, keys: noCount},
		source:     s,
		calls:      r.calls(),
		used:       map[string]bool{},
		openFields: map[string]bool{},
	}
}
