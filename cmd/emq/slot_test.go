package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

func TestSlot(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		status int
		out    string
		errs   string
	}{
		{"one key", []string{"123456789"}, exitWell,
			"SLOT   TAG        KEY\n12739  123456789  123456789\n", ""},
		{"one slot", []string{"emq:{orders}:wait", "{orders}"}, exitWell,
			"SLOT  TAG     KEY\n105   orders  emq:{orders}:wait\n105   orders  {orders}\nAll 2 keys share slot 105: one script may touch them.\n", ""},
		{"two slots", []string{"emq:{orders}:wait", "emq:{fills}:wait"}, exitNot,
			"SLOT  TAG     KEY\n105   orders  emq:{orders}:wait\n4165  fills   emq:{fills}:wait\nThe keys are in different slots: no script may touch them together.\n", ""},
		{"a key like a flag", []string{"--", "--json"}, exitWell, "SLOT   TAG     KEY\n13528  --json  --json\n", ""},
		{"nothing", nil, exitUnknown, "", "emq: give one or more keys, or --queue NAME\n"},
		{"both", []string{"--queue", "orders", "key"}, exitUnknown, "", "emq: give either keys or --queue, not both\n"},
		{"a queue without a name", []string{"--queue", ""}, exitUnknown, "", "emq: queue name \"\" is empty\n"},
		{"a queue in braces", []string{"--queue", "{orders}"}, exitUnknown, "",
			"emq: queue name \"{orders}\" has braces; the hash tag is added by the library, so write the bare name\n"},
		{"an unknown flag", []string{"--slots"}, exitUnknown, "", "emq: unknown flag: --slots\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			status, out, errs := run(t, append([]string{"slot"}, test.args...)...)
			assert.Equal(t, test.status, status)
			assert.Equal(t, test.out, out)
			assert.Equal(t, test.errs, errs)
		})
	}
}

// slotsJSON is what slot prints with --json, as its help says.
type slotsJSON struct {
	Keys []struct {
		Key  string
		Tag  string
		Slot int
	}
	Shared bool
}

func slots(t *testing.T, status int, args ...string) slotsJSON {
	t.Helper()
	got, out, errs := run(t, append([]string{"slot", "--json"}, args...)...)
	require.Equal(t, status, got, errs)
	assert.Empty(t, errs)
	var printed slotsJSON
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&printed))
	return printed
}

func TestSlotJSON(t *testing.T) {
	t.Parallel()
	printed := slots(t, exitNot, "a{<&>}b", "payments")
	require.Len(t, printed.Keys, 2)
	assert.Equal(t, "a{<&>}b", printed.Keys[0].Key)
	assert.Equal(t, "<&>", printed.Keys[0].Tag)
	assert.Equal(t, 8507, printed.Keys[1].Slot)
	assert.False(t, printed.Shared)
}

func TestSlotOfQueue(t *testing.T) {
	t.Parallel()
	printed := slots(t, exitWell, "--queue", "payments")
	assert.True(t, printed.Shared)
	assert.Len(t, printed.Keys, len(wire.QueueSuffixes())+1+len(wire.JobParts()))
	for _, key := range printed.Keys {
		assert.Equal(t, 8507, key.Slot, key.Key)
		_, err := wire.ParseKey(key.Key)
		assert.NoError(t, err)
	}
}
