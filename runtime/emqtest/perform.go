package emqtest

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	echomq "github.com/echomq/echomq-go/runtime"
)

// Perform runs one attempt of one job through the real worker, on an engine of its
// own, and returns what its handler returned: the result as whoever awaits it gets
// it, or the handler's own error, for errors.Is and errors.As. What the worker makes
// of a panic, a timeout or a result that cannot be encoded is an error too. The
// options are those of Enqueue.
//
//	receipt, err := emqtest.Perform(t, mail.MailQueue(handler{}), mail.WelcomeJob(), mail.Welcome{UserID: 7})
func Perform[T, R any](t testing.TB, served echomq.Served, job echomq.JobType[T, R], payload T, options ...echomq.EnqueueOption) (R, error) {
	t.Helper()
	kit := New(t)
	var none R
	producer := echomq.NewProducer(kit.client, echomq.QueueSpec{Name: job.Queue()})
	handle, err := echomq.Enqueue(kit.ctx, producer, job, payload, options...)
	if err != nil {
		t.Fatalf("emqtest: Perform: %v", err)
	}
	recorder := &recorder{kit: kit}
	stop := kit.work(recorder, []echomq.Served{served})
	defer stop()
	kit.runOnce(recorder, handle.State)
	stop() // what it did is settled
	if runs := recorder.all(); len(runs) > 0 && runs[0].Err != nil {
		return none, runs[0].Err
	}
	return handle.Await(kit.ctx)
}

// runOnce waits until a handler has been run, or the job has ended without.
func (k *Kit) runOnce(recorder *recorder, state func(context.Context) (echomq.State, error)) {
	k.t.Helper()
	for deadline := time.Now().Add(drainPatience); recorder.count() == 0; time.Sleep(time.Millisecond) {
		next := k.picture().next
		if next.unknown {
			k.t.Fatalf("emqtest: Perform: no handler for job %s of queue %s", next.name, next.queue)
		}
		if wait := next.due.Sub(k.Now()); next.id != "" && wait > 0 && recorder.count() == 0 {
			k.Advance(wait)
		}
		if at, err := state(k.ctx); err != nil || at.Ended() {
			return
		}
		if time.Now().After(deadline) {
			k.t.Fatalf("emqtest: Perform: the handler did not return within %v", drainPatience)
		}
	}
}

// Completed returns the handle of a job that has completed with the given result,
// for fakes of producers. It is a real one, of a job on an engine of its own.
func Completed[T, R any](t testing.TB, job echomq.JobType[T, R], result R) echomq.Handle[R] {
	t.Helper()
	return ended(t, job, result, nil)
}

// Failed returns the handle of a job that has failed with the given error, for
// fakes of producers: Await returns it as a [*echomq.JobError].
func Failed[T, R any](t testing.TB, job echomq.JobType[T, R], err error) echomq.Handle[R] {
	t.Helper()
	var none R
	if err == nil {
		err = errors.New("failed")
	}
	return ended(t, job, none, err)
}

// ended returns the handle of a job that was run and has ended.
func ended[T, R any](t testing.TB, job echomq.JobType[T, R], result R, failure error) echomq.Handle[R] {
	t.Helper()
	kit := New(t)
	// Whatever the payload has to be, this is not about it.
	stand := echomq.NewJobType[json.RawMessage, R](echomq.JobSpec{Queue: job.Queue(), Name: job.Name(), Version: job.Version()})
	queue := echomq.QueueSpec{Name: job.Queue()}
	added, err := echomq.Enqueue(kit.ctx, echomq.NewProducer(kit.client, queue), stand, json.RawMessage("null"))
	if err != nil {
		t.Fatalf("emqtest: %v", err)
	}
	kit.Drain(echomq.Serve(queue, []echomq.Route{
		echomq.RouteTo(stand, func(context.Context, *echomq.Job[json.RawMessage]) (R, error) {
			if failure != nil {
				return result, echomq.Fail(failure)
			}
			return result, nil
		}),
	}))
	handle, err := job.Handle(kit.client, added.ID)
	if err != nil {
		t.Fatalf("emqtest: %v", err)
	}
	return handle
}
