package msgpack_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	library "github.com/vmihailenco/msgpack/v5"

	"github.com/echomq/echomq-go/runtime/internal/packed"
	"github.com/echomq/echomq-go/runtime/msgpack"
)

func encoded(t testing.TB, value packed.Everything) []byte {
	t.Helper()
	data, err := packed.EverythingCodec.Encode(&value)
	require.NoError(t, err)
	return data
}

func decoded(t testing.TB, data []byte) packed.Everything {
	t.Helper()
	var value packed.Everything
	require.NoError(t, packed.EverythingCodec.Decode(data, &value))
	return value
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]packed.Everything{"full": full(), "small": small()} {
		data := encoded(t, value)
		back := decoded(t, data)
		require.Equal(t, value, back, name)
		require.Equal(t, data, encoded(t, back), name)
	}
}

// TestCanonical holds that the order in which maps are walked shows nowhere.
func TestCanonical(t *testing.T) {
	t.Parallel()
	want := encoded(t, full())
	for range 20 {
		require.Equal(t, want, encoded(t, full()))
	}
	value := small()
	value.F32, value.F64 = float32(math.NaN()), packed.Ratio(math.Float64frombits(math.Float64bits(math.NaN())^1))
	other := value
	other.F64 = packed.Ratio(math.NaN())
	require.Equal(t, encoded(t, value), encoded(t, other))
}

// loose is what the library makes of a value: maps, slices, numbers.
func loose(t testing.TB, data []byte) map[string]any {
	t.Helper()
	d := library.NewDecoder(bytes.NewReader(data))
	d.SetMapDecoder(func(d *library.Decoder) (any, error) { return d.DecodeUntypedMap() })
	read, err := d.DecodeInterface()
	require.NoError(t, err)
	value := map[string]any{}
	for name, field := range read.(map[any]any) {
		value[name.(string)] = field
	}
	return value
}

// TestLibraryReads holds that another implementation reads what is written, and
// finds the names that JSON has.
func TestLibraryReads(t *testing.T) {
	t.Parallel()
	value := full()
	read := loose(t, encoded(t, value))
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var asJSON map[string]any
	require.NoError(t, json.Unmarshal(text, &asJSON))
	require.Len(t, read, len(asJSON))
	for name := range asJSON {
		require.Contains(t, read, name)
	}
	require.EqualValues(t, uint64(math.MaxUint64), read["Uint64"])
	require.EqualValues(t, int64(math.MinInt64), read["int64"])
	require.EqualValues(t, 1<<53+1, read["baseId"])
	require.Equal(t, noon, read["time"].(time.Time).UTC())
	require.Equal(t, value.Maybe.UTC(), read["maybe"].(time.Time).UTC())
	require.Equal(t, []byte{0, 255}, read["bytes"])
	require.Equal(t, "2001:db8::1", read["addr"])
	require.Equal(t, "123456789012345678901234567890", read["Big"])
	require.Equal(t, `{"a":[1,"<&>"]}`, read["Raw"])
}

// TestReadsLibrary holds that what the library writes by reflection is read: with
// numbers of full width, in any order.
func TestReadsLibrary(t *testing.T) {
	t.Parallel()
	want := order()
	for _, compact := range []bool{false, true} {
		var buffer bytes.Buffer
		e := library.NewEncoder(&buffer)
		e.SetCustomStructTag("json")
		e.UseCompactInts(compact)
		require.NoError(t, e.Encode(want))
		var got packed.Order
		require.NoError(t, packed.OrderCodec.Decode(buffer.Bytes(), &got))
		require.Equal(t, want, got)

		data, err := packed.OrderCodec.Encode(&want)
		require.NoError(t, err)
		var theirs packed.Order
		d := library.NewDecoder(bytes.NewReader(data))
		d.SetCustomStructTag("json")
		require.NoError(t, d.Decode(&theirs))
		theirs.Placed = theirs.Placed.UTC()
		require.Equal(t, want, theirs)
	}
}

// with encodes a map of one field, by the library.
func with(t testing.TB, name string, value any) []byte {
	t.Helper()
	data, err := library.Marshal(map[string]any{name: value})
	require.NoError(t, err)
	return data
}

func TestRefused(t *testing.T) {
	t.Parallel()
	nested := bytes.Repeat([]byte{0x91}, msgpack.MaxDepth+1)
	point := map[string]any{"X": "one"}
	for _, c := range []struct {
		data []byte
		path string
		says string
	}{
		{with(t, "Int8", 128), "Int8", "128 is out of the range of int8"},
		{with(t, "Int8", -129), "Int8", "-129 is out of the range of int8"},
		{with(t, "int64", uint64(math.MaxInt64)+1), "int64", "9223372036854775808 is out of the range of int64"},
		{with(t, "Uint64", -1), "Uint64", "-1 is out of the range of uint64"},
		{with(t, "Uint8", 256), "Uint8", "256 is out of the range of uint8"},
		{with(t, "Wait", 1.5), "Wait", "it is a floating-point number, and not an integer"},
		{with(t, "F32", math.MaxFloat64), "F32", "out of the range of float32"},
		{with(t, "f64", int64(1)<<53+1), "f64", "need not be exact"},
		{with(t, "Int", nil), "Int", "it is nil, and not an integer"},
		{with(t, "text", []byte("x")), "text", "it is bytes, and not a string"},
		{with(t, "named", "true"), "named", "it is a string, and not a truth value"},
		{with(t, "Anon", []int{1}), "Anon", "it is an array, and not a struct"},
		{with(t, "Tags", map[string]any{}), "Tags", "it is a map, and not an array"},
		{with(t, "sum", []byte{1}), "sum", "it has 1 bytes, and not 4"},
		{with(t, "Triple", []int{}), "Triple", "it has 0 elements, and not 3"},
		{with(t, "Points", []any{nil, point}), "Points[1].X", "it is a string, and not an integer"},
		{with(t, "byName", map[string]any{"a b": point}), `byName["a b"].X`, "it is a string, and not an integer"},
		{with(t, "ByNumber", map[int]any{-7: []any{"x", 1}}), "ByNumber[-7][1]", "it is an integer, and not a string"},
		{with(t, "ByNumber", map[int64]any{1 << 40: nil}), "ByNumber", "1099511627776 is out of the range of int32"},
		{with(t, "Opt", map[string]any{"value": 5}), "Opt.value", "it is an integer, and not a string"},
		{with(t, "addr", "nowhere"), "addr", "ParseAddr"},
		{with(t, "Addrs", map[string]any{"nowhere": 1}), "Addrs", "ParseAddr"},
		{with(t, "Big", "1.5"), "Big", "cannot unmarshal"},
		{with(t, "Raw", "{"), "Raw", "it is no JSON"},
		{with(t, "time", "noon"), "time", "parsing time"},
		{with(t, "time", 5), "time", "it is an integer, and not a time"},
		{with(t, "Forest", library.RawMessage(append(nested, 0x90))), strings.Repeat("[0]", 3), "nested more than 1000 deep"},
		{append(with(t, "Int", 1), 0xc0, 0xc0), "", "2 bytes follow the value"},
		{nil, "", "the data ends early"},
		{[]byte{0x81}, "", "it has 1 elements in 0 bytes"},
		{[]byte{0xdf, 0xff, 0xff, 0xff, 0xff}, "", "it has 4294967295 elements in 0 bytes"},
		{[]byte{0x81, 0xa4, 'T', 'a', 'g', 's', 0xdd, 0xff, 0xff, 0xff, 0xff}, "Tags", "it has 4294967295 elements in 0 bytes"},
		{[]byte{0x81, 0xa4, 't', 'e', 'x', 't', 0xdb, 0xff, 0xff, 0xff, 0xff}, "text", "the data ends early"},
		{[]byte{0x81, 0xa1, 'x', 0xc1}, "x", "it is a byte that begins nothing, and not a value"},
		{[]byte{0x81, 0x01, 0x01, 0x01}, "", "it is an integer, and not the name of a field"},
		{[]byte{0x81, 0xa4, 't', 'i', 'm', 'e', 0xd7, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}, "time", "nanoseconds"},
		{[]byte{0x81, 0xa4, 't', 'i', 'm', 'e', 0xd6, 5, 0, 0, 0, 0}, "time", "it is extension 5, and not a time"},
		{[]byte{0x81, 0xa6, 'b', 'y', 'N', 'a', 'm', 'e', 0x82, 0xa1, 'a', 0x80, 0xa1, 'a', 0x80}, `byName["a"]`, "the key stands there twice"},
	} {
		var value packed.Everything
		err := packed.EverythingCodec.Decode(c.data, &value)
		var failure *msgpack.Error
		require.ErrorAs(t, err, &failure, "%x", c.data)
		require.Contains(t, err.Error(), c.says)
		if c.path == "[0][0][0]" {
			require.Contains(t, failure.Path, "Forest"+c.path)
			continue
		}
		require.Equal(t, c.path, failure.Path, err)
	}
}

// TestTolerated holds what is read although it would not be written so.
func TestTolerated(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data []byte
		got  func(packed.Everything) any
		want any
	}{
		"unknown fields":        {with(t, "unknown", map[string]any{"a": []any{1, noon, 1.5, []byte{1}, "x", nil, int64(-1 << 40)}}), func(v packed.Everything) any { return v.Int }, 0},
		"integers as floats":    {with(t, "f64", 3), func(v packed.Everything) any { return v.F64 }, packed.Ratio(3)},
		"floats of less digits": {with(t, "f64", float32(0.5)), func(v packed.Everything) any { return v.F64 }, packed.Ratio(0.5)},
		"strings as bytes":      {with(t, "bytes", "ab"), func(v packed.Everything) any { return v.Bytes }, []byte("ab")},
		"nil for lists":         {with(t, "Tags", nil), func(v packed.Everything) any { return v.Tags }, packed.Tags(nil)},
		"text as time":          {with(t, "time", "2026-11-30T13:00:00.123456789+01:00"), func(v packed.Everything) any { return v.Time }, noon},
		"wide numbers":          {with(t, "Int8", int64(-3)), func(v packed.Everything) any { return v.Int8 }, int8(-3)},
	} {
		require.Equal(t, c.want, c.got(decoded(t, c.data)), name)
	}
}

type failing struct{}

func (failing) MarshalJSON() ([]byte, error) { return nil, errors.New("it is broken") }

func TestNotEncoded(t *testing.T) {
	t.Parallel()
	loop := &packed.Link{Name: "loop"}
	loop.Next = loop
	value := small()
	value.Chain = loop
	_, err := packed.EverythingCodec.Encode(&value)
	require.ErrorContains(t, err, "Chain.Next.Next")
	require.ErrorContains(t, err, "it is nested more than 1000 deep, or in itself")

	value = small()
	value.Children = []packed.Everything{small(), {Raw: json.RawMessage(`{`)}}
	_, err = packed.EverythingCodec.Encode(&value)
	require.ErrorContains(t, err, "msgpack: Children[1].Raw: unexpected end of JSON input")

	_, err = msgpack.NewCodec(nil, msgpack.DecodeInt[int]).Encode(new(int))
	require.ErrorContains(t, err, "only read")

	codec := msgpack.NewCodec(msgpack.EncodeJSON[failing], nil)
	_, err = codec.Encode(&failing{})
	require.EqualError(t, err, "msgpack: it is broken")
	require.Equal(t, "msgpack", codec.Name())
}

// vectors are kept for runtimes in other languages.
type vector struct {
	Name  string `json:"name"`
	Bytes string `json:"bytes"`
	// JSON is what the same payload is with codec=json.
	JSON json.RawMessage `json:"json"`
}

const vectorsFile = "../../testdata/wire/msgpack.json"

// TestVectors compares what is written with the vectors that other languages are
// tested on. EMQ_UPDATE=1 writes them anew.
func TestVectors(t *testing.T) {
	t.Parallel()
	empty := packed.Order{Placed: time.Unix(0, 0).UTC()}
	late := packed.Order{ID: -1, Cents: math.MaxInt64, Placed: time.Date(2700, 1, 1, 0, 0, 0, 0, time.UTC), Lines: []packed.Line{}, Labels: map[string]string{}}
	whole := order()
	whole.Placed = noon.Truncate(time.Second)
	var written []vector
	for _, v := range []struct {
		name  string
		order packed.Order
	}{{"order", order()}, {"a whole second", whole}, {"empty", empty}, {"late", late}} {
		data, err := packed.OrderCodec.Encode(&v.order)
		require.NoError(t, err)
		text, err := json.Marshal(v.order)
		require.NoError(t, err)
		written = append(written, vector{v.name, hex.EncodeToString(data), text})
	}
	if os.Getenv("EMQ_UPDATE") != "" {
		text, err := json.MarshalIndent(written, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(vectorsFile, append(text, '\n'), 0o644))
	}
	text, err := os.ReadFile(vectorsFile)
	require.NoError(t, err)
	var kept []vector
	require.NoError(t, json.Unmarshal(text, &kept))
	require.Len(t, kept, len(written))
	for i, v := range kept {
		require.Equal(t, written[i].Bytes, v.Bytes, v.Name)
		require.JSONEq(t, string(written[i].JSON), string(v.JSON), v.Name)
		data, err := hex.DecodeString(v.Bytes)
		require.NoError(t, err)
		var fromBytes, fromJSON packed.Order
		require.NoError(t, packed.OrderCodec.Decode(data, &fromBytes))
		require.NoError(t, json.Unmarshal(v.JSON, &fromJSON))
		require.Equal(t, fromJSON, fromBytes, v.Name)
	}
}

// TestDecodeOwn has types told apart at run time, as for payloads of older versions.
func TestDecodeOwn(t *testing.T) {
	t.Parallel()
	text := func(value string) []byte {
		data, err := library.Marshal(value)
		require.NoError(t, err)
		return data
	}
	var moment packed.Moment
	require.NoError(t, msgpack.NewCodec(nil, msgpack.DecodeOwn[packed.Moment]).Decode(text("2026-11-30T12:00:00.123456789Z"), &moment))
	require.Equal(t, packed.MomentOf(noon), moment)
	var raw json.RawMessage
	rawCodec := msgpack.NewCodec(nil, msgpack.DecodeOwn[json.RawMessage])
	require.NoError(t, rawCodec.Decode(text(`{"a":1}`), &raw))
	require.Equal(t, `{"a":1}`, string(raw))
	require.ErrorContains(t, rawCodec.Decode(text("{"), &raw), "it is no JSON")
	require.ErrorContains(t, rawCodec.Decode([]byte{1}, &raw), "it is an integer")
	require.ErrorContains(t, msgpack.NewCodec(nil, msgpack.DecodeOwn[int]).Decode(text("1"), new(int)), "int does not read itself")
}
