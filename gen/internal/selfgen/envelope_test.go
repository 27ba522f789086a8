package main

import (
	"errors"
	"reflect"
	"testing"

	"github.com/echomq/echomq-go/runtime/wire"
)

func TestDecodeEnvelope(t *testing.T) {
	t.Parallel()
	got, err := wire.DecodeEnvelope("a", []string{
		"name", "send", "data", "{}", "atm", "3", "timestamp", "1764432000123", "delay", "-5", "pb", "w", "later", "x",
	})
	want := wire.Envelope{
		ID: "a", Name: "send", Data: []byte("{}"), AttemptsMade: 3, PayloadVersion: 1,
		Timestamp: 1764432000123, Delay: -5, ProcessedBy: "w",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("envelope is\n%+v, %v\nwant\n%+v", got, err, want)
	}
}

func TestDecodeEnvelopeFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		hash []string
		want string
	}{
		{"no number", []string{"atm", "many"}, `job "a": field atm (attemptsMade) is "many" and not a whole number`},
		{"a fraction", []string{"timestamp", "1.5"}, `job "a": field timestamp is "1.5" and not a whole number`},
		{"too large", []string{"ats", "9223372036854775808"}, `job "a": field ats (attemptsStarted) is "9223372036854775808" and not a whole number`},
		{"empty", []string{"ver", ""}, `job "a": field ver (payloadVersion) is "" and not a whole number`},
		{"no value", []string{"name", "send", "atm"}, `job "a": field atm (attemptsMade) has no value`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := wire.DecodeEnvelope("a", test.hash)
			var found *wire.EnvelopeError
			if !errors.As(err, &found) || !errors.Is(err, wire.ErrEnvelope) || err.Error() != test.want {
				t.Errorf("error is %v, want %s", err, test.want)
			}
		})
	}
}

// TestEveryFieldIsDecoded holds the generated code against the declaration: each
// field is set by its wire name, and its names lead to each other.
func TestEveryFieldIsDecoded(t *testing.T) {
	t.Parallel()
	structure := reflect.TypeFor[wire.Envelope]()
	names := wire.EnvelopeFields()
	count := 0
	for field := range structure.Fields() {
		name := field.Tag.Get("wire")
		if name == "" {
			continue
		}
		count++
		envelope, err := wire.DecodeEnvelope("a", []string{name, "7"})
		if err != nil {
			t.Fatal(err)
		}
		if reflect.ValueOf(envelope).FieldByIndex(field.Index).IsZero() {
			t.Errorf("%s is not decoded from %s", field.Name, name)
		}
		if long, ok := wire.LongName(name); ok {
			if back, ok := wire.WireName(long); !ok || back != name {
				t.Errorf("%s leads to %s and that to %q", name, long, back)
			}
		}
	}
	if count != len(names) {
		t.Errorf("%d fields are listed, of %d", len(names), count)
	}
}
