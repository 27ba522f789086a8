// Package packed holds payloads of codec=msgpack that have a field of every kind,
// for the tests of what is generated for them.
//
//emq:queue name=packed
package packed

import (
	"encoding/json"
	"image"
	"math/big"
	"net/netip"
	"time"
)

//go:generate go run github.com/echomq/echomq-go/cmd/emqgen .

// Everything has a field of each kind.
//
//emq:job codec=msgpack
//emq:result Receipt
//emq:keep logs=5
type Everything struct {
	Base
	*Extra
	Named    Flag `json:"named"`
	Int8     int8
	Int16    int16
	Int32    int32
	Int64    int64 `json:"int64"`
	Int      int
	Uint8    uint8
	Uint16   uint16
	Uint32   uint32
	Uint64   uint64
	Uint     uint `json:"uint,omitempty"`
	F32      float32
	F64      Ratio   `json:"f64,omitzero"`
	Text     string  `json:"text,omitempty"`
	Bytes    []byte  `json:"bytes,omitempty"`
	Sum      [4]byte `json:"sum,omitzero"`
	Raw      json.RawMessage
	Time     time.Time  `json:"time,omitzero"`
	Maybe    *time.Time `json:"maybe,omitempty"`
	Wait     time.Duration
	Big      *big.Int
	Addr     netip.Addr `json:"addr,omitzero"`
	Addrs    map[netip.Addr]int
	Grid     [][]int16
	Triple   [3]Point
	Points   []*Point
	ByName   map[string]Point `json:"byName,omitempty"`
	ByNumber map[int32][]string
	Tags     Tags
	Forest   Tree
	Children []Everything
	Chain    *Link
	Anon     struct{ A, B int }
	Opt      Opt[string]
	OptPoint Opt[Point]
	Alias    Alias
	Foreign  image.Rectangle
	Moment   Moment
	Empty    struct{}
	Flag     bool   `json:"flag,omitempty"`
	Hidden   string `json:"-"`
}

// Base is embedded.
type Base struct {
	ID int64 `json:"baseId"`
}

// Extra is embedded by a pointer.
type Extra struct {
	Note  string `json:"note,omitempty"`
	Count uint8
}

type (
	// Flag has a basic kind, as has Ratio.
	Flag bool
	// Ratio is a number.
	Ratio float64
	// Tags is a list.
	Tags []string
	// Tree contains itself.
	Tree []Tree
	// Alias has two names.
	Alias = Point
)

// Point has all its fields.
type Point struct{ X, Y int }

// Link leads to the next one.
type Link struct {
	Name string
	Next *Link `json:",omitempty"`
}

// Opt is generic.
type Opt[T any] struct {
	Value *T   `json:"value,omitempty"`
	Set   bool `json:"set"`
}

// Moment writes its own text.
type Moment struct{ at time.Time }

// MomentOf returns the moment of a time.
func MomentOf(at time.Time) Moment { return Moment{at.UTC()} }

// MarshalText writes RFC 3339.
func (m Moment) MarshalText() ([]byte, error) { return m.at.MarshalText() }

// UnmarshalText reads RFC 3339.
func (m *Moment) UnmarshalText(text []byte) error { return m.at.UnmarshalText(text) }

// Receipt is a result.
type Receipt struct {
	ID   uint64 `json:"id"`
	Note string `json:"note,omitempty"`
}

// Order is what benchmarks encode: a payload as programs have them.
//
//emq:job codec=msgpack
type Order struct {
	ID       int64             `json:"id"`
	Customer string            `json:"customer"`
	Email    string            `json:"email"`
	Cents    int64             `json:"cents"`
	Placed   time.Time         `json:"placed"`
	Lines    []Line            `json:"lines"`
	Labels   map[string]string `json:"labels"`
	Express  bool              `json:"express"`
}

// Line is a line of an order.
type Line struct {
	SKU   string `json:"sku"`
	Count int32  `json:"count"`
	Cents int64  `json:"cents"`
}

// Digest is unique, and JSON.
//
//emq:job
//emq:unique by=UserID,Day,At until=started for=1h
//emq:retry attempts=4 backoff=fixed base=2s jitter=none
//emq:keep completed=1h,50 failed=none logs=7
type Digest struct {
	UserID int64      `json:"userId"`
	Day    string     `json:"day"`
	At     *time.Time `json:"at,omitempty"`
	Note   string     `json:"note,omitempty"`
}

// EverythingCodec and the others are the codecs, for tests.
var (
	EverythingCodec = EverythingJob().PayloadCodec()
	ReceiptCodec    = EverythingJob().ResultCodec()
	OrderCodec      = OrderJob().PayloadCodec()
)
