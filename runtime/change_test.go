package echomq_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// inTurn starts a worker of one slot that tells the names of the jobs it runs.
func (f *fixture) inTurn(t *testing.T) <-chan string {
	t.Helper()
	names := make(chan string, 100)
	f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		names <- job.Payload.Name
		return "", nil
	}, echomq.Concurrency(1))
	return names
}

func requireOrder(t *testing.T, names <-chan string, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, receive(t, names, "a job"))
	}
	require.Equal(t, want, got)
}

func TestPriorityIsChanged(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handles := map[string]echomq.Handle[string]{}
		for _, name := range []string{"a", "b", "c", "d"} {
			handles[name] = f.enqueue(t, name)
		}
		for _, name := range []string{"p", "q", "r", "s"} {
			handles[name] = f.enqueue(t, name, echomq.Priority(5))
		}
		handles["z"] = f.enqueue(t, "z", echomq.In(time.Hour))
		change := func(name string, priority int) {
			require.NoError(t, handles[name].SetPriority(f.ctx, priority), name)
		}
		change("a", 7)
		change("b", 5)
		change("b", 0) // as it was
		change("c", 5)
		change("q", 0)
		change("r", 9)
		change("s", 3)
		change("z", 2)
		change("d", 0)
		require.Equal(t, echomq.StateWaiting, state(t, f, handles["a"]), "it is told, and not looked for")
		require.Equal(t, 7, f.envelope(t, handles["a"].ID).ChangedPriority)
		require.Equal(t, echomq.StateWaiting, state(t, f, handles["q"]))
		require.Equal(t, 2, f.envelope(t, handles["z"].ID).Priority)
		require.NoError(t, handles["z"].RunNow(f.ctx))
		names := f.inTurn(t)
		var got []string
		for range 9 {
			got = append(got, receive(t, names, "a job"))
		}
		// z comes when the worker has promoted it, which it does beside the others.
		require.Contains(t, got, "z")
		got = slices.DeleteFunc(got, func(name string) bool { return name == "z" })
		require.Equal(t, []string{"b", "d", "q", "s", "p", "c", "a", "r"}, got, "c goes behind those of its new priority")
		for _, handle := range handles {
			await(t, f, handle)
			require.ErrorIs(t, handle.SetPriority(f.ctx, 1), echomq.ErrJobEnded)
		}
		require.Equal(t, 5, f.envelope(t, handles["c"].ID).Priority)
	})
}

func TestReschedule(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		sooner := f.enqueue(t, "sooner", echomq.In(time.Hour))
		later := f.enqueue(t, "later", echomq.In(100*time.Millisecond))
		waiting := f.enqueue(t, "waiting")
		ranked := f.enqueue(t, "ranked", echomq.Priority(1))
		both := f.enqueue(t, "both")
		at := f.serverTime(t).Add(120 * time.Millisecond)
		require.NoError(t, sooner.Reschedule(f.ctx, echomq.At(at)))
		require.NoError(t, later.Reschedule(f.ctx, echomq.In(time.Hour)))
		require.NoError(t, waiting.Reschedule(f.ctx, echomq.At(at)))
		require.NoError(t, ranked.Reschedule(f.ctx, echomq.At(at)))
		require.NoError(t, both.SetPriority(f.ctx, 3))
		require.NoError(t, both.Reschedule(f.ctx, echomq.At(at)))
		require.Equal(t, echomq.StateDelayed, state(t, f, ranked))
		require.Equal(t, echomq.StateWaiting, state(t, f, waiting), "it is told, and not looked for")
		names := f.inTurn(t)
		for _, handle := range []echomq.Handle[string]{sooner, waiting, ranked, both} {
			await(t, f, handle)
			job := f.envelope(t, handle.ID)
			require.False(t, job.ProcessedOn.Time().Before(at), "%s ran at %v and not from %v on", handle.ID, job.ProcessedOn.Time(), at)
			require.Less(t, job.ProcessedOn.Time().Sub(at), time.Second, "a timer fired, and not the fallback")
			require.Zero(t, job.ChangedDue)
			require.Zero(t, job.ChangedPriority)
		}
		require.Len(t, names, 4)
		require.Equal(t, echomq.StateDelayed, state(t, f, later))
		require.NoError(t, later.RunNow(f.ctx))
		await(t, f, later)
		require.ErrorIs(t, later.Reschedule(f.ctx, echomq.In(0)), echomq.ErrJobEnded)
		require.ErrorIs(t, later.RunNow(f.ctx), echomq.ErrJobEnded)
	})
}

// TestRunNowOfAWaitingJob keeps its place, and forgets that it was to wait.
func TestRunNowOfAWaitingJob(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		first, second := f.enqueue(t, "first"), f.enqueue(t, "second")
		require.NoError(t, first.Reschedule(f.ctx, echomq.In(time.Hour)))
		require.NoError(t, first.RunNow(f.ctx))
		require.NoError(t, second.RunNow(f.ctx))
		third := f.enqueue(t, "third", echomq.Priority(1))
		require.NoError(t, third.RunNow(f.ctx))
		requireOrder(t, f.inTurn(t), "first", "second", "third")
	})
}

// TestChangeBetweenAttempts reschedules a retry.
func TestChangeBetweenAttempts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Attempt() == 1 {
				return "", echomq.RetryAfter(time.Hour, errFlaky)
			}
			return fmt.Sprint("priority ", job.Priority), nil
		})
		handle := f.enqueue(t, "Ada")
		reach(t, f, handle, echomq.StateDelayed)
		require.NoError(t, handle.SetPriority(f.ctx, 4))
		require.NoError(t, handle.Reschedule(f.ctx, echomq.In(20*time.Millisecond)))
		require.Equal(t, "priority 4", await(t, f, handle))
	})
}

// TestChangeOfWhatCannotBeChanged leaves everything as it is.
func TestChangeOfWhatCannotBeChanged(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.admin(t)
		running, over := f.patient(t, nil)
		active := f.enqueue(t, "active")
		receive(t, running, "the job")
		cancelled := f.enqueue(t, "cancelled", echomq.In(time.Hour))
		require.NoError(t, queue.Pause(f.ctx), "so that it stays")
		require.NoError(t, cancelled.Cancel(f.ctx, "why"))
		nobody, err := f.greet().Handle(f.client, "nobody")
		require.NoError(t, err)
		stranger, err := f.greet(func(s *echomq.JobSpec) { s.Name = "other" }).Handle(f.client, active.ID)
		require.NoError(t, err)
		for name, change := range map[string]func(echomq.Handle[string]) error{
			"reschedule": func(h echomq.Handle[string]) error { return h.Reschedule(f.ctx, echomq.In(time.Minute)) },
			"run now":    func(h echomq.Handle[string]) error { return h.RunNow(f.ctx) },
			"priority":   func(h echomq.Handle[string]) error { return h.SetPriority(f.ctx, 3) },
		} {
			require.ErrorIs(t, change(active), echomq.ErrJobActive, name)
			err := change(cancelled)
			require.ErrorIs(t, err, echomq.ErrCancelled, name)
			require.ErrorContains(t, err, "cancelled: why", name)
			require.ErrorIs(t, change(nobody), echomq.ErrJobMissing, name)
			require.ErrorIs(t, change(stranger), echomq.ErrJobMismatch, name)
			require.ErrorIs(t, change(echomq.Handle[string]{}), echomq.ErrOption, name)
		}
		for name, err := range map[string]error{
			"negative delay":    active.Reschedule(f.ctx, echomq.In(-time.Second)),
			"year 10000":        active.Reschedule(f.ctx, echomq.At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC))),
			"negative priority": active.SetPriority(f.ctx, -1),
			"huge priority":     active.SetPriority(f.ctx, echomq.MaxPriority+1),
		} {
			require.ErrorIs(t, err, echomq.ErrOption, name)
		}
		require.NoError(t, active.Cancel(f.ctx))
		receive(t, over, "the end of its context")
	})
}

func TestQueueChangesJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue, err := f.client.Queue(f.spec.Name)
		require.NoError(t, err)
		waiting, delayed := f.enqueue(t, "waiting"), f.enqueue(t, "delayed", echomq.In(time.Hour))
		require.NoError(t, f.store.Set(f.ctx, f.queue.Key("broken"), "strange", 0).Err())
		for name, change := range map[string]func(ids ...string) ([]echomq.JobOutcome, error){
			"reschedule": func(ids ...string) ([]echomq.JobOutcome, error) {
				return queue.Reschedule(f.ctx, echomq.In(time.Minute), ids...)
			},
			"priority": func(ids ...string) ([]echomq.JobOutcome, error) { return queue.SetPriority(f.ctx, 3, ids...) },
			"run now":  func(ids ...string) ([]echomq.JobOutcome, error) { return queue.RunNow(f.ctx, ids...) },
		} {
			outcomes, err := change(waiting.ID, "wait", delayed.ID, "nobody", "broken", delayed.ID)
			require.NoError(t, err, name)
			require.Len(t, outcomes, 6, name)
			require.Equal(t, echomq.JobOutcome{ID: waiting.ID}, outcomes[0], name)
			require.ErrorIs(t, outcomes[1].Err, echomq.ErrName, name)
			require.Equal(t, echomq.JobOutcome{ID: delayed.ID}, outcomes[2], name)
			require.ErrorIs(t, outcomes[3].Err, echomq.ErrJobMissing, name)
			require.ErrorIs(t, outcomes[4].Err, echomq.ErrJobQuarantined, name)
			require.Equal(t, echomq.JobOutcome{ID: delayed.ID}, outcomes[5], name)
			outcomes, err = change()
			require.NoError(t, err, name)
			require.Empty(t, outcomes, name)
		}
		_, err = queue.SetPriority(f.ctx, -1, waiting.ID)
		require.ErrorIs(t, err, echomq.ErrOption)
		_, err = queue.Reschedule(f.ctx, echomq.In(-1), waiting.ID)
		require.ErrorIs(t, err, echomq.ErrOption)
		_, err = queue.RunNow(f.ctx, waiting.ID, delayed.ID)
		require.NoError(t, err)
		f.work(t, hello)
		await(t, f, waiting)
		await(t, f, delayed)
		var kinds []echomq.EventKind
		for event, err := range queue.Events(f.ctx, echomq.FromStart()) {
			require.NoError(t, err)
			if event.JobID != delayed.ID {
				continue
			}
			if kinds = append(kinds, event.Kind); event.Kind == echomq.EventCompleted {
				break
			}
		}
		require.Equal(t, []echomq.EventKind{echomq.EventChanged, echomq.EventChanged, echomq.EventChanged, echomq.EventChanged, echomq.EventCompleted}, kinds)

		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		outcomes, err := queue.RunNow(f.ctx, waiting.ID)
		require.ErrorIs(t, err, echomq.ErrVersion)
		require.ErrorIs(t, outcomes[0].Err, echomq.ErrNotSent)
	})
}

// TestParentOfAFlowIsChanged has another priority when its children have ended,
// and no other time.
func TestParentOfAFlowIsChanged(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := f.sibling(t)
		child, err := echomq.Prepare(other.producer, other.greet(), greeting{"child"})
		require.NoError(t, err)
		parent, err := echomq.Prepare(f.producer, f.greet(), greeting{"parent"})
		require.NoError(t, err)
		handle := f.sendFlow(t, echomq.NewFlow(parent, echomq.Child(child)))
		require.ErrorIs(t, handle.Reschedule(f.ctx, echomq.In(time.Hour)), echomq.ErrJobWaitsForChildren)
		require.ErrorIs(t, handle.RunNow(f.ctx), echomq.ErrJobWaitsForChildren)
		require.NoError(t, handle.SetPriority(f.ctx, 6))
		require.Equal(t, echomq.StateWaitingChildren, state(t, f, handle))
		require.Equal(t, 6, f.envelope(t, handle.ID).Priority)
		f.run(t, []echomq.WorkerOption{carryOften()},
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}),
			echomq.Serve(other.spec, []echomq.Route{echomq.RouteTo(other.greet(), hello)}))
		await(t, f, handle)
	})
}

// TestChangesOfAPausedQueue are carried out when it goes on.
func TestChangesOfAPausedQueue(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.admin(t)
		require.NoError(t, queue.Pause(f.ctx))
		names := f.inTurn(t)
		first, second := f.enqueue(t, "first"), f.enqueue(t, "second")
		third := f.enqueue(t, "third", echomq.In(time.Hour))
		fourth := f.enqueue(t, "fourth", echomq.Priority(1))
		require.NoError(t, first.SetPriority(f.ctx, 2))
		require.NoError(t, fourth.SetPriority(f.ctx, 0))
		require.NoError(t, second.SetPriority(f.ctx, 1))
		require.NoError(t, third.SetPriority(f.ctx, 3))
		require.NoError(t, third.RunNow(f.ctx))
		reach(t, f, third, echomq.StatePrioritized)
		require.Empty(t, names)
		require.NoError(t, queue.Resume(f.ctx))
		requireOrder(t, names, "fourth", "second", "first", "third")
	})
}

// TestManyJobsAreChangedAsTheyWait turns a queue around while workers take from it:
// each job runs once.
func TestManyJobsAreChangedAsTheyWait(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue, err := f.client.Queue(f.spec.Name)
		require.NoError(t, err)
		outcomes, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(make([]greeting, 300)...))
		require.NoError(t, err)
		runs := make(chan string, 1000)
		for range 2 {
			f.work(t, func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
				runs <- job.ID
				return "", nil
			}, echomq.Concurrency(5))
		}
		for at := 0; at < len(outcomes); at += 30 {
			var ids []string
			for _, outcome := range outcomes[at : at+30] {
				ids = append(ids, outcome.Handle.ID)
			}
			_, err := queue.SetPriority(f.ctx, at%4, ids...)
			require.NoError(t, err)
			_, err = queue.Reschedule(f.ctx, echomq.In(time.Duration(at%50)*time.Millisecond), ids...)
			require.NoError(t, err)
		}
		seen := map[string]bool{}
		for range outcomes {
			id := receive(t, runs, "a job")
			require.False(t, seen[id], "it runs twice")
			seen[id] = true
		}
		for _, outcome := range outcomes {
			await(t, f, outcome.Handle)
		}
		require.Empty(t, runs)
	})
}
