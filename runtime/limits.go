package echomq

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// The bounds of limits.
const (
	maxLimit    = 1<<31 - 1
	maxRateJobs = 1_000_000
	maxRatePer  = 31 * 24 * time.Hour
)

// RateSpec is how many jobs of a queue may start in a length of time. It is a
// bucket of tokens: a job takes one as it is started, or reserved for a worker;
// the bucket holds Jobs of them and fills continuously, Jobs of them in each Per.
// So after a pause Jobs may start at once, and then one each Per/Jobs: in no
// length of time d do more start than Jobs + Jobs·d/Per.
type RateSpec struct {
	// Jobs is how many, from 1 to 1,000,000.
	Jobs int
	// Per is the length of time, in whole milliseconds from 1 ms to 31 days.
	Per time.Duration
}

func (r RateSpec) check() error {
	switch {
	case r.Jobs < 1 || r.Jobs > maxRateJobs:
		return optionError("rate of %d jobs: it must be from 1 to %d, or NoLimit with no time", r.Jobs, maxRateJobs)
	case r.Per < time.Millisecond || r.Per > maxRatePer:
		return optionError("rate per %v: it must be from 1ms to %v", r.Per, maxRatePer)
	case r.Per%time.Millisecond != 0:
		return optionError("rate per %v: it must be a whole number of milliseconds", r.Per)
	}
	return nil
}

// off reports whether r is NoLimit, and no time.
func (r RateSpec) off() bool { return r == RateSpec{Jobs: NoLimit} }

// String returns the rate as the directive spells it: 100/1s; none for {NoLimit,
// 0}, and nothing for the zero RateSpec.
func (r RateSpec) String() string {
	switch {
	case r == RateSpec{}:
		return ""
	case r.off():
		return wordNone
	}
	return fmt.Sprintf("%d/%v", r.Jobs, r.Per)
}

// limitText is the same for a limit.
func limitText(n int) string {
	switch n {
	case 0:
		return ""
	case NoLimit:
		return wordNone
	}
	return strconv.Itoa(n)
}

func checkLimit(what string, n int) error {
	if n < 1 || n > maxLimit {
		return optionError("%s %d: it must be from 1 to %d, or NoLimit", what, n, maxLimit)
	}
	return nil
}

// Limit is how many of a queue's jobs may be active at once, those of all its
// workers together; [NoLimit], the default, for any number. A job counts from
// when a worker takes it until it ends, is given back, or its lease has run out.
//
// It goes over the queue's directive and over [Queue.SetLimit]. Workers with
// different numbers each hold to their own.
func Limit(n int) QueueWorkerOption {
	return func(c *queueConfig) { c.limits.limit, c.limits.limitFixed = n, true }
}

// Rate is how many jobs of a queue may start in a length of time, on all its
// workers together, as [RateSpec] describes; Rate(NoLimit, 0), the default, for
// any number. A job that has to wait for its turn does not use up an attempt.
//
// It goes over the queue's directive and over [Queue.SetRate].
func Rate(jobs int, per time.Duration) QueueWorkerOption {
	return func(c *queueConfig) { c.limits.rate, c.limits.rateFixed = RateSpec{jobs, per}, true }
}

// limits are the bounds that a worker asks for in each pick. What is zero is no
// bound; what is not fixed gives way to an operator's override.
type limits struct {
	limit      int
	limitFixed bool
	rate       RateSpec
	rateFixed  bool
	group      int // of each group
	groupFixed bool
}

func (s QueueSpec) limits() limits {
	return limits{limit: s.Limit, rate: s.Rate, group: s.GroupLimit}
}

// check says what is wrong with the limits, and turns NoLimit into none.
func (l *limits) check() error {
	if l.limit == NoLimit {
		l.limit = 0
	} else if l.limitFixed || l.limit != 0 {
		if err := checkLimit("limit", l.limit); err != nil {
			return err
		}
	}
	if l.group == NoLimit {
		l.group = 0
	} else if l.groupFixed || l.group != 0 {
		if err := checkLimit("group limit", l.group); err != nil {
			return err
		}
	}
	if l.rate.off() {
		l.rate = RateSpec{}
	} else if l.rateFixed || l.rate != (RateSpec{}) {
		return l.rate.check()
	}
	return nil
}

// The words of an override.
const (
	wordNone  = "none"
	wordClear = "clear"
)

// logLimits says which limits hold as the worker starts, and who set them. A
// store that does not tell its overrides is no reason not to start.
func (r *runner) logLimits(ctx context.Context) {
	set, err := readOverrides(ctx, r.client, r.queue)
	if err != nil {
		r.log.Debug("the operator's limits cannot be read", "error", err)
		return
	}
	l := r.config.limits
	var told []any
	tell := func(name, value, override string, fixed bool) {
		from := "directive"
		switch {
		case fixed:
			from = "option"
		case override != "":
			value, from = override, "override"
		case value == "":
			return // the default
		}
		told = append(told, slog.Group(name, "value", cmp.Or(value, wordNone), "from", from))
	}
	tell("limit", limitText(l.limit), limitText(set.Limit), l.limitFixed)
	tell("rate", l.rate.String(), set.Rate.String(), l.rateFixed)
	tell("groupLimit", limitText(l.group), limitText(set.GroupLimit), l.groupFixed)
	if len(told) > 0 {
		r.log.Info("the queue has limits", told...)
	}
}
