package echomq_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/wire"
)

// repeating serves the job greet, which repeats.
func (f *fixture) repeating(handle handler, spec echomq.ScheduleSpec, payload func(time.Time) (greeting, error)) echomq.Served {
	return echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), handle)}).Repeating(echomq.Repeat(f.greet(), spec, payload))
}

func TestWorkersSetTheSchedulesOfTheirProgram(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		seen := newRuns()
		spec := echomq.ScheduleSpec{Every: 100 * time.Millisecond}
		day := func(slot time.Time) (greeting, error) { return greeting{slot.Format(time.RFC3339Nano)}, nil }
		for range 3 {
			f.run(t, nil, f.repeating(seen.handle, spec, day))
		}
		eventually(t, func() bool { return len(seen.jobs()) >= 3 }, "slots have come")
		require.True(t, f.schedule(t).Computed)
		for id := range seen.jobs() {
			_, slot, ok := wire.ParseSlotID(id)
			require.True(t, ok)
			require.Equal(t, time.UnixMilli(slot).UTC().Format(time.RFC3339Nano), seen.name(id))
		}
	})
}

func TestTwoVersionsOfAProgram(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		fixed := func(name string) func(time.Time) (greeting, error) {
			return func(time.Time) (greeting, error) { return greeting{name}, nil }
		}
		daily := echomq.ScheduleSpec{Cron: "0 9 * * *"}
		hourly := echomq.ScheduleSpec{Cron: "0 * * * *"}
		f.run(t, nil, f.repeating(hello, daily, fixed("old")))
		eventually(t, func() bool { return f.hash(t, "scheduler:greet")["cron"] == "0 9 * * *" }, "it is set")
		f.run(t, nil, f.repeating(hello, hourly, fixed("new")))
		eventually(t, func() bool { return f.schedule(t).Cron == "0 * * * *" }, "the later program has changed it")
		f.run(t, nil, f.repeating(hello, hourly, fixed("new")))
		f.run(t, nil, f.repeating(hello, hourly, fixed("new")))
		require.Equal(t, "0 * * * *", f.schedule(t).Cron)
	})
}

func TestSlotIsLeftToAProgramThatKnowsIt(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		soon := []echomq.WorkerOption{echomq.LeftPause(20 * time.Millisecond)}
		other := echomq.NewJobType[greeting, string](f.jobSpec("other"))
		f.run(t, soon, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(other, hello)}))                 // does not know the job
		f.run(t, soon, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))             // has no payload for it
		f.run(t, soon, f.repeating(hello, echomq.ScheduleSpec{ID: "another", Every: 24 * time.Hour}, nil)) // repeats another
		seen := newRuns()
		var ready atomic.Bool
		spec := echomq.ScheduleSpec{ID: "mine", Every: 100 * time.Millisecond}
		served := f.repeating(seen.handle, spec, func(time.Time) (greeting, error) {
			if !ready.Load() {
				return greeting{}, errors.New("not yet")
			}
			return greeting{"computed"}, nil
		})
		first := f.run(t, soon, served)
		eventually(t, func() bool { return f.hash(t, "scheduler:mine")["name"] == "greet" }, "it is set")
		from := f.mine(t)
		eventually(t, func() bool { return f.serverTime(t).After(from.Add(300 * time.Millisecond)) }, "slots come")
		require.Equal(t, from, f.mine(t), "and wait")
		require.Empty(t, seen.jobs())
		first.halt(t)
		ready.Store(true)
		f.run(t, soon, served)
		eventually(t, func() bool { return len(seen.jobs()) > 0 }, "they come once the payload can be had")
	})
}

// mine returns the slot at which the schedule mine stands.
func (f *fixture) mine(t *testing.T) time.Time {
	t.Helper()
	score, err := f.store.ZScore(f.ctx, f.queue.Key("schedulers"), "mine").Result()
	require.NoError(t, err)
	return time.UnixMilli(int64(score))
}

// TestSlotsComeThoughAScheduleCannotBeSet: those of others wait for nobody.
func TestSlotsComeThoughAScheduleCannotBeSet(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.upsert(t, echomq.ScheduleSpec{ID: "others", Every: 100 * time.Millisecond})
		f.client = f.newClient(t, f.store, echomq.TransformPayloads(mute{sealer{new(atomic.Int64)}}))
		seen := newRuns()
		f.run(t, nil, f.repeating(seen.handle, echomq.ScheduleSpec{Every: 24 * time.Hour}, nil))
		eventually(t, func() bool { return len(seen.jobs()) >= 2 }, "slots have come")
		require.Len(t, must(f.store.ZRange(f.ctx, f.queue.Key("schedulers"), 0, -1).Result()), 1)
	})
}
