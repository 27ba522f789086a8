package script_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// bytesOfAWaitingJob is the most that a job with a payload of 100 bytes and an id
// that was minted may take on Valkey, its share of all the queue's keys included.
// The number is the same on every machine. A change that raises it has to say why.
const bytesOfAWaitingJob = 464

// TestMemoryOfAWaitingJob counts what waiting jobs take, by the engine's own account
// of each key (MEMORY USAGE).
func TestMemoryOfAWaitingJob(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Valkey)
	b := newBench(t, e)
	queue, err := wire.ParseQueue("bench") // its length counts too
	require.NoError(t, err)
	b.queue = queue
	const jobs = 1000
	add := script.Add{Events: "final", History: 10000}
	for n := range jobs {
		add.Items = append(add.Items, script.AddItem{ID: jobID(fmt.Sprintf("019a0000-0000-7000-8000-%012d", n)), Name: "mail",
			Data: []byte(strings.Repeat("x", 100)), Version: 1, Until: "finished"})
		if len(add.Items) == 500 {
			b.do(t, add)
			add.Items = nil
		}
	}
	var total int64
	keys := e.Keys(t, b.queue.Key("*"))
	require.Len(t, keys, jobs+3, "the jobs, meta, wait and the marker")
	for _, key := range keys {
		bytes, err := b.client.MemoryUsage(t.Context(), key, 0).Result()
		require.NoError(t, err)
		total += bytes
	}
	t.Logf("%d bytes in all, %.1f a job", total, float64(total)/jobs)
	require.LessOrEqual(t, total, int64(bytesOfAWaitingJob*jobs))
}
