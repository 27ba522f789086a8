package echomq_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

// readQueue returns every key of a queue with its type, time to live and
// content, all of one moment. It is no script of the protocol: it finds the
// keys by itself, which only a test may do.
const readQueue = `
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local kind = redis.call('TYPE', key).ok
  local content = {}
  if kind == 'hash' then
    content = redis.call('HGETALL', key)
  elseif kind == 'list' then
    content = redis.call('LRANGE', key, 0, -1)
  elseif kind == 'zset' then
    content = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'string' then
    content = { redis.call('GET', key) }
  elseif kind == 'set' then
    content = redis.call('SMEMBERS', key)
  end
  found[#found + 1] = { key, kind, redis.call('PTTL', key), content }
end
return found`

// queueSnapshot is a queue at one moment.
type queueSnapshot struct {
	queue    wire.Queue
	kinds    map[string]string            // by suffix or key of a job
	expiring map[string]bool              // the keys that expire
	places   map[string][]string          // by id: where it stands
	hashes   map[string]map[string]string // of jobs, by id
	locks    map[string]string            // by id
	reserved map[string]string            // by id
	logs     map[string]int               // by id: how many lines
	grouped  map[string]string            // by id: the group in which it waits
	ring     map[string]string            // by group: its turn
	running  map[string]string            // by id: its group; by | and group: how many
	marker   []string
	wrongs   []string
}

// snapshot reads the bed's queue.
func (b *faultBed) snapshot(ctx context.Context) (*queueSnapshot, error) {
	reply, err := b.direct.Eval(ctx, readQueue, nil, b.queue.Key("*")).Slice()
	if err != nil {
		return nil, err
	}
	s := &queueSnapshot{
		queue: b.queue,
		kinds: map[string]string{}, expiring: map[string]bool{}, places: map[string][]string{},
		hashes: map[string]map[string]string{}, locks: map[string]string{}, reserved: map[string]string{}, logs: map[string]int{},
		grouped: map[string]string{},
	}
	for _, entry := range reply {
		entry := entry.([]any)
		var content []string
		for _, value := range entry[3].([]any) {
			content = append(content, fmt.Sprint(value))
		}
		s.read(entry[0].(string), entry[1].(string), entry[2].(int64) > 0, content)
	}
	return s, nil
}

// containers are the keys that hold ids, each id in exactly one of them, with
// the type that each must have.
var containers = map[string]string{
	"wait": "list", "prioritized": "zset", "delayed": "zset", "active": "zset",
	"completed": "zset", "failed": "zset", "quarantine": "zset", "waiting-children": "zset", "grouped": "zset",
}

// others are the other keys that a queue may have, with their types.
var others = map[string]string{"meta": "hash", "reserved": "hash", "pc": "string", "marker": "zset", "events": "stream", "schedulers": "zset", "outbox": "zset", "outbox-body": "hash", "groups": "zset", "group-active": "hash"}

func (s *queueSnapshot) read(name, kind string, expires bool, content []string) {
	key, err := wire.ParseKey(name)
	if err != nil || key.Queue != s.queue {
		s.wrong("key %q does not belong here: %v", name, err)
		return
	}
	if !key.Job.IsZero() {
		s.readJob(key, kind, expires, content)
		return
	}
	want := containers[key.Part] + others[key.Part]
	if strings.HasPrefix(key.Part, "scheduler:") {
		want = "hash"
	}
	if want != kind {
		s.wrong("key %q is a %s instead of a %s", name, kind, want)
		return
	}
	if expires {
		s.wrong("key %q expires", name)
	}
	s.kinds[key.Part] = kind
	switch {
	case key.Part == "reserved":
		s.reserved = pairs(content)
	case key.Part == "marker":
		for i := 0; i < len(content); i += 2 {
			s.marker = append(s.marker, content[i])
		}
	case key.Part == "grouped":
		for i := 0; i < len(content); i += 2 {
			group, _, _ := strings.Cut(content[i], "|")
			id := content[i][strings.LastIndexByte(content[i], '|')+1:]
			s.places[id] = append(s.places[id], key.Part)
			s.grouped[id] = group
		}
	case key.Part == "groups":
		s.ring = pairs(content)
	case key.Part == "group-active":
		s.running = pairs(content)
	case containers[key.Part] == "list":
		for _, id := range content {
			s.places[id] = append(s.places[id], key.Part)
		}
	case containers[key.Part] == "zset":
		for i := 0; i < len(content); i += 2 {
			s.places[content[i]] = append(s.places[content[i]], key.Part)
		}
	}
}

func (s *queueSnapshot) readJob(key wire.Key, kind string, expires bool, content []string) {
	id := key.Job.String()
	switch {
	case key.Part == "" && kind == "hash":
		s.hashes[id] = pairs(content)
		s.expiring[id] = expires
	case key.Part == "dependencies" && kind == "set" && !expires:
	case (key.Part == "processed" || key.Part == "failed") && kind == "hash" && !expires:
	case key.Part == "lock" && kind == "string" && !expires:
		s.locks[id] = content[0]
	case key.Part == "logs" && kind == "list" && !expires:
		s.logs[id] = len(content)
	default:
		s.wrong("job %s has a key %q, a %s (expires: %v)", id, key.Part, kind, expires)
	}
}

func (s *queueSnapshot) wrong(format string, args ...any) {
	s.wrongs = append(s.wrongs, fmt.Sprintf(format, args...))
}

// violations returns what is wrong with the queue. At rest, when no worker is
// between the marker and its pick, the marker must also be there if a job can
// be taken.
func (s *queueSnapshot) violations(atRest bool) []string {
	wrongs := slices.Clone(s.wrongs)
	wrong := func(format string, args ...any) { wrongs = append(wrongs, fmt.Sprintf(format, args...)) }
	takeable := 0
	for id, places := range s.places {
		if len(places) != 1 {
			wrong("job %s stands in %v", id, places)
			continue
		}
		if hash := s.hashes[id]; hash["name"] == "" && places[0] != "quarantine" {
			wrong("job %s stands in %s and has no hash", id, places[0])
		} else if s.expiring[id] {
			wrong("job %s stands in %s and its hash expires", id, places[0])
		}
		if places[0] == "wait" || places[0] == "prioritized" || places[0] == "grouped" && !s.full(s.grouped[id]) {
			takeable++
		}
		_, locked := s.locks[id]
		_, reserved := s.reserved[id]
		if places[0] == "active" && locked == reserved {
			wrong("job %s is active; locked: %v, reserved: %v", id, locked, reserved)
		}
		if places[0] != "active" && (locked || reserved) {
			wrong("job %s stands in %s; locked: %v, reserved: %v", id, places[0], locked, reserved)
		}
	}
	for id, hash := range s.hashes {
		// A stub of a child waits until the child's end was reported.
		stub := (s.expiring[id] || hash["parentKey"] != "") && hash["lst"] != "" && hash["timestamp"] == ""
		if len(s.places[id]) == 0 && !stub {
			wrong("job %s stands nowhere", id)
		}
	}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(s.locks)), slices.Collect(maps.Keys(s.reserved))) {
		if len(s.places[id]) == 0 {
			wrong("job %s is held and stands nowhere", id)
		}
	}
	for id, lines := range s.logs {
		if s.hashes[id]["lgc"] == "" || s.expiring[id] {
			wrong("job %s has %d log lines and is gone, or knows of none", id, lines)
		}
	}
	for _, id := range s.marker {
		if place := strings.Join(s.places[id], " "); id != "~due" && place != "wait" && place != "prioritized" && place != "grouped" {
			wrong("the marker names %q, which stands in %q", id, place)
		}
	}
	if atRest && takeable > 0 && len(s.marker) == 0 {
		wrong("%d jobs can be taken and there is no marker", takeable)
	}
	wrongs = append(wrongs, s.groupViolations()...)
	slices.Sort(wrongs)
	return wrongs[:min(len(wrongs), 20)]
}

// String tells how many jobs stand where.
func (s *queueSnapshot) String() string {
	count := map[string]int{}
	for _, places := range s.places {
		count[strings.Join(places, "+")]++
	}
	return fmt.Sprintf("%v, %d locks, %d reserved, marker %v", count, len(s.locks), len(s.reserved), s.marker)
}

// requireSound asserts that the queue is whole at this moment, while workers
// may be at work on it.
func (b *faultBed) requireSound(t *testing.T) *queueSnapshot {
	t.Helper()
	s, err := b.snapshot(b.ctx)
	require.NoError(t, err)
	require.Empty(t, s.violations(false), s)
	return s
}

// requireAtRest asserts that the queue is whole now that no worker is at it.
func (b *faultBed) requireAtRest(t *testing.T) *queueSnapshot {
	t.Helper()
	s, err := b.snapshot(b.ctx)
	require.NoError(t, err)
	require.Empty(t, s.violations(true), s)
	return s
}

func pairs(flat []string) map[string]string {
	found := make(map[string]string, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		found[flat[i]] = flat[i+1]
	}
	return found
}

// TestInvariantCheckerFindsPlantedFaults proves that the checker can fail.
func TestInvariantCheckerFindsPlantedFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]struct {
		plant func(b *faultBed, id string) error
		want  string
	}{
		"in two places": {func(b *faultBed, id string) error { return b.direct.RPush(b.ctx, b.queue.Key("wait"), id).Err() }, "stands in [wait wait]"},
		"nowhere":       {func(b *faultBed, id string) error { return b.direct.Del(b.ctx, b.queue.Key("wait")).Err() }, "stands nowhere"},
		"no hash":       {func(b *faultBed, id string) error { return b.direct.Del(b.ctx, b.queue.Key(id)).Err() }, "has no hash"},
		"no marker":     {func(b *faultBed, id string) error { return b.direct.Del(b.ctx, b.queue.Key("marker")).Err() }, "there is no marker"},
		"locked": {func(b *faultBed, id string) error {
			return b.direct.Set(b.ctx, b.queue.Key(id)+":lock", "w:1", 0).Err()
		}, "stands in wait; locked: true"},
		"unknown key": {func(b *faultBed, id string) error { return b.direct.Set(b.ctx, b.queue.Key("~x"), 1, 0).Err() }, "does not belong here"},
		"active and free": {func(b *faultBed, id string) error {
			b.direct.Del(b.ctx, b.queue.Key("wait"))
			return b.direct.ZAdd(b.ctx, b.queue.Key("active"), redisZ(1, id)).Err()
		}, "locked: false, reserved: false"},
	}
	engine := startValkey(t)
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			b := newFaultBed(t, engine)
			id := b.add(t, chore{}).ID
			b.requireAtRest(t)
			require.NoError(t, fault.plant(b, id))
			s, err := b.snapshot(b.ctx)
			require.NoError(t, err)
			require.Contains(t, strings.Join(s.violations(true), "\n"), fault.want)
		})
	}
}
