package conformance_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/conformance"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// traffic lets a program use a queue until the test ends, and counts the jobs
// that have run.
func traffic(t *testing.T, e *enginetest.Engine, name string) *atomic.Int64 {
	t.Helper()
	var ran atomic.Int64
	client := echomq.NewClient(e.Client(t), echomq.WithLogger(slog.New(slog.DiscardHandler)))
	spec := echomq.QueueSpec{Name: name}
	job := echomq.NewJobType[string, string](echomq.JobSpec{Queue: name, Name: "greet"})
	worker, err := echomq.NewWorker(client, nil, echomq.Serve(spec, []echomq.Route{
		echomq.RouteTo(job, func(_ context.Context, job *echomq.Job[string]) (string, error) {
			ran.Add(1)
			return job.Payload, nil
		}),
	}))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	worked := make(chan error, 2)
	go func() { worked <- worker.Run(ctx) }()
	go func() {
		producer := echomq.NewProducer(client, spec)
		for ctx.Err() == nil {
			if _, err := echomq.Enqueue(ctx, producer, job, "hello"); err != nil && ctx.Err() == nil {
				worked <- err
				return
			}
		}
		worked <- nil
	}()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-worked)
		assert.NoError(t, <-worked)
		assert.NoError(t, client.Close())
	})
	return &ran
}

// observe watches a queue until enough more has happened since it began to.
func observe(t *testing.T, e *enginetest.Engine, target conformance.Target, happened *atomic.Int64) *conformance.Report {
	t.Helper()
	ctx, stop := context.WithCancel(bounded(t))
	client := e.Client(t)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	waiting.Go(func() {
		defer stop()
		// Reading meta.version is the last step before it only watches.
		watched := func() bool {
			clients := client.ClientList(ctx).Val()
			return strings.Contains(clients, "cmd=monitor") && strings.Contains(clients, "cmd=hget")
		}
		if assert.Eventually(t, watched, patience, poll) {
			enough := happened.Load() + 20
			assert.Eventually(t, func() bool { return happened.Load() >= enough }, patience, poll)
		}
	})
	return conformance.Observe(ctx, target, patience)
}

func TestObserve(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		traffic(t, e, "orders")
		report := observe(t, e, targetOf(t, e.Options(), "payments"), traffic(t, e, "payments"))
		require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
		for _, transition := range report.Steps[0].Transitions {
			assert.Contains(t, transition.Keys[0], "{payments}", "only this queue's")
		}
	}, enginetest.TCP())
}

// TestObserveFindsFaults watches a queue on which a script breaks the rules.
func TestObserveFindsFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		script string
		point  int
	}{
		"an undeclared key":               {`return redis.call('GET', 'emq:{payments}:shadow')`, 4},
		"of a call that declares another": {`redis.call('GET', 'emq:{orders}:x') return redis.call('GET', 'emq:{payments}:x')`, 2},
		"a version":                       {`return redis.call('HSET', KEYS[1], 'version', 'echomq:7')`, 5},
		"a v1 key":                        {`redis.call('GET', KEYS[1] .. 'x') return redis.call('GET', 'bull:payments:id')`, 3},
		"a key without a tag":             {`redis.call('EXISTS', KEYS[1]) return redis.call('SET', 'stray', 1)`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Start(t, enginetest.Valkey)
			client := e.Client(t)
			ctx, stop := context.WithCancel(bounded(t))
			var happened atomic.Int64
			var others sync.WaitGroup
			others.Go(func() {
				for ctx.Err() == nil {
					client.Eval(ctx, test.script, []string{"emq:{payments}:meta"})
					happened.Add(1)
				}
			})
			report := observe(t, e, targetOf(t, e.Options(), "payments"), &happened)
			stop()
			others.Wait()
			assert.Equal(t, conformance.Violates, report.Verdict)
			assert.Equal(t, conformance.Violates, report.Points[test.point-1].Verdict)
			assert.NotNil(t, report.Points[test.point-1].First)
		})
	}
}

// A queue on which nothing happens shows nothing.
func TestObserveOfAnIdleQueue(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Valkey)
	report := conformance.Observe(bounded(t), targetOf(t, e.Options(), "payments"), time.Millisecond)
	assert.Equal(t, conformance.Unknown, report.Verdict)
	assert.Contains(t, report.Reason, "no round trip was seen")
}

// TestObserveWritesNothing counts what an observer sends.
func TestObserveWritesNothing(t *testing.T) {
	t.Parallel()
	e := enginetest.Start(t, enginetest.Valkey)
	ran := traffic(t, e, "payments")
	proxy := enginetest.NewProxy(t, e)
	allowed := []string{"hello", "ping", "info", "monitor", "command", "hget", "echo"}
	other := proxy.CutBeforeRequest(func(command []string) bool {
		info := len(command) == 2 && strings.EqualFold(command[0], "client") && strings.EqualFold(command[1], "info")
		return !info && !slices.Contains(allowed, strings.ToLower(command[0]))
	})
	report := observe(t, e, targetOf(t, proxy.Options(), "payments"), ran)
	require.Equal(t, conformance.Conforms, report.Verdict, report.Reason)
	assert.Zero(t, other.Hits(), "of another command")
	assert.Equal(t, 1, proxy.Count("monitor"))
}
