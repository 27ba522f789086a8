package lint

import (
	"fmt"
	"slices"
)

// Commands returns the commands that a script calls, in capitals, in order and
// each once; also those in functions that nothing calls. The error tells that the
// script is not Lua 5.1, or where a command is called whose name is not a
// constant, or which is not known.
func Commands(file string, text []byte) ([]string, error) {
	source, failed := parseSource(file, text)
	if failed != nil {
		return nil, fmt.Errorf("%s: %s", failed.Position, failed.Message)
	}
	p := &prover{scopes: resolve(source), keys: noCount}
	var found []string
	for _, call := range p.calls() {
		alternatives, known := p.alternatives(call)
		if !known {
			return nil, fmt.Errorf("%s: it cannot be told what command is called", p.source.position(call.expr))
		}
		for _, each := range alternatives {
			found = append(found, each.command.name)
		}
	}
	if hidden := p.hiddenCalls(); len(hidden) > 0 {
		return nil, fmt.Errorf("%s: %s: %s", hidden[0].Position, hidden[0].Expression, hidden[0].How)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}
