package ir

import "time"

// Package is one Go package that declares queues.
type Package struct {
	// Path is the import path.
	Path string `json:"path"`
	// Name is the name in the package clause.
	Name string `json:"name"`
	// Queues are in the order of their directives.
	Queues []Queue `json:"queues"`
	// Packed are the types that have a codec of their own, in the order in which
	// the jobs meet them.
	Packed []Packed `json:"packed,omitempty"`
	// Imports are the packages that types of payloads mention, sorted by path.
	Imports []Import `json:"imports,omitempty"`
	// Declared are the names that the package's own files declare or import,
	// sorted. Generated code must not meet them.
	Declared []Declared `json:"-"`
}

// Import is a package by its path and the name in its package clause.
type Import struct {
	Path string `json:"path"`
	Name string `json:"name"`
}

// Declared is a name in the scope of a package or of one of its files.
type Declared struct {
	Name string
	// Import is set where a file imports a package under that name.
	Import bool
	Pos    Position
}

// Queue is a queue and its jobs.
type Queue struct {
	// Name is the wire name.
	Name string `json:"name"`
	// GoName is the name in generated identifiers.
	GoName string   `json:"goName"`
	Pos    Position `json:"pos"`
	// NamePos is where GoName is decided.
	NamePos Position `json:"-"`
	// Concurrency, Limit, Rate, Lease and Events are zero where the directive is
	// silent.
	Concurrency int  `json:"concurrency,omitempty"`
	Limit       int  `json:"limit,omitempty"`
	Rate        Rate `json:"rate,omitzero"`
	// GroupLimit is what the queue's jobs say about its groups.
	GroupLimit int      `json:"groupLimit,omitempty"`
	Lease      Duration `json:"lease,omitempty"`
	Events     string   `json:"events,omitempty"`
	// Jobs are in the order of the source.
	Jobs []Job `json:"jobs"`
	// Retired are jobs that are gone, in the order of the source.
	Retired []Retired `json:"retired,omitempty"`
}

// Retired is a job that is gone, but may still be enqueued.
type Retired struct {
	// Name is the wire name.
	Name string `json:"name"`
	// To is failed or discard.
	To string `json:"to"`
	// Pos and End bound the name as it is written.
	Pos Position `json:"-"`
	End Position `json:"-"`
}

// Former is a name that a job had.
type Former struct {
	Queue string `json:"queue"`
	Name  string `json:"name"`
	// Pos and End bound what is written.
	Pos Position `json:"-"`
	End Position `json:"-"`
}

// Job is one kind of job. Settings are zero where the directives are silent.
type Job struct {
	// Name is the wire name.
	Name string `json:"name"`
	// GoName is the name in generated identifiers.
	GoName string   `json:"goName"`
	Pos    Position `json:"pos"`
	// NamePos is where GoName is decided.
	NamePos Position `json:"-"`
	// Doc is the comment above the payload type, without directives.
	Doc      string  `json:"doc,omitempty"`
	Payload  Payload `json:"payload"`
	Result   *Result `json:"result,omitempty"`
	Progress *Result `json:"progress,omitempty"`
	Version  int     `json:"version"`
	// VersionPos is where Version is decided.
	VersionPos Position `json:"-"`
	Oldest     int      `json:"oldest,omitempty"`
	Was        []Former `json:"was,omitempty"`
	// Codec is empty for JSON.
	Codec    string   `json:"codec,omitempty"`
	Timeout  Duration `json:"timeout,omitempty"`
	NoLimit  bool     `json:"noTimeout,omitempty"`
	Priority int      `json:"priority,omitempty"`
	Delay    Duration `json:"delay,omitempty"`
	Retry    Retry    `json:"retry,omitzero"`
	Keep     Keep     `json:"keep,omitzero"`
	Unique   *Unique  `json:"unique,omitempty"`
	// Group is the field that names the job's group, if one does.
	Group *UniqueField `json:"group,omitempty"`
	// Schedules say when the job repeats.
	Schedules []Schedule `json:"schedules,omitempty"`
	// Batch is set where the handler takes many jobs at once.
	Batch *Batch `json:"batch,omitempty"`
	// Contract is what other programs see of the job.
	Contract Contract `json:"-"`
	// ContractHash tells it from the contracts of other programs, and ReplacedHashes
	// are those of the version that were broken on purpose.
	ContractHash   string   `json:"-"`
	ReplacedHashes []string `json:"-"`
	// Older are the versions that the lock remembers, the oldest first.
	Older []Older `json:"-"`
}

// Payload is the struct type of a job's payload.
type Payload struct {
	// Type is the name of the type.
	Type   string  `json:"type"`
	Fields []Field `json:"fields"`
	// Shape is a hash of how the payload looks on the wire, nested types and
	// tags included.
	Shape string `json:"shape"`
	// Packed says how it is encoded, if not as JSON.
	Packed *PackedValue `json:"packed,omitempty"`
}

// Field is one field of a struct.
type Field struct {
	Name     string `json:"name"`
	Embedded bool   `json:"embedded,omitempty"`
	Type     Type   `json:"type"`
	Tag      string `json:"tag,omitempty"`
}

// Result is the type of a job's result or progress, by name.
type Result struct {
	Type string `json:"type"`
	// Shape is a hash of how it looks on the wire.
	Shape string `json:"shape"`
	// Packed says how it is encoded, if not as JSON.
	Packed *PackedValue `json:"packed,omitempty"`
}

// Retry says what happens after a failed attempt.
type Retry struct {
	Attempts int      `json:"attempts,omitempty"`
	Backoff  string   `json:"backoff,omitempty"`
	Base     Duration `json:"base,omitempty"`
	Cap      Duration `json:"cap,omitempty"`
	Jitter   string   `json:"jitter,omitempty"`
	Stalls   int      `json:"stalls,omitempty"`
	NoStalls bool     `json:"noStalls,omitempty"`
}

// Schedule says when a job repeats, by Cron or by Every.
type Schedule struct {
	ID      string   `json:"id"`
	Cron    string   `json:"cron,omitempty"`
	Every   Duration `json:"every,omitempty"`
	Zone    string   `json:"zone,omitempty"`
	Misfire string   `json:"misfire,omitempty"`
	// Func is the function of the package that makes the payloads, if it has one.
	Func string `json:"func,omitempty"`
}

// Batch says how jobs are gathered for a handler.
type Batch struct {
	Size int      `json:"size,omitempty"`
	Wait Duration `json:"wait,omitempty"`
}

// Unique says which jobs are the same, and what is to be done about it.
type Unique struct {
	// Fields are in the order of the directive; without any, all jobs of the type
	// are the same.
	Fields   []UniqueField `json:"fields"`
	Until    string        `json:"until,omitempty"`
	For      Duration      `json:"for,omitempty"`
	Conflict string        `json:"conflict,omitempty"`
}

// UniqueField is a field that is part of a unique key, or that names a group.
type UniqueField struct {
	// Path are the names of the fields from the payload to this one, embedded
	// structs included.
	Path []string `json:"path"`
	// Pointers are the places in Path of fields that are pointers.
	Pointers []int `json:"pointers,omitempty"`
	// Form is how the value enters the key, or names the group.
	Form UniqueForm `json:"form"`
	// Converted is set where the value's type is not that of its form.
	Converted bool `json:"converted,omitempty"`
}

// UniqueForm is how a value enters a unique key, or names a group.
type UniqueForm string

// The forms of values.
const (
	UniqueBool  UniqueForm = "bool"
	UniqueInt   UniqueForm = "int"
	UniqueUint  UniqueForm = "uint"
	UniqueText  UniqueForm = "text"
	UniqueBytes UniqueForm = "bytes"
	UniqueTime  UniqueForm = "time"
	// UniqueMarshaled is the text that the value's MarshalText returns.
	UniqueMarshaled UniqueForm = "marshaled"
)

// Keep says how long finished jobs are kept.
type Keep struct {
	Completed Retention `json:"completed,omitzero"`
	Failed    Retention `json:"failed,omitzero"`
	// Logs is a number of log lines.
	Logs   int  `json:"logs,omitempty"`
	NoLogs bool `json:"noLogs,omitempty"`
}

// Retention bounds the finished jobs of one kind. The zero Retention is the
// runtime's default.
type Retention struct {
	None  bool     `json:"none,omitempty"`
	Age   Duration `json:"age,omitempty"`
	Count int      `json:"count,omitempty"`
}

// Rate is how many jobs may start in a length of time.
type Rate struct {
	Jobs int      `json:"jobs"`
	Per  Duration `json:"per"`
}

// Duration is a time.Duration that reads as one in JSON.
type Duration time.Duration

// MarshalText returns the duration in Go's form.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Position is a place in the package's source. The file is given without its
// directory, so that it reads the same wherever the package lies.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}
