package echomq

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// The bounds of a flow.
const (
	// MaxChildren is how many children a parent can have. Children can be parents
	// themselves.
	MaxChildren = 5000
	// MaxFlowDepth is how many generations a flow can have.
	MaxFlowDepth = 100
	// maxFlowBytes bounds all the jobs below the parent, encoded.
	maxFlowBytes = maxChunkBytes
)

// FailurePolicy says what the end of a child that is no success does to its
// parent: when it has failed for good, was removed, was lost, or could not be
// added because another job has its id.
type FailurePolicy string

// The policies.
const (
	// FailParent lets the parent fail without running, at once; what it has of
	// other children goes on by itself. It is the default.
	FailParent = FailurePolicy(wire.PolicyFail)
	// ContinueParent lets the parent run at once, without waiting for the other
	// children, which go on. The parent sees the failure among its results.
	ContinueParent = FailurePolicy(wire.PolicyContinue)
	// IgnoreFailure counts the child as done. The parent sees the failure among
	// its results.
	IgnoreFailure = FailurePolicy(wire.PolicyIgnore)
	// RemoveChild drops the child as if it had never been: the parent does not see
	// it among its results.
	RemoveChild = FailurePolicy(wire.PolicyRemove)
)

func (p FailurePolicy) check() error {
	switch p {
	case FailParent, ContinueParent, IgnoreFailure, RemoveChild:
		return nil
	}
	return optionError("failure policy %q: it must be FailParent, ContinueParent, IgnoreFailure or RemoveChild", string(p))
}

// Flow is a job that runs when its children have ended, and these. [NewFlow]
// makes one, [SendFlow] sends it. It can be kept as JSON, as a [Prepared] can.
type Flow struct {
	job      Prepared
	children []FlowChild
}

// FlowChild is a child of a flow; [Child] makes one.
type FlowChild struct {
	flow   Flow
	policy FailurePolicy
}

// FlowJob is what can be a child: a [Prepared], or a [Flow] whose parent it then
// is, to any depth up to [MaxFlowDepth].
type FlowJob interface{ asFlow() Flow }

func (p Prepared) asFlow() Flow { return Flow{job: p} }
func (f Flow) asFlow() Flow     { return f }

// ChildOption is an option of [Child].
type ChildOption interface{ applyChild(*FlowChild) }

type childOption func(*FlowChild)

func (o childOption) applyChild(c *FlowChild) { o(c) }

// OnFailure says what the end of a child that is no success does to its parent;
// default [FailParent].
func OnFailure(policy FailurePolicy) ChildOption {
	return childOption(func(c *FlowChild) { c.policy = policy })
}

// Child returns a job, or a flow, as the child of one.
func Child(job FlowJob, opts ...ChildOption) FlowChild {
	child := FlowChild{policy: FailParent}
	if job != nil {
		child.flow = job.asFlow()
	}
	for _, opt := range opts {
		opt.applyChild(&child)
	}
	return child
}

// NewFlow returns the flow of a parent and its children. The parent's handler has
// their results from [ChildResults], in the order in which they stand here. What
// is wrong with it comes from [SendFlow].
//
// A delay of the parent counts from when the flow is sent: it runs when its
// children have ended, and not before it is due.
func NewFlow(parent Prepared, children ...FlowChild) Flow {
	return Flow{job: parent, children: children}
}

// ID returns the id of the flow's parent.
func (f Flow) ID() string { return f.job.ID() }

// Queue returns the name of the queue of the flow's parent.
func (f Flow) Queue() string { return f.job.Queue() }

// flowJSON is a flow at rest, and what the outbox holds of one.
type flowJSON struct {
	Job      Prepared    `json:"job"`
	Children []FlowChild `json:"children,omitempty"`
}

type childJSON struct {
	Policy FailurePolicy `json:"policy"`
	flowJSON
}

// MarshalJSON encodes the flow so that [Flow.UnmarshalJSON] gives it back.
func (f Flow) MarshalJSON() ([]byte, error) {
	return json.Marshal(flowJSON{Job: f.job, Children: f.children})
}

// UnmarshalJSON decodes what [Flow.MarshalJSON] encoded.
func (f *Flow) UnmarshalJSON(encoded []byte) error {
	var at flowJSON
	if err := json.Unmarshal(encoded, &at); err != nil {
		return err
	}
	*f = Flow{job: at.Job, children: at.Children}
	return nil
}

// MarshalJSON encodes the child as a part of its flow.
func (c FlowChild) MarshalJSON() ([]byte, error) {
	return json.Marshal(childJSON{c.policy, flowJSON{Job: c.flow.job, Children: c.flow.children}})
}

// UnmarshalJSON decodes what [FlowChild.MarshalJSON] encoded.
func (c *FlowChild) UnmarshalJSON(encoded []byte) error {
	var at childJSON
	if err := json.Unmarshal(encoded, &at); err != nil {
		return err
	}
	if err := at.Policy.check(); err != nil {
		return err
	}
	*c = FlowChild{flow: Flow{job: at.Job, children: at.Children}, policy: at.Policy}
	return nil
}

// check says what is wrong with a flow, if anything is.
func (f Flow) check() error {
	if len(f.children) == 0 {
		return optionError("flow: the parent has no children; enqueue it by itself")
	}
	return f.checkBelow(map[string]bool{}, 1)
}

func (f Flow) checkBelow(seen map[string]bool, depth int) error {
	switch {
	case f.job.queue.IsZero():
		return optionError("flow: a job is the zero Prepared; make it with a producer's Prepare method")
	case seen[f.job.queue.Job(f.job.id)]:
		return optionError("flow: job %q of queue %q is in it twice", f.job.id, f.job.queue)
	case strings.ContainsAny(f.job.name, "\r\n") || strings.ContainsAny(f.job.codec, "|\r\n"):
		return optionError("flow: the name or codec of job %q has a line break or a bar", f.job.id)
	case len(f.children) > MaxChildren:
		return optionError("flow: job %q has %d children; the limit is %d; give it children that are parents of the others", f.job.id, len(f.children), MaxChildren)
	case len(f.children) > 0 && f.job.unique.conflict == ConflictReplace:
		return optionError("flow: parent %q would replace the holder of its unique key, and its children would be lost; use ConflictExisting or ConflictError", f.job.id)
	case depth > MaxFlowDepth:
		return optionError("flow: it has more than %d generations", MaxFlowDepth)
	}
	seen[f.job.queue.Job(f.job.id)] = true
	for _, child := range f.children {
		if err := errors.Join(child.policy.check(), child.flow.checkBelow(seen, depth+1)); err != nil {
			return err
		}
	}
	return nil
}

// jobs returns the jobs of a flow, each before its children.
func (f Flow) jobs() []Prepared {
	jobs := []Prepared{f.job}
	for _, child := range f.children {
		jobs = append(jobs, child.flow.jobs()...)
	}
	return jobs
}

// with returns the flow with other jobs in the places of its own, in the order of
// jobs, and the jobs that are left.
func (f Flow) with(jobs []Prepared) (Flow, []Prepared) {
	flow := Flow{job: jobs[0], children: make([]FlowChild, len(f.children))}
	jobs = jobs[1:]
	for i, child := range f.children {
		flow.children[i].policy = child.policy
		flow.children[i].flow, jobs = child.flow.with(jobs)
	}
	return flow, jobs
}

// prepare returns the flow's parent with all that goes into the store with it.
func (f Flow) prepare() (Prepared, error) {
	job := f.job
	if len(f.children) == 0 {
		return job, nil
	}
	edges := make([]string, len(f.children))
	for i, child := range f.children {
		edges[i] = child.edge(i)
	}
	encoded, err := json.Marshal(f.children)
	if err != nil {
		return Prepared{}, fmt.Errorf("echomq: flow: %w: %w", ErrOption, err)
	}
	if len(encoded) > maxFlowBytes {
		return Prepared{}, optionError("flow: what is below job %q has %d bytes; the limit is %d; store large data elsewhere and send references", job.id, len(encoded), maxFlowBytes)
	}
	job.place.children = len(f.children)
	job.place.edges = strings.Join(edges, "\n")
	job.place.delivery = append([]byte(wire.ChildrenHead), encoded...)
	return job, nil
}

func (c FlowChild) edge(index int) string {
	return wire.Edge{
		Index: index, Policy: wire.Policy(c.policy),
		Queue: c.flow.job.queue, ID: c.flow.job.id, Codec: c.flow.job.codec, Name: c.flow.job.name,
	}.String()
}
