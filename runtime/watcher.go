package echomq

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// watchBlock is for how long one read of the event stream blocks.
	watchBlock = 2 * time.Second
	// watchLinger is for how long a watcher that nobody needs stays connected.
	watchLinger = 10 * time.Second
	// watchPage is how many events one read returns at most. It is well below
	// the history that queues keep.
	watchPage = 1000
	// watchRecheck is how often all waiting calls look at the state themselves,
	// in case the stream was deleted or a connection died unnoticed.
	watchRecheck = 30 * time.Second
)

// everyJob, in place of a job's id, stands for all of a queue's events.
const everyJob = ""

// watcher reads a queue's event stream for all of one client's calls that wait
// for a job to end, and loops over its events: one connection, however many there
// are.
type watcher struct {
	client *Client
	queue  wire.Queue
	store  redis.UniversalClient
	owned  bool

	stale atomic.Bool   // the position is to be looked at
	ready chan struct{} // closed when the position is known; err is then final
	err   error

	mu      sync.Mutex
	waiting map[string][]chan struct{}
	count   int
	since   time.Time // when count became 0
	gone    bool
}

// watch returns a channel that gets a value whenever something may have
// happened to the job called id, or to the queue where it is [everyJob], from now
// on, and a function that ends it.
func (c *Client) watch(ctx context.Context, queue wire.Queue, id string) (signal <-chan struct{}, leave func(), err error) {
	for {
		w, err := c.watcher(queue)
		if err != nil {
			return nil, nil, err
		}
		ch, ok := w.join(id)
		if !ok {
			continue // it ended between the two calls; the next one is new
		}
		leave := func() { w.leave(id, ch) }
		select {
		case <-w.ready:
		case <-ctx.Done():
			leave()
			return nil, nil, context.Cause(ctx)
		}
		if w.err != nil {
			leave()
			return nil, nil, w.err
		}
		return ch, leave, nil
	}
}

func (c *Client) watcher(queue wire.Queue) (*watcher, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if w := c.watchers[queue.Name()]; w != nil {
		return w, nil
	}
	w := &watcher{
		client: c, queue: queue,
		ready:   make(chan struct{}),
		waiting: make(map[string][]chan struct{}),
	}
	w.store, w.owned = private(c.store, 1)
	c.watchers[queue.Name()] = w
	c.running.Go(w.run)
	return w, nil
}

// recheck makes the watcher of a queue look whether new events still come after
// its position.
func (c *Client) recheck(queue wire.Queue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.watchers[queue.Name()]; w != nil {
		w.stale.Store(true)
	}
}

func (w *watcher) join(id string) (chan struct{}, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return nil, false
	}
	ch := make(chan struct{}, 1)
	w.waiting[id] = append(w.waiting[id], ch)
	w.count++
	return ch, true
}

func (w *watcher) leave(id string, ch chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	channels := w.waiting[id]
	for i, other := range channels {
		if other == ch {
			channels = append(channels[:i:i], channels[i+1:]...)
			break
		}
	}
	if len(channels) == 0 {
		delete(w.waiting, id)
	} else {
		w.waiting[id] = channels
	}
	w.count--
	w.since = time.Now()
}

// wake signals those who wait for id, and for all events; everyone if it is
// [everyJob].
func (w *watcher) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if id != everyJob {
		notify(w.waiting[id])
		notify(w.waiting[everyJob])
		return
	}
	for _, channels := range w.waiting {
		notify(channels)
	}
}

func notify(channels []chan struct{}) {
	for _, ch := range channels {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// interrupt ends a read that blocks.
func (w *watcher) interrupt() {
	if w.owned {
		_ = w.store.Close()
	}
}

func (w *watcher) run() {
	defer w.interrupt()
	defer w.end(ErrClosed)
	position, err := w.position()
	if err != nil {
		w.end(err)
		return
	}
	close(w.ready)
	checked := time.Now()
	behind := false
	for failures := 0; ; {
		if w.idle() {
			return
		}
		streams, err := w.store.XRead(w.client.closing, &redis.XReadArgs{
			Streams: []string{w.queue.Key("events"), position},
			Count:   watchPage,
			Block:   watchBlock,
		}).Result()
		refresh(w.store, err)
		switch {
		case w.client.closing.Err() != nil:
			return
		case err != nil && !errors.Is(err, redis.Nil):
			// What happened meanwhile may have been trimmed by the time that
			// the store answers again.
			behind = true
			failures++
			if sleep(w.client.closing, retryPause(failures)) != nil {
				return
			}
			continue
		}
		failures = 0
		read := 0
		for _, stream := range streams {
			read = len(stream.Messages)
			for _, message := range stream.Messages {
				position = message.ID
				id, _ := message.Values["jobId"].(string)
				w.wake(id)
			}
		}
		// A full page says that this reader is slow, and then events may have
		// been trimmed before it came to them.
		if read == watchPage {
			behind = true
			continue
		}
		if behind || w.stale.Swap(false) || time.Since(checked) > watchRecheck {
			// Where a fail-over lost the end of the stream, or it was deleted, new
			// events may stand before the position.
			if newest, err := w.position(); err == nil && isBefore(newest, position) {
				position = newest
			}
			w.wake(everyJob)
			behind, checked = false, time.Now()
		}
	}
}

// position returns the id of the last event, from which to read on.
func (w *watcher) position() (string, error) {
	for try := 0; ; try++ {
		last, err := w.store.XRevRangeN(w.client.closing, w.queue.Key("events"), "+", "-", 1).Result()
		refresh(w.store, err)
		switch {
		case err == nil && len(last) == 0:
			return beginning, nil
		case err == nil:
			return last[0].ID, nil
		case w.client.closing.Err() != nil:
			return "", ErrClosed
		case classify(err) == refused:
			return "", refusal("watch queue "+w.queue.Name(), err)
		}
		if w.idle() || sleep(w.client.closing, retryPause(try)) != nil {
			return "", unreachable("watch queue "+w.queue.Name(), err)
		}
	}
}

// idle reports whether nobody has waited for a while, and ends the watcher if
// so: nobody can join any more.
func (w *watcher) idle() bool {
	w.mu.Lock()
	idle := w.count == 0 && !w.since.IsZero() && time.Since(w.since) > watchLinger
	w.mu.Unlock()
	if idle {
		w.end(ErrClosed)
	}
	return idle
}

// end takes the watcher out of its client, and lets those who wait for it go.
func (w *watcher) end(err error) {
	w.client.mu.Lock()
	if w.client.watchers[w.queue.Name()] == w {
		delete(w.client.watchers, w.queue.Name())
	}
	w.client.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gone {
		return
	}
	w.gone = true
	select {
	case <-w.ready:
	default:
		w.err = err
		close(w.ready)
	}
	for _, channels := range w.waiting {
		notify(channels)
	}
}
