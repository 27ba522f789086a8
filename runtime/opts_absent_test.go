package echomq

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

// absentOpts returns the JSON of what the tags say that absent settings are.
func absentOpts(t *testing.T, of reflect.Type) map[string]any {
	t.Helper()
	told := map[string]any{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if absent, ok := field.Tag.Lookup("absent"); ok {
			require.True(t, json.Valid([]byte(absent)), absent)
			told[name] = json.RawMessage(absent)
		} else if field.Type.Kind() == reflect.Pointer {
			if inner := absentOpts(t, field.Type.Elem()); len(inner) > 0 {
				told[name] = inner
			}
		}
	}
	return told
}

// TestAbsentOptsAreTheDefaults holds what the manifest tells other runtimes
// against what this one does.
func TestAbsentOptsAreTheDefaults(t *testing.T) {
	t.Parallel()
	told := absentOpts(t, reflect.TypeFor[wire.Opts]())
	require.NotEmpty(t, told)
	encoded, err := json.Marshal(told)
	require.NoError(t, err)
	explicit, err := decodeSettings(string(encoded))
	require.NoError(t, err)
	absent, err := decodeSettings("")
	require.NoError(t, err)
	require.Equal(t, absent, explicit)
	for name, value := range told { // each of them counts
		other := any(7)
		if text, ok := value.(json.RawMessage); !ok || text[0] == '{' {
			other = map[string]int{"age": 7, "base": 7}
		}
		encoded, err := json.Marshal(map[string]any{name: other})
		require.NoError(t, err)
		changed, err := decodeSettings(string(encoded))
		require.NoError(t, err)
		require.NotEqual(t, absent, changed, name)
	}
}
