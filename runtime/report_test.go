package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// step is a progress.
type step struct {
	Done int `json:"done"`
	Of   int `json:"of"`
}

func texts(lines []echomq.LogLine) []string {
	var all []string
	for _, line := range lines {
		all = append(all, fmt.Sprint(line.Number, " ", line.Text))
	}
	return all
}

// logs returns all lines that are kept of a job.
func (f *fixture) logs(t *testing.T, handle echomq.Handle[string]) []string {
	t.Helper()
	lines, err := handle.Logs(f.ctx, 0)
	require.NoError(t, err)
	return texts(lines)
}

func TestReportsAreSeenElsewhereWhileTheJobRuns(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		told, goOn := make(chan error, 1), make(chan struct{})
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			earlier, found, err := echomq.DecodeProgress[step](job.Envelope.Progress)
			told <- errors.Join(err, job.Log(ctx, fmt.Sprintf("attempt %d found %v %v", job.Attempt(), earlier, found)),
				job.Progress(ctx, step{job.Attempt(), 10}))
			<-goOn
			if job.Attempt() == 1 {
				return "", echomq.RetryAfter(0, errFlaky)
			}
			return "done", nil
		})
		begun := f.serverTime(t)
		handle := f.enqueue(t, "Ada")
		elsewhere, err := f.greet().Handle(f.newClient(t, f.programStore(t)), handle.ID)
		require.NoError(t, err)
		require.NoError(t, receive(t, told, "the first report"))
		progress, found, err := echomq.ReadProgress[step](f.ctx, elsewhere)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, step{1, 10}, progress)
		lines, err := elsewhere.Logs(f.ctx, 0)
		require.NoError(t, err)
		require.Equal(t, []string{"1 attempt 1 found {0 0} false"}, texts(lines))
		require.WithinRange(t, lines[0].Time, begun.Truncate(time.Millisecond), f.serverTime(t))
		require.Equal(t, echomq.StateActive, state(t, f, handle))

		close(goOn)
		require.NoError(t, receive(t, told, "the second report"))
		await(t, f, handle)
		require.Equal(t, []string{"1 attempt 1 found {0 0} false", "2 attempt 2 found {1 10} true"}, f.logs(t, elsewhere))
		encoded, err := elsewhere.Progress(f.ctx)
		require.NoError(t, err)
		require.JSONEq(t, `{"done":2,"of":10}`, string(encoded))
		require.Equal(t, 2, f.envelope(t, handle.ID).LogCount)
	})
}

func TestWhoHasReportedNothing(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		progress, found, err := echomq.ReadProgress[step](f.ctx, handle)
		require.NoError(t, err)
		require.False(t, found)
		require.Zero(t, progress)
		require.Empty(t, f.logs(t, handle))

		_, err = handle.Logs(f.ctx, -1)
		require.ErrorIs(t, err, echomq.ErrOption)
		missing, err := f.greet().Handle(f.client, "nobody")
		require.NoError(t, err)
		_, err = missing.Progress(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMissing)
		_, err = missing.Logs(f.ctx, 0)
		require.ErrorIs(t, err, echomq.ErrJobMissing)
		other, err := echomq.NewJobType[greeting, string](f.jobSpec("other")).Handle(f.client, handle.ID)
		require.NoError(t, err)
		_, err = other.Progress(f.ctx)
		require.ErrorIs(t, err, echomq.ErrJobMismatch)
		_, err = echomq.Handle[string]{}.Progress(f.ctx)
		require.ErrorIs(t, err, echomq.ErrOption)
		_, err = echomq.Handle[string]{}.Logs(f.ctx, 0)
		require.ErrorIs(t, err, echomq.ErrOption)
	})
}

func TestLateReportIsRefused(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		jobs := make(chan *echomq.Job[greeting], 2)
		goOn := make(chan struct{})
		report := func(ctx context.Context, job *echomq.Job[greeting], what string) error {
			return errors.Join(job.Progress(ctx, what), job.Log(ctx, what))
		}
		keep := func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			jobs <- job
			select {
			case <-goOn:
				return "", report(ctx, job, "the second worker")
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		handle := f.enqueue(t, "Ada")
		w := f.work(t, keep, echomq.Lease(shortLease))
		late := receive(t, jobs, "the first worker's job")
		require.NoError(t, report(f.ctx, late, "the first worker"))
		w.Kill()
		w.halt(t)
		require.NoError(t, report(f.ctx, late, "still its job"), "its lease may be renewed yet")
		f.work(t, keep, echomq.Lease(shortLease))
		second := receive(t, jobs, "the second worker's job")
		require.Equal(t, `"still its job"`, string(second.Envelope.Progress))

		err := late.Progress(f.ctx, "too late")
		require.ErrorIs(t, err, echomq.ErrLeaseLost)
		require.ErrorContains(t, err, handle.ID)
		require.ErrorIs(t, late.Log(f.ctx, "too late"), echomq.ErrLeaseLost)
		close(goOn)
		await(t, f, handle)
		require.ErrorIs(t, second.Progress(f.ctx, "after the end"), echomq.ErrLeaseLost)
		require.ErrorIs(t, second.Log(f.ctx, "after the end"), echomq.ErrLeaseLost)

		progress, err := handle.Progress(f.ctx)
		require.NoError(t, err)
		require.Equal(t, `"the second worker"`, string(progress))
		require.Equal(t, []string{"1 the first worker", "2 still its job", "3 the second worker"}, f.logs(t, handle))
	})
}

func TestLogsAreCapped(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		long := strings.Repeat("é", echomq.MaxLogLine)
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			for i := range 5 {
				if err := job.Log(ctx, fmt.Sprintf("line %d\nof %s", i+1, job.Payload.Name)); err != nil {
					return "", err
				}
			}
			return "", job.Log(ctx, long+"\xff")
		})
		keeping := func(lines int) echomq.EnqueueOption { return echomq.Retain(echomq.KeepSpec{Logs: lines}) }
		three, one, none := f.enqueue(t, "Ada", keeping(3)), f.enqueue(t, "Bob", keeping(1)), f.enqueue(t, "Cid", keeping(echomq.NoLogs))
		for _, handle := range []echomq.Handle[string]{three, one, none} {
			await(t, f, handle)
		}
		lines, err := three.Logs(f.ctx, 0)
		require.NoError(t, err)
		require.Len(t, lines, 3)
		require.Equal(t, []string{"4 line 4\nof Ada", "5 line 5\nof Ada"}, texts(lines[:2]))
		require.Equal(t, 6, lines[2].Number)
		require.LessOrEqual(t, len(lines[2].Text), echomq.MaxLogLine)
		require.Regexp(t, "^é+…$", lines[2].Text)

		later, err := three.Logs(f.ctx, 5)
		require.NoError(t, err)
		require.Equal(t, lines[2:], later)
		for _, after := range []int{6, 7, 1000} {
			later, err = three.Logs(f.ctx, after)
			require.NoError(t, err)
			require.Empty(t, later)
		}
		require.Len(t, f.logs(t, one), 1)
		require.Empty(t, f.logs(t, none))

		for _, wrong := range []int{-2, echomq.MaxLogs + 1} {
			_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{}, keeping(wrong))
			require.ErrorIs(t, err, echomq.ErrOption)
		}
	})
}

func TestLogsAreReadInPages(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const kept = 2100
		handle := f.enqueue(t, "Ada")
		lines := make([]any, kept)
		for i := range lines {
			lines[i] = fmt.Sprintf("%d 1700000000000 line", 401+i)
		}
		require.NoError(t, f.store.RPush(f.ctx, f.queue.Key(handle.ID+":logs"), lines...).Err())
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "lgc", 400+kept).Err())
		var sizes []int
		for after := 0; ; {
			page, err := handle.Logs(f.ctx, after)
			require.NoError(t, err)
			sizes = append(sizes, len(page))
			if len(page) == 0 {
				require.Equal(t, 400+kept, after)
				break
			}
			require.Equal(t, max(after, 400)+1, page[0].Number)
			after = page[len(page)-1].Number
		}
		require.Equal(t, []int{1000, 1000, 100, 0}, sizes)
	})
}

func TestNothingIsLeftOfLogsThatAreNotKept(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			return "", errors.Join(job.Log(ctx, "line"), job.Progress(ctx, 1))
		})
		handle := f.enqueue(t, "Ada", echomq.Retain(echomq.KeepSpec{Completed: echomq.Keep{None: true}}))
		_, err := handle.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrNotKept)
		require.NotContains(t, f.keys(t), f.queue.Key(handle.ID+":logs"))
		require.Empty(t, f.logs(t, handle))
	})
}

func TestReportThatCannotBeRecorded(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		failures := make(chan error, 10)
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			failures <- job.Progress(ctx, make(chan int))
			failures <- job.Progress(ctx, strings.Repeat("x", echomq.MaxProgress))
			failures <- job.Progress(ctx, panicky{})
			over, cancel := context.WithCancelCause(ctx)
			cancel(errFlaky)
			failures <- errors.Join(job.Progress(over, 1))
			failures <- job.Log(over, "line")
			return "", job.Progress(ctx, strings.Repeat("x", echomq.MaxProgress-2))
		})
		handle := f.enqueue(t, "Ada")
		await(t, f, handle)
		for range 3 {
			require.ErrorIs(t, <-failures, echomq.ErrProgress)
		}
		for range 2 {
			err := <-failures
			require.ErrorIs(t, err, echomq.ErrNotSent)
			require.ErrorIs(t, err, errFlaky)
		}
		_, _, err := echomq.ReadProgress[step](f.ctx, handle)
		require.ErrorIs(t, err, echomq.ErrProgress, "it is a string")
	})
}

type panicky struct{}

func (panicky) MarshalJSON() ([]byte, error) { panic("hostile") }

func TestReportsFromManyGoroutines(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const each, goroutines = 10, 5
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			failures := make(chan error, 2*each*goroutines)
			var all sync.WaitGroup
			for range goroutines {
				all.Go(func() {
					for range each {
						failures <- job.Log(ctx, "line")
						failures <- job.Progress(ctx, 1)
					}
				})
			}
			all.Wait()
			close(failures)
			for err := range failures {
				if err != nil {
					return "", echomq.Fail(err)
				}
			}
			return "", nil
		}, echomq.Events(echomq.EventsAll))
		handle := f.enqueue(t, "Ada")
		await(t, f, handle)
		lines, err := handle.Logs(f.ctx, 0)
		require.NoError(t, err)
		require.Len(t, lines, each*goroutines)
		for i, line := range lines {
			require.Equal(t, i+1, line.Number)
		}
		announced := 0
		for _, event := range f.events(t, handle.ID) {
			if event == "progress" {
				announced++
			}
		}
		require.GreaterOrEqual(t, announced, 10, "the first ones are told")
		require.Less(t, announced, each*goroutines, "and then not all of what comes at once")
	})
}

// TestLogLineWhoseAnswerIsLost cuts the connection after the store has recorded
// a line: it is sent again, and stands there once.
func TestLogLineWhoseAnswerIsLost(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			return "", errors.Join(job.Log(ctx, "one"), job.Log(ctx, "two"), job.Progress(ctx, 2))
		})
		await(t, f, f.enqueue(t, "first, to load the scripts"))
		log := proxy.CutBeforeReply(first(1, calls("log")))
		progress := proxy.CutBeforeReply(first(1, calls("progress")))
		handle := f.enqueue(t, "Ada")
		await(t, f, handle)
		for _, rule := range []*enginetest.Rule{log, progress} {
			receive(t, rule.Hit(), "the cut")
		}
		require.Equal(t, []string{"1 one", "2 two"}, f.logs(t, handle))
	})
}

func TestReportsOfAJobWithoutAWorker(t *testing.T) {
	t.Parallel()
	job := &echomq.Job[greeting]{Payload: greeting{"Ada"}}
	require.NoError(t, job.Progress(t.Context(), step{1, 2}))
	require.NoError(t, job.Progress(t.Context(), step{2, 2}))
	require.NoError(t, job.Log(t.Context(), "one"))
	require.NoError(t, job.Log(t.Context(), "two"))
	progress, found, err := echomq.DecodeProgress[step](job.Envelope.Progress)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, step{2, 2}, progress)
	require.Equal(t, []string{"one", "two"}, job.Logged())
	require.Equal(t, 2, job.LogCount)

	require.ErrorIs(t, job.Progress(t.Context(), func() {}), echomq.ErrProgress)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, job.Progress(over, 3), context.Canceled)
	require.ErrorIs(t, job.Log(over, "three"), context.Canceled)
	require.Equal(t, []string{"one", "two"}, job.Logged())
}
