package echomq

import (
	"fmt"
	"reflect"
)

// Validator is a payload that checks itself: it is validated before anything
// is sent.
type Validator interface{ Validate() error }

// encodePayload validates and encodes a payload. Its errors are [ErrPayload].
func encodePayload[T any](codec Codec[T], payload *T, limit int) (data []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: its own code panicked: %v", ErrPayload, reason)
		}
	}()
	if validator := validatorOf(payload); validator != nil {
		if err := validator.Validate(); err != nil {
			return nil, fmt.Errorf("%w: it does not validate: %w", ErrPayload, err)
		}
	}
	encoding := ""
	if codec != nil {
		encoding = codec.Name()
	}
	data, err = encode(codec, encoding, payload)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be encoded: %w", ErrPayload, err)
	}
	return data, checkSize(data, limit)
}

// validatorOf returns a payload as what checks it, or nil.
func validatorOf[T any](payload *T) Validator {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Pointer, reflect.Interface:
		// A pointer to one of these has none of its methods.
		validator, _ := any(*payload).(Validator)
		return validator
	}
	validator, _ := any(payload).(Validator)
	return validator
}

// checkSize says so if an encoded payload is larger than the limit.
func checkSize(data []byte, limit int) error {
	if limit > 0 && len(data) > limit {
		return fmt.Errorf("%w: it has %d bytes and the limit is %d; store large data elsewhere and send a reference, or set PayloadLimit", ErrPayload, len(data), limit)
	}
	return nil
}
