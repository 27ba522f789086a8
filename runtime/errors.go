package echomq

import (
	"context"
	"errors"
	"fmt"

	"github.com/echomq/echomq-go/runtime/wire"
)

// What can go wrong between a program and its store. Each is found with
// errors.Is in an error that says more.
var (
	// ErrName is a queue name or job id that is not valid; see [wire.NameError].
	ErrName = wire.ErrName
	// ErrOption is an option that makes no sense, alone or with another.
	ErrOption = errors.New("option is not valid")
	// ErrPayload is a payload that cannot be sent: it does not validate, cannot
	// be encoded, or is over the limit. Nothing was sent.
	ErrPayload = errors.New("payload cannot be sent")
	// ErrFull is a store that has no memory left for new jobs. Nothing was
	// written; workers go on draining it.
	ErrFull = errors.New("store is full")
	// ErrUnreachable is a store that could not be reached in time. Nothing was
	// written.
	ErrUnreachable = errors.New("store is unreachable")
	// ErrNotRedis is a server that does not speak the protocol of Redis.
	ErrNotRedis = errors.New("server is not a Redis or Valkey")
	// ErrAuth is a store that wants a password or refused the one it got.
	ErrAuth = errors.New("store refused the credentials")
	// ErrPermission is a store whose access rules refused a command.
	ErrPermission = errors.New("store refused the permission")
	// ErrVersion is a queue or store that speaks another version of EchoMQ.
	ErrVersion = errors.New("protocol version differs")
	// ErrOutcomeUnknown is a call whose answer was lost and could not be had
	// again in time: it may or may not have been carried out. Sending the same
	// job id again is safe.
	ErrOutcomeUnknown = errors.New("outcome is unknown")
	// ErrNotReplicated is a call that was carried out, but that fewer replicas
	// than [WithReplicaAck] asks for have acknowledged in time: a fail-over may
	// undo it. Sending the same job id again is safe, and waits again.
	ErrNotReplicated = errors.New("too few replicas have acknowledged")
	// ErrNotSent is an item of a batch, or a whole call, that was not sent
	// because of an earlier error.
	ErrNotSent = errors.New("not sent")
	// ErrJobMismatch is a job that exists under the id but is of another type.
	ErrJobMismatch = errors.New("job is of another type")
	// ErrJobMissing is a job that does not exist: it was never added, or it was
	// removed.
	ErrJobMissing = errors.New("job does not exist")
	// ErrJobActive is a job that a worker holds, so that it cannot be removed or
	// changed.
	ErrJobActive = errors.New("job is active")
	// ErrJobWaitsForChildren is a parent that runs when its children have ended,
	// and at no other time.
	ErrJobWaitsForChildren = errors.New("job waits for its children")
	// ErrJobEnded is a job that has completed or failed for good.
	ErrJobEnded = errors.New("job has ended")
	// ErrJobNotFailed is a job that has not failed, so that it cannot be retried.
	ErrJobNotFailed = errors.New("job has not failed")
	// ErrJobQuarantined is a job whose record is damaged.
	ErrJobQuarantined = errors.New("job is in quarantine")
	// ErrNotPaused is a queue that was resumed while it was to stay paused.
	ErrNotPaused = errors.New("queue is not paused")
	// ErrNotKept is a job that completed, but whose result was not kept.
	ErrNotKept = errors.New("result was not kept")
	// ErrResult is a result that cannot be decoded into the type it is awaited
	// as.
	ErrResult = errors.New("result cannot be decoded")
	// ErrProgress is a progress that cannot be encoded, is over the limit, or
	// cannot be decoded into the type it is read as.
	ErrProgress = errors.New("progress is not valid")
	// ErrAwaitLimit ends an Await whose context has no deadline.
	ErrAwaitLimit = errors.New("await limit reached")
	// ErrClosed is a client or worker that was closed before.
	ErrClosed = errors.New("already closed")
)

// Why the context of a running job ended, for context.Cause and errors.Is.
var (
	// ErrCancelled says that the job was cancelled. The failure of such a job,
	// a [*JobError], is one too.
	ErrCancelled = errors.New("job was cancelled")
	// ErrTimeout says that the attempt ran for longer than the job's timeout. As an
	// error of a context it is [context.DeadlineExceeded] as well.
	ErrTimeout error = timeoutError{}
	// ErrLeaseLost says that the job was given to another worker, or is gone.
	ErrLeaseLost = errors.New("job's lease was lost")
	// ErrShutdown says that the worker is stopping and has waited long enough.
	ErrShutdown = errors.New("worker is shutting down")
)

// StoreError is a call to the store that failed. Is and As see both its kind,
// such as [ErrUnreachable], and the error of the client library.
type StoreError struct {
	// Kind is one of the Err… values of this package.
	Kind error
	// Op says what was attempted: "add to queue \"mail\"".
	Op string
	// Advice says what to do about it; it may be empty.
	Advice string
	// Err is the cause.
	Err error
}

func (e *StoreError) Error() string {
	text := fmt.Sprintf("echomq: %s: %v", e.Op, e.Kind)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	if e.Advice != "" {
		text += " (" + e.Advice + ")"
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *StoreError) Unwrap() []error { return []error{e.Kind, e.Err} }

// UnknownOutcomeError is an [ErrOutcomeUnknown] with the ids of the jobs of
// which it is not known whether they were added. Adding them again under the
// same ids is safe.
type UnknownOutcomeError struct {
	IDs []string
	Err error
}

func (e *UnknownOutcomeError) Error() string {
	return fmt.Sprintf("echomq: %v for %d job(s), first %q: %v (enqueueing them again under the same ids is safe)",
		ErrOutcomeUnknown, len(e.IDs), e.IDs[0], e.Err)
}

// Unwrap returns [ErrOutcomeUnknown] and the cause.
func (e *UnknownOutcomeError) Unwrap() []error { return []error{ErrOutcomeUnknown, e.Err} }

// NotReplicatedError is an [ErrNotReplicated] with the ids of the jobs that were
// added, and that a fail-over may undo. Adding them again under the same ids is
// safe, and waits for the replicas again.
type NotReplicatedError struct {
	IDs []string
	Err error
}

func (e *NotReplicatedError) Error() string {
	return fmt.Sprintf("echomq: %v %d job(s), first %q: %v (enqueueing them again under the same ids is safe, and waits again)",
		ErrNotReplicated, len(e.IDs), e.IDs[0], e.Err)
}

// Unwrap returns [ErrNotReplicated] and the cause.
func (e *NotReplicatedError) Unwrap() []error { return []error{ErrNotReplicated, e.Err} }

// JobError is the failure of a job, as [Handle.Await] returns it.
type JobError struct {
	// ID and Queue name the job.
	ID    string
	Queue string
	// Reason is the error of its last attempt.
	Reason string
	// Attempts is how often it was tried.
	Attempts int
	// Trace holds the errors of its attempts, oldest first, capped.
	Trace []string
	// Cancelled says that the job was cancelled before it ended.
	Cancelled bool
}

// Is reports whether target is [ErrCancelled] and the job was cancelled.
func (e *JobError) Is(target error) bool { return e.Cancelled && target == ErrCancelled }

func (e *JobError) Error() string {
	return fmt.Sprintf("echomq: job %q of queue %q failed after %d attempt(s): %s", e.ID, e.Queue, e.Attempts, e.Reason)
}

func optionError(format string, args ...any) error {
	return fmt.Errorf("echomq: %w: %s", ErrOption, fmt.Sprintf(format, args...))
}

// timeoutError is what errors.Is and net.Error take for a deadline that has passed:
// libraries return the cause of a context as their own error.
type timeoutError struct{}

func (timeoutError) Error() string        { return "job timed out" }
func (timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }
func (timeoutError) Timeout() bool        { return true }
