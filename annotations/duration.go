package annotations

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// The ways in which the text of a duration is wrong.
var (
	errNoUnit   = errors.New("no unit")
	errNegative = errors.New("negative")
	errTooFine  = errors.New("finer than a millisecond")
	errTooLong  = errors.New("too long")
	errDuration = errors.New("not a duration")
)

// days finds the leading days of a duration, which Go's own form lacks.
var days = regexp.MustCompile(`^([0-9]+)d(.*)$`)

// ParseDuration reads a duration as directives write it: Go's form, with "d"
// for days of 24 hours in front: 30s, 1h30m, 14d, 1d12h. It refuses what the
// wire cannot carry: negative durations and fractions of a millisecond.
func ParseDuration(text string) (time.Duration, error) {
	total, rest := time.Duration(0), text
	if m := days.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || n > math.MaxInt64/int64(day) {
			return 0, errTooLong
		}
		total, rest = time.Duration(n)*day, m[2]
		if strings.HasPrefix(rest, "+") || strings.HasPrefix(rest, "-") {
			return 0, errDuration
		}
	}
	if rest == "" && text != "" {
		return total, nil
	}
	if isNumber(text) && text != "0" {
		return 0, errNoUnit
	}
	d, err := time.ParseDuration(rest)
	switch {
	case err != nil:
		return 0, errDuration
	case strings.HasPrefix(text, "-"):
		return 0, errNegative
	case d%time.Millisecond != 0:
		return 0, errTooFine
	case total > math.MaxInt64-d:
		return 0, errTooLong
	}
	return total + d, nil
}

// isNumber reports whether text is a number without a unit.
func isNumber(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimPrefix(text, "-"), 64)
	return err == nil && strings.Trim(text, "+-.0123456789") == ""
}

// unitWords maps what people write for a unit to what Go reads.
var unitWords = map[string]string{
	"sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"hr": "h", "hrs": "h", "hour": "h", "hours": "h",
	"day": "d", "days": "d",
	"msec": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
	"s": "s", "m": "m", "h": "h", "d": "d", "ms": "ms",
}

// guessDuration returns the duration that text most likely means, or "".
func guessDuration(text string) string {
	number := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	unit := strings.ToLower(text[len(number):])
	number = strings.TrimSpace(number)
	switch {
	case unit == "":
		unit = "s"
	case unitWords[unit] != "":
		unit = unitWords[unit]
	case unit == "w" || unit == "wk" || unit == "week" || unit == "weeks":
		if n, err := strconv.Atoi(number); err == nil {
			number, unit = strconv.Itoa(7*n), "d"
		}
	}
	if d, err := ParseDuration(number + unit); err != nil || d == 0 || number == "" {
		return ""
	}
	return number + unit
}
