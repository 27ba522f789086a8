package echomq

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// How a child of a flow can have ended without a result, for errors.Is.
var (
	// ErrChildFailed is a child that failed for good.
	ErrChildFailed = errors.New("child failed")
	// ErrChildRemoved is a child that was removed, or that the store lost.
	ErrChildRemoved = errors.New("child was removed")
	// ErrChildTaken is a child that was not added, because another job has its id.
	ErrChildTaken = errors.New("child was not added")
	// ErrChildPending is a child that has not ended: its parent was let run by
	// [ContinueParent] of another one.
	ErrChildPending = errors.New("child has not ended")
)

// ChildError is why a child of a flow has no result.
type ChildError struct {
	// Kind is [ErrChildFailed], [ErrChildRemoved], [ErrChildTaken] or
	// [ErrChildPending].
	Kind error
	// ID and Queue name the child.
	ID    string
	Queue string
	// Reason is the error of its last attempt, or says what became of it.
	Reason string
}

func (e *ChildError) Error() string {
	text := fmt.Sprintf("echomq: job %q of queue %q: %v", e.ID, e.Queue, e.Kind)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Unwrap returns the kind.
func (e *ChildError) Unwrap() error { return e.Kind }

// ChildResult is what came of a child of a flow.
type ChildResult[R any] struct {
	// ID is the child's id.
	ID string
	// Index is the child's place among all children of its parent, from 0.
	Index int
	// Result is what its handler returned, if Err is nil.
	Result R
	// Err is a [*ChildError] if the child has no result, an [ErrResult] if its
	// result is not an R, and an [ErrNotKept] if nothing was kept of it and its
	// report was lost, which takes the loss of what a store had acknowledged.
	Err error
}

// ChildResults returns what came of the children of one type, in the order in
// which they stand in the flow, for the handler of their parent: ctx is the
// handler's context, or one made from it, and job its job. What [RemoveChild]
// dropped is not among them.
//
// Children that were sent under another queue name than their contract's are
// found with the option [QueueName]. Outside of a handler the error is
// [ErrOption]; see [WithChildResults] for tests.
func ChildResults[P, T, R any](ctx context.Context, job *Job[P], child JobType[T, R], opts ...HandleOption) ([]ChildResult[R], error) {
	if planted, ok := ctx.Value(plantedKey{job.ID, child.spec.Queue, child.spec.Name}).([]ChildResult[R]); ok {
		return planted, nil
	}
	family, ok := ctx.Value(familyKey{}).(family)
	if !ok {
		return nil, optionError("child results of %s: the context is not that of the job's handler", child.spec.Name)
	}
	id, err := wire.ParseStoredJobID(job.ID)
	if err != nil {
		return nil, fmt.Errorf("echomq: child results of %s: %w", child.spec.Name, err)
	}
	family.id = id
	config := handleConfig{name: child.spec.Queue}
	for _, opt := range opts {
		opt.applyHandle(&config)
	}
	queue, err := family.client.queue(config.name)
	if err != nil {
		return nil, fmt.Errorf("echomq: child results of %s: %w", child.spec.Name, err)
	}
	members, err := family.read(ctx, func(edge wire.Edge) bool { return edge.Queue == queue && edge.Name == child.spec.Name })
	if err != nil {
		return nil, err
	}
	results := make([]ChildResult[R], len(members))
	for i, m := range members {
		results[i] = ChildResult[R]{ID: m.edge.ID.String(), Index: m.edge.Index, Err: m.failure()}
		if results[i].Err != nil {
			continue
		}
		results[i].Result, err = decodeChildResult(family.client, child.codecs.result, m)
		if err != nil {
			results[i].Err = fmt.Errorf("echomq: job %q of queue %q: %w", m.edge.ID, queue, err)
		}
	}
	return results, nil
}

func decodeChildResult[R any](client *Client, codec Codec[R], m member) (result R, err error) {
	if _, none := any(result).(None); none {
		return result, nil
	}
	if len(m.value) == 0 {
		return result, ErrNotKept
	}
	value, err := client.transforms.open(m.edge.Queue.Name(), m.edge.Name, m.edge.Codec, m.value)
	if err == nil {
		result, err = decodeResult(codec, m.edge.Codec, value)
	}
	if err != nil {
		var none R
		return none, fmt.Errorf("%w: %w", ErrResult, err)
	}
	return result, nil
}

// WithChildResults returns a context in which [ChildResults] of a job are the given
// ones, so that its handler can be tested without a store.
func WithChildResults[P, T, R any](ctx context.Context, job *Job[P], child JobType[T, R], results ...ChildResult[R]) context.Context {
	return context.WithValue(ctx, plantedKey{job.ID, child.spec.Queue, child.spec.Name}, results)
}

type plantedKey struct{ id, queue, name string }

// family is a job with its children. The context of a handler has one without an
// id: that of a batch is shared by several jobs.
type family struct {
	client *Client
	queue  wire.Queue
	id     wire.JobID
}

type familyKey struct{}

func withFamily(ctx context.Context, f family) context.Context {
	return context.WithValue(ctx, familyKey{}, f)
}

// member is what is known of a child.
type member struct {
	edge    wire.Edge
	outcome wire.Outcome // empty for one that has not ended
	value   []byte
}

func (m member) failure() error {
	failure := &ChildError{ID: m.edge.ID.String(), Queue: m.edge.Queue.Name(), Reason: string(m.value)}
	switch m.outcome {
	case wire.OutcomeCompleted:
		return nil
	case "":
		failure.Kind = ErrChildPending
	case wire.OutcomeRemoved:
		failure.Kind = ErrChildRemoved
	case wire.OutcomeTaken:
		failure.Kind = ErrChildTaken
	default:
		failure.Kind = ErrChildFailed
	}
	return failure
}

// read returns the children that are wanted, in order. Those that have not ended
// are read first: one that ends meanwhile is found again among the others.
func (f family) read(ctx context.Context, wanted func(wire.Edge) bool) ([]member, error) {
	found := map[string]member{}
	note := func(text string, outcome wire.Outcome, value string) {
		if edge, err := wire.ParseEdge(text); err == nil && wanted(edge) {
			found[text] = member{edge: edge, outcome: outcome, value: []byte(value)}
		}
	}
	op := fmt.Sprintf("read the children of job %q of queue %q", f.id, f.queue)
	err := f.client.persist(ctx, op, func() error {
		pending, err := f.client.store.SMembers(ctx, f.queue.JobKey(f.id, "dependencies")).Result()
		if err != nil {
			return err
		}
		for _, edge := range pending {
			note(edge, "", "")
		}
		err = f.scan(ctx, "processed", func(edge, value string) { note(edge, wire.OutcomeCompleted, value) })
		if err != nil {
			return err
		}
		return f.scan(ctx, "failed", func(edge, value string) {
			outcome, reason, _ := strings.Cut(value, " ")
			note(edge, wire.Outcome(outcome), reason)
		})
	})
	if err != nil {
		return nil, err
	}
	members := make([]member, 0, len(found))
	for _, m := range found {
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.edge.Index, b.edge.Index) })
	return members, nil
}

// scan reads a hash of the job in pages.
func (f family) scan(ctx context.Context, part string, each func(field, value string)) error {
	for cursor := uint64(0); ; {
		page, next, err := f.client.store.HScan(ctx, f.queue.JobKey(f.id, part), cursor, "", verifyPage).Result()
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(page); i += 2 {
			each(page[i], page[i+1])
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
