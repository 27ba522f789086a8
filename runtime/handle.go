package echomq

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// AwaitLimit is how long [Handle.Await] waits when its context has no deadline.
const AwaitLimit = 5 * time.Minute

// State is where a job stands.
type State string

// The states.
const (
	// StateMissing is a job that does not exist: it was never added, or it was
	// removed.
	StateMissing State = "missing"
	// StateWaiting is a job that can be taken, in order of arrival.
	StateWaiting State = "waiting"
	// StatePrioritized is a job that can be taken after those that wait.
	StatePrioritized State = "prioritized"
	// StateDelayed is a job that is not due yet: a new one, or one between two
	// attempts.
	StateDelayed State = "delayed"
	// StateWaitingChildren is the parent of a flow whose children have not all
	// ended.
	StateWaitingChildren State = "waiting-children"
	// StateActive is a job that a worker holds.
	StateActive State = "active"
	// StateCompleted is a job that succeeded.
	StateCompleted State = "completed"
	// StateFailed is a job that failed for good.
	StateFailed State = "failed"
	// StateQuarantined is a job whose record in the store was overwritten by
	// something that is no job.
	StateQuarantined State = "quarantined"
)

// Ended reports whether a job in this state has ended.
func (s State) Ended() bool { return s == StateCompleted || s == StateFailed }

// Handle is a job that was added, by which its state and result can be had from
// any process.
type Handle[R any] struct {
	// ID is the job's id.
	ID string
	// Existing says that the job was there already when it was to be added: one
	// of this id, or one that holds the unique key. It was left as it was, unless
	// Replaced is set.
	Existing bool
	// Replaced says that the job that was there has got the content of the one
	// that was to be added; see [ConflictReplace].
	Replaced bool

	client *Client
	queue  wire.Queue
	job    wire.JobID
	name   string
	codec  Codec[R] // of the result; nil for JSON
	was    string   // the names that it may have had; see formerNames
}

func handleOf[R any](client *Client, codec Codec[R], job *Prepared, sent *Sent) Handle[R] {
	id := job.id
	if sent.ID != id.String() { // another job holds the unique key
		id, _ = wire.ParseStoredJobID(sent.ID)
	}
	return Handle[R]{
		ID: sent.ID, Existing: sent.Existing, Replaced: sent.Replaced,
		client: client, queue: job.queue, job: id, name: job.name, codec: codec,
	}
}

// Queue returns the name of the job's queue.
func (h Handle[R]) Queue() string { return h.queue.Name() }

// State returns where the job stands. A job of another type is
// [ErrJobMismatch].
func (h Handle[R]) State(ctx context.Context) (State, error) {
	found, err := h.inspect(ctx)
	if err != nil {
		return "", err
	}
	return State(found.State), nil
}

// Await waits until the job has ended and returns its result. It works from any
// process and misses nothing: it listens first and then looks.
//
// The error is a [*JobError] if the job failed, [ErrJobMissing] if it does not
// exist or was removed, [ErrNotKept] if it completed and its result was not
// kept, [ErrResult] if the result is not an R, and [ErrAwaitLimit] after
// [AwaitLimit] if ctx has no deadline.
func (h Handle[R]) Await(ctx context.Context) (R, error) {
	var none R
	if h.client == nil {
		return none, optionError("await of the zero Handle")
	}
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		limit := h.client.awaitLimit
		ctx, cancel = context.WithTimeoutCause(ctx, limit,
			fmt.Errorf("%w after %v; give the context a deadline to wait longer", ErrAwaitLimit, limit))
		defer cancel()
	}
	signal, leave, err := h.client.watch(ctx, h.queue, h.ID)
	if err != nil {
		return none, h.wrap("await", err)
	}
	defer leave()
	for {
		found, err := h.inspect(ctx)
		if err != nil && ctx.Err() != nil {
			return none, h.wrap("await", context.Cause(ctx))
		}
		if err != nil {
			return none, err
		}
		switch State(found.State) {
		case StateCompleted:
			return h.result(found)
		case StateFailed, StateQuarantined:
			return none, h.failure(found)
		case StateMissing:
			return none, h.wrap("await", ErrJobMissing)
		}
		select {
		case <-signal:
		case <-ctx.Done():
			return none, h.wrap("await", context.Cause(ctx))
		case <-h.client.closing.Done():
			return none, h.wrap("await", ErrClosed)
		}
	}
}

func (h Handle[R]) wrap(what string, err error) error {
	return fmt.Errorf("echomq: %s job %q of queue %q: %w", what, h.ID, h.queue, err)
}

func (h Handle[R]) inspect(ctx context.Context) (script.InspectResult, error) {
	if h.client == nil {
		return script.InspectResult{}, optionError("use of the zero Handle")
	}
	if err := h.client.meet(ctx, h.queue); err != nil {
		return script.InspectResult{}, err
	}
	op := fmt.Sprintf("inspect job %q of queue %q", h.ID, h.queue)
	call := script.Inspect{Items: []script.InspectItem{{ID: h.job}}}
	raw, err := h.client.call(ctx, op, call.Call(h.queue))
	if errors.Is(err, ErrOutcomeUnknown) { // of a read, which has none
		return script.InspectResult{}, unreachable(op, err)
	}
	if err != nil {
		return script.InspectResult{}, err
	}
	reply, err := script.DecodeInspect(raw)
	if err != nil {
		return script.InspectResult{}, err
	}
	found := reply.Results[0]
	if found.Name != "" && found.Name != h.name && !strings.Contains(h.was, "\x00"+found.Name+"\x00") {
		return script.InspectResult{}, h.wrap("look at", fmt.Errorf("%w: it is %q, not %q", ErrJobMismatch, found.Name, h.name))
	}
	return found, nil
}

func (h Handle[R]) result(found script.InspectResult) (R, error) {
	var result R
	if _, none := any(result).(None); none {
		return result, nil
	}
	if !found.Kept {
		return result, h.wrap("await", ErrNotKept)
	}
	value, err := h.client.transforms.open(h.queue.Name(), cmp.Or(found.Name, h.name), found.Codec, []byte(found.Value))
	if err == nil {
		result, err = decodeResult(h.codec, found.Codec, value)
	}
	if err != nil {
		var none R
		return none, h.wrap("await", fmt.Errorf("%w: %w", ErrResult, err))
	}
	return result, nil
}

func (h Handle[R]) failure(found script.InspectResult) error {
	failure := &JobError{ID: h.ID, Queue: h.queue.Name(), Reason: found.Reason, Attempts: int(found.Attempts), Cancelled: isCancelled(found.Deferred)}
	if State(found.State) == StateQuarantined {
		failure.Reason = "the job's record was overwritten by something that is no job; it is in quarantine"
	}
	if !found.Kept {
		failure.Reason = "nothing was kept of it"
	}
	if found.Trace != "" && json.Unmarshal([]byte(found.Trace), &failure.Trace) != nil {
		failure.Trace = []string{found.Trace}
	}
	return failure
}
