package echomq

import (
	"context"
	"fmt"
	"slices"
)

// enter adds a queue to those that the worker serves, without starting it.
func (w *Worker) enter(served Served) (*runner, error) {
	r, err := newRunner(w, w.id, served)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, other := range w.runners {
		if other.queue == r.queue {
			r.share.leave()
			return nil, optionError("queue %q is served twice", r.queue)
		}
	}
	w.runners = append(w.runners, r)
	return r, nil
}

// withdraw takes a queue out of those that the worker serves. The returned
// function says that it has ended.
func (w *Worker) withdraw(r *runner) (gone func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	isIt := func(other *runner) bool { return other == r }
	w.runners = slices.DeleteFunc(w.runners, isIt)
	w.leaving = append(w.leaving, r)
	return func() {
		r.share.leave()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.leaving = slices.DeleteFunc(w.leaving, isIt)
	}
}

// Add has the worker serve one more queue. If the worker runs, the queue is
// checked and its first jobs are taken before Add returns or soon after; a store
// that is unreachable is waited for until ctx ends, and then the queue is not
// added. Before Run it is as if [NewWorker] had been given it.
//
// The error is [ErrOption] or [ErrName], what the first contact with the queue
// finds wrong, or [ErrClosed] for a worker that has been stopped.
func (w *Worker) Add(ctx context.Context, served Served) error {
	w.changes.Lock()
	defer w.changes.Unlock()
	if w.isStopping() {
		return fmt.Errorf("echomq: add a queue: worker was stopped: %w", ErrClosed)
	}
	r, err := w.enter(served)
	if err != nil || w.running == nil {
		return err
	}
	starting, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.running, cancel)()
	if err := r.start(starting); err != nil {
		w.withdraw(r)()
		if w.isStopping() {
			return fmt.Errorf("echomq: add queue %q: worker was stopped: %w", r.queue, ErrClosed)
		}
		return err
	}
	return nil
}

// Remove has the worker serve a queue no longer: no further jobs of it are taken,
// the running ones may end until ctx does, or the stop timeout of a worker that is
// stopped meanwhile; then their contexts are cancelled with [ErrShutdown] and they
// are given back, as by [Worker.Stop]. The worker goes on with its other queues,
// and may have none.
//
// The name is the one that the contract has, or that [QueueName] gave it. A queue
// that the worker does not serve is [ErrOption], and so is, with the context of a
// handler, the queue of that handler's job, which would wait for itself.
func (w *Worker) Remove(ctx context.Context, name string) error {
	queue, err := w.client.queue(name)
	if err != nil {
		return fmt.Errorf("echomq: remove a queue: %w", err)
	}
	w.changes.Lock()
	defer w.changes.Unlock()
	for _, r := range w.serving() {
		if r.queue != queue {
			continue
		}
		if handledBy(ctx, w, r) {
			return optionError("queue %q: a handler cannot remove its own queue and wait for it; do it in a goroutine, with another context", queue)
		}
		defer w.withdraw(r)()
		patience, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(w.patient, cancel)()
		return r.stop(patience)
	}
	return optionError("queue %q is not served by this worker", queue)
}

// Queues returns the names of the queues that the worker serves, sorted.
func (w *Worker) Queues() []string {
	var names []string
	for _, r := range w.serving() {
		names = append(names, r.queue.Name())
	}
	slices.Sort(names)
	return names
}

func (w *Worker) isStopping() bool {
	select {
	case <-w.stop:
		return true
	default:
		return false
	}
}

// handlerKey finds the runner of a handler in its context.
type handlerKey struct{}

// handler is whose a handler is.
type handler struct {
	worker *Worker
	runner *runner
}

// handledBy reports whether ctx is that of a handler of the worker, and of the
// runner if that is not nil.
func handledBy(ctx context.Context, w *Worker, r *runner) bool {
	h, ok := ctx.Value(handlerKey{}).(handler)
	return ok && h.worker == w && (r == nil || h.runner == r)
}
