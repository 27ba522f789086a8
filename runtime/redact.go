package echomq

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// RedactedText stands in the place of what [JobType.Redact] hides.
const RedactedText = "[redacted]"

// Redact returns a payload of the job, as it is in a job's record, without the
// values of the fields that are tagged emq:"redact", for whoever prints it. It is
// JSON. A payload of a job that has such fields and that is not JSON is hidden
// whole: one that is sealed, or of another codec.
func (t JobType[T, R]) Redact(data []byte) []byte {
	if len(t.spec.Redact) == 0 || len(data) == 0 {
		return data
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // whole numbers stay exact
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		return []byte(`"` + RedactedText + `"`)
	}
	for _, pointer := range t.spec.Redact {
		value = redact(value, strings.Split(strings.TrimPrefix(pointer, "/"), "/"))
	}
	redacted, err := json.Marshal(value)
	if err != nil {
		return []byte(`"` + RedactedText + `"`)
	}
	return redacted
}

// hide returns the error of a payload that does not decode, which is kept and
// logged, without the value: of a job that has redacted fields it may be one.
func (t JobType[T, R]) hide(err error) error {
	var typed *json.UnmarshalTypeError
	if len(t.spec.Redact) == 0 || !errors.As(err, &typed) {
		return err
	}
	hidden := *typed
	hidden.Value, _, _ = strings.Cut(typed.Value, " ")
	return &hidden
}

// unescape reads a name of a JSON Pointer (RFC 6901).
var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// redact hides what the names lead to.
func redact(value any, names []string) any {
	if len(names) == 0 {
		if value == nil {
			return nil
		}
		return RedactedText
	}
	name, rest := names[0], names[1:]
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			// encoding/json reads names of any case.
			if name == "*" || strings.EqualFold(key, unescape.Replace(name)) {
				value[key] = redact(inner, rest)
			}
		}
	case []any:
		if name == "*" {
			for i := range value {
				value[i] = redact(value[i], rest)
			}
		}
	}
	return value
}
