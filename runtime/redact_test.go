package echomq_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func TestRedact(t *testing.T) {
	t.Parallel()
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet", Redact: []string{
		"/email", "/lines/*/iban", "/a~1b/c~0d", "/any/*", "/absent/deep",
	}})
	for payload, want := range map[string]string{
		`{"id":12345678901234567890,"email":"ada@example.com"}`: `{"id":12345678901234567890,"email":"[redacted]"}`,
		`{"EMail":{"address":1},"name":"email"}`:                `{"EMail":"[redacted]","name":"email"}`,
		`{"email":null}`:                                        `{"email":null}`,
		`{"lines":[{"iban":"DE"},{"other":1},null,"x"]}`:        `{"lines":[{"iban":"[redacted]"},{"other":1},null,"x"]}`,
		`{"lines":{"k":{"iban":1}}}`:                            `{"lines":{"k":{"iban":"[redacted]"}}}`,
		`{"a/b":{"c~d":1,"e":2},"a":{"b":3}}`:                   `{"a/b":{"c~d":"[redacted]","e":2},"a":{"b":3}}`,
		`{"any":[1,"x"]}`:                                       `{"any":["[redacted]","[redacted]"]}`,
		`{"absent":7,"lines":"none"}`:                           `{"absent":7,"lines":"none"}`,
		`[]`:                                                    `[]`,
		"\x81\xa5email\xa1x":                                    `"[redacted]"`,
		`{"email":"ada@example.com"`:                            `"[redacted]"`,
		`{} {"email":1}`:                                        `"[redacted]"`,
	} {
		require.JSONEq(t, want, string(job.Redact([]byte(payload))), payload)
	}
	require.Empty(t, job.Redact(nil))
	plain := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "mail", Name: "greet"})
	require.Equal(t, "\x81", string(plain.Redact([]byte("\x81"))))
}
