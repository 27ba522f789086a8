package wire

// Opts are the settings that a producer gave a job and that its worker obeys.
// They travel as JSON in the field `opts` of the job. A setting that is absent
// has the protocol's default.
type Opts struct {
	// Attempts is how often the job is tried.
	Attempts int `json:"attempts,omitempty"`
	// Backoff says how long to wait before a retry.
	Backoff *BackoffOpts `json:"backoff,omitempty"`
	// Timeout is for how long an attempt may run, in milliseconds; -1 for ever.
	Timeout int64 `json:"timeout,omitempty"`
	// Stalls is how often the job's worker may be lost; -1 for never.
	Stalls int `json:"stalls,omitempty"`
	// KeepCompleted and KeepFailed say for how long the ended job is kept.
	KeepCompleted *KeepOpts `json:"keepCompleted,omitempty"`
	KeepFailed    *KeepOpts `json:"keepFailed,omitempty"`
	// KeepLogs is how many of the job's log lines are kept; -1 for none.
	KeepLogs int `json:"kl,omitempty"`
	// Trace is the trace context of the request that added the job.
	Trace *TraceOpts `json:"tm,omitempty"`
}

// TraceOpts are a W3C trace context, under the names that its headers have.
type TraceOpts struct {
	Parent string `json:"traceparent"`
	State  string `json:"tracestate,omitempty"`
}

// BackoffOpts say how long to wait before a retry.
type BackoffOpts struct {
	// Type is "fixed" or "exponential"; empty for exponential.
	Type string `json:"type,omitempty"`
	// Base and Cap are in milliseconds; 0 for the default.
	Base int64 `json:"base,omitempty"`
	Cap  int64 `json:"cap,omitempty"`
	// Jitter is "full" or "none"; empty for full.
	Jitter string `json:"jitter,omitempty"`
}

// KeepOpts say for how long an ended job is kept.
type KeepOpts struct {
	// None keeps nothing.
	None bool `json:"none,omitempty"`
	// Age is in milliseconds, Count a number of newer ended jobs; 0 for no
	// bound.
	Age   int64 `json:"age,omitempty"`
	Count int   `json:"count,omitempty"`
}
