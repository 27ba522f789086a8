package script_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// BenchmarkScripts measures how long Valkey itself is busy with the scripts that a
// job passes, by its own count (INFO commandstats).
func BenchmarkScripts(b *testing.B) {
	for _, jobs := range []int{1, 16, 100} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			q := newBench(b, enginetest.Start(b, enginetest.Valkey))
			spent := map[string]float64{}
			measure := func(call model.Caller) any {
				require.NoError(b, q.client.ConfigResetStat(b.Context()).Err())
				reply, _ := q.do(b, call)
				spent[call.Call(q.queue).Script.Name] += q.busy(b)
				return reply
			}
			rounds := 0
			data := []byte(`{"id":123456,"sent":0,"text":"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh"}`)
			for b.Loop() {
				rounds++
				add := script.Add{Events: "final", History: 10000}
				for n := range jobs {
					add.Items = append(add.Items, script.AddItem{ID: jobID("r" + strconv.Itoa(rounds) + "-" + strconv.Itoa(n)), Name: "bench", Data: data, Version: 1, Until: "finished"})
				}
				measure(add)
				pick := script.Pick{Events: "final", History: 10000, Token: "worker-name-0123456789:1", Worker: "worker-name",
					Lease: 30000, Want: int64(jobs), Window: int64(jobs), Limit: 1 << 20, Payload: 1 << 20}
				for _, item := range add.Items {
					pick.Items = append(pick.Items, script.PickItem{ID: item.ID})
				}
				picked := measure(pick).(script.PickReply)
				require.Len(b, picked.Started, jobs)
				settle := script.Settle{Events: "final", History: 10000}
				for _, item := range add.Items {
					settle.Items = append(settle.Items, script.SettleItem{ID: item.ID, Token: pick.Token, Outcome: "completed",
						Attempts: 1, Starts: 1, Job: "bench", Keep: true})
				}
				measure(settle)
			}
			for name, microseconds := range spent {
				b.ReportMetric(microseconds/float64(rounds*jobs), name+"-µs/job")
			}
		})
	}
}

// busy returns how many microseconds the server was busy with scripts.
func (b *bench) busy(t testing.TB) float64 {
	t.Helper()
	stats, err := b.client.InfoMap(t.Context(), "commandstats").Result()
	require.NoError(t, err)
	var calls int
	var spent float64
	_, err = fmt.Sscanf(stats["Commandstats"]["cmdstat_evalsha"], "calls=%d,usec=%f", &calls, &spent)
	require.NoError(t, err)
	return spent
}
