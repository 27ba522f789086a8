package enginetest

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// Kind is a kind of engine, as EMQ_ENGINES names it.
type Kind string

// The kinds of engine that tests can start. A server that runs elsewhere has
// the name that EMQ_ENGINES gives it.
const (
	// Miniredis is the embedded server in this process.
	Miniredis Kind = "miniredis"
	// Valkey is valkey-server 8 or later, the conformance truth.
	Valkey Kind = "valkey"
	// Redis is redis-server 7.0 or later.
	Redis Kind = "redis"
	// ValkeyCluster is a [Cluster] of Valkey servers. It takes part only where
	// EMQ_ENGINES names it.
	ValkeyCluster Kind = "cluster"
)

// enginesVariable chooses the engines.
const enginesVariable = "EMQ_ENGINES"

// selection is what EMQ_ENGINES asks for.
type selection struct {
	kinds []Kind
	// urls holds the addresses of the kinds that run elsewhere.
	urls map[Kind]string
}

// selected returns the engines that EMQ_ENGINES selects.
func selected() (selection, error) { return parseSelection(os.Getenv(enginesVariable)) }

func parseSelection(list string) (selection, error) {
	if list == "" {
		return selection{kinds: []Kind{Miniredis, Valkey, Redis}}, nil
	}
	result := selection{urls: map[Kind]string{}}
	for item := range strings.SplitSeq(list, ",") {
		name, url, running := strings.Cut(strings.TrimSpace(item), "=")
		kind := Kind(name)
		switch {
		case running:
			if _, err := redis.ParseURL(url); err != nil || name == "" {
				return selection{}, fmt.Errorf("%s: %q is not NAME=redis://HOST:PORT", enginesVariable, item)
			}
			result.urls[kind] = url
		case name == "embedded":
			kind = Miniredis
		case kind != Miniredis && kind != Valkey && kind != Redis && kind != ValkeyCluster:
			return selection{}, fmt.Errorf("%s: unknown engine %q; allowed are embedded, miniredis, valkey, redis, cluster and NAME=redis://HOST:PORT", enginesVariable, name)
		}
		if !slices.Contains(result.kinds, kind) {
			result.kinds = append(result.kinds, kind)
		}
	}
	return result, nil
}

func (s selection) has(kind Kind) bool { return slices.Contains(s.kinds, kind) }
