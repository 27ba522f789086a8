package wire_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

func TestSlotVectors(t *testing.T) {
	t.Parallel()
	// The first is the check value of CRC-16/XMODEM from the cluster
	// specification; the others are what CLUSTER KEYSLOT answers.
	for key, slot := range map[string]int{
		"123456789": 12739, "orders": 105, "fills": 4165, "payments": 8507, "emq": 9051,
	} {
		assert.Equal(t, slot, wire.Slot(key), key)
		assert.Equal(t, slot, wire.Slot("emq:{"+key+"}:wait"), key)
	}
}

func TestHashTag(t *testing.T) {
	t.Parallel()
	for key, tag := range map[string]string{
		"a{b}c": "b", "a{}c": "a{}c", "a{b": "a{b", "{b}{c}": "b", "a{{b}c}": "{b",
		"plain": "plain", "": "", "}{": "}{", "a}b{c}": "c",
	} {
		assert.Equal(t, tag, wire.HashTag(key), key)
	}
}

func TestSlotsTellsEachSlotAlsoAfterAMismatch(t *testing.T) {
	t.Parallel()
	slots, shared := wire.Slots([]string{"emq:{orders}:wait", "emq:{fills}:wait", "emq:{orders}:meta"})
	assert.False(t, shared)
	assert.Equal(t, []wire.KeySlot{
		{Key: "emq:{orders}:wait", Tag: "orders", Slot: 105},
		{Key: "emq:{fills}:wait", Tag: "fills", Slot: 4165},
		{Key: "emq:{orders}:meta", Tag: "orders", Slot: 105},
	}, slots)
	_, shared = wire.Slots([]string{"emq:{orders}:wait", "{orders}"})
	assert.True(t, shared)
	_, shared = wire.Slots(nil)
	assert.True(t, shared)
}

func TestNamesRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 256)
	for _, name := range []string{
		"", "emq", "{mail}", "mail}", "-mail", ".mail", "_mail", "~mail", "ma il", "mail:eu", "mail*", "mäil",
		"mail\n", "mail\x00", "\xff", long[:129],
	} {
		_, err := wire.ParseQueue(name)
		var bad *wire.NameError
		require.ErrorAs(t, err, &bad, "%q", name)
		require.ErrorIs(t, err, wire.ErrName)
		assert.Equal(t, wire.QueueName, bad.Kind)
	}
	for _, id := range []string{
		"", "wait", "metrics", "scheduler", "active", "completed", "id", "de", "events", "control", "pc",
		"_slot", "~x", "a:b", "a:lock", "{a}", "a b", "é", long,
	} {
		_, err := wire.ParseJobID(id)
		require.ErrorIs(t, err, wire.ErrName, "%q", id)
	}
	_, err := wire.ParseQueue(strings.Repeat("x", 100_000))
	assert.Less(t, len(err.Error()), 400, "a hostile name fills no log")
}

func TestStoredIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "_nightly.1764432000000", "_a", "_wait", "_" + strings.Repeat("a", 254)} {
		parsed, err := wire.ParseStoredJobID(id)
		require.NoError(t, err, id)
		assert.Equal(t, id, parsed.String())
	}
	for _, id := range []string{"", "_", "__a", "_-a", "_a:b", "wait", "~a", "_" + strings.Repeat("a", 255)} {
		_, err := wire.ParseStoredJobID(id)
		require.ErrorIs(t, err, wire.ErrName, id)
	}
}

func TestSlotIDs(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"nightly", "a.b.1", "9", strings.Repeat("a", 200)} {
		scheduler, err := wire.ParseSchedulerID(id)
		require.NoError(t, err)
		job := scheduler.Slot(1764432000000)
		assert.Equal(t, "_"+id+".1764432000000", job.String())
		_, err = wire.ParseStoredJobID(job.String())
		require.NoError(t, err)
		back, moment, ok := wire.ParseSlotID(job.String())
		assert.True(t, ok)
		assert.Equal(t, scheduler, back)
		assert.Equal(t, int64(1764432000000), moment)
	}
	for _, id := range []string{"nightly.1", "_nightly", "_nightly.", "_nightly.x", "_nightly.01", "_.1", "_-.1", ""} {
		_, _, ok := wire.ParseSlotID(id)
		assert.False(t, ok, id)
	}
	for _, id := range []string{"", "_a", "a b", "a:b", "a*", strings.Repeat("a", 201)} {
		_, err := wire.ParseSchedulerID(id)
		require.ErrorIs(t, err, wire.ErrName, id)
	}
}

func TestNamesAllowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mail", "m", "9", "Mail.EU-1_x", strings.Repeat("a", 128), "wait", "bull"} {
		_, err := wire.ParseQueue(name)
		require.NoError(t, err, name)
	}
	for _, id := range []string{"a", "Wait", "wait2", "meta.x", strings.Repeat("a", 255), "01a22882-236e-771e-8026-e0b221db6f41"} {
		_, err := wire.ParseJobID(id)
		require.NoError(t, err, id)
	}
}

const nameCharacters = "abzABZ019._-"

func randomName(r *rand.Rand, limit int) string {
	var b strings.Builder
	for n := 1 + r.IntN(limit); b.Len() < n; {
		c := nameCharacters[r.IntN(len(nameCharacters))]
		if b.Len() == 0 && strings.IndexByte("._-", c) >= 0 {
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

// TestKeysOfArbitraryNames holds the properties that the protocol builds on: a
// key of a queue carries that queue's tag and no other, no key of a job can
// equal a key of the queue, and a key can be taken apart and built again.
func TestKeysOfArbitraryNames(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 2_000 {
		name, other := randomName(r, 128), randomName(r, 128)
		queue, err := wire.ParseQueue(name)
		if name == wire.CoreName {
			require.Error(t, err)
			continue
		}
		require.NoError(t, err, name)
		id := randomName(r, 255)
		if r.IntN(4) == 0 {
			id = strings.Split(wire.QueueSuffixes()[r.IntN(len(wire.QueueSuffixes()))], ":")[0]
		}
		keys := map[string]wire.Key{}
		for _, suffix := range wire.QueueSuffixes() {
			keys[queue.Key(suffix)] = wire.Key{Queue: queue, Part: suffix}
		}
		if job, err := wire.ParseJobID(id); err == nil {
			for _, part := range append(wire.JobParts(), "") {
				key := wire.Key{Queue: queue, Job: job, Part: part}
				require.NotContains(t, keys, key.String(), "a key of a job equals a key of the queue")
				keys[key.String()] = key
			}
		} else {
			require.True(t, wire.IsReserved(id), id)
		}
		for text, key := range keys {
			require.Equal(t, text, key.String())
			require.Equal(t, name, wire.HashTag(text))
			require.Equal(t, 1, strings.Count(text, "{"))
			require.True(t, strings.HasPrefix(text, "emq:{"+name+"}:"))
			parsed, err := wire.ParseKey(text)
			require.NoError(t, err, text)
			require.Equal(t, key, parsed)
		}
		if other != name && other != wire.CoreName {
			foreign, err := wire.ParseQueue(other)
			require.NoError(t, err)
			require.NotContains(t, keys, foreign.Key("wait"))
		}
	}
}

func TestParseKeyRefuses(t *testing.T) {
	t.Parallel()
	for _, key := range []string{
		"", "bull:mail:wait", "emq:mail:wait", "emq:{mail}wait", "emq:{mail", "emq:{}:wait", "emq:{emq}:wait",
		"emq:{mail}:", "emq:{mail}:a:unknown", "emq:{mail}:wait:lock", "emq:{a}{b}:wait", "emq:{mail}:scheduler:", "emq:{mail}:scheduler:_a", "emq:{mail}:metrics:other",
	} {
		_, err := wire.ParseKey(key)
		assert.Error(t, err, "%q", key)
	}
	for _, key := range []string{wire.StoreVersionKey, wire.StoreQueuesKey, wire.StoreNodesKey, "emq:{mail}:scheduler:nightly", "emq:{mail}:metrics:failed"} {
		parsed, err := wire.ParseKey(key)
		require.NoError(t, err, key)
		assert.Equal(t, key, parsed.String())
	}
}

func FuzzParseKey(f *testing.F) {
	for _, key := range []string{"emq:{mail}:wait", "emq:{mail}:a:lock", "emq:{emq}:version", "emq:{a}}:x", "emq:{\x00}:x"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		parsed, err := wire.ParseKey(key)
		if err == nil && parsed.String() != key {
			t.Fatalf("%q was parsed and built again as %q", key, parsed.String())
		}
	})
}
