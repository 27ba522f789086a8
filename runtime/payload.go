package echomq

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Validator is a payload that checks itself: it is validated before anything
// is sent.
type Validator interface{ Validate() error }

// encodePayload validates and encodes a payload. Its errors are [ErrPayload].
func encodePayload[T any](payload T, limit int) (data []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%w: its own code panicked: %v", ErrPayload, reason)
		}
	}()
	validator, ok := any(payload).(Validator)
	if !ok {
		validator, ok = any(&payload).(Validator)
	}
	if ok {
		if err := validator.Validate(); err != nil {
			return nil, fmt.Errorf("%w: it does not validate: %w", ErrPayload, err)
		}
	}
	data, err = json.Marshal(&payload)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be encoded: %w", ErrPayload, err)
	}
	return data, checkSize(data, limit)
}

// checkSize says so if an encoded payload is larger than the limit.
func checkSize(data []byte, limit int) error {
	if limit > 0 && len(data) > limit {
		return fmt.Errorf("%w: it has %d bytes and the limit is %d; store large data elsewhere and send a reference, or set PayloadLimit", ErrPayload, len(data), limit)
	}
	return nil
}

func decodePayload[T any](data []byte) (payload T, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("its own code panicked: %v", reason)
		}
	}()
	if len(data) == 0 {
		return payload, errors.New("it is empty")
	}
	err = json.Unmarshal(data, &payload)
	return payload, err
}

func encodeResult[R any](result R) (data []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("its own code panicked: %v", reason)
		}
	}()
	if _, none := any(result).(None); none {
		return []byte("null"), nil
	}
	return json.Marshal(&result)
}

func decodeResult[R any](data []byte) (result R, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("its own code panicked: %v", reason)
		}
	}()
	err = json.Unmarshal(data, &result)
	return result, err
}
