package echomq

import (
	"time"

	"github.com/echomq/echomq-go/runtime/wire"
)

// The defaults that hold where neither an option nor a directive says
// otherwise.
const (
	DefaultAttempts       = 10
	DefaultBackoffBase    = time.Second
	DefaultBackoffCap     = time.Hour
	DefaultTimeout        = 5 * time.Minute
	DefaultStalls         = 3
	DefaultLease          = 15 * time.Second
	DefaultCompletedAge   = 24 * time.Hour
	DefaultCompletedCount = 10_000
	DefaultFailedAge      = 14 * 24 * time.Hour
	DefaultFailedCount    = 100_000
	DefaultStopTimeout    = 25 * time.Second
	DefaultStuckAfter     = 30 * time.Second
	DefaultPayloadLimit   = 1 << 20
	DefaultEventHistory   = 10_000
	DefaultLogs           = 100
)

// MaxPriority is the largest priority that a job can have. 0, the default, runs
// first.
const MaxPriority = wire.MaxPriority

// None is the result of a job that has none.
type None struct{}

// EventLevel says which transitions of a queue's jobs are written to its event
// stream.
type EventLevel int

// The levels, from few events to many.
const (
	// EventsDefault is EventsFinal.
	EventsDefault EventLevel = iota
	// EventsNone writes no events, except the end of a job with a result, which
	// [Handle.Await] needs.
	EventsNone
	// EventsFinal writes the end of every job, and what went wrong.
	EventsFinal
	// EventsAll writes every transition.
	EventsAll
)

func (l EventLevel) check() error {
	if l < EventsDefault || l > EventsAll {
		return optionError("event level %d: it must be EventsNone, EventsFinal or EventsAll", l)
	}
	return nil
}

// Backoff says how the wait before a retry grows.
type Backoff int

// The kinds of backoff.
const (
	// BackoffDefault is Exponential.
	BackoffDefault Backoff = iota
	// Fixed waits the base before every retry.
	Fixed
	// Exponential waits the base before the first retry and twice as long
	// before each further one, up to the cap.
	Exponential
)

// Jitter says how the wait before a retry is spread.
type Jitter int

// The kinds of jitter.
const (
	// JitterDefault is FullJitter.
	JitterDefault Jitter = iota
	// FullJitter waits a random part of the computed time, so that jobs that
	// failed together do not return together.
	FullJitter
	// NoJitter waits exactly the computed time.
	NoJitter
)

const (
	// NoTimeout, as a timeout, lets a job run for as long as it likes.
	NoTimeout time.Duration = -1
	// NoStalls, as a number of stalls, fails a job whose worker was lost once.
	NoStalls = -1
	// NoLimit, as the count of a [Keep], bounds a job's stay by age alone; as a
	// limit or rate of a queue, it bounds nothing.
	NoLimit = -1
	// NoLogs, as the number of log lines of a [KeepSpec], keeps none.
	NoLogs = -1
	// Forever, as the age of a [Keep], bounds a job's stay by count alone.
	Forever time.Duration = -1
)

// QueueSpec is what the directives say about a queue. Zero values stand for the
// defaults.
type QueueSpec struct {
	// Name is the queue's name.
	Name string
	// Concurrency is how many of the queue's jobs one worker runs at once;
	// default 10 × GOMAXPROCS.
	Concurrency int
	// Lease is for how long a worker holds a job without renewing it. It is
	// renewed three times as often. Default 15 s.
	Lease time.Duration
	// Events says which transitions become events.
	Events EventLevel
	// Limit is how many of the queue's jobs may be active at once, on all workers
	// together; default any number.
	Limit int
	// Rate is how many may start in a length of time; default any number.
	Rate RateSpec
	// GroupLimit is how many jobs of each group may be active at once, on all
	// workers together; default any number.
	GroupLimit int
}

// JobSpec is what the directives say about a job. Zero values stand for the
// defaults.
type JobSpec struct {
	// Queue is the name of the job's queue.
	Queue string
	// Name is the job's wire name.
	Name string
	// Version is the version of the payload's contract, from 1.
	Version int
	// Contract tells the payload and the result from those that other programs
	// declare.
	Contract ContractSpec
	// Oldest is the oldest version that is read; default any. A job of an older one
	// fails as a [*VersionError].
	Oldest int
	// Was are the names that the job had, each with its queue: "mail/Hello". A
	// worker of that queue that has the job's handler handles jobs of the name too.
	Was []string
	// Redact are the fields of the payload that are not to be printed, as JSON
	// Pointers in which * is any element of a list or map: "/lines/*/iban". See
	// [JobType.Redact].
	Redact []string
	// Timeout is for how long an attempt may run; default 5 minutes.
	Timeout time.Duration
	// Delay is how long a job waits before it may run.
	Delay time.Duration
	// Priority orders the queue's jobs: 0, the default, runs first.
	Priority int
	// Retry says what follows a failed attempt.
	Retry RetrySpec
	// Keep says for how long ended jobs are kept.
	Keep KeepSpec
	// Batch says how jobs are gathered for a batch handler.
	Batch BatchSpec
	// Unique says what is to be done about jobs that are the same; see
	// [JobType.UniqueBy].
	Unique UniqueSpec
}

// RetrySpec says what follows an attempt that failed. Zero values stand for the
// defaults.
type RetrySpec struct {
	// Attempts is how often a job is tried before it has failed; default 10.
	Attempts int
	// Backoff says how the wait before a retry grows; default Exponential.
	Backoff Backoff
	// Base is the wait before the first retry; default 1 s.
	Base time.Duration
	// Cap is the longest wait that the backoff comes to; default 1 h. It bounds
	// neither [RetryAfter] nor [RetryWaits].
	Cap time.Duration
	// Jitter spreads the wait; default FullJitter.
	Jitter Jitter
	// Stalls is how often the job's worker may be lost before the job has
	// failed; default 3, [NoStalls] for never.
	Stalls int
}

// KeepSpec says for how long ended jobs are kept.
type KeepSpec struct {
	// Completed is for jobs that succeeded; default 24 h and 10,000.
	Completed Keep
	// Failed is for jobs that failed for good; default 14 days and 100,000.
	Failed Keep
	// Logs is how many of the job's log lines are kept, the newest, for as long
	// as the job; default 100, at most [MaxLogs], [NoLogs] for none.
	Logs int
}

// Keep says for how long an ended job is kept. Both bounds hold: the job goes
// when it is older than Age, or when Count newer jobs of the queue have ended
// in the same way, whichever is first. The zero Keep is the default.
type Keep struct {
	// None keeps nothing: the job is deleted as it ends.
	None bool
	// Age is how long the job is kept; [Forever] for no bound. If only Count
	// is given, Age is no bound.
	Age time.Duration
	// Count is how many newer jobs may have ended; [NoLimit] for no bound. If
	// only Age is given, Count is no bound.
	Count int
}
