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

// withdraw takes a queue out of those that the worker serves.
func (w *Worker) withdraw(r *runner) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runners = slices.DeleteFunc(w.runners, func(other *runner) bool { return other == r })
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
		w.withdraw(r)
		r.share.leave()
		if w.isStopping() {
			return fmt.Errorf("echomq: add queue %q: worker was stopped: %w", r.queue, ErrClosed)
		}
		return err
	}
	return nil
}

// Remove has the worker serve a queue no longer: no further jobs of it are taken,
// the running ones may end until ctx does, then their contexts are cancelled with
// [ErrShutdown] and they are given back, as by [Worker.Stop]. The worker goes on
// with its other queues, and may have none.
//
// The name is the one that the contract has, or that [QueueName] gave it. A queue
// that the worker does not serve is [ErrOption].
func (w *Worker) Remove(ctx context.Context, name string) error {
	queue, err := w.client.queue(name)
	if err != nil {
		return fmt.Errorf("echomq: remove a queue: %w", err)
	}
	w.changes.Lock()
	defer w.changes.Unlock()
	for _, r := range w.serving() {
		if r.queue == queue {
			w.withdraw(r)
			defer r.share.leave()
			return r.stop(ctx)
		}
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
