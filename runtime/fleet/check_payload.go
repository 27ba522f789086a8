package fleet

import (
	"fmt"
	"strings"
)

// mebibyte is the largest payload that a worker takes by default.
const mebibyte = 1 << 20

// payloadChecks carry payloads to the other runtime and back as the result.
var payloadChecks = []check{
	{"unicode", "payloads and results with all sorts of characters", carry(
		`{"text":"grüße, 你好, नमस्ते, 👩‍🚀, \u0000\u001f\u2028\"\\/ <&>","ключ":"שלום","e\u0301":"\ud83d\ude80"}`)},
	{"big integers", "integers beyond 2⁵³, digit for digit", carry(
		`{"uint64":18446744073709551615,"int64":-9223372036854775808,"odd":9007199254740993,"more":[123456789012345678901234567890]}`)},
	{"empty", "empty values, and none", carry(
		`{"text":"","list":[],"object":{},"none":null,"zero":0,"no":false,"":""}`, `null`, `""`, `[]`, `{}`, `0`, `false`)},
	{"nested", "values within values", carry(
		`{"a":[{"b":[[1,[2,{"c":{"d":[null,true,{"e":"f"}]}}]]]},-0.5,1.25e-7]}`, strings.Repeat("[", 100)+strings.Repeat("]", 100))},
	{"1 MiB", "a payload and a result of exactly 1 MiB", carry(long())},
}

// long returns a JSON string of one mebibyte.
func long() string {
	const sample = "0123456789abcdef·é漢🚀"
	text := strings.Repeat(sample, (mebibyte-2)/len(sample))
	return `"` + text + strings.Repeat("x", mebibyte-2-len(text)) + `"`
}

// carry has each payload enqueued by one runtime, seen and returned by the
// other, and read back by the first.
func carry(payloads ...string) func(*bench) {
	return func(b *bench) {
		for i, payload := range payloads {
			id := fmt.Sprintf("payload-%d", i)
			b.enqueue(b.from, Request{ID: id, Payload: payload})
			taken := b.complete(b.to, id, Request{Behaviour: behaveEcho})
			b.equal("name", jobName, taken.Job.Text("name"))
			b.equal("attemptsStarted", int64(1), taken.Job.Number("attemptsStarted"))
			b.same(b.to.name+" sees the payload", payload, taken.Job.Text("data"))
			end := b.result(b.from, id)
			b.equal(b.from.name+" reads the state", "completed", end.State)
			b.same(b.from.name+" reads the result", payload, end.Value)
		}
	}
}
