package echomq_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// full reports whether a group stands behind all others because it is at its
// limit.
func (s *queueSnapshot) full(group string) bool {
	turn, _ := strconv.ParseInt(s.ring[group], 10, 64)
	return turn >= 1<<52
}

// groupViolations returns what is wrong with the groups of the queue.
func (s *queueSnapshot) groupViolations() (wrongs []string) {
	wrong := func(format string, args ...any) { wrongs = append(wrongs, fmt.Sprintf(format, args...)) }
	work, active := map[string]int{}, map[string]int{}
	for id, group := range s.grouped {
		work[group]++
		if hash := s.hashes[id]; hash["grp"] != group {
			wrong("job %s of group %q waits in group %q", id, hash["grp"], group)
		}
		if s.ring[group] == "" {
			wrong("group %q has work and is not in the ring", group)
		}
	}
	for id, group := range s.running {
		if strings.HasPrefix(id, "|") {
			continue
		}
		active[group]++
		if strings.Join(s.places[id], " ") != "active" {
			wrong("job %s counts for group %q and stands in %v", id, group, s.places[id])
		}
	}
	for id, places := range s.places {
		if group := s.hashes[id]["grp"]; group != "" && places[0] == "active" && s.running[id] != group {
			wrong("job %s is active and does not count for group %q", id, group)
		}
	}
	for id, count := range s.running {
		if group, is := strings.CutPrefix(id, "|"); is && count != strconv.Itoa(active[group]) {
			wrong("group %q counts %s active jobs and has %d", group, count, active[group])
		}
	}
	for group := range s.ring {
		if work[group] == 0 {
			wrong("group %q is in the ring and has no work", group)
		}
		if s.full(group) && active[group] == 0 {
			wrong("group %q stands at its limit and none of its jobs is active", group)
		}
	}
	return wrongs
}

// TestKilledProcessLeavesItsGroupRoom kills a worker that runs as many jobs of a
// group as may run. The group has room again once they are recovered, and no more
// than that run at once before and after.
func TestKilledProcessLeavesItsGroupRoom(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	queue, err := b.client.Queue(b.spec.Name)
	require.NoError(t, err)
	require.NoError(t, queue.SetGroupLimit(b.ctx, 4))
	doomed := b.addMany(t, 8, chore{Takes: 5 * time.Millisecond}, echomq.Group("a b|c"))
	kill := b.startProcess(t, enginetest.NewProxy(t, b.engine))
	b.eventually(t, func() bool { return len(b.requireSound(t).locks) == 4 }, "the process runs as many as may run")

	b.survivor(t)
	others := b.addMany(t, 20, chore{Takes: time.Millisecond}, echomq.Group("other"))
	b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs == len(others) && b.ledger.busy() == 0 }, "the other group is run")
	b.eventually(t, func() bool { return len(b.requireSound(t).locks) == 4 }, "nobody takes more of the group")
	snapshot := b.requireSound(t)
	assert.Equal(t, "4", snapshot.running["|a%20b%7Cc"])
	kill()
	b.recovers(t, eachOnce(append(doomed, others...)))
	snapshot = b.requireAtRest(t)
	assert.Empty(t, snapshot.running)
	assert.Empty(t, snapshot.ring)
	assert.Len(t, snapshot.stalls(), 4)
}

// TestGroupsUnderCrashes runs jobs of groups, some of which fail, on workers of
// which one after the other is lost, and looks at the numbers all the while.
func TestGroupsUnderCrashes(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	b.spec.GroupLimit = 3
	runs := map[string]int{}
	for n := range 6 {
		for _, id := range b.addMany(t, 25, chore{Takes: time.Millisecond, Fails: n % 2}, echomq.Group(fmt.Sprint("g", n%4))) {
			runs[id] = n%2 + 1
		}
	}
	for _, id := range b.addMany(t, 50, chore{Takes: time.Millisecond}) {
		runs[id] = 1
	}
	for range 3 {
		b.work(t, b.through(t, b.engine.Client(t)), echomq.Concurrency(8), echomq.GroupLimit(3))
	}
	for range 4 {
		lost := b.work(t, b.through(t, b.engine.Client(t)), echomq.Concurrency(8), echomq.GroupLimit(3), echomq.Lease(300*time.Millisecond))
		for range 5 {
			for name, count := range b.requireSound(t).running {
				if strings.HasPrefix(name, "|") {
					n, err := strconv.Atoi(count)
					require.NoError(t, err)
					require.LessOrEqual(t, n, 3, name)
				}
			}
			time.Sleep(5 * time.Millisecond)
		}
		lost.crash(t)
	}
	b.drain(t, len(runs))
	snapshot := b.requireAtRest(t)
	assert.Empty(t, snapshot.running)
	assert.Empty(t, snapshot.ring)
}
