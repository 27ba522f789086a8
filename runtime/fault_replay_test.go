package echomq_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestEnqueueWithLostAnswersAddsOneJob counts jobs, not calls.
func TestEnqueueWithLostAnswersAddsOneJob(t *testing.T) {
	t.Parallel()
	engine := startValkey(t)
	enqueue := map[string]func(b *faultBed, p *echomq.Producer) (echomq.Handle[string], error){
		"own id": func(b *faultBed, p *echomq.Producer) (echomq.Handle[string], error) {
			return echomq.Enqueue(b.ctx, p, b.job, chore{})
		},
		"without a deadline": func(b *faultBed, p *echomq.Producer) (echomq.Handle[string], error) {
			return echomq.Enqueue(context.WithoutCancel(b.ctx), p, b.job, chore{})
		},
		"delayed": func(b *faultBed, p *echomq.Producer) (echomq.Handle[string], error) {
			return echomq.Enqueue(b.ctx, p, b.job, chore{}, echomq.In(time.Hour))
		},
		"batch": func(b *faultBed, p *echomq.Producer) (echomq.Handle[string], error) {
			outcomes, err := echomq.EnqueueBatch(b.ctx, p, b.job, echomq.Items(chore{}))
			if err != nil {
				return echomq.Handle[string]{}, err
			}
			return outcomes[0].Handle, outcomes[0].Err
		},
	}
	for name, enqueue := range enqueue {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newFaultBed(t, engine)
			proxy := enginetest.NewProxy(t, b.engine)
			rule := proxy.CutBeforeReply(first(3, calls("add")))
			handle, err := enqueue(b, echomq.NewProducer(b.through(t, proxy.Client(t)), b.spec))
			require.NoError(t, err)
			assert.False(t, handle.Existing, "the job was added by this very call")
			assert.Equal(t, 3, rule.Hits())
			assert.Equal(t, 4, proxy.Count("evalsha"))
			assert.Len(t, b.requireAtRest(t).places, 1)
		})
	}
}

// TestUnknownOutcomeCarriesTheID ends the context while every answer is lost.
func TestUnknownOutcomeCarriesTheID(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	producer := echomq.NewProducer(b.through(t, proxy.Client(t)), b.spec)
	rule := proxy.CutBeforeReply(calls("add"))
	ctx, cancel := context.WithTimeout(b.ctx, 300*time.Millisecond)
	defer cancel()
	_, err := echomq.Enqueue(ctx, producer, b.job, chore{})
	var unknown *echomq.UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
	require.ErrorIs(t, err, echomq.ErrOutcomeUnknown)
	require.Len(t, unknown.IDs, 1)
	require.NotZero(t, rule.Hits())
	rule.Remove()

	handle, err := echomq.Enqueue(b.ctx, producer, b.job, chore{}, echomq.ID(unknown.IDs[0]))
	require.NoError(t, err)
	assert.True(t, handle.Existing)
	assert.Len(t, b.requireAtRest(t).places, 1)
}

// TestCancelledContextEndsTheCallAtOnce: a server that stands still does not
// hold a caller longer than its context.
func TestCancelledContextEndsTheCallAtOnce(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	b.add(t, chore{})
	b.engine.Stop()
	defer b.engine.Cont()
	ctx, cancel := context.WithTimeout(b.ctx, 200*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := echomq.Enqueue(ctx, echomq.NewProducer(b.client, b.spec), b.job, chore{}, echomq.ID("perhaps"))
	assert.Less(t, time.Since(begun), 2*time.Second)
	var unknown *echomq.UnknownOutcomeError
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, []string{"perhaps"}, unknown.IDs)
}

// TestLatePickIsNotForgotten: a pick whose answer did not come is sent again, and
// only then does the first one arrive, over a slower way. What it takes must be
// run by its worker as well, rather than wait for the lease to end.
func TestLatePickIsNotForgotten(t *testing.T) {
	t.Parallel()
	const slots = 4
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	pick := calls("pick")
	var late []any
	picks := 0
	proxy.CutBeforeRequest(func(command []string) bool {
		if !pick(command) || late == nil && wants(command) == "0" {
			return false
		}
		switch picks++; picks {
		case 1:
			for _, argument := range command {
				late = append(late, argument)
			}
			return true
		case 3: // the second was the same once more
			reply, err := b.direct.Do(b.ctx, late...).Slice()
			if assert.NoError(t, err) {
				started, reserved := len(reply[3].([]any))/3, len(reply[4].([]any))
				assert.Positive(t, started+reserved, "the late pick took nothing")
				t.Logf("the late pick started %d jobs and reserved %d", started, reserved)
			}
		}
		return false
	})
	ids := b.addMany(t, 60, chore{Takes: 2 * time.Millisecond})
	w := b.work(t, b.through(t, proxy.Client(t)), echomq.Concurrency(slots))
	begun := time.Now()
	b.drain(t, len(ids))
	assert.Less(t, time.Since(begun), echomq.DefaultLease, "jobs waited for the end of a lease")
	w.stop(t)
	assert.GreaterOrEqual(t, picks, 3)
	assert.LessOrEqual(t, b.ledger.most, slots, "more handlers ran at once than there are slots")
	b.ledger.requireRuns(t, eachOnce(ids))
	b.requireUntouched(t, eachOnce(ids))
	b.requireAtRest(t)
}

// TestSettleWithLostAnswersCountsOnce loses the answers to settles, and looks at
// what they left: one attempt, one event, one entry.
func TestSettleWithLostAnswersCountsOnce(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	rule := proxy.CutBeforeReply(first(4, calls("settle")))
	want := map[string]int{}
	for fails := range 3 {
		want[b.add(t, chore{Fails: fails}).ID] = fails + 1
	}
	w := b.work(t, b.through(t, proxy.Client(t)))
	b.drain(t, len(want))
	b.eventually(t, func() bool { return rule.Hits() == 4 }, "all faults were met")
	w.stop(t)
	b.ledger.requireRuns(t, want)
	b.requireUntouched(t, want)
	b.requireAtRest(t)
	ends := map[any]int{}
	for _, event := range b.direct.XRange(b.ctx, b.queue.Key("events"), "-", "+").Val() {
		if event.Values["event"] == "completed" {
			ends[event.Values["jobId"]]++
		}
	}
	require.Len(t, ends, len(want))
	for id, n := range ends {
		assert.Equal(t, 1, n, "job %v", id)
	}
}

// wants returns how many heads a pick is to pop: its sixth argument.
func wants(pick []string) string {
	keys, _ := strconv.Atoi(pick[2])
	return pick[3+keys+5]
}
