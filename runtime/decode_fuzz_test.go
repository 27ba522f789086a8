package echomq

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzSettings reads what any producer may have stored as a job's opts: the job
// must run with it, within the limits that the scripts take.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", `{"attempts":3,"backoff":{"type":"fixed","base":1000,"jitter":"none"}}`, `{"attempts":-1,"stalls":-1}`,
		`{"timeout":9223372036854775807,"backoff":{"base":-9223372036854775808,"cap":1}}`, `{"keepCompleted":{"age":-1,"count":2000000000},"removeOnFail":true}`,
		`{"keepFailed":{"none":true,"age":9223372036854775807},"kl":9000000,"timeout":-5}`, `[1]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, encoded string) {
		set, _ := decodeSettings(encoded)
		require.GreaterOrEqual(t, set.timeout, NoTimeout)
		require.Positive(t, set.base)
		require.Positive(t, set.cap)
		require.GreaterOrEqual(t, set.stalls, 0)
		require.LessOrEqual(t, set.stalls, maxCount)
		require.GreaterOrEqual(t, set.keepLogs, 0)
		require.LessOrEqual(t, set.keepLogs, MaxLogs)
		for _, keep := range []int{set.keepCompleted.Count, set.keepFailed.Count} {
			require.LessOrEqual(t, keep, maxCount)
		}
		for _, age := range []int64{set.keepCompleted.Age, set.keepFailed.Age} {
			require.LessOrEqual(t, age, int64(maxAge))
		}
	})
}

// FuzzPrepared reads jobs and flows at rest, from an outbox table say: what is
// accepted is written so that it reads the same.
func FuzzPrepared(f *testing.F) {
	const job = `{"queue":"mail","id":"7","name":"Welcome","payloadVersion":1,"data":"e30=","opts":{"a":1},"delayNanoseconds":5,"due":"2026-11-30T12:00:00Z","priority":3,"events":"final","group":"g","unique":{"key":"k","until":"finished","forNanoseconds":5}}`
	f.Add(job)
	f.Add(`{"queue":"mail","id":"7","name":"Welcome","payloadVersion":0}`)
	f.Add(`{"job":` + job + `,"children":[{"policy":"ignore","job":` + job + `},{"policy":"fail","job":` + job + `,"children":[]}]}`)
	f.Fuzz(func(t *testing.T, encoded string) {
		var prepared, again Prepared
		if json.Unmarshal([]byte(encoded), &prepared) == nil && encoded != "null" {
			first, err := json.Marshal(prepared)
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(first, &again), "%s", first)
			second, err := json.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(first), string(second))
		}
		var flow Flow
		if json.Unmarshal([]byte(encoded), &flow) != nil {
			return
		}
		if first, err := json.Marshal(flow); err == nil {
			var again Flow
			require.NoError(t, json.Unmarshal(first, &again), "%s", first)
			second, err := json.Marshal(again)
			require.NoError(t, err)
			require.Equal(t, string(first), string(second))
			_ = flow.check()
		}
	})
}
