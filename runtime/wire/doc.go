// Package wire holds the names that every EchoMQ 2.0 runtime must agree on:
// queue names, job ids, keys, hash slots, and the fields of a job.
//
// It is pure: it talks to no server and imports the standard library only, so
// that generators, linters and other tools can use it as the runtime does.
// See docs/protocol.md, layer L1.
package wire

// Version is the protocol version that a queue records in the field
// [FieldVersion] of its meta hash, and the store under [StoreVersionKey].
const Version = "echomq:2.0.0"

// The fields of a queue's meta hash.
const (
	// FieldVersion holds [Version].
	FieldVersion = "version"
	// FieldPaused is "1" while the queue is paused, and else absent.
	FieldPaused = "paused"
	// FieldLimit and FieldRate hold an operator's overrides of the queue's limits.
	FieldLimit = "limit"
	FieldRate  = "rate"
	// FieldGroupLimit holds an operator's override of how many jobs of one group
	// may be active.
	FieldGroupLimit = "groupLimit"
	// FieldFeatures holds the additions to the protocol that a client must know
	// to join the queue: words parted by commas.
	FieldFeatures = "features"
)
