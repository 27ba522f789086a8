package enginetest

import (
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Move is a slot on its way from one primary to another. While it lasts the keys
// of the slot are on both.
type Move struct {
	cluster  *Cluster
	t        testing.TB
	slot     int
	from, to *Engine
	source   *redis.Client
	target   *redis.Client
	toID     string
}

// BeginMove begins to move a slot from the primary that has it to another one.
func (c *Cluster) BeginMove(t testing.TB, slot int, to *Engine) *Move {
	t.Helper()
	m := &Move{cluster: c, t: t, slot: slot, from: c.Owner(t, slot), to: to}
	if m.from == to {
		t.Fatalf("slot %d is at %s already", slot, to.options.Addr)
	}
	m.source, m.target = m.from.Client(t), m.to.Client(t)
	fromID, err := m.from.nodeID(t.Context())
	m.must(err)
	m.toID, err = m.to.nodeID(t.Context())
	m.must(err)
	m.must(m.target.Do(t.Context(), "cluster", "setslot", slot, "importing", fromID).Err())
	m.must(m.source.Do(t.Context(), "cluster", "setslot", slot, "migrating", m.toID).Err())
	return m
}

// Step moves at most n keys and returns how many it found.
func (m *Move) Step(n int) int {
	m.t.Helper()
	keys, err := m.source.ClusterGetKeysInSlot(m.t.Context(), m.slot, n).Result()
	m.must(err)
	m.migrate(keys...)
	return len(keys)
}

// Take moves a key now, if it exists.
func (m *Move) Take(key string) {
	m.t.Helper()
	m.migrate(key)
}

func (m *Move) migrate(keys ...string) {
	m.t.Helper()
	if len(keys) == 0 {
		return
	}
	host, port, err := net.SplitHostPort(m.to.options.Addr)
	m.must(err)
	args := []any{"migrate", host, port, "", 0, startTimeout.Milliseconds(), "keys"}
	for _, key := range keys {
		args = append(args, key)
	}
	m.must(m.source.Do(m.t.Context(), args...).Err())
}

// Finish moves what is left, a few keys at a time, and gives the slot to its new
// primary.
func (m *Move) Finish() {
	m.t.Helper()
	for m.Step(10) > 0 {
	}
	m.must(m.target.Do(m.t.Context(), "cluster", "setslot", m.slot, "node", m.toID).Err())
	m.must(m.source.Do(m.t.Context(), "cluster", "setslot", m.slot, "node", m.toID).Err())
}

func (m *Move) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatalf("move slot %d from %s to %s: %v", m.slot, m.from.options.Addr, m.to.options.Addr, err)
	}
}
