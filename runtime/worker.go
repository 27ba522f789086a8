package echomq

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

const (
	minLease = 100 * time.Millisecond
	maxLease = 24 * time.Hour
	// cancelGrace is how long a stopping worker waits for handlers whose
	// context it has cancelled.
	cancelGrace = 5 * time.Second
	// flushTimeout is how long it tries to settle what the last handlers did.
	flushTimeout = 5 * time.Second
)

type workerConfig struct {
	name        string
	stopTimeout time.Duration
	cancelGrace time.Duration
	cleanEvery  time.Duration
	carryEvery  time.Duration
	leftPause   time.Duration
	lineWait    time.Duration
	handlerTime time.Duration // that handlers are taken to need at first
	queues      []QueueWorkerOption
	total       int // 0 for no common bound
	totalGiven  bool
}

type queueConfig struct {
	name         string
	concurrency  int
	prefetch     int
	lease        time.Duration
	events       EventLevel
	payloadLimit int
	weight       int
	stuckAfter   time.Duration
	middleware   []func(HandlerFunc) HandlerFunc
	batches      map[string]BatchSpec // by the jobs' names
	waits        []retryWaits         // the last for a job holds
	limits       limits
}

// Worker takes jobs from one or more queues and runs their handlers. It
// installs no signal handler: end the context of [Worker.Run], or call
// [Worker.Stop], on the signals that the program listens to.
type Worker struct {
	client *Client
	config workerConfig
	id     string // unique, for tokens
	slots  *pool
	runs   atomic.Bool // all queues that it was made with have been started

	changes sync.Mutex      // held while queues are started, added and removed
	running context.Context // of Run; nil before; guarded by changes

	mu      sync.Mutex
	runners []*runner
	leaving []*runner // taken out, and not at an end yet
	started bool
	stop    chan struct{} // closed when the worker is to stop
	stopped chan struct{} // closed when it has
	err     error         // of Run; to be read when it has stopped
	patient context.Context
	hurry   context.CancelFunc
}

// NewWorker returns a worker that serves the given queues, each in slots of its
// own. The error is [ErrOption] or [ErrName]; no contact is made before
// [Worker.Run].
func NewWorker(client *Client, opts []WorkerOption, served ...Served) (*Worker, error) {
	config := workerConfig{
		name: defaultWorkerName(), stopTimeout: DefaultStopTimeout,
		cancelGrace: cancelGrace, cleanEvery: cleanEvery, carryEvery: carryEvery, leftPause: leftPause,
		lineWait: lineWait, handlerTime: unproven,
	}
	for _, opt := range opts {
		opt.applyWorker(&config)
	}
	if config.stopTimeout < 0 {
		return nil, optionError("stop timeout %v: it must not be negative", config.stopTimeout)
	}
	if config.totalGiven && (config.total < 1 || config.total > maxCount) {
		return nil, optionError("total concurrency %d: it must be at least 1", config.total)
	}
	if client == nil {
		return nil, optionError("a worker needs a client")
	}
	if len(served) == 0 {
		return nil, optionError("a worker needs at least one queue to serve")
	}
	w := &Worker{
		client: client, config: config,
		slots: newPool(config.total),
		stop:  make(chan struct{}), stopped: make(chan struct{}),
	}
	w.patient, w.hurry = context.WithCancel(context.Background())
	w.id = uuid.NewString()
	for _, queue := range served {
		if _, err := w.enter(queue); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// unsetConcurrency stands for the default, which depends on the machine and on
// the batches.
const unsetConcurrency = math.MinInt

// largestBatch returns the size of the largest batch that the queue's handlers
// take, with the given settings.
func (s Served) largestBatch(batches map[string]BatchSpec) (int, error) {
	largest := 0
	for _, route := range s.routes {
		spec, given := batches[route.name]
		if given && route.gather == nil {
			return 0, optionError("job %q: Batches is for jobs with a batch handler", route.name)
		}
		if route.gather == nil {
			continue
		}
		spec = spec.over(route.batch)
		if err := spec.check(); err != nil {
			return 0, fmt.Errorf("%w (job %q)", err, route.name)
		}
		largest = max(largest, orDefault(spec.Size, DefaultBatchSize))
	}
	return largest, nil
}

func (s Served) configure(worker workerConfig) (queueConfig, error) {
	config := queueConfig{
		name:         s.spec.Name,
		concurrency:  orDefault(s.spec.Concurrency, unsetConcurrency),
		prefetch:     DefaultPrefetch,
		lease:        orDefault(s.spec.Lease, DefaultLease),
		events:       s.spec.Events,
		payloadLimit: DefaultPayloadLimit,
		weight:       1,
		limits:       s.spec.limits(),
		stuckAfter:   DefaultStuckAfter,
	}
	if s.err != nil {
		return config, s.err
	}
	for _, opt := range worker.queues {
		opt(&config)
	}
	inherited := len(config.waits)
	for _, opt := range s.opts {
		opt.applyQueue(&config)
	}
	if err := s.checkWaits(config.waits, inherited); err != nil {
		return config, err
	}
	if slices.ContainsFunc(config.middleware, func(m func(HandlerFunc) HandlerFunc) bool { return m == nil }) {
		return config, optionError("queue %q: HandlerMiddleware: a function is nil", config.name)
	}
	largest, err := s.largestBatch(config.batches)
	if err != nil {
		return config, err
	}
	if config.concurrency == unsetConcurrency {
		config.concurrency = max(orDefault(worker.total, 10*runtime.GOMAXPROCS(0)), largest)
	}
	switch {
	case config.concurrency < largest && config.concurrency >= 1:
		return config, optionError("queue %q: a batch of %d jobs can never be full with a concurrency of %d; raise it, or lower the batch size", config.name, largest, config.concurrency)
	case config.concurrency < 1:
		return config, optionError("queue %q: concurrency %d: it must be at least 1", config.name, config.concurrency)
	case config.prefetch < 0 || config.prefetch > maxPrefetch:
		return config, optionError("queue %q: prefetch %d: it must be from 0 to %d", config.name, config.prefetch, maxPrefetch)
	case config.lease < minLease || config.lease > maxLease:
		return config, optionError("queue %q: lease %v: it must be from %v to %v", config.name, config.lease, minLease, maxLease)
	case config.weight < 1 || config.weight > maxCount:
		return config, optionError("queue %q: weight %d: it must be at least 1", config.name, config.weight)
	case worker.total > 0 && largest > worker.total:
		return config, optionError("queue %q: a batch of %d jobs can never be full with a total concurrency of %d; raise it, or lower the batch size", config.name, largest, worker.total)
	case config.stuckAfter <= 0:
		return config, optionError("queue %q: stuck after %v: it must be positive", config.name, config.stuckAfter)
	case config.payloadLimit < 1:
		return config, optionError("queue %q: payload limit %d: it must be at least 1 byte", config.name, config.payloadLimit)
	}
	if err := config.limits.check(); err != nil {
		return config, fmt.Errorf("%w (queue %q)", err, config.name)
	}
	return config, config.events.check()
}

// Run takes and runs jobs until ctx ends or Stop is called, and then until the
// running jobs have ended: for at most the stop timeout, after which their
// contexts are cancelled with [ErrShutdown].
//
// It returns nil after an orderly stop, and an error if handlers ignored the end
// of their context or if the store could not be told, within 5 s of the last
// one, what jobs did: those run again when their leases end. Before it takes a
// job it checks each queue, and returns what [Client]'s first contact finds
// wrong; a store that is only unreachable is waited for.
func (w *Worker) Run(ctx context.Context) error {
	w.mu.Lock()
	if w.started {
		w.mu.Unlock()
		return fmt.Errorf("echomq: worker was run before: %w", ErrClosed)
	}
	w.started = true
	w.mu.Unlock()
	defer close(w.stopped)
	w.err = w.run(ctx)
	return w.err
}

func (w *Worker) run(ctx context.Context) error {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.stop:
			cancel()
		case <-running.Done():
		}
	}()
	if err := w.startAll(running); err != nil {
		w.requestStop()
		w.hurry()
		return errors.Join(err, w.end())
	}
	<-running.Done()
	w.requestStop()
	timer := time.AfterFunc(w.config.stopTimeout, w.hurry)
	defer timer.Stop()
	return w.end()
}

// startAll starts the queues that the worker was made with.
func (w *Worker) startAll(running context.Context) error {
	w.changes.Lock()
	defer w.changes.Unlock()
	w.running = running
	for _, r := range w.serving() {
		if running.Err() != nil {
			return nil
		}
		if err := r.start(running); err != nil {
			if running.Err() != nil {
				return nil // it was stopped meanwhile
			}
			return err
		}
	}
	w.runs.Store(true)
	return nil
}

// serving returns the queues that the worker serves at the moment.
func (w *Worker) serving() []*runner {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.runners)
}

// end stops all queues and waits for them.
func (w *Worker) end() error {
	defer w.hurry()
	w.changes.Lock()
	defer w.changes.Unlock()
	runners := w.serving()
	errs := make([]error, len(runners))
	var group sync.WaitGroup
	for i, r := range runners {
		group.Go(func() { errs[i] = r.stop(w.patient) })
	}
	group.Wait()
	return errors.Join(errs...)
}

func (w *Worker) requestStop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.stop:
	default:
		close(w.stop)
	}
}

// Stop ends Run and waits until it has returned: no further jobs are taken, the
// running ones may end until ctx does, then their contexts are cancelled with
// [ErrShutdown] and what their handlers give up is given back, at the front of
// the queue and without counting an attempt. Jobs whose handlers go on
// regardless are left to their lease. It returns what Run returned.
//
// A handler that stops its own worker gives it its context, or one made from it:
// Stop then returns nil at once, since what it would wait for is the handler, and
// Run goes on to its end. With another context the handler would be waited for by
// itself until that context and its own have ended.
func (w *Worker) Stop(ctx context.Context) error {
	if handledBy(ctx, w, nil) {
		w.requestStop()
		return nil
	}
	w.mu.Lock()
	started := w.started
	w.started = true
	w.mu.Unlock()
	w.requestStop()
	if !started {
		close(w.stopped)
		return nil
	}
	select {
	case <-w.stopped:
	case <-ctx.Done():
		w.hurry()
		<-w.stopped
	}
	return w.err
}

// Kill ends Run at once: contexts are cancelled, nothing is given back or
// settled any more, and the jobs run again elsewhere when their leases end. It
// is what a crash would do, for programs that must not wait.
func (w *Worker) Kill() {
	w.mu.Lock()
	runners := slices.Concat(w.runners, w.leaving)
	w.mu.Unlock()
	for _, r := range runners {
		r.kill()
	}
	w.requestStop()
	w.hurry()
}

// Ready reports whether the worker is consuming: it has been started, is not
// stopping, and the last call for each of its queues went through.
func (w *Worker) Ready() bool {
	select {
	case <-w.stop:
		return false
	default:
	}
	for _, r := range w.serving() {
		if !r.ready.Load() {
			return false
		}
	}
	return w.runs.Load()
}

func defaultWorkerName() string {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}
