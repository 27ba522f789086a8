package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// Policy says what the end of a child that is no success does to its parent.
type Policy string

// The policies.
const (
	// PolicyFail lets the parent fail without running.
	PolicyFail Policy = "fail"
	// PolicyContinue lets the parent run at once.
	PolicyContinue Policy = "continue"
	// PolicyIgnore counts the child as done.
	PolicyIgnore Policy = "ignore"
	// PolicyRemove drops the child as if it had never been.
	PolicyRemove Policy = "remove"
)

// Edge is what a parent knows of a child: it is a member of the parent's
// dependencies, and later a field of its processed or failed.
type Edge struct {
	// Index is the child's place among its siblings, from 0.
	Index int
	// Policy says what an end does that is no success.
	Policy Policy
	// Queue and ID are the child's.
	Queue Queue
	ID    JobID
	// Codec is the encoding of the child's result, as of its payload; empty for
	// JSON.
	Codec string
	// Name is the child's wire name.
	Name string
}

// String returns the edge as it stands on the wire: index, policy, queue, id,
// codec and name, parted by bars. The name comes last because it may hold a bar itself.
func (e Edge) String() string {
	return strings.Join([]string{strconv.Itoa(e.Index), string(e.Policy), e.Queue.Name(), e.ID.String(), e.Codec, e.Name}, "|")
}

// ParseEdge is the inverse of [Edge.String].
func ParseEdge(text string) (Edge, error) {
	parts := strings.SplitN(text, "|", 6)
	if len(parts) != 6 || parts[5] == "" || strings.ContainsAny(text, "\r\n") {
		return Edge{}, fmt.Errorf("edge %q is not an index, policy, queue, id, codec and name, parted by bars", shorten(text))
	}
	index, err := strconv.Atoi(parts[0])
	if err != nil || index < 0 || strconv.Itoa(index) != parts[0] {
		return Edge{}, fmt.Errorf("edge %q: the index is no number from 0", shorten(text))
	}
	policy := Policy(parts[1])
	switch policy {
	case PolicyFail, PolicyContinue, PolicyIgnore, PolicyRemove:
	default:
		return Edge{}, fmt.Errorf("edge %q: there is no policy %q", shorten(text), parts[1])
	}
	queue, err := ParseQueue(parts[2])
	if err != nil {
		return Edge{}, fmt.Errorf("edge %q: %w", shorten(text), err)
	}
	id, err := ParseJobID(parts[3])
	if err != nil {
		return Edge{}, fmt.Errorf("edge %q: %w", shorten(text), err)
	}
	return Edge{Index: index, Policy: policy, Queue: queue, ID: id, Codec: parts[4], Name: parts[5]}, nil
}
