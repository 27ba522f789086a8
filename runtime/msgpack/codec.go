package msgpack

import (
	"errors"
	"sync"
)

// Name is the name of the codec, as it stands with each job.
const Name = "msgpack"

// Codec encodes and decodes the values of one type. Code that emqgen writes makes
// it with [NewCodec].
type Codec[T any] struct {
	encode func(*Encoder, *T)
	decode func(*Decoder, *T)
}

// NewCodec returns the codec of the type that encode and decode are for. Encode is
// nil for one that is only read.
func NewCodec[T any](encode func(*Encoder, *T), decode func(*Decoder, *T)) *Codec[T] {
	return &Codec[T]{encode, decode}
}

// Name returns the name of the codec.
func (*Codec[T]) Name() string { return Name }

var (
	encoders = sync.Pool{New: func() any { return new(Encoder) }}
	decoders = sync.Pool{New: func() any { return new(Decoder) }}
)

// keptBuffer is the largest buffer that an encoder keeps for the next value.
const keptBuffer = 64 << 10

// Encode returns the encoding of a value. The error is an [*Error].
func (c *Codec[T]) Encode(value *T) ([]byte, error) {
	if c.encode == nil {
		return nil, &Error{Err: errors.New("values of an older version are only read")}
	}
	e := encoders.Get().(*Encoder)
	e.buf, e.levels, e.err = e.buf[:0], e.levels[:0], nil
	c.encode(e, value)
	var encoded []byte
	err := e.err
	if err == nil {
		encoded = make([]byte, len(e.buf))
		copy(encoded, e.buf)
	}
	if cap(e.buf) <= keptBuffer {
		encoders.Put(e)
	}
	return encoded, err
}

// Decode decodes data, which holds one value and nothing else, into value. The
// error is an [*Error].
func (c *Codec[T]) Decode(data []byte, value *T) error {
	d := decoders.Get().(*Decoder)
	d.data, d.pos, d.levels, d.err = data, 0, d.levels[:0], nil
	c.decode(d, value)
	if left := len(data) - d.pos; d.err == nil && left > 0 {
		d.fail("%d bytes follow the value", left)
	}
	err := d.err
	d.data = nil
	clear(d.levels[:cap(d.levels)])
	decoders.Put(d)
	return err
}
