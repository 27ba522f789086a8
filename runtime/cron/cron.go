// Package cron reads when something repeats, a cron expression in a time zone or
// a fixed interval, and tells the moments that follow: the slots.
//
// # Expressions
//
// An expression has the five fields of crontab(5): minute, hour, day of month,
// month and day of week; or six, with the second before them; or it is one of
// @yearly, @monthly, @weekly, @daily and @hourly. Fields take *, lists, ranges,
// steps and the English names of months and days. Where both days are
// restricted, either may match.
//
// # When clocks change
//
// An expression whose hour is open (*, or none as in @hourly) goes by the time
// that passes: every ten minutes stays every ten minutes. One that names hours
// goes by the clock on the wall, and runs once a day for each of them: a slot
// that falls into the hour which is skipped in spring runs at the moment of the
// change, and one that falls into the hour which comes twice in autumn runs the
// first time only.
//
// Intervals know no zone: their slots are the multiples of the interval since
// 1970-01-01 00:00 UTC, so that every process has the same ones.
package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// The bounds of an interval.
const (
	MinEvery = 100 * time.Millisecond
	MaxEvery = 366 * 24 * time.Hour
)

// MaxExpression is how many bytes an expression may have.
const MaxExpression = 255

// Schedule is a sequence of slots. The zero Schedule has none.
type Schedule struct {
	every time.Duration
	spec  *cron.SpecSchedule // in UTC: of the clock on the wall
	zone  *time.Location
	fixed bool // the expression names hours
}

var parser = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// openHour is the bit by which the parser marks a field that is open.
const openHour = 1 << 63

// reference is a moment from which an expression that ever matches does so
// within the five years that the parser's library looks ahead: 29 February
// comes once in them.
var reference = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Parse returns the schedule of a cron expression in a time zone.
func Parse(expression string, zone *time.Location) (Schedule, error) {
	text := strings.TrimSpace(expression)
	switch {
	case text == "":
		return Schedule{}, errors.New("it is empty")
	case len(text) > MaxExpression:
		return Schedule{}, fmt.Errorf("it has %d bytes; the limit is %d", len(text), MaxExpression)
	case strings.HasPrefix(text, "TZ=") || strings.HasPrefix(text, "CRON_TZ="):
		return Schedule{}, errors.New("it names a time zone; give the zone by itself")
	case strings.HasPrefix(text, "@every"):
		return Schedule{}, errors.New("it is an interval; give the interval by itself")
	}
	if field := oddField(text); field != "" {
		return Schedule{}, fmt.Errorf("field %q has a part that is empty, or a * or ? with more than a step", field)
	}
	parsed, err := parser.Parse(text)
	if err != nil {
		return Schedule{}, err
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return Schedule{}, fmt.Errorf("it is a %T", parsed)
	}
	spec.Location = time.UTC
	if spec.Next(reference).IsZero() {
		return Schedule{}, errors.New("it never comes")
	}
	return Schedule{spec: spec, zone: zone, fixed: spec.Hour&openHour == 0}, nil
}

// oddField returns the first field that the parser would take for something else
// than it says, or "".
func oddField(text string) string {
	for field := range strings.FieldsSeq(text) {
		for part := range strings.SplitSeq(field, ",") {
			start, _, _ := strings.Cut(part, "/")
			if part == "" || len(start) > 1 && strings.ContainsAny(start, "*?") {
				return field
			}
		}
	}
	return ""
}

// Every returns the schedule of an interval, in whole milliseconds from
// [MinEvery] to [MaxEvery].
func Every(interval time.Duration) (Schedule, error) {
	switch {
	case interval < MinEvery || interval > MaxEvery:
		return Schedule{}, fmt.Errorf("%v is not from %v to %v", interval, MinEvery, MaxEvery)
	case interval%time.Millisecond != 0:
		return Schedule{}, fmt.Errorf("%v is not in whole milliseconds", interval)
	}
	return Schedule{every: interval}, nil
}

// Zone returns the time zone called name in the IANA database; "" is UTC. The
// zone of the machine, "Local", is refused: two machines may differ in it.
func Zone(name string) (*time.Location, error) {
	if name == "Local" {
		return nil, errors.New("time zone Local differs between machines; name one, such as Europe/Berlin")
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("time zone %q is not known here (a program on a machine without the database imports time/tzdata): %w", name, err)
	}
	return zone, nil
}

// Next returns the first slot after t, in UTC, or the zero time if there is none
// within five years.
func (s Schedule) Next(t time.Time) time.Time {
	switch {
	case s.every > 0:
		step := s.every.Milliseconds()
		past := floor(t.UnixMilli(), step)
		return time.UnixMilli((past + 1) * step).UTC()
	case s.spec != nil:
		return s.next(t)
	}
	return time.Time{}
}

func floor(n, step int64) int64 {
	quotient := n / step
	if n%step < 0 {
		quotient--
	}
	return quotient
}

// next goes from one change of the zone's offset to the next: between two of
// them the wall's clock and the time that passes go alike.
func (s Schedule) next(t time.Time) time.Time {
	cursor := t        // slots are after it
	at := t.In(s.zone) // within the period that is looked at
	for {
		begin, end := at.ZoneBounds()
		offset := offsetAt(at)
		wall := onWall(cursor, offset)
		if s.fixed && !begin.IsZero() {
			// What the wall has shown before the change is not run again.
			if shown := onWall(begin, offsetAt(begin.Add(-1))).Add(-1); wall.Before(shown) {
				wall = shown
			}
		}
		slot := s.spec.Next(wall)
		if slot.IsZero() {
			return time.Time{}
		}
		moment := slot.Add(-offset)
		if end.IsZero() || moment.Before(end) {
			return moment
		}
		after := offsetAt(end.In(s.zone))
		if s.fixed && slot.Before(onWall(end, after)) {
			return end.UTC() // the wall skips it
		}
		at, cursor = end.In(s.zone), end.Add(-1)
	}
}

func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// onWall returns what the clock on the wall shows at t, as a time of UTC.
func onWall(t time.Time, offset time.Duration) time.Time { return t.UTC().Add(offset) }

// windows are how far [Schedule.Last] looks back, one after the other: in none
// of them can there be many slots if there was none in the one before.
var windows = []time.Duration{
	time.Second, time.Minute, time.Hour, 24 * time.Hour, 32 * 24 * time.Hour, 367 * 24 * time.Hour, 5 * 366 * 24 * time.Hour,
}

// Last returns the latest slot that is not before since and not after now, or
// the zero time if there is none.
func (s Schedule) Last(since, now time.Time) time.Time {
	if s.every > 0 {
		step := s.every.Milliseconds()
		if slot := time.UnixMilli(floor(now.UnixMilli(), step) * step).UTC(); !slot.Before(since) {
			return slot
		}
		return time.Time{}
	}
	for _, window := range windows {
		from := now.Add(-window)
		whole := !from.After(since)
		if whole {
			from = since.Add(-1)
		}
		last := time.Time{}
		for slot := s.Next(from); !slot.IsZero() && !slot.After(now); slot = s.Next(slot) {
			last = slot
		}
		if !last.IsZero() || whole {
			return last
		}
	}
	return time.Time{}
}
