package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

// suite holds the engines that the tests of this binary share.
var suite struct {
	mu      sync.Mutex
	running bool // Main is running and will end them
	engines map[Kind]*shared
	cluster sharedCluster
}

// shared is an engine that is started when the first test asks for it.
type shared struct {
	once     sync.Once
	engine   *Engine
	auditors []*Auditor // none for engines without MONITOR
	err      error
}

var errNoMain = errors.New("enginetest: this package needs func TestMain(m *testing.M) { enginetest.Main(m) }, which ends the engines and reports the audit")

// startTimeout bounds the start of a shared engine.
const startTimeout = 30 * time.Second

// Each runs test as a parallel subtest on every engine that is selected. The
// engines are shared: use [Engine.QueueName], and neither flush nor configure
// them. MONITOR, which audits them, costs the server about 0.1 µs for each byte
// of a payload, so a test with payloads of megabytes wants [EachPrivate]. Kinds that
// cannot show what the test is about are left out.
func Each(t *testing.T, test func(t *testing.T, e *Engine), without ...Kind) {
	t.Helper()
	choice, err := selected()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range choice.kinds {
		if slices.Contains(without, kind) {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			engine, err := sharedEngine(kind, choice.urls[kind])
			if err != nil {
				t.Fatal(err)
			}
			test(t, engine)
		})
	}
}

// EachPrivate runs test as a parallel subtest on a new Valkey and a new Redis,
// which it may pause, kill and restart, as far as EMQ_ENGINES selects them.
func EachPrivate(t *testing.T, test func(t *testing.T, e *Engine), opts ...StartOption) {
	t.Helper()
	choice, err := selected()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Kind{Valkey, Redis} {
		if choice.has(kind) && choice.urls[kind] == "" {
			t.Run(string(kind), func(t *testing.T) {
				t.Parallel()
				test(t, Start(t, kind, opts...))
			})
		}
	}
}

// sharedEngine returns the shared engine of kind, which it starts once. With a
// url it is a server that runs already.
func sharedEngine(kind Kind, url string) (*Engine, error) {
	suite.mu.Lock()
	if !suite.running {
		suite.mu.Unlock()
		return nil, errNoMain
	}
	entry := suite.engines[kind]
	if entry == nil {
		entry = &shared{}
		suite.engines[kind] = entry
	}
	suite.mu.Unlock()

	entry.once.Do(func() { entry.start(kind, url) })
	return entry.engine, entry.err
}

func (s *shared) start(kind Kind, url string) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if url != "" {
		s.engine, s.err = connectRunning(ctx, kind, url)
		return
	}
	if kind == ValkeyCluster {
		s.engine, s.err = suite.cluster.get()
	} else {
		s.engine, s.err = start(ctx, kind)
	}
	if s.err != nil || kind == Miniredis {
		return
	}
	for _, server := range s.engine.primaries() {
		auditor, err := newAuditor(ctx, server)
		if err != nil {
			s.err = fmt.Errorf("audit %s: %w", s.engine, err)
			return
		}
		s.auditors = append(s.auditors, auditor)
	}
}
