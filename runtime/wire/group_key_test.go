package wire_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

// groupVectors is testdata/wire/group.json, which runtimes in every language are
// tested against.
type groupVectors struct {
	Vectors []struct {
		About string
		Value struct {
			Nil   bool
			Bool  *bool
			Int   *int64  `json:",string"`
			Uint  *uint64 `json:",string"`
			Text  *string
			Bytes *[]byte // base64
			Time  *time.Time
		}
		Group string
	}
}

func TestGroupNames(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../testdata/wire/group.json")
	require.NoError(t, err)
	var file groupVectors
	require.NoError(t, json.Unmarshal(data, &file))
	require.Greater(t, len(file.Vectors), 15)
	for _, vector := range file.Vectors {
		var key wire.GroupKey
		switch v := vector.Value; {
		case v.Nil:
			key.Text("something else before")
			key.Nil()
		case v.Bool != nil:
			key.Bool(*v.Bool)
		case v.Int != nil:
			key.Int(*v.Int)
		case v.Uint != nil:
			key.Uint(*v.Uint)
		case v.Text != nil:
			key.Text(*v.Text)
		case v.Bytes != nil:
			key.Bytes(*v.Bytes)
		case v.Time != nil:
			key.Time(*v.Time)
		}
		name, err := key.Name()
		require.NoError(t, err, vector.About)
		require.Equal(t, vector.Group, name, vector.About)
		require.Equal(t, name != "", wire.IsGroup(name), vector.About)
	}
}

func TestGroupKeyOfAValueThatCannotBeMarshaled(t *testing.T) {
	t.Parallel()
	var key wire.GroupKey
	broken := errors.New("broken")
	key.Marshaled(nil, broken)
	_, err := key.Name()
	require.ErrorIs(t, err, broken)
	key.Marshaled([]byte("a b"), nil)
	name, err := key.Name()
	require.NoError(t, err)
	require.Equal(t, "a%20b", name)
}

func TestIsGroup(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a|b", "a b", "é", "a\n", "{a}", strings.Repeat("a", 129)} {
		require.False(t, wire.IsGroup(name), "%q", name)
	}
	require.True(t, wire.IsGroup(strings.Repeat("a", 128)))
}
