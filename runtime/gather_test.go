package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// batchHandler is a handler of many jobs greet.
type batchHandler = func(context.Context, []*echomq.Job[greeting]) ([]string, error)

// gathered is a batch handler that answers every greeting, and remembers the
// batches.
type gathered struct {
	mu    sync.Mutex
	sizes []int
}

func (g *gathered) handle(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sizes = append(g.sizes, len(jobs))
	results := make([]string, len(jobs))
	for i, job := range jobs {
		results[i] = "hello " + job.Payload.Name
	}
	return results, nil
}

func (f *fixture) workBatches(t *testing.T, batch echomq.BatchSpec, handle batchHandler, opts ...echomq.QueueOption) *worker {
	t.Helper()
	opts = append([]echomq.QueueOption{echomq.Batches(f.greet(), batch)}, opts...)
	return f.serve(t, []echomq.Route{echomq.RouteToBatch(f.greet(), handle)}, opts...)
}

func (f *fixture) enqueueMany(t *testing.T, count int, opts ...echomq.BatchOption) []echomq.Handle[string] {
	t.Helper()
	payloads := make([]greeting, count)
	for i := range payloads {
		payloads[i].Name = fmt.Sprint(i)
	}
	outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(payloads...), opts...)
	require.NoError(t, err)
	handles := make([]echomq.Handle[string], count)
	for i := range outcomes {
		require.NoError(t, outcomes[i].Err)
		handles[i] = outcomes[i].Handle
	}
	return handles
}

// A batch is called when it has its size, and what is left over when the first
// of it has waited.
func TestBatchIsFullOrWaited(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var g gathered
		f.workBatches(t, echomq.BatchSpec{Size: 4, Wait: 100 * time.Millisecond}, g.handle, echomq.Concurrency(12))
		for i, handle := range f.enqueueMany(t, 10) {
			require.Equal(t, fmt.Sprintf("hello %d", i), await(t, f, handle))
		}
		slices.Sort(g.sizes)
		require.Equal(t, []int{2, 4, 4}, g.sizes)
		start := time.Now()
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")))
		require.GreaterOrEqual(t, time.Since(start), 100*time.Millisecond)
	})
}

// Each job of a batch has an outcome of its own.
func TestBatchOutcomes(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var runs sync.Map
		f.workBatches(t, echomq.BatchSpec{Size: 4, Wait: 200 * time.Millisecond},
			func(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
				results, each := make([]string, len(jobs)), make(echomq.JobErrors, len(jobs))
				for i, job := range jobs {
					attempt := job.AttemptsStarted
					runs.Store(job.ID, attempt)
					results[i] = fmt.Sprintf("%s, start %d", job.Payload.Name, attempt)
					switch {
					case job.Payload.Name == "1":
						each[i] = echomq.Fail(errors.New("never"))
					case job.Payload.Name == "2" && attempt == 1:
						each[i] = errFlaky
					case job.Payload.Name == "3" && attempt == 1:
						each[i] = echomq.Snooze(time.Millisecond)
					}
				}
				return results, each
			})
		handles := f.enqueueMany(t, 4, echomq.Retry(quick(3)))
		require.Equal(t, "0, start 1", await(t, f, handles[0]))
		require.Equal(t, "never", awaitFailure(t, f, handles[1]).Reason)
		require.Equal(t, "2, start 2", await(t, f, handles[2]))
		require.Equal(t, 2, f.envelope(t, handles[2].ID).AttemptsMade)
		require.Equal(t, "3, start 2", await(t, f, handles[3]))
		require.Equal(t, 1, f.envelope(t, handles[3].ID).AttemptsMade)
	})
}

// A JobErrors that names no error is no failure, nor is a nil one in an error.
func TestBatchWithoutErrors(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.workBatches(t, echomq.BatchSpec{Size: 2, Wait: time.Minute}, func(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
			var none echomq.JobErrors
			if strings.HasPrefix(jobs[0].ID, "short") {
				return []string{"one"}, none
			}
			return []string{jobs[0].Payload.Name, jobs[1].Payload.Name}, none
		})
		first, second := f.enqueue(t, "a"), f.enqueue(t, "b")
		require.Equal(t, "a", await(t, f, first))
		require.Equal(t, "b", await(t, f, second))
		f.enqueue(t, "a", echomq.ID("short.1"))
		failure := awaitFailure(t, f, f.enqueue(t, "b", echomq.ID("short.2")))
		require.Equal(t, "batch handler returned 1 results for 2 jobs", failure.Reason)
	})
}

// What goes wrong with the handler as a whole is every job's.
func TestBatchThatFailsWhole(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		faults := map[string]func() ([]string, error){
			"panic":          func() ([]string, error) { panic("no luck") },
			"Goexit":         func() ([]string, error) { runtime.Goexit(); return nil, nil },
			"error":          func() ([]string, error) { return nil, errFlaky },
			"short results":  func() ([]string, error) { return []string{"one"}, nil },
			"short errors":   func() ([]string, error) { return nil, echomq.JobErrors{echomq.Snooze(time.Hour)} },
			"nothing at all": func() ([]string, error) { return nil, nil },
		}
		wants := map[string]string{
			"panic": "handler panicked: no luck", "Goexit": "handler called runtime.Goexit", "error": "flaky",
			"short results":  "batch handler returned 1 results for 2 jobs",
			"short errors":   "batch handler returned 1 errors for 2 jobs: 1 of 1 jobs of the batch failed",
			"nothing at all": "batch handler returned 0 results for 2 jobs",
		}
		f.workBatches(t, echomq.BatchSpec{Size: 2, Wait: time.Minute}, func(_ context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
			name, _, _ := strings.Cut(jobs[0].ID, ".")
			return faults[strings.ReplaceAll(name, "_", " ")]()
		})
		for name, want := range wants {
			id := strings.ReplaceAll(name, " ", "_")
			first, second := f.enqueue(t, "a", echomq.ID(id+".1"), echomq.Retry(quick(1))), f.enqueue(t, "b", echomq.ID(id+".2"), echomq.Retry(quick(1)))
			for _, handle := range []echomq.Handle[string]{first, second} {
				failure := awaitFailure(t, f, handle)
				require.Equal(t, want, failure.Reason, name)
				if name == "panic" {
					require.Contains(t, failure.Trace[0], "gather_test.go")
				}
			}
		}
	})
}

// A job whose time is over before its batch is called leaves it; the handler's
// context ends when those of all its jobs have.
func TestBatchTimeouts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		causes := make(chan error, 8)
		f.workBatches(t, echomq.BatchSpec{Size: 2, Wait: time.Minute}, func(ctx context.Context, jobs []*echomq.Job[greeting]) ([]string, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return []string{"late", "late"}, nil
		})
		alone := f.enqueue(t, "a", echomq.Timeout(30*time.Millisecond), echomq.Retry(quick(1)))
		require.Contains(t, awaitFailure(t, f, alone).Reason, echomq.ErrTimeout.Error())

		// Added by one call, they are taken by one.
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), []echomq.Item[greeting]{
			{Options: []echomq.EnqueueOption{echomq.Timeout(200 * time.Millisecond)}},
			{Options: []echomq.EnqueueOption{echomq.Timeout(300 * time.Millisecond)}},
		}, echomq.Retry(quick(1)))
		require.NoError(t, err)
		for _, outcome := range outcomes {
			require.Equal(t, "late", await(t, f, outcome.Handle))
			ran := f.envelope(t, outcome.Handle.ID)
			require.GreaterOrEqual(t, int64(ran.FinishedOn-ran.ProcessedOn), int64(290))
		}
		require.ErrorIs(t, <-causes, echomq.ErrTimeout)
	})
}

// A worker that stops calls its handler with what it has; nothing waits for
// others that do not come.
func TestBatchAtStop(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for try := 0; ; try++ {
			var g gathered
			w := f.workBatches(t, echomq.BatchSpec{Size: 100, Wait: time.Hour}, g.handle)
			handles := f.enqueueMany(t, 3, echomq.Timeout(echomq.NoTimeout))
			for _, handle := range handles {
				eventually(t, func() bool { return f.hash(t, handle.ID)["ats"] == "1" }, "the job is started")
			}
			w.halt(t)
			if f.store.LLen(f.ctx, f.queue.Key("wait")).Val() > 0 && try < 5 {
				// On a busy machine the stop came before the answer to the pick, so that
				// they were given back.
				require.NoError(t, f.store.Del(f.ctx, f.queue.Key("wait"), f.queue.Key("marker")).Err())
				continue
			}
			for i, handle := range handles {
				require.Equal(t, fmt.Sprintf("hello %d", i), await(t, f, handle))
			}
			all := 0
			for _, size := range g.sizes { // one that comes as the worker stops is not waited for
				all += size
			}
			require.Equal(t, len(handles), all)
			return
		}
	})
}

func TestBatchWithoutResult(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := echomq.NewJobType[greeting, echomq.None](f.jobSpec("note"))
		f.serve(t, []echomq.Route{echomq.RouteToBatch(job, echomq.NoResults(func(_ context.Context, jobs []*echomq.Job[greeting]) error {
			each := make(echomq.JobErrors, len(jobs))
			for i, job := range jobs {
				if job.Payload.Name == "bad" {
					each[i] = echomq.Fail(errFlaky)
				}
			}
			return each
		}))}, echomq.Batches(job, echomq.BatchSpec{Size: 2}))
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, job, echomq.Items(greeting{"good"}, greeting{"bad"}))
		require.NoError(t, err)
		_, err = outcomes[0].Handle.Await(f.ctx)
		require.NoError(t, err)
		_, err = outcomes[1].Handle.Await(f.ctx)
		require.ErrorContains(t, err, "flaky")
	})
}

func TestBatchSettings(t *testing.T) {
	t.Parallel()
	client := echomq.NewClient(nil)
	job := echomq.NewJobType[greeting, string](echomq.JobSpec{Queue: "q", Name: "greet", Batch: echomq.BatchSpec{Size: 1000}})
	batch := echomq.RouteToBatch(job, (&gathered{}).handle)
	single := echomq.RouteTo(job, hello)
	make := func(route echomq.Route, opts ...echomq.QueueOption) error {
		_, err := echomq.NewWorker(client, nil, echomq.Serve(echomq.QueueSpec{Name: "q"}, []echomq.Route{route}, opts...))
		return err
	}
	// The default concurrency makes room; one that was given does not change.
	require.NoError(t, make(batch))
	require.NoError(t, make(batch, echomq.Concurrency(1000)))
	require.ErrorContains(t, make(batch, echomq.Concurrency(999)), "can never be full")
	require.NoError(t, make(batch, echomq.Concurrency(5), echomq.Batches(job, echomq.BatchSpec{Size: 5})))
	require.ErrorContains(t, make(batch, echomq.Concurrency(0)), "concurrency 0")
	require.ErrorContains(t, make(single, echomq.Batches(job, echomq.BatchSpec{Size: 5})), "is for jobs with a batch handler")
	for _, spec := range []echomq.BatchSpec{{Size: -1}, {Size: 10_001}, {Wait: -1}, {Wait: time.Microsecond}, {Wait: 2 * time.Hour}} {
		require.ErrorIs(t, make(batch, echomq.Batches(job, spec)), echomq.ErrOption, "%+v", spec)
	}
}
