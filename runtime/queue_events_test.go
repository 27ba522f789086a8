package echomq_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// queueThrough returns the fixture's queue through a client.
func (f *fixture) queueThrough(t *testing.T, client *echomq.Client) *echomq.Queue {
	t.Helper()
	queue, err := client.Queue(f.spec.Name)
	require.NoError(t, err)
	return queue
}

// reading is a loop over events.
type reading struct {
	next func() (echomq.Event, error, bool)
}

// read begins a loop over a queue's events that ends with the test.
func read(t *testing.T, ctx context.Context, queue *echomq.Queue, from echomq.EventPosition) *reading {
	t.Helper()
	next, stop := iter.Pull2(queue.Events(ctx, from))
	t.Cleanup(stop)
	return &reading{next}
}

// event returns the next event.
func (r *reading) event(t *testing.T) echomq.Event {
	t.Helper()
	event, err, ok := r.next()
	require.NoError(t, err)
	require.True(t, ok)
	return event
}

// kinds returns the kinds of the next n events.
func (r *reading) kinds(t *testing.T, n int) []echomq.EventKind {
	t.Helper()
	var kinds []echomq.EventKind
	for range n {
		kinds = append(kinds, r.event(t).Kind)
	}
	return kinds
}

// end requires that an error is the last thing that comes, and returns it.
func (r *reading) end(t *testing.T) error {
	t.Helper()
	event, err, ok := r.next()
	require.True(t, ok)
	require.Error(t, err)
	require.Zero(t, event)
	_, _, ok = r.next()
	require.False(t, ok, "nothing comes after it")
	return err
}

// plantEvents writes events as a script would, with ids of the test's choice.
func (f *fixture) plantEvents(t *testing.T, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, f.store.XAdd(f.ctx, &redis.XAddArgs{
			Stream: f.queue.Key("events"), ID: id, Values: []any{"event", "completed", "jobId", "j" + id},
		}).Err())
	}
}

func TestEventsTellTheLivesOfJobs(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.spec.Events = echomq.EventsAll
		f.producer = echomq.NewProducer(f.client, f.spec)
		elsewhere := f.newClient(t, f.programStore(t))
		events := read(t, f.ctx, f.queueThrough(t, elsewhere), echomq.FromStart())
		before := f.serverTime(t)
		f.run(t, []echomq.WorkerOption{echomq.WorkerName("w")}, echomq.Serve(f.spec, []echomq.Route{
			echomq.RouteTo(f.greet(), func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
				switch {
				case job.AttemptsStarted == 1:
					return "", errors.Join(job.Progress(ctx, step{1, 2}), echomq.RetryAfter(20*time.Millisecond, errFlaky))
				case job.AttemptsStarted == 2:
					return "", echomq.Snooze(0)
				case job.Payload.Name == "bad":
					return "", echomq.Fail(errors.New("no good"))
				}
				return "", nil
			}),
		}))
		handle := f.enqueue(t, "good", echomq.In(20*time.Millisecond))
		await(t, f, handle)
		var got []echomq.Event
		for len(got) == 0 || got[len(got)-1].Kind != echomq.EventCompleted {
			event := events.event(t)
			require.Equal(t, handle.ID, event.JobID)
			require.Equal(t, "greet", event.JobName)
			require.WithinRange(t, event.Time, before.Truncate(time.Millisecond), f.serverTime(t))
			require.NotEmpty(t, event.ID)
			require.Nil(t, event.More)
			event.ID, event.Time, event.JobID, event.JobName = "", time.Time{}, "", ""
			got = append(got, event)
		}
		require.Equal(t, []echomq.Event{
			{Kind: echomq.EventAdded, Delay: 20 * time.Millisecond},
			{Kind: echomq.EventWaiting},
			{Kind: echomq.EventActive, Attempt: 1, Worker: "w"},
			{Kind: echomq.EventProgress, Progress: json.RawMessage(`{"done":1,"of":2}`)},
			{Kind: echomq.EventRetry, Attempt: 1, Reason: "flaky", Delay: 20 * time.Millisecond},
			{Kind: echomq.EventWaiting},
			{Kind: echomq.EventActive, Attempt: 2, Worker: "w"},
			{Kind: echomq.EventSnooze},
			{Kind: echomq.EventActive, Attempt: 2, Worker: "w"},
			{Kind: echomq.EventCompleted, Attempt: 2},
		}, got)

		bad := f.enqueue(t, "bad")
		awaitFailure(t, f, bad)
		for {
			event := events.event(t)
			if event.Kind == echomq.EventFailed {
				require.Equal(t, bad.ID, event.JobID)
				require.Equal(t, "no good", event.Reason)
				require.Equal(t, 2, event.Attempt)
				break
			}
		}
		queue := f.queueThrough(t, f.client)
		require.NoError(t, queue.Pause(f.ctx))
		require.NoError(t, queue.Resume(f.ctx))
		require.Equal(t, []echomq.EventKind{echomq.EventPaused, echomq.EventResumed}, events.kinds(t, 2))
	})
}

func TestEventPositions(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.queueThrough(t, f.client)
		last, err := queue.LastEvent(f.ctx)
		require.NoError(t, err)
		require.Equal(t, "0-0", last, "there is none yet")
		fromEmpty := read(t, f.ctx, queue, echomq.AfterEvent(last))
		f.plantEvents(t, "5-1", "5-2", "1000-0")
		for _, from := range []echomq.EventPosition{{}, echomq.FromStart(), echomq.AfterEvent(""), echomq.AfterEvent("0-0")} {
			events := read(t, f.ctx, queue, from)
			require.Equal(t, "5-1", events.event(t).ID)
			require.Equal(t, time.UnixMilli(5), read(t, f.ctx, queue, from).event(t).Time)
			require.Equal(t, "5-2", events.event(t).ID)
		}
		require.Equal(t, "5-1", fromEmpty.event(t).ID)
		require.Equal(t, "1000-0", read(t, f.ctx, queue, echomq.AfterEvent("5-2")).event(t).ID)
		last, err = queue.LastEvent(f.ctx)
		require.NoError(t, err)
		require.Equal(t, "1000-0", last)

		// From now on, whenever that is: what was there before does not come.
		soon := make(chan string, 1)
		go func() {
			for event, err := range queue.Events(f.ctx, echomq.FromNow()) {
				soon <- fmt.Sprint(event.ID, err)
				return
			}
		}()
		number := 2000
		eventually(t, func() bool {
			number++
			f.plantEvents(t, fmt.Sprintf("%d-0", number))
			return len(soon) > 0
		}, "an event comes")
		require.Regexp(t, "^2...-0<nil>$", receive(t, soon, "the event"))

		for _, wrong := range []string{"x", "1", "1-", "-1", "1-x", "+", "$", "(5-1"} {
			err := read(t, f.ctx, queue, echomq.AfterEvent(wrong)).end(t)
			require.ErrorIs(t, err, echomq.ErrOption, "position %q", wrong)
		}
	})
}

func TestEventsAreResumedWhereTheyWereLeft(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const events = 1100 // more than two pages
		ids := make([]string, events)
		pipe := f.store.Pipeline()
		for i := range ids {
			ids[i] = fmt.Sprintf("%d-%d", 1+i/3, i%3)
			if ids[i] == "1-0" {
				ids[i] = "0-9"
			}
			pipe.XAdd(f.ctx, &redis.XAddArgs{Stream: f.queue.Key("events"), ID: ids[i], Values: []any{"event", "added", "jobId", "a"}})
		}
		_, err := pipe.Exec(f.ctx)
		require.NoError(t, err)
		var got []string
		position := echomq.FromStart()
		for len(got) < events {
			part := 1 + 37*len(got)%400
			for event, err := range f.queueThrough(t, f.client).Events(f.ctx, position) {
				require.NoError(t, err)
				got = append(got, event.ID)
				position = echomq.AfterEvent(event.ID)
				if part--; part == 0 || len(got) == events {
					break
				}
			}
		}
		require.Equal(t, ids, got)
	})
}

func TestTrimmedPositionIsTold(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue, key := f.queueThrough(t, f.client), f.queue.Key("events")
		f.plantEvents(t, "1-0", "2-0", "3-0", "4-0")
		behind := read(t, f.ctx, queue, echomq.FromStart())
		require.Equal(t, "1-0", behind.event(t).ID)
		atTheEdge := read(t, f.ctx, queue, echomq.AfterEvent("3-0"))
		require.NoError(t, f.store.XTrimMinID(f.ctx, key, "3-0").Err())
		require.Equal(t, "4-0", atTheEdge.event(t).ID, "where it stands is kept, so nothing is missing")

		// What was read before it was trimmed still comes; who begins now is told.
		require.Equal(t, "2-0", behind.event(t).ID)
		late := read(t, f.ctx, queue, echomq.AfterEvent("1-0"))
		_, err, _ := late.next()
		require.ErrorIs(t, err, echomq.ErrEventGap)
		var gap *echomq.EventGapError
		require.ErrorAs(t, err, &gap)
		require.Equal(t, echomq.EventGapError{Queue: f.spec.Name, After: "1-0", Before: "3-0"}, *gap)
		require.Equal(t, "3-0", late.event(t).ID, "and gets what is left")
		require.Equal(t, "4-0", late.event(t).ID)
		require.Equal(t, "3-0", read(t, f.ctx, queue, echomq.FromStart()).event(t).ID, "the start is what is kept")

		// The history is deleted, and goes on.
		require.NoError(t, f.store.Del(f.ctx, key).Err())
		f.plantEvents(t, "9-0")
		_, err, _ = late.next()
		require.ErrorIs(t, err, echomq.ErrEventGap)
		require.Equal(t, "9-0", late.event(t).ID)

		// A history that ends before the position, as after a fail-over.
		require.NoError(t, f.store.Del(f.ctx, key).Err())
		f.plantEvents(t, "7-0")
		lost := read(t, f.ctx, queue, echomq.AfterEvent("9-0"))
		_, err, _ = lost.next()
		require.ErrorIs(t, err, echomq.ErrEventGap)
		f.plantEvents(t, "8-0")
		require.Equal(t, "8-0", lost.event(t).ID)

		// A history that is gone.
		require.NoError(t, f.store.Del(f.ctx, key).Err())
		emptied := read(t, f.ctx, queue, echomq.AfterEvent("8-0"))
		_, err, _ = emptied.next()
		require.ErrorIs(t, err, echomq.ErrEventGap)
		f.plantEvents(t, "3-0")
		require.Equal(t, "3-0", emptied.event(t).ID)
	})
}

func TestEventsEnd(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		queue := f.queueThrough(t, f.client)
		f.plantEvents(t, "1-0")
		why := errors.New("enough")
		ctx, cancel := context.WithCancelCause(f.ctx)
		events := read(t, ctx, queue, echomq.FromStart())
		events.event(t)
		ended := make(chan error, 1)
		go func() {
			_, err, _ := events.next()
			ended <- err
		}()
		eventually(t, func() bool { return echomq.Following(f.client, f.spec.Name) == 1 }, "it waits")
		cancel(why)
		require.ErrorIs(t, receive(t, ended, "the end"), why)
		require.Zero(t, echomq.Following(f.client, f.spec.Name), "who has left is not listed")
		require.ErrorIs(t, read(t, ctx, queue, echomq.FromNow()).end(t), why, "its context had ended before")

		client := f.newClient(t, f.store)
		events = read(t, f.ctx, f.queueThrough(t, client), echomq.FromStart())
		events.event(t)
		go func() {
			_, err, _ := events.next()
			ended <- err
		}()
		eventually(t, func() bool { return echomq.Following(client, f.spec.Name) == 1 }, "it waits")
		require.NoError(t, client.Close())
		require.ErrorIs(t, receive(t, ended, "the end"), echomq.ErrClosed)
		require.ErrorIs(t, read(t, f.ctx, f.queueThrough(t, client), echomq.FromStart()).end(t), echomq.ErrClosed)
	})
}

// TestOneConnectionForAllWhoWait: loops and Awaits of a client on a queue share
// one blocking connection.
func TestOneConnectionForAllWhoWait(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		proxy := f.counted(t)
		handle := f.enqueue(t, "Ada")
		proxy.ResetCounts()
		const loops = 5
		var all sync.WaitGroup
		for range loops {
			all.Go(func() {
				for event, err := range f.queueThrough(t, f.client).Events(f.ctx, echomq.FromStart()) {
					assert.NoError(t, err)
					assert.Equal(t, handle.ID, event.JobID)
					return
				}
			})
		}
		eventually(t, func() bool { return echomq.Following(f.client, f.spec.Name) == loops }, "all listen")
		ended := awaiting(f.ctx, handle)
		f.listening(t, handle)
		require.LessOrEqual(t, proxy.Counts()["xread"], 2, "one waits for all, and may have begun once more")
		elsewhere := *f
		elsewhere.client = f.newClient(t, f.store)
		elsewhere.work(t, hello)
		require.NoError(t, receive(t, ended, "the result"))
		all.Wait()
	})
}

// TestEventsThroughOutages cuts and refuses connections while jobs run: every
// event comes once, in order.
func TestEventsThroughOutages(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		const jobs = 60
		proxy := enginetest.NewProxy(t, f.engine)
		reader := f.newClient(t, proxy.Store(t))
		var got []string
		done := make(chan error, 1)
		go func() {
			for event, err := range f.queueThrough(t, reader).Events(f.ctx, echomq.FromStart()) {
				if err != nil {
					done <- err
					return
				}
				got = append(got, event.JobID)
				if len(got) == jobs {
					break
				}
			}
			done <- nil
		}()
		eventually(t, func() bool { return proxy.Count("xread") > 0 }, "it listens")
		f.work(t, hello)
		for i := range jobs {
			switch i % 15 {
			case 4:
				proxy.CutAll()
			case 7:
				proxy.Refuse(true)
				proxy.CutAll()
			case 11:
				proxy.Refuse(false)
			}
			await(t, f, f.enqueue(t, "Ada"))
		}
		require.NoError(t, receive(t, done, "all events"))
		var want []string
		for _, entry := range f.store.XRange(f.ctx, f.queue.Key("events"), "-", "+").Val() {
			want = append(want, entry.Values["jobId"].(string))
		}
		require.Equal(t, want, got)
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(got))), jobs)
	})
}

func TestUnknownEventsAreHandedOn(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.XAdd(f.ctx, &redis.XAddArgs{Stream: f.queue.Key("events"), ID: "5-0", Values: []any{
			"event", "transmogrified", "jobId", "a", "into", "b", "attempt", "x", "delay", "-7", "reason", "caf\xc3",
		}}).Err())
		event := read(t, f.ctx, f.queueThrough(t, f.client), echomq.FromStart()).event(t)
		require.Equal(t, echomq.Event{
			ID: "5-0", Time: time.UnixMilli(5), Kind: "transmogrified", JobID: "a", Reason: "caf",
			More: map[string]string{"into": "b"},
		}, event)
		encoded, err := json.Marshal(event)
		require.NoError(t, err)
		require.Contains(t, string(encoded), `"kind":"transmogrified","jobId":"a"`)
	})
}
