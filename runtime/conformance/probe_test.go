package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/conformance"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]enginetest.StartOption{
		"unix": nil, "password": {enginetest.TCP(), enginetest.RequirePass("secret")},
	} {
		t.Run(name, func(t *testing.T) {
			enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
				report := conformance.Probe(bounded(t), targetOf(t, e.Options(), "payments"), goOn)
				require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
				called := scripts(report)
				for _, script := range lua.All() {
					assert.NotZero(t, called[script.Name], script.Name)
				}
				assert.Len(t, called, len(lua.All()))
				assert.Contains(t, e.String(), report.Engine)
				assert.Equal(t, 8507, report.Slot)
				for _, step := range report.Steps {
					for _, transition := range step.Transitions {
						assert.Equal(t, []int{8507}, transition.Slots)
						assert.NotEmpty(t, transition.Commands)
						assert.Equal(t, strings.HasPrefix(transition.Client, "unix:"), name == "unix")
					}
				}
				assert.Empty(t, keys(t, e.Client(t)), "nothing is left behind")
			}, opts...)
		})
	}
}

// TestProbeBesideOthers probes a store that others are busy with, on queues of
// their own and against every rule.
func TestProbeBesideOthers(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]enginetest.StartOption{"unix": nil, "tcp": {enginetest.TCP()}} {
		t.Run(name, func(t *testing.T) {
			enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
				client := e.Client(t)
				require.NoError(t, client.Set(t.Context(), "emq:{emq}:version", "echomq:2.0.0", 0).Err())
				require.NoError(t, client.SAdd(t.Context(), "emq:{emq}:queues", "orders").Err())
				before := keys(t, client)
				busy, stop := context.WithCancel(t.Context())
				var others sync.WaitGroup
				others.Go(func() {
					for busy.Err() == nil {
						client.Eval(busy, `redis.call('SET', 'stray', 1) return redis.call('DEL', 'bull:orders:meta', 'stray')`, []string{"emq:{orders}:meta"})
					}
				})
				report := conformance.Probe(bounded(t), targetOf(t, e.Options(), "payments"), goOn)
				stop()
				others.Wait()
				require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
				assert.Equal(t, name == "tcp", report.Ignored > 0)
				assert.Equal(t, before, keys(t, client), "what was there stays, and nothing else")
				assert.Equal(t, []string{"orders"}, client.SMembers(t.Context(), "emq:{emq}:queues").Val())
			}, opts...)
		})
	}
}

// TestProbeDisturbed lets somebody else come to the queue: by a plain command,
// and by a script, which on a unix socket has the same address as the probe.
func TestProbeDisturbed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		opts    []enginetest.StartOption
		command []any
	}{
		"by a command":                {[]enginetest.StartOption{enginetest.TCP()}, []any{"llen", "emq:{payments}:wait"}},
		"by a script":                 {[]enginetest.StartOption{enginetest.TCP()}, []any{"eval", "return redis.call('LLEN', KEYS[1])", 1, "emq:{payments}:wait"}},
		"by an undeclared key":        {[]enginetest.StartOption{enginetest.TCP()}, []any{"eval", "return redis.call('LLEN', ARGV[1])", 0, "emq:{payments}:wait"}},
		"by a script, on unix":        {nil, []any{"eval", "return redis.call('LLEN', KEYS[1])", 1, "emq:{payments}:wait"}},
		"by a built key, on unix too": {nil, []any{"eval", "return redis.call('LLEN', 'emq:{'..ARGV[1]..'}:wait')", 0, "payments"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, enginetest.Valkey, test.opts...)
			client := e.Client(t)
			report := conformance.Probe(bounded(t), targetOf(t, e.Options(), "payments"), func(report *conformance.Report) error {
				if len(report.Steps) == 1 {
					return client.Do(t.Context(), test.command...).Err()
				}
				return nil
			})
			assert.Equal(t, conformance.Unknown, report.Verdict)
			assert.Contains(t, report.Reason, "somebody else uses the queue")
			assert.Empty(t, keys(t, client))
		})
	}
}

// TestProbeCleansUpWheneverItEnds ends the probe after some of its steps.
func TestProbeCleansUpWheneverItEnds(t *testing.T) {
	t.Parallel()
	for _, last := range []int{1, 4, 6, 8} {
		t.Run(fmt.Sprint(last), func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, enginetest.Valkey)
			enough := errors.New("enough")
			report := conformance.Probe(bounded(t), targetOf(t, e.Options(), "payments"), func(report *conformance.Report) error {
				if len(report.Steps) == last {
					return enough
				}
				return nil
			})
			require.Equal(t, conformance.Unknown, report.Verdict)
			require.Contains(t, report.Reason, "enough")
			assert.Empty(t, keys(t, e.Client(t)))
		})
	}
}

// A store whose protocol's version was there keeps it; one whose was not, and to
// which another queue came meanwhile, does too.
func TestProbeLeavesTheVersionToOthers(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Valkey)
	client := e.Client(t)
	report := conformance.Probe(bounded(t), targetOf(t, e.Options(), "payments"), func(report *conformance.Report) error {
		return client.SAdd(t.Context(), "emq:{emq}:queues", "orders").Err()
	})
	require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
	assert.Equal(t, []string{"emq:{emq}:queues", "emq:{emq}:version"}, keys(t, client))
}
