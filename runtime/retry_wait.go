package echomq

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// RetryWaits has wait decide, after a failed attempt of a job of the type, for
// how long the job waits before it is tried again. backoff is what the job's own
// settings come to: return it to leave the wait as it is, or a part or a multiple
// of it. err is what the handler returned, and job.Attempt() the attempt that
// failed, from 1.
//
// What wait returns is rounded up to a millisecond. Zero and less is at once: the
// job is then the next of the queue. The cap of [RetrySpec] bounds the backoff and
// not what wait returns. If wait panics, the backoff holds, and the worker says so
// in its log.
//
// It is not asked where nothing is to be decided: after the last attempt, and for
// an error of [Fail], [RetryAfter] or [Snooze]. It is called by many goroutines at
// once, each in a slot of the worker, so it should not wait for anything.
//
// Where several are given for a job the last holds. One for a job that the queue
// has no handler for is an [ErrOption], as is a nil wait.
func RetryWaits[T, R any](job JobType[T, R], wait func(job *Job[T], err error, backoff time.Duration) time.Duration) QueueWorkerOption {
	given := retryWaits{queue: job.spec.Queue, job: job.spec.Name}
	if wait != nil {
		given.wait = func(envelope Envelope, err error, backoff time.Duration) (time.Duration, error) {
			payload, failure := job.payloadOf(&envelope)
			if failure != nil {
				return backoff, failure
			}
			return wait(&Job[T]{Payload: payload, Envelope: envelope}, err, backoff), nil
		}
	}
	return func(c *queueConfig) { c.waits = append(c.waits, given) }
}

// retryWaits is what decides the waits of one job type.
type retryWaits struct {
	queue, job string
	wait       func(envelope Envelope, err error, backoff time.Duration) (time.Duration, error)
}

// checkWaits says what is wrong with the queue's retry waits, if anything is.
// Those from inherited on are the queue's own, and the others the worker's, which
// may be for another of its queues.
func (s Served) checkWaits(waits []retryWaits, inherited int) error {
	for i, given := range waits {
		handled := given.queue == s.spec.Name &&
			slices.ContainsFunc(s.routes, func(route Route) bool { return route.name == given.job })
		switch {
		case given.wait == nil:
			return optionError("job %q: RetryWaits without a function", given.job)
		case !handled && (given.queue == s.spec.Name || i >= inherited):
			return optionError("RetryWaits for job %q of queue %q, which queue %q has no handler for", given.job, given.queue, s.spec.Name)
		}
	}
	return nil
}

// retryWait returns how long the job waits before it is tried again.
func (a *attempt) retryWait(err error) time.Duration {
	backoff := a.settings.wait(a.envelope.AttemptsMade + 1)
	if a.route.wait == nil {
		return backoff
	}
	wait := backoff
	failure := errors.New("it called runtime.Goexit")
	answered := make(chan struct{})
	// In a goroutine of its own, so that one which calls runtime.Goexit does not
	// end the attempt.
	go func() {
		defer close(answered)
		defer func() {
			if reason := recover(); reason != nil {
				failure = fmt.Errorf("it panicked: %v\n%s", reason, debug.Stack())
			}
		}()
		job := a.envelope
		data, unsealed := a.runner.client.transforms.open(a.runner.queue.Name(), job.Name, job.Codec, job.Data)
		if unsealed != nil {
			failure = unsealed
			return
		}
		job.Data = data
		wait, failure = a.route.wait(job, err, backoff)
	}()
	<-answered
	if failure != nil {
		a.runner.log.Error("the function of RetryWaits cannot say how long a job waits; its backoff holds",
			"job", a.envelope.ID, "name", a.envelope.Name, "error", failure)
		return backoff
	}
	return max(wait, 0)
}
