package echomq_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestLostAnswersAddEachSlotOnce loses answers of the calls that set a schedule,
// and of every second one that adds a job.
func TestLostAnswersAddEachSlotOnce(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	setting := enginetest.NewProxy(t, b.engine)
	lost := setting.CutBeforeReply(first(2, calls("schedule")))
	producer := echomq.NewProducer(b.through(t, setting.Client(t)), b.spec)
	next, err := echomq.UpsertSchedule(b.ctx, producer, b.job, echomq.ScheduleSpec{ID: "beat", Every: 100 * time.Millisecond}, chore{})
	require.NoError(t, err)
	assert.Equal(t, 2, lost.Hits())
	assert.False(t, next.IsZero())

	var ticks atomic.Int64
	tick := calls("tick")
	for range 2 {
		proxy := enginetest.NewProxy(t, b.engine)
		proxy.CutBeforeReply(func(command []string) bool { return tick(command) && ticks.Add(1)%2 == 1 })
		b.work(t, b.through(t, proxy.Client(t)))
	}
	b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs >= 6 }, "slots have come")
	queue, err := b.client.Queue(b.spec.Name)
	require.NoError(t, err)
	all, err := queue.Schedules(b.ctx)
	require.NoError(t, err)
	require.NoError(t, queue.RemoveSchedule(b.ctx, "beat"))
	assert.GreaterOrEqual(t, ticks.Load(), int64(6))
	b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs >= all[0].Count }, "all have run")
	runs, jobs := b.ledger.count()
	assert.Equal(t, jobs, runs, "each job ran once")
}
