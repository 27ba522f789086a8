package msgpack

import (
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// DecodeBool decodes a truth value.
func DecodeBool[T ~bool](d *Decoder, v *T) {
	switch code := d.code(); {
	case d.err != nil:
	case code == codeTrue || code == codeFalse:
		*v = code == codeTrue
	default:
		d.mismatch(code, "a truth value")
	}
}

// integer reads a whole number: its 64 bits, and whether it is negative. The code
// is not read again; ok is false where it is of something else.
func (d *Decoder) integer(code byte) (bits uint64, less, ok bool) {
	switch {
	case code < fixMap:
		return uint64(code), false, true
	case code >= negative:
		return uint64(int64(int8(code))), true, true
	case code >= uint8Code && code <= uint64Code:
		return d.number(1 << (code - uint8Code)), false, true
	case code == int8Code:
		n := int64(int8(d.number(1)))
		return uint64(n), n < 0, true
	case code == int16Code:
		n := int64(int16(d.number(2)))
		return uint64(n), n < 0, true
	case code == int32Code:
		n := int64(int32(d.number(4)))
		return uint64(n), n < 0, true
	case code == int64Code:
		n := int64(d.number(8))
		return uint64(n), n < 0, true
	}
	return 0, false, false
}

// DecodeInt decodes a signed integer.
func DecodeInt[T Signed](d *Decoder, v *T) {
	code := d.code()
	if d.err != nil {
		return
	}
	bits, less, ok := d.integer(code)
	n := T(bits)
	switch {
	case !ok:
		d.mismatch(code, "an integer")
	case d.err != nil:
	case less && int64(n) != int64(bits):
		d.fail("%d is out of the range of %T", int64(bits), n)
	case !less && (n < 0 || uint64(n) != bits):
		d.fail("%d is out of the range of %T", bits, n)
	default:
		*v = n
	}
}

// DecodeUint decodes an unsigned integer.
func DecodeUint[T Unsigned](d *Decoder, v *T) {
	code := d.code()
	if d.err != nil {
		return
	}
	bits, less, ok := d.integer(code)
	n := T(bits)
	switch {
	case !ok:
		d.mismatch(code, "an integer")
	case d.err != nil:
	case less:
		d.fail("%d is out of the range of %T", int64(bits), n)
	case uint64(n) != bits:
		d.fail("%d is out of the range of %T", bits, n)
	default:
		*v = n
	}
}

// float reads a floating-point number, or an integer that is one exactly.
func (d *Decoder) float() (float64, bool) {
	code := d.code()
	switch {
	case d.err != nil:
		return 0, false
	case code == float32Code:
		return float64(math.Float32frombits(uint32(d.number(4)))), d.err == nil
	case code == float64Code:
		return math.Float64frombits(d.number(8)), d.err == nil
	}
	bits, less, ok := d.integer(code)
	if !ok {
		d.mismatch(code, "a number")
		return 0, false
	}
	n, size := float64(bits), bits
	if less {
		n, size = float64(int64(bits)), -bits
	}
	if size > 1<<53 {
		d.fail("%.0f is an integer that need not be exact as a floating-point number", n)
	}
	return n, d.err == nil
}

// DecodeFloat32 decodes a float32, rounding one of more digits.
func DecodeFloat32[T ~float32](d *Decoder, v *T) {
	n, ok := d.float()
	switch {
	case !ok:
	case math.IsInf(float64(float32(n)), 0) && !math.IsInf(n, 0):
		d.fail("%v is out of the range of %T", n, *v)
	default:
		*v = T(n)
	}
}

// DecodeFloat64 decodes a float64.
func DecodeFloat64[T ~float64](d *Decoder, v *T) {
	if n, ok := d.float(); ok {
		*v = T(n)
	}
}

// DecodeString decodes a string.
func DecodeString[T ~string](d *Decoder, v *T) {
	if text := d.text("a string", false); d.err == nil {
		*v = T(text)
	}
}

// DecodeBytes decodes bytes.
func DecodeBytes[T ~[]byte](d *Decoder, v *T) {
	if d.null() {
		*v = nil
		return
	}
	if data := d.text("bytes", true); d.err == nil {
		*v = append(make(T, 0, len(data)), data...)
	}
}

// DecodeByteArray decodes the bytes of an array.
func DecodeByteArray(d *Decoder, v []byte) {
	data := d.text("bytes", true)
	switch {
	case d.err != nil:
	case len(data) != len(v):
		d.fail("it has %d bytes, and not %d", len(data), len(v))
	default:
		copy(v, data)
	}
}

// DecodeTime decodes a moment. Its location is UTC.
func DecodeTime(d *Decoder, v *time.Time) {
	code := d.code()
	var size int
	switch {
	case d.err != nil:
		return
	case code == fixExt4:
		size = 4
	case code == fixExt8:
		size = 8
	case code == ext8:
		if size = int(d.number(1)); size != 12 && d.err == nil {
			d.fail("it is an extension of %d bytes, and not a time", size)
		}
	case code >= fixStr && code < codeNil || code == str8:
		d.pos--
		if err := v.UnmarshalText(d.text("a time", false)); err != nil {
			d.fail("%w", err)
			return
		}
		*v = v.UTC()
		return
	default:
		d.mismatch(code, "a time")
		return
	}
	if kind := d.number(1); kind != timeType {
		d.fail("it is extension %d, and not a time", int8(kind))
	}
	var seconds int64
	var nanos uint64
	switch data := d.take(size); {
	case d.err != nil:
		return
	case size == 4:
		seconds = int64(binary.BigEndian.Uint32(data))
	case size == 8:
		both := binary.BigEndian.Uint64(data)
		nanos, seconds = both>>34, int64(both&(1<<34-1))
	default:
		nanos, seconds = uint64(binary.BigEndian.Uint32(data)), int64(binary.BigEndian.Uint64(data[4:]))
	}
	if nanos > 999_999_999 {
		d.fail("a time has %d nanoseconds", nanos)
		return
	}
	*v = time.Unix(seconds, int64(nanos)).UTC()
}

// DecodeText decodes what reads itself from text.
func DecodeText[T any, P interface {
	*T
	encoding.TextUnmarshaler
}](d *Decoder, v *T) {
	text := d.text("a string", false)
	if d.err != nil {
		return
	}
	if err := P(v).UnmarshalText(text); err != nil {
		d.fail("%w", err)
	}
}

// DecodeJSON decodes what reads itself from JSON.
func DecodeJSON[T any, P interface {
	*T
	json.Unmarshaler
}](d *Decoder, v *T) {
	text := d.text("a string of JSON", false)
	if d.err != nil {
		return
	}
	if !json.Valid(text) {
		d.fail("it is no JSON")
		return
	}
	if err := P(v).UnmarshalJSON(text); err != nil {
		d.fail("%w", err)
	}
}

// DecodeOwn decodes what reads itself: from JSON if it writes JSON, and else from
// text.
func DecodeOwn[T any](d *Decoder, v *T) {
	text := d.text("a string", false)
	if d.err != nil {
		return
	}
	var err error
	_, asJSON := any(v).(json.Marshaler)
	fromJSON, readsJSON := any(v).(json.Unmarshaler)
	fromText, readsText := any(v).(encoding.TextUnmarshaler)
	switch {
	case asJSON && readsJSON && !json.Valid(text):
		err = errors.New("it is no JSON")
	case asJSON && readsJSON:
		err = fromJSON.UnmarshalJSON(text)
	case readsText:
		err = fromText.UnmarshalText(text)
	default:
		err = fmt.Errorf("%T does not read itself", *v)
	}
	if err != nil {
		d.fail("%w", err)
	}
}

// DecodePointer decodes what a pointer is to lead to.
func DecodePointer[P ~*T, T any](d *Decoder, v *P, elem func(*Decoder, *T)) {
	if d.null() {
		*v = nil
		return
	}
	if d.enter(level{kind: ofPointer}); d.err == nil {
		*v = new(T)
		elem(d, *v)
	}
	d.leave()
}

// Made returns what a pointer leads to, and makes it where there is nothing.
func Made[P ~*T, T any](v *P) *T {
	if *v == nil {
		*v = new(T)
	}
	return *v
}

// firstChunk is how many elements are made room for before any was read.
const firstChunk = 256

// DecodeSlice decodes a slice.
func DecodeSlice[S ~[]T, T any](d *Decoder, v *S, elem func(*Decoder, *T)) {
	if d.null() {
		*v = nil
		return
	}
	d.enter(level{kind: ofList, count: -1})
	n := d.listHeader()
	made := make(S, 0, min(n, firstChunk))
	for i := 0; i < n && d.err == nil; i++ {
		d.levels[len(d.levels)-1].count = i
		var zero T
		made = append(made, zero)
		elem(d, &made[i])
	}
	d.leave()
	*v = made
}

// DecodeArray decodes the elements of an array.
func DecodeArray[T any](d *Decoder, v []T, elem func(*Decoder, *T)) {
	d.enter(level{kind: ofList, count: -1})
	n := d.listHeader()
	if n != len(v) && d.err == nil {
		d.fail("it has %d elements, and not %d", n, len(v))
	}
	for i := 0; i < n && d.err == nil; i++ {
		d.levels[len(d.levels)-1].count = i
		elem(d, &v[i])
	}
	d.leave()
}

// DecodeMap decodes a map.
func DecodeMap[M ~map[K]V, K comparable, V any](d *Decoder, v *M, key func(*Decoder, *K), elem func(*Decoder, *V)) {
	if d.null() {
		*v = nil
		return
	}
	d.enter(level{kind: ofMap})
	n := d.mapHeader("a map")
	made := make(M, min(n, firstChunk))
	var k, noKey K
	var value, noValue V
	for ; n > 0 && d.err == nil; n-- {
		at := d.pos
		d.levels[len(d.levels)-1].key = nil
		k, value = noKey, noValue
		key(d, &k)
		if d.err != nil {
			break
		}
		d.levels[len(d.levels)-1].key = d.data[at:d.pos]
		if _, twice := made[k]; twice {
			d.fail("the key stands there twice")
		}
		elem(d, &value)
		made[k] = value
	}
	d.leave()
	*v = made
}
