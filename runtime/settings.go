package echomq

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"time"

	"github.com/echomq/echomq-go/runtime/wire"
)

// over returns retry with the fields that it leaves at zero taken from base.
func (r RetrySpec) over(base RetrySpec) RetrySpec {
	if r.Attempts == 0 {
		r.Attempts = base.Attempts
	}
	if r.Backoff == BackoffDefault {
		r.Backoff = base.Backoff
	}
	if r.Base == 0 {
		r.Base = base.Base
	}
	if r.Cap == 0 {
		r.Cap = base.Cap
	}
	if r.Jitter == JitterDefault {
		r.Jitter = base.Jitter
	}
	if r.Stalls == 0 {
		r.Stalls = base.Stalls
	}
	return r
}

// check says what is wrong with the settings of a job, if anything is.
func (s JobSpec) check() error {
	switch {
	case s.Priority < 0 || s.Priority > MaxPriority:
		return optionError("priority %d: it must be from 0 to %d", s.Priority, MaxPriority)
	case s.Delay < 0:
		return optionError("delay %v: it must not be negative", s.Delay)
	case s.Timeout < 0 && s.Timeout != NoTimeout:
		return optionError("timeout %v: it must be positive, or NoTimeout", s.Timeout)
	case s.Timeout > 0 && s.Timeout < time.Millisecond:
		return optionError("timeout %v: it must be at least 1ms", s.Timeout)
	case s.Version < 0 || s.Version > maxCount:
		return optionError("version %d: it must be from 1 to %d", s.Version, maxCount)
	case s.Retry.Attempts < 0 || s.Retry.Attempts > maxCount:
		return optionError("attempts %d: it must be from 1 to %d", s.Retry.Attempts, maxCount)
	case s.Retry.Stalls < 0 && s.Retry.Stalls != NoStalls || s.Retry.Stalls > maxCount:
		return optionError("stalls %d: it must be from 1 to %d, or NoStalls", s.Retry.Stalls, maxCount)
	case s.Retry.Backoff < BackoffDefault || s.Retry.Backoff > Exponential:
		return optionError("backoff %d is neither Fixed nor Exponential", s.Retry.Backoff)
	case s.Retry.Jitter < JitterDefault || s.Retry.Jitter > NoJitter:
		return optionError("jitter %d is neither FullJitter nor NoJitter", s.Retry.Jitter)
	case belowMillisecond(s.Retry.Base) || belowMillisecond(s.Retry.Cap):
		return optionError("backoff base %v and cap %v must each be at least 1ms", s.Retry.Base, s.Retry.Cap)
	case orDefault(s.Retry.Base, DefaultBackoffBase) > orDefault(s.Retry.Cap, DefaultBackoffCap):
		return optionError("backoff base %v is above the cap %v", orDefault(s.Retry.Base, DefaultBackoffBase), orDefault(s.Retry.Cap, DefaultBackoffCap))
	}
	if err := s.Batch.check(); err != nil {
		return err
	}
	if s.Keep.Logs < 0 && s.Keep.Logs != NoLogs || s.Keep.Logs > MaxLogs {
		return optionError("keep logs: %d must be from 1 to %d, or NoLogs", s.Keep.Logs, MaxLogs)
	}
	if err := s.Keep.Completed.check("completed"); err != nil {
		return err
	}
	return s.Keep.Failed.check("failed")
}

// belowMillisecond reports whether d is given and too short for the wire, where
// it would read as not given.
func belowMillisecond(d time.Duration) bool { return d != 0 && d < time.Millisecond }

func (k Keep) check(which string) error {
	switch {
	case k.None && (k.Age != 0 || k.Count != 0):
		return optionError("keep %s: None goes with neither Age nor Count", which)
	case belowMillisecond(k.Age) && k.Age != Forever:
		return optionError("keep %s: age %v must be at least 1ms, or Forever", which, k.Age)
	case k.Count < 0 && k.Count != NoLimit || k.Count > maxCount:
		return optionError("keep %s: count %d must be from 1 to %d, or NoLimit", which, k.Count, maxCount)
	}
	return nil
}

// encodeOpts returns the settings of a job as they stand on the wire: only what
// differs from the protocol's defaults.
func encodeOpts(spec JobSpec) string {
	opts := wire.Opts{
		Attempts:      unless(spec.Retry.Attempts, DefaultAttempts),
		Backoff:       encodeBackoff(spec.Retry),
		Stalls:        unless(spec.Retry.Stalls, DefaultStalls),
		KeepCompleted: encodeKeep(spec.Keep.Completed),
		KeepFailed:    encodeKeep(spec.Keep.Failed),
		KeepLogs:      unless(spec.Keep.Logs, DefaultLogs),
	}
	switch spec.Timeout {
	case DefaultTimeout:
	case NoTimeout:
		opts.Timeout = -1
	default:
		opts.Timeout = spec.Timeout.Milliseconds()
	}
	if opts == (wire.Opts{}) {
		return ""
	}
	encoded, err := json.Marshal(opts)
	if err != nil {
		panic("echomq: settings that are numbers and words did not encode: " + err.Error())
	}
	return string(encoded)
}

func encodeBackoff(retry RetrySpec) *wire.BackoffOpts {
	backoff := wire.BackoffOpts{
		Base: unless(retry.Base, DefaultBackoffBase).Milliseconds(),
		Cap:  unless(retry.Cap, DefaultBackoffCap).Milliseconds(),
	}
	if retry.Backoff == Fixed {
		backoff.Type = "fixed"
	}
	if retry.Jitter == NoJitter {
		backoff.Jitter = "none"
	}
	if backoff == (wire.BackoffOpts{}) {
		return nil
	}
	own := backoff // on the heap, which the defaults are spared
	return &own
}

func encodeKeep(keep Keep) *wire.KeepOpts {
	if keep == (Keep{}) {
		return nil
	}
	return &wire.KeepOpts{
		None:  keep.None,
		Age:   max(keep.Age, 0).Milliseconds(),
		Count: max(keep.Count, 0),
	}
}

// unless returns value, or zero if value is the default.
func unless[V comparable](value, standard V) V {
	var zero V
	if value == standard {
		return zero
	}
	return value
}

// settings are the opts of a job with the defaults filled in, as a worker uses
// them.
type settings struct {
	attempts      int
	stalls        int
	timeout       time.Duration // 0 for none
	fixed         bool
	jitter        bool
	base, cap     time.Duration
	keepCompleted wire.KeepOpts
	keepFailed    wire.KeepOpts
	keepLogs      int
	trace         *wire.TraceOpts
}

var (
	defaultKeepCompleted = wire.KeepOpts{Age: DefaultCompletedAge.Milliseconds(), Count: DefaultCompletedCount}
	defaultKeepFailed    = wire.KeepOpts{Age: DefaultFailedAge.Milliseconds(), Count: DefaultFailedCount}
)

// decodeSettings reads a job's opts. Opts that cannot be read count as absent:
// the job must still run, and end.
func decodeSettings(encoded string) (settings, error) {
	var opts wire.Opts
	var err error
	if encoded != "" {
		if err = json.Unmarshal([]byte(encoded), &opts); err != nil {
			opts = wire.Opts{}
		}
	}
	set := settings{
		attempts:      orDefault(opts.Attempts, DefaultAttempts),
		stalls:        min(max(orDefault(opts.Stalls, DefaultStalls), 0), maxCount),
		timeout:       DefaultTimeout,
		jitter:        true,
		base:          DefaultBackoffBase,
		cap:           DefaultBackoffCap,
		keepCompleted: defaultKeepCompleted,
		keepFailed:    defaultKeepFailed,
		keepLogs:      min(max(orDefault(opts.KeepLogs, DefaultLogs), 0), MaxLogs),
		trace:         opts.Trace,
	}
	if opts.Timeout != 0 {
		set.timeout = max(milliseconds(opts.Timeout), 0)
	}
	if backoff := opts.Backoff; backoff != nil {
		set.fixed = backoff.Type == "fixed"
		set.jitter = backoff.Jitter != "none"
		// What is not positive is no time, and no settle could carry it.
		set.base = orDefault(milliseconds(max(backoff.Base, 0)), DefaultBackoffBase)
		set.cap = orDefault(milliseconds(max(backoff.Cap, 0)), DefaultBackoffCap)
	}
	if opts.KeepCompleted != nil {
		set.keepCompleted = confineKeep(*opts.KeepCompleted)
	}
	if opts.KeepFailed != nil {
		set.keepFailed = confineKeep(*opts.KeepFailed)
	}
	return set, err
}

// maxAge is the longest age of an ended job, in milliseconds: some 30,000 years,
// so that a time and an age can still be added in a script.
const maxAge = 1_000_000_000_000_000

// confineKeep brings what a producer stored into the ranges that the scripts
// take. Something too large is no bound.
func confineKeep(keep wire.KeepOpts) wire.KeepOpts {
	if keep.Age > maxAge {
		keep.Age = 0
	}
	if keep.Count > maxCount {
		keep.Count = 0
	}
	return keep
}

func orDefault[V comparable](value, standard V) V {
	var zero V
	if value == zero {
		return standard
	}
	return value
}

// milliseconds returns n milliseconds, or the longest time of its sign if it is
// longer than a Duration can be.
func milliseconds(n int64) time.Duration {
	switch {
	case n > math.MaxInt64/int64(time.Millisecond):
		return math.MaxInt64
	case n < math.MinInt64/int64(time.Millisecond):
		return math.MinInt64
	}
	return time.Duration(n) * time.Millisecond
}

// wait returns how long to wait before the retry that follows the attempt-th
// attempt, counted from 1.
func (s settings) wait(attempt int) time.Duration {
	wait := s.base
	if !s.fixed {
		for range attempt - 1 {
			if wait >= s.cap/2 {
				wait = s.cap
				break
			}
			wait *= 2
		}
	}
	wait = min(wait, s.cap)
	if s.jitter && wait > 0 {
		wait = rand.N(wait) + time.Millisecond
	}
	return wait
}
