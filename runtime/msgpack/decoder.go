package msgpack

import (
	"encoding/binary"
	"fmt"
)

// Decoder reads one value. After the first error it reads nothing more: every
// value is then zero.
type Decoder struct {
	data   []byte
	pos    int
	levels []level
	err    error
}

func (d *Decoder) fail(format string, arguments ...any) {
	if d.err == nil {
		d.err = &Error{Path: path(d.levels), Err: fmt.Errorf(format, arguments...)}
	}
}

func (d *Decoder) mismatch(code byte, want string) {
	d.fail("it is %s, and not %s", describe(code), want)
}

// code reads the first byte of a value; 0 after an error.
func (d *Decoder) code() byte {
	if d.err != nil {
		return 0
	}
	if d.pos == len(d.data) {
		d.fail("the data ends early")
		return 0
	}
	d.pos++
	return d.data[d.pos-1]
}

// take reads bytes, which are a part of the data; nil after an error.
func (d *Decoder) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n > len(d.data)-d.pos {
		d.fail("the data ends early")
		return nil
	}
	d.pos += n
	return d.data[d.pos-n : d.pos]
}

// number reads an unsigned integer of 1, 2, 4 or 8 bytes.
func (d *Decoder) number(size int) uint64 {
	b := d.take(size)
	if b == nil {
		return 0
	}
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.BigEndian.Uint16(b))
	case 4:
		return uint64(binary.BigEndian.Uint32(b))
	}
	return binary.BigEndian.Uint64(b)
}

// null reports whether nil comes next, which it then reads.
func (d *Decoder) null() bool {
	if d.err == nil && d.pos < len(d.data) && d.data[d.pos] == codeNil {
		d.pos++
		return true
	}
	return false
}

// enter begins a value that contains others.
func (d *Decoder) enter(l level) {
	if d.err == nil && len(d.levels) == MaxDepth {
		d.fail("it is nested more than %d deep", MaxDepth)
	}
	if d.err != nil {
		l.count = 0
	}
	d.levels = append(d.levels, l)
}

func (d *Decoder) leave() { d.levels = d.levels[:len(d.levels)-1] }

// room refuses a length that what is left of the data has no room for, where each
// element takes at least so many bytes.
func (d *Decoder) room(n uint64, least int) int {
	if left := len(d.data) - d.pos; n > uint64(left/least) {
		d.fail("it has %d elements in %d bytes", n, left)
		return 0
	}
	return int(n)
}

func (d *Decoder) mapHeader(want string) int {
	switch code := d.code(); {
	case d.err != nil:
	case code >= fixMap && code < fixArray:
		return d.room(uint64(code&0x0f), 2)
	case code == map16:
		return d.room(d.number(2), 2)
	case code == map32:
		return d.room(d.number(4), 2)
	default:
		d.mismatch(code, want)
	}
	return 0
}

func (d *Decoder) listHeader() int {
	switch code := d.code(); {
	case d.err != nil:
	case code >= fixArray && code < fixStr:
		return d.room(uint64(code&0x0f), 1)
	case code == array16:
		return d.room(d.number(2), 1)
	case code == array32:
		return d.room(d.number(4), 1)
	default:
		d.mismatch(code, "an array")
	}
	return 0
}

// text reads a string, or bytes too, as a part of the data.
func (d *Decoder) text(want string, bytes bool) []byte {
	code := d.code()
	switch {
	case d.err != nil:
		return nil
	case code >= fixStr && code < codeNil:
		return d.take(int(code & 0x1f))
	case code == str8, bytes && code == bin8:
		return d.take(int(d.number(1)))
	case code == str16, bytes && code == bin16:
		return d.take(int(d.number(2)))
	case code == str32, bytes && code == bin32:
		return d.take(int(d.number(4)))
	}
	d.mismatch(code, want)
	return nil
}

// Struct begins a struct. Its fields are read while Next returns true.
func (d *Decoder) Struct() {
	d.enter(level{kind: ofStruct})
	n := d.mapHeader("a struct")
	d.levels[len(d.levels)-1].count = n
}

// Next reports whether the struct has another field, whose value is to be read
// next: into the field that Key names, or with Skip.
func (d *Decoder) Next() bool {
	l := &d.levels[len(d.levels)-1]
	if d.err != nil || l.count == 0 {
		d.leave()
		return false
	}
	l.count--
	l.key = nil
	if l.key = d.text("the name of a field", false); d.err != nil {
		d.leave()
		return false
	}
	return true
}

// Key returns the name of the current field, which the caller must not change.
func (d *Decoder) Key() []byte { return d.levels[len(d.levels)-1].key }

// Skip reads a value of whatever kind and drops it.
func (d *Decoder) Skip() {
	for left := uint64(1); left > 0 && d.err == nil; left-- {
		code := d.code()
		switch {
		case d.err != nil || code < fixMap || code >= negative:
		case code < fixArray:
			left += 2 * uint64(code&0x0f)
		case code < fixStr:
			left += uint64(code & 0x0f)
		case code < codeNil:
			d.take(int(code & 0x1f))
		case code == codeNil, code == codeFalse, code == codeTrue:
		case code >= bin8 && code <= bin32:
			d.take(int(d.number(1 << (code - bin8))))
		case code >= ext8 && code <= ext32:
			d.take(int(d.number(1<<(code-ext8))) + 1)
		case code == float32Code:
			d.take(4)
		case code == float64Code:
			d.take(8)
		case code >= uint8Code && code <= uint64Code:
			d.take(1 << (code - uint8Code))
		case code >= int8Code && code <= int64Code:
			d.take(1 << (code - int8Code))
		case code >= fixExt1 && code <= fixExt16:
			d.take(1<<(code-fixExt1) + 1)
		case code >= str8 && code <= str32:
			d.take(int(d.number(1 << (code - str8))))
		case code == array16:
			left += d.number(2)
		case code == array32:
			left += d.number(4)
		case code == map16:
			left += 2 * d.number(2)
		case code == map32:
			left += 2 * d.number(4)
		default:
			d.mismatch(code, "a value")
		}
	}
}
