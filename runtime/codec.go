package echomq

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// Codec encodes and decodes the values of one type, for [JobType.WithCodec]. Its
// methods are called by many goroutines at once. JSON needs none; emqgen writes
// one for each type where a directive says codec=msgpack.
type Codec[T any] interface {
	// Name stands with each job, in its field codec: 1 to 32 of a-z, 0-9 and '-'.
	// A worker that knows no codec of that name gives the job back, unharmed.
	Name() string
	// Encode returns the encoding of a value.
	Encode(value *T) ([]byte, error)
	// Decode decodes into a zero value. An error fails the job at once, its bytes
	// kept: a repetition would not help.
	Decode(data []byte, value *T) error
}

// WithCodec returns the job type with the codecs of its payload and its result,
// which are of one name; result is nil for a job without one. New jobs are
// encoded with them. Jobs that were added as JSON are read all the same, and their
// results written as JSON.
func (t JobType[T, R]) WithCodec(payload Codec[T], result Codec[R]) JobType[T, R] {
	t.codecs = codecs[T, R]{payload, result}
	return t
}

// codecs are those of a job type; nil for JSON.
type codecs[T, R any] struct {
	payload Codec[T]
	result  Codec[R]
}

var codecName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

func (c codecs[T, R]) check() error {
	name := c.name()
	switch {
	case c.payload == nil && c.result != nil:
		return optionError("WithCodec: a result has a codec and the payload has none")
	case c.payload == nil:
		return nil
	case !codecName.MatchString(name) || name == codecJSON:
		return optionError("WithCodec: name %q: it must be 1 to 32 of a-z, 0-9 and '-', and not json", name)
	case c.result != nil && c.result.Name() != name:
		return optionError("WithCodec: the codec of the payload is called %q and that of the result %q", name, c.result.Name())
	}
	return nil
}

// name is the encoding of new jobs, empty for JSON.
func (c codecs[T, R]) name() string {
	if c.payload == nil {
		return ""
	}
	return c.payload.Name()
}

// decodePayload decodes the payload of a job, whose field codec names the
// encoding.
func (c codecs[T, R]) decodePayload(codec string, data []byte) (T, error) {
	encoding, _ := splitCodec(codec)
	return decode(c.payload, encoding, data)
}

// encodeResult encodes the result of a job as its payload was encoded; as JSON if
// that was so in an older version only.
func (c codecs[T, R]) encodeResult(codec string, result R) (data []byte, err error) {
	defer ownPanic(&err)
	if _, none := any(result).(None); none {
		return []byte("null"), nil
	}
	encoding, _ := splitCodec(codec)
	if c.result == nil || c.result.Name() != encoding {
		encoding = ""
	}
	return encode(c.result, encoding, &result)
}

// decodeResult decodes the result of a job.
func decodeResult[R any](result Codec[R], codec string, data []byte) (R, error) {
	encoding, _ := splitCodec(codec)
	if (result == nil || result.Name() != encoding) && json.Valid(data) {
		encoding = ""
	}
	return decode(result, encoding, data)
}

// encode encodes a value in the encoding of that name, empty for JSON.
func encode[T any](codec Codec[T], encoding string, value *T) ([]byte, error) {
	if encoding == "" {
		return json.Marshal(value)
	}
	if codec == nil || codec.Name() != encoding {
		return nil, fmt.Errorf("its encoding is %q, which this program does not know for it", encoding)
	}
	return codec.Encode(value)
}

// decode decodes a value from the encoding of that name, empty for JSON.
func decode[T any](codec Codec[T], encoding string, data []byte) (value T, err error) {
	defer ownPanic(&err)
	switch {
	case len(data) == 0:
		return value, errors.New("it is empty")
	case encoding == "":
		err = json.Unmarshal(data, &value)
	case codec == nil || codec.Name() != encoding:
		err = fmt.Errorf("its encoding is %q, which this program does not know for it", encoding)
	default:
		err = codec.Decode(data, &value)
	}
	return value, err
}

// ownPanic turns what a value's own code panics with into an error.
func ownPanic(err *error) {
	if reason := recover(); reason != nil {
		*err = fmt.Errorf("its own code panicked: %v", reason)
	}
}

// PayloadCodec returns the codec of the payload; nil for JSON.
func (t JobType[T, R]) PayloadCodec() Codec[T] { return t.codecs.payload }

// ResultCodec returns the codec of the result; nil for JSON.
func (t JobType[T, R]) ResultCodec() Codec[R] { return t.codecs.result }
