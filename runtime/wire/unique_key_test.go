package wire_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/wire"
)

// uniqueVectors is testdata/wire/unique.json, which runtimes in every language
// are tested against.
type uniqueVectors struct {
	Vectors []struct {
		About  string
		Job    string
		Values []uniqueValue
		Hashed string // the bytes that are hashed, base64
		Key    string
	}
	Different [][]uniqueValue
}

// uniqueValue is a value as the file has it: exactly one of its fields is set.
type uniqueValue struct {
	Nil   bool
	Bool  *bool
	Int   *int64  `json:",string"`
	Uint  *uint64 `json:",string"`
	Text  *string
	Bytes *[]byte // base64
	Time  *time.Time
	Own   *string
}

func (v uniqueValue) write(key *wire.UniqueKey) {
	switch {
	case v.Nil:
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
	case v.Own != nil:
		key.Own(*v.Own)
	}
}

func uniqueKeyOf(t *testing.T, job string, values []uniqueValue) string {
	t.Helper()
	key := wire.NewUniqueKey(job)
	for _, value := range values {
		value.write(key)
	}
	sum, err := key.Sum()
	require.NoError(t, err)
	return sum
}

func TestUniqueKeyVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../testdata/wire/unique.json")
	require.NoError(t, err)
	var file uniqueVectors
	require.NoError(t, json.Unmarshal(data, &file))
	require.GreaterOrEqual(t, len(file.Vectors), 15)
	seen := map[string]string{}
	for _, vector := range file.Vectors {
		require.Equal(t, vector.Key, uniqueKeyOf(t, vector.Job, vector.Values), vector.About)
		_, err := base64.StdEncoding.DecodeString(vector.Hashed)
		require.NoError(t, err)
		if other, taken := seen[vector.Key]; taken {
			require.Equal(t, vector.Hashed, other, "%s has the key of another vector", vector.About)
		}
		seen[vector.Key] = vector.Hashed
	}
	require.GreaterOrEqual(t, len(file.Different), 15)
	for i, a := range file.Different {
		for _, b := range file.Different[:i] {
			require.NotEqual(t, uniqueKeyOf(t, "job", a), uniqueKeyOf(t, "job", b), "%d", i)
		}
	}
}

func TestUniqueKeyOfTextThatCannotBeHad(t *testing.T) {
	t.Parallel()
	first, second := errors.New("first"), errors.New("second")
	key := wire.NewUniqueKey("job")
	key.Marshaled([]byte("a"), nil)
	key.Marshaled(nil, first)
	key.Marshaled(nil, second)
	_, err := key.Sum()
	require.ErrorIs(t, err, first)

	same := wire.NewUniqueKey("job")
	same.Marshaled([]byte("a"), nil)
	sum, err := same.Sum()
	require.NoError(t, err)
	text := "a"
	require.Equal(t, uniqueKeyOf(t, "job", []uniqueValue{{Text: &text}}), sum, "it is a string")
}

func FuzzUniqueKey(f *testing.F) {
	f.Add("ab", "c", "a", "bc")
	f.Add("1:s", "", "", "1:s")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		one := uniqueKeyOf(t, "job", []uniqueValue{{Text: &a}, {Text: &b}})
		two := uniqueKeyOf(t, "job", []uniqueValue{{Text: &c}, {Text: &d}})
		require.Equal(t, a == c && b == d, one == two)
	})
}
