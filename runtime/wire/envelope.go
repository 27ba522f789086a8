package wire

import "time"

// Envelope is everything a job carries beside its typed payload. It is declared
// here once: the tag `wire` is the name of the field in the job's hash, the tag
// `json` its long name, and the code that maps them is generated from both.
type Envelope struct {
	// ID is the job's id. It is part of the key and not a field of the hash.
	ID string `json:"id"`
	// Name is the job's wire name, by which a worker finds the handler.
	Name string `wire:"name" json:"name"`
	// Data is the payload as it was encoded.
	Data []byte `wire:"data" json:"data"`
	// Codec is the encoding of Data; empty means JSON.
	Codec string `wire:"cdc" json:"codec,omitempty"`
	// PayloadVersion is the version of the payload's contract; absent on the
	// wire means 1.
	PayloadVersion int `wire:"ver" json:"payloadVersion,omitempty"`
	// Opts is the JSON of the settings that the producer gave; see [Opts].
	Opts string `wire:"opts" json:"opts,omitempty"`
	// Timestamp is when the job was added, by the server's clock.
	Timestamp Timestamp `wire:"timestamp" json:"timestamp"`
	// Delay is how long the job was last told to wait before it may run.
	Delay Milliseconds `wire:"delay" json:"delay,omitempty"`
	// Priority orders jobs: 0, the default, runs first, then 1 to 2,097,151.
	Priority int `wire:"priority" json:"priority,omitempty"`
	// AttemptsMade counts the attempts that ended in success or failure.
	AttemptsMade int `wire:"atm" json:"attemptsMade"`
	// AttemptsStarted counts the attempts that began, crashed ones included.
	AttemptsStarted int `wire:"ats" json:"attemptsStarted"`
	// StalledCounter counts how often a worker was lost while it held the job.
	StalledCounter int `wire:"stc" json:"stalledCounter,omitempty"`
	// UnknownCount counts how often a worker gave the job back because it did
	// not know its name, version or codec.
	UnknownCount int `wire:"ukn" json:"unknownCount,omitempty"`
	// ProcessedOn is when the last attempt began, by the server's clock.
	ProcessedOn Timestamp `wire:"processedOn" json:"processedOn,omitempty"`
	// FinishedOn is when the job completed or failed for good.
	FinishedOn Timestamp `wire:"finishedOn" json:"finishedOn,omitempty"`
	// ProcessedBy is the name of the worker that started the last attempt.
	ProcessedBy string `wire:"pb" json:"processedBy,omitempty"`
	// ReturnValue is the encoded result of a completed job.
	ReturnValue []byte `wire:"returnvalue" json:"returnvalue,omitempty"`
	// FailedReason is the error of the last failed attempt.
	FailedReason string `wire:"failedReason" json:"failedReason,omitempty"`
	// Stacktrace is a JSON array of the errors of the failed attempts, newest
	// last, capped in bytes.
	Stacktrace string `wire:"stacktrace" json:"stacktrace,omitempty"`
	// RepeatJobKey is the id of the scheduler that added the job.
	RepeatJobKey string `wire:"rjk" json:"repeatJobKey,omitempty"`
	// Progress is how far the job has come, as it said last, in JSON; it stays
	// through retries.
	Progress []byte `wire:"progress" json:"progress,omitempty"`
	// LogCount is the number of the job's last log line, from 1.
	LogCount int `wire:"lgc" json:"logCount,omitempty"`
	// DeferredFailure, where set, is the reason for which the next worker that
	// takes the job settles it as failed without running it.
	DeferredFailure string `wire:"defa" json:"deferredFailure,omitempty"`
	// ParentKey is the key of the hash of the job's parent, if it is a child of a
	// flow.
	ParentKey string `wire:"parentKey" json:"parentKey,omitempty"`
	// Parent is the job's [Edge] at its parent.
	Parent string `wire:"parent" json:"parent,omitempty"`
	// Children is for how many children the job waited before it ran.
	Children int `wire:"chn" json:"children,omitempty"`
	// DeduplicationID is the unique key that the job came with.
	DeduplicationID string `wire:"deid" json:"deduplicationId,omitempty"`
	// DeduplicationUntil is what releases the key: started, finished or removed.
	DeduplicationUntil string `wire:"deu" json:"deduplicationUntil,omitempty"`
	// ReplacedBy is the id of the job that last took this one's place instead of
	// being added.
	ReplacedBy string `wire:"rpb" json:"replacedBy,omitempty"`
	// ChangedPriority is the priority that a job which waits without one is to get
	// from the worker that comes to it.
	ChangedPriority int `wire:"chp" json:"changedPriority,omitempty"`
	// ChangedDue is until when a job that waits is to be delayed by the worker that
	// comes to it.
	ChangedDue Timestamp `wire:"chd" json:"changedDue,omitempty"`
	// LastChange tells of the call that last changed the job's priority or time, by
	// which one that is sent again is recognised.
	LastChange string `wire:"chc" json:"-"`
	// Group is the group in which the job takes its turn.
	Group string `wire:"grp" json:"group,omitempty"`
	// GroupPlace is the place that the job had last among those of its group: its
	// priority and its number.
	GroupPlace string `wire:"gpl" json:"-"`
	// LastSettle is the token and outcome of the last settle, by which a settle
	// that is sent again is recognised.
	LastSettle string `wire:"lst" json:"-"`
}

// Attempt returns which attempt a job's handler is in, from 1: the attempts that
// have ended, and the one that runs.
func (e Envelope) Attempt() int { return e.AttemptsMade + 1 }

// Timestamp is a moment in milliseconds since the Unix epoch, by the server's
// clock. Zero means never.
type Timestamp int64

// Time returns t as a time.Time; the zero Timestamp gives the zero Time.
func (t Timestamp) Time() time.Time {
	if t == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(t))
}

// Milliseconds is a length of time in milliseconds.
type Milliseconds int64

// Duration returns m as a time.Duration.
func (m Milliseconds) Duration() time.Duration { return time.Duration(m) * time.Millisecond }
