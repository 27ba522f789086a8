package msgpack_test

import (
	"encoding/json"
	"image"
	"math"
	"math/big"
	"net/netip"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/packed"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)

// full has something in every field.
func full() packed.Everything {
	huge, _ := new(big.Int).SetString("123456789012345678901234567890", 10)
	text, earlier := "optional", time.Date(1931, 1, 1, 0, 0, 0, 1, time.UTC)
	return packed.Everything{
		Base: packed.Base{ID: 1<<53 + 1}, Extra: &packed.Extra{Note: "note", Count: 255},
		Named: true, Int8: math.MinInt8, Int16: math.MinInt16, Int32: math.MinInt32, Int64: math.MinInt64, Int: -1,
		Uint8: math.MaxUint8, Uint16: math.MaxUint16, Uint32: math.MaxUint32, Uint64: math.MaxUint64, Uint: 7,
		F32: 1.5, F64: -math.MaxFloat64, Text: "Käse \x00 \U0001F9C0", Bytes: []byte{0, 255}, Sum: [4]byte{1, 2, 3, 4},
		Raw: json.RawMessage(`{"a":[1,"<&>"]}`), Time: noon, Maybe: &earlier, Wait: -time.Hour, Big: huge,
		Addr:  netip.MustParseAddr("2001:db8::1"),
		Addrs: map[netip.Addr]int{netip.MustParseAddr("10.0.0.2"): 2, netip.MustParseAddr("10.0.0.10"): 10},
		Grid:  [][]int16{{1, -2}, nil, {}}, Triple: [3]packed.Point{{X: 1}, {Y: 2}, {}}, Points: []*packed.Point{{X: 3}, nil},
		ByName: map[string]packed.Point{"b": {X: 1}, "a": {X: 2}, "": {}}, ByNumber: map[int32][]string{-5: {"x"}, 3: nil, 70000: {}},
		Tags: packed.Tags{"t", ""}, Forest: packed.Tree{{}, {{}, nil}}, Children: []packed.Everything{small()},
		Chain: &packed.Link{Name: "1", Next: &packed.Link{Name: "2"}}, Anon: struct{ A, B int }{1, 2},
		Opt: packed.Opt[string]{Value: &text, Set: true}, OptPoint: packed.Opt[packed.Point]{Value: &packed.Point{Y: 9}},
		Alias: packed.Alias{X: 1}, Foreign: image.Rect(1, 2, 3, 4), Moment: packed.MomentOf(noon), Flag: true,
	}
}

// small has what has no zero value that can be encoded.
func small() packed.Everything {
	return packed.Everything{Raw: json.RawMessage(`null`), Moment: packed.MomentOf(time.Time{})}
}

func order() packed.Order {
	return packed.Order{
		ID: 1234567890123, Customer: "Ada Lovelace", Email: "ada@example.com", Cents: 129900, Placed: noon,
		Lines: []packed.Line{{SKU: "ENGINE-1", Count: 2, Cents: 49900}, {SKU: "CARD-7", Count: 100, Cents: 301}}, Labels: map[string]string{"channel": "web", "campaign": "autumn"},
		Express: true,
	}
}
