package echomq

import "github.com/echomq/echomq-go/runtime/wire"

// Envelope is everything that a job carries beside its typed payload; see
// [wire.Envelope].
type Envelope = wire.Envelope

// Job is a job as its handler receives it: the payload, and the envelope, whose
// fields (ID, AttemptsMade, …) are the job's own. A test can make one as a
// literal.
type Job[T any] struct {
	// Payload is what the producer sent.
	Payload T `json:"payload"`
	Envelope

	reporter *reporter // nil without a worker
	logged   []string  // without a worker
}
