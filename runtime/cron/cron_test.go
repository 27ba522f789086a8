package cron_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/cron"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loaded, err := cron.Zone(name)
	require.NoError(t, err)
	return loaded
}

// at reads a moment as RFC 3339 has it, without seconds.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	moment, err := time.Parse("2006-01-02T15:04Z07:00", text)
	require.NoError(t, err, text)
	return moment
}

func TestSlots(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		expression, zone, from string
		slots                  []string
	}{
		"each day at nine": {"0 9 * * *", "", "2026-03-01T09:00Z", []string{"2026-03-02T09:00Z", "2026-03-03T09:00Z"}},
		"weekdays, by name": {"30 8 * * mon-fri", "", "2026-07-17T08:29Z",
			[]string{"2026-07-17T08:30Z", "2026-07-20T08:30Z"}},
		"either day, where both are named": {"0 0 13 * fri", "", "2026-11-10T00:00Z",
			[]string{"2026-11-13T00:00Z", "2026-11-20T00:00Z"}},
		"29 February": {"0 0 29 2 *", "", "2026-01-01T00:00Z", []string{"2028-02-29T00:00Z"}},
		"@monthly":    {"@monthly", "", "2026-01-01T00:00Z", []string{"2026-02-01T00:00Z", "2026-03-01T00:00Z"}},
		"another zone": {"0 9 * * *", "Asia/Kolkata", "2026-03-01T00:00Z",
			[]string{"2026-03-01T03:30Z", "2026-03-02T03:30Z"}},

		// On 2026-03-08 New York goes from 02:00 -05:00 to 03:00 -04:00.
		"in the skipped hour, at the change": {"30 2 * * *", "America/New_York", "2026-03-07T02:30-05:00",
			[]string{"2026-03-08T03:00-04:00", "2026-03-09T02:30-04:00"}},
		"several in the skipped hour, one slot": {"0,20,40 2,3 * * *", "America/New_York", "2026-03-07T23:00-05:00",
			[]string{"2026-03-08T03:00-04:00", "2026-03-08T03:20-04:00", "2026-03-08T03:40-04:00", "2026-03-09T02:00-04:00"}},
		"open hours, the skipped one": {"*/30 * * * *", "America/New_York", "2026-03-08T01:00-05:00",
			[]string{"2026-03-08T01:30-05:00", "2026-03-08T03:00-04:00", "2026-03-08T03:30-04:00"}},
		"each hour at half past, the skipped one": {"30 * * * *", "America/New_York", "2026-03-08T01:00-05:00",
			[]string{"2026-03-08T01:30-05:00", "2026-03-08T03:30-04:00"}},
		// On 2026-11-01 it goes from 02:00 -04:00 back to 01:00 -05:00.
		"in the doubled hour, once": {"30 1 * * *", "America/New_York", "2026-10-31T01:30-04:00",
			[]string{"2026-11-01T01:30-04:00", "2026-11-02T01:30-05:00"}},
		"after the doubled hour": {"30 1,2 * * *", "America/New_York", "2026-11-01T01:15-05:00",
			[]string{"2026-11-01T02:30-05:00", "2026-11-02T01:30-05:00"}},
		"open hours, the doubled one": {"*/30 * * * *", "America/New_York", "2026-11-01T01:00-04:00",
			[]string{"2026-11-01T01:30-04:00", "2026-11-01T01:00-05:00", "2026-11-01T01:30-05:00", "2026-11-01T02:00-05:00"}},
		// Lord Howe changes by half an hour: 2026-10-04 from 02:00 +10:30 to 02:30 +11:00.
		"half an hour is skipped": {"10 2 * * *", "Australia/Lord_Howe", "2026-10-03T03:00+10:30",
			[]string{"2026-10-04T02:30+11:00", "2026-10-05T02:10+11:00"}},
		// Midnight did not exist: on 2018-11-04 from 00:00 -03:00 to 01:00 -02:00.
		"no midnight": {"0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00-03:00",
			[]string{"2018-11-04T01:00-02:00", "2018-11-05T00:00-02:00"}},
		// Samoa left out 2011-12-30.
		"no day": {"0 12 * * *", "Pacific/Apia", "2011-12-29T12:00-10:00",
			[]string{"2011-12-31T00:00+14:00", "2011-12-31T12:00+14:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schedule, err := cron.Parse(c.expression, zone(t, c.zone))
			require.NoError(t, err)
			moment, first := at(t, c.from), at(t, c.from)
			for _, want := range c.slots {
				moment = schedule.Next(moment)
				require.Equal(t, at(t, want).UTC(), moment)
				require.Equal(t, moment, schedule.Last(first, moment.Add(time.Millisecond)), "the latest")
			}
		})
	}
}

func TestSecondsCanBeGiven(t *testing.T) {
	t.Parallel()
	schedule, err := cron.Parse("*/20 * * * * *", time.UTC)
	require.NoError(t, err)
	now := at(t, "2026-03-01T09:00Z").Add(1500 * time.Millisecond)
	require.Equal(t, at(t, "2026-03-01T09:00Z").Add(20*time.Second), schedule.Next(now))
}

func TestIntervalsAreTheSameForAll(t *testing.T) {
	t.Parallel()
	schedule, err := cron.Every(10 * time.Minute)
	require.NoError(t, err)
	require.Equal(t, at(t, "2026-03-01T09:10Z"), schedule.Next(at(t, "2026-03-01T09:00Z")))
	require.Equal(t, at(t, "2026-03-01T09:10Z"), schedule.Next(at(t, "2026-03-01T09:09Z")))
	require.Equal(t, at(t, "2026-03-01T09:00Z"), schedule.Last(at(t, "2026-01-01T00:00Z"), at(t, "2026-03-01T09:09Z")))
	require.Zero(t, schedule.Last(at(t, "2026-03-01T09:01Z"), at(t, "2026-03-01T09:09Z")))
	require.Equal(t, at(t, "1969-12-31T23:50Z"), schedule.Next(at(t, "1969-12-31T23:41Z")), "before 1970 too")
}

// TestLastSkipsNothing compares with going through all slots, over the changes
// of a zone, and holds that years of slots are not gone through.
func TestLastSkipsNothing(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"17 3 * * *", "*/7 * * * *", "0 0 1 * *", "30 1 * * sun"} {
		schedule, err := cron.Parse(expression, zone(t, "Europe/Berlin"))
		require.NoError(t, err)
		since := at(t, "2026-01-01T00:00Z")
		last := time.Time{}
		for slot := schedule.Next(since); slot.Before(at(t, "2026-12-01T00:00Z")); slot = schedule.Next(slot) {
			require.True(t, slot.After(last), "slots go forward")
			last = slot
			if slot.Day() == 29 || slot.Day() == 25 {
				require.Equal(t, slot, schedule.Last(since, slot.Add(30*time.Second)), expression)
			}
		}
	}
	dense, err := cron.Parse("* * * * * *", time.UTC)
	require.NoError(t, err)
	now := at(t, "2026-03-01T09:00Z")
	require.Equal(t, now, dense.Last(at(t, "2006-01-01T00:00Z"), now))
	require.Zero(t, dense.Last(now.Add(time.Second), now))
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for expression, reason := range map[string]string{
		"": "empty", " ": "empty", "* * * *": "expected 5 to 6 fields", "60 * * * *": "above maximum",
		"0 0 30 2 *": "never comes", ", * * * *": "empty", "*-3 * * * *": "more than a step", "1,,2 * * * *": "empty", "@every 5m": "interval", "@sometimes": "unrecognized",
		"TZ=UTC 0 9 * * *": "names a time zone", "CRON_TZ=X": "names a time zone", "*/0 * * * *": "positive",
	} {
		_, err := cron.Parse(expression, time.UTC)
		require.ErrorContains(t, err, reason, "%q", expression)
	}
	for _, interval := range []time.Duration{0, -time.Second, 99 * time.Millisecond, 367 * 24 * time.Hour, 100*time.Millisecond + 1} {
		_, err := cron.Every(interval)
		require.Error(t, err, interval)
	}
	for _, name := range []string{"Local", "Europe/Nowhere", "../etc/passwd"} {
		_, err := cron.Zone(name)
		require.Error(t, err, name)
	}
	require.Zero(t, cron.Schedule{}.Next(time.Now()))
}

func FuzzParse(f *testing.F) {
	for _, expression := range []string{"0 9 * * *", "@daily", "*/5 1-3,7 * feb sun", "TZ=", "*-3 * * * *", "1/2/3 * * * *"} {
		f.Add(expression)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		schedule, err := cron.Parse(expression, time.UTC)
		if err != nil {
			return
		}
		from := time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC)
		if next := schedule.Next(from); !next.IsZero() && !next.After(from) {
			t.Fatalf("%q: the slot after %v is %v", expression, from, next)
		}
	})
}
