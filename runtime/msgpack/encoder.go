package msgpack

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Encoder takes the encoding of one value. After the first error it takes nothing
// more.
type Encoder struct {
	buf    []byte
	levels []level
	err    error
	// room is what the entries of the last map were sorted in.
	room any
}

func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = &Error{Path: path(e.levels), Err: err}
	}
}

var errTooDeep = fmt.Errorf("it is nested more than %d deep, or in itself", MaxDepth)

// enter begins a value that contains others, and reports whether they are to be
// encoded.
func (e *Encoder) enter(kind, count int) bool {
	if e.err != nil {
		return false
	}
	n := len(e.levels)
	if n == MaxDepth {
		e.fail(errTooDeep)
		return false
	}
	if n == cap(e.levels) {
		e.levels = append(e.levels, level{})
	}
	e.levels = e.levels[:n+1]
	l := &e.levels[n]
	l.kind, l.count, l.key, l.name = kind, count, nil, ""
	return true
}

func (e *Encoder) leave() { e.levels = e.levels[:len(e.levels)-1] }

// Struct begins a struct that has at most the given number of fields. It reports
// whether they are to be encoded: each with Key and its value, in the order of
// their names, and then End.
func (e *Encoder) Struct(fields int) bool {
	if !e.enter(ofStruct, 0) {
		return false
	}
	l := &e.levels[len(e.levels)-1]
	l.start, l.want = len(e.buf), fields
	e.mapHeader(fields)
	return true
}

// Key begins a field of a struct.
func (e *Encoder) Key(name string) {
	l := &e.levels[len(e.levels)-1]
	l.count++
	l.name = name
	e.text(name)
}

// text appends a string.
func (e *Encoder) text(s string) {
	if len(s) < fixedString {
		e.buf = append(append(e.buf, fixStr|byte(len(s))), s...)
		return
	}
	e.stringHeader(len(s))
	e.buf = append(e.buf, s...)
}

// End ends a struct.
func (e *Encoder) End() {
	l := &e.levels[len(e.levels)-1]
	e.leave()
	if l.count == l.want || e.err != nil {
		return
	}
	// Fields were left out, so the header is another one, and may be shorter.
	written := len(e.buf)
	e.mapHeader(l.count)
	header := e.buf[written:]
	body := e.buf[l.start+mapHeaderSize(l.want) : written]
	copy(e.buf[l.start:], header)
	n := copy(e.buf[l.start+len(header):], body)
	e.buf = e.buf[:l.start+len(header)+n]
}

// fixedString is the length from which on that of a string has bytes of its own.
const fixedString = 32

func mapHeaderSize(n int) int {
	switch {
	case n < 16:
		return 1
	case n <= math.MaxUint16:
		return 3
	}
	return 5
}

// sized appends the shortest of a header's forms that has room for n. A form of 0
// does not exist.
func (e *Encoder) sized(n int, fixed byte, fixedRoom int, form8, form16, form32 byte) {
	switch {
	case n < fixedRoom:
		e.buf = append(e.buf, fixed|byte(n))
	case n <= math.MaxUint8 && form8 != 0:
		e.buf = append(e.buf, form8, byte(n))
	case n <= math.MaxUint16:
		e.buf = append(e.buf, form16, byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		e.buf = binary.BigEndian.AppendUint32(append(e.buf, form32), uint32(n))
	default:
		e.fail(errors.New("it is longer than 4 GiB"))
	}
}

func (e *Encoder) mapHeader(n int)    { e.sized(n, fixMap, 16, 0, map16, map32) }
func (e *Encoder) listHeader(n int)   { e.sized(n, fixArray, 16, 0, array16, array32) }
func (e *Encoder) stringHeader(n int) { e.sized(n, fixStr, fixedString, str8, str16, str32) }
func (e *Encoder) binHeader(n int)    { e.sized(n, 0, 0, bin8, bin16, bin32) }

func (e *Encoder) null() { e.buf = append(e.buf, codeNil) }

func (e *Encoder) uint(n uint64) {
	switch {
	case n <= 0x7f:
		e.buf = append(e.buf, byte(n))
	case n <= math.MaxUint8:
		e.buf = append(e.buf, uint8Code, byte(n))
	case n <= math.MaxUint16:
		e.buf = append(e.buf, uint16Code, byte(n>>8), byte(n))
	case n <= math.MaxUint32:
		e.buf = binary.BigEndian.AppendUint32(append(e.buf, uint32Code), uint32(n))
	default:
		e.buf = binary.BigEndian.AppendUint64(append(e.buf, uint64Code), n)
	}
}

func (e *Encoder) int(n int64) {
	switch {
	case n >= 0:
		e.uint(uint64(n))
	case n >= -32:
		e.buf = append(e.buf, byte(n))
	case n >= math.MinInt8:
		e.buf = append(e.buf, int8Code, byte(n))
	case n >= math.MinInt16:
		e.buf = append(e.buf, int16Code, byte(n>>8), byte(n))
	case n >= math.MinInt32:
		e.buf = binary.BigEndian.AppendUint32(append(e.buf, int32Code), uint32(n))
	default:
		e.buf = binary.BigEndian.AppendUint64(append(e.buf, int64Code), uint64(n))
	}
}

// EncodeBool encodes a truth value.
func EncodeBool[T ~bool](e *Encoder, v *T) {
	code := byte(codeFalse)
	if *v {
		code = codeTrue
	}
	e.buf = append(e.buf, code)
}

// Signed are the signed integers.
type Signed interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64
}

// Unsigned are the unsigned integers.
type Unsigned interface {
	~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// EncodeInt encodes a signed integer.
func EncodeInt[T Signed](e *Encoder, v *T) { e.int(int64(*v)) }

// EncodeUint encodes an unsigned integer.
func EncodeUint[T Unsigned](e *Encoder, v *T) { e.uint(uint64(*v)) }

// EncodeFloat32 encodes a float32.
func EncodeFloat32[T ~float32](e *Encoder, v *T) {
	bits := math.Float32bits(float32(*v))
	if *v != *v {
		bits = 0x7fc00000
	}
	e.buf = binary.BigEndian.AppendUint32(append(e.buf, float32Code), bits)
}

// EncodeFloat64 encodes a float64.
func EncodeFloat64[T ~float64](e *Encoder, v *T) {
	bits := math.Float64bits(float64(*v))
	if *v != *v {
		bits = 0x7ff8000000000000
	}
	e.buf = binary.BigEndian.AppendUint64(append(e.buf, float64Code), bits)
}

// EncodeString encodes a string.
func EncodeString[T ~string](e *Encoder, v *T) {
	e.text(string(*v))
}

// EncodeBytes encodes bytes.
func EncodeBytes[T ~[]byte](e *Encoder, v *T) {
	if *v == nil {
		e.null()
		return
	}
	EncodeByteArray(e, *v)
}

// EncodeByteArray encodes the bytes of an array.
func EncodeByteArray(e *Encoder, v []byte) {
	e.binHeader(len(v))
	e.buf = append(e.buf, v...)
}

// EncodeTime encodes a moment, to the nanosecond. The location is not a part of
// it.
func EncodeTime(e *Encoder, v *time.Time) {
	seconds, nanos := v.Unix(), uint32(v.Nanosecond())
	switch {
	case seconds>>34 != 0:
		e.buf = append(e.buf, ext8, 12, timeType)
		e.buf = binary.BigEndian.AppendUint32(e.buf, nanos)
		e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(seconds))
	case nanos != 0 || seconds > math.MaxUint32:
		e.buf = append(e.buf, fixExt8, timeType)
		e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(nanos)<<34|uint64(seconds))
	default:
		e.buf = append(e.buf, fixExt4, timeType)
		e.buf = binary.BigEndian.AppendUint32(e.buf, uint32(seconds))
	}
}

// EncodeText encodes what writes itself as text.
func EncodeText[T any, P interface {
	*T
	encoding.TextMarshaler
}](e *Encoder, v *T) {
	if e.err != nil {
		return
	}
	text, err := P(v).MarshalText()
	if err != nil {
		e.fail(err)
		return
	}
	e.stringHeader(len(text))
	e.buf = append(e.buf, text...)
}

// EncodeJSON encodes what writes itself as JSON.
func EncodeJSON[T any, P interface {
	*T
	json.Marshaler
}](e *Encoder, v *T) {
	if e.err != nil {
		return
	}
	text, err := P(v).MarshalJSON()
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, text)
	}
	if err != nil {
		e.fail(err)
		return
	}
	e.stringHeader(compact.Len())
	e.buf = append(e.buf, compact.Bytes()...)
}

// EncodePointer encodes what a pointer leads to.
func EncodePointer[P ~*T, T any](e *Encoder, v *P, elem func(*Encoder, *T)) {
	if *v == nil {
		e.null()
		return
	}
	if e.enter(ofPointer, 0) {
		elem(e, *v)
		e.leave()
	}
}

// EncodeSlice encodes a slice.
func EncodeSlice[S ~[]T, T any](e *Encoder, v *S, elem func(*Encoder, *T)) {
	if *v == nil {
		e.null()
		return
	}
	EncodeArray(e, *v, elem)
}

// EncodeArray encodes the elements of an array.
func EncodeArray[T any](e *Encoder, v []T, elem func(*Encoder, *T)) {
	if !e.enter(ofList, -1) {
		return
	}
	e.listHeader(len(v))
	for i := range v {
		if e.levels[len(e.levels)-1].count = i; e.err != nil {
			break
		}
		elem(e, &v[i])
	}
	e.leave()
}

// EncodeMap encodes a map whose keys have an order.
func EncodeMap[M ~map[K]V, K cmp.Ordered, V any](e *Encoder, v *M, key func(*Encoder, *K), elem func(*Encoder, *V)) {
	if *v == nil {
		e.null()
		return
	}
	if !e.enter(ofMap, 0) {
		return
	}
	e.mapHeader(len(*v))
	type entry struct {
		key   K
		value V
	}
	// The room of the last map is used again, if that was of the same type and not
	// one around this.
	room, fits := e.room.(*[]entry)
	if e.room = nil; !fits {
		room = new([]entry)
	}
	entries := (*room)[:0]
	for k, value := range *v {
		entries = append(entries, entry{k, value})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	for i := range entries {
		at := len(e.buf)
		key(e, &entries[i].key)
		e.at(at)
		elem(e, &entries[i].value)
	}
	if clear(entries); cap(entries) <= keptEntries {
		*room = entries
		e.room = room
	}
	e.leave()
}

// keptEntries is the largest number of entries of a map for which there is room
// kept.
const keptEntries = 64

// at notes the key that was written from the given place on as the current one.
func (e *Encoder) at(place int) { e.levels[len(e.levels)-1].key = e.buf[place:len(e.buf):len(e.buf)] }

// EncodeTextMap encodes a map whose keys write themselves as text.
func EncodeTextMap[M ~map[K]V, K interface {
	comparable
	encoding.TextMarshaler
}, V any](e *Encoder, v *M, elem func(*Encoder, *V)) {
	if *v == nil {
		e.null()
		return
	}
	if !e.enter(ofMap, 0) {
		return
	}
	type entry struct {
		text  []byte
		value V
	}
	entries := make([]entry, 0, len(*v))
	for k, value := range *v {
		text, err := k.MarshalText()
		if err != nil {
			e.fail(err)
			break
		}
		entries = append(entries, entry{text, value})
	}
	slices.SortFunc(entries, func(a, b entry) int { return bytes.Compare(a.text, b.text) })
	e.mapHeader(len(entries))
	for i := range entries {
		at := len(e.buf)
		e.stringHeader(len(entries[i].text))
		e.buf = append(e.buf, entries[i].text...)
		e.at(at)
		if i > 0 && bytes.Equal(entries[i].text, entries[i-1].text) {
			e.fail(errors.New("two keys are written alike"))
		}
		elem(e, &entries[i].value)
	}
	e.leave()
}

// IsZero reports whether a value is its type's zero value.
func IsZero[T comparable](v T) bool {
	var zero T
	return v == zero
}

// IsEmpty reports whether a slice has no elements.
func IsEmpty[S ~[]T, T any](v S) bool { return len(v) == 0 }

// IsEmptyMap reports whether a map has no elements.
func IsEmptyMap[M ~map[K]V, K comparable, V any](v M) bool { return len(v) == 0 }
