package wire

// Opts are the settings that a producer gave a job and that its worker obeys.
// They travel as JSON in the field `opts` of the job. A setting that is absent
// has the protocol's default, which is the tag `absent`, as JSON; without that tag
// absence is what the comment says, or zero.
type Opts struct {
	// Attempts is how often the job is tried.
	Attempts int `json:"attempts,omitempty" absent:"10"`
	// Backoff says how long to wait before a retry.
	Backoff *BackoffOpts `json:"backoff,omitempty"`
	// Timeout is for how long an attempt may run, in milliseconds; -1 for ever.
	Timeout int64 `json:"timeout,omitempty" absent:"300000"`
	// Stalls is how often the job's worker may be lost; -1 for never.
	Stalls int `json:"stalls,omitempty" absent:"3"`
	// KeepCompleted says for how long the job is kept once it is completed.
	KeepCompleted *KeepOpts `json:"keepCompleted,omitempty" absent:"{\"age\":86400000,\"count\":10000}"`
	// KeepFailed says for how long the job is kept once it has failed for good.
	KeepFailed *KeepOpts `json:"keepFailed,omitempty" absent:"{\"age\":1209600000,\"count\":100000}"`
	// KeepLogs is how many of the job's log lines are kept; -1 for none.
	KeepLogs int `json:"kl,omitempty" absent:"100"`
	// Trace is the trace context of the request that added the job.
	Trace *TraceOpts `json:"tm,omitempty"`
}

// TraceOpts are a W3C trace context, under the names that its headers have.
type TraceOpts struct {
	// Parent is the header traceparent.
	Parent string `json:"traceparent"`
	// State is the header tracestate.
	State string `json:"tracestate,omitempty"`
}

// BackoffOpts say how long to wait before a retry.
type BackoffOpts struct {
	// Type is "fixed" or "exponential"; empty for exponential.
	Type string `json:"type,omitempty" absent:"\"exponential\""`
	// Base is the wait before the first retry, in milliseconds.
	Base int64 `json:"base,omitempty" absent:"1000"`
	// Cap is the longest wait, in milliseconds.
	Cap int64 `json:"cap,omitempty" absent:"3600000"`
	// Jitter is "full" or "none"; empty for full.
	Jitter string `json:"jitter,omitempty" absent:"\"full\""`
}

// KeepOpts say for how long an ended job is kept.
type KeepOpts struct {
	// None keeps nothing.
	None bool `json:"none,omitempty"`
	// Age is in milliseconds; absent for no bound.
	Age int64 `json:"age,omitempty"`
	// Count is how many newer jobs of the queue may have ended in the same way;
	// absent for no bound.
	Count int `json:"count,omitempty"`
}
