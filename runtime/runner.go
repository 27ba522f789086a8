package echomq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	maxBatch      = wire.MaxItems
	maxBatchBytes = wire.MaxCallBytes
	maxReplyBytes = wire.MaxReplyBytes
)

// runner serves one queue for a worker. Its parts, each a goroutine, are the
// exchanger, which settles and picks in one round trip, in two lanes
// (exchange.go and lane.go); the waker, which waits for the marker while there is nothing to
// take; the ticker, which adds the jobs of schedules; the lease keeper, and what
// listens for cancellations; the timekeeper, which promotes and recovers; the
// courier, which makes the deliveries of flows; and the janitor. Handlers run in
// goroutines of their own, at most one a slot.
type runner struct {
	client      *Client
	queue       wire.Queue
	config      queueConfig
	routes      map[string]*Route
	repetitions map[wire.SchedulerID]repetition
	log         *slog.Logger
	worker      string        // the name, for the jobs' records
	id          string        // unique, for tokens
	grace       time.Duration // how long handlers whose context has ended are waited for
	clean       time.Duration // how often, about, ended jobs are looked at
	carry       time.Duration // how often, about, the outbox is looked at
	leftPause   time.Duration // until a slot that was left to others is looked at again
	lineWait    time.Duration // for how long a job waits in the line

	ready    atomic.Bool
	jobs     context.Context // of all handlers
	cancel   context.CancelCauseFunc
	together deadlines
	store    context.Context // of all calls
	cut      context.CancelFunc
	blocking redis.UniversalClient
	owned    bool

	nudge    chan struct{} // something has ended, or is to end
	more     chan struct{} // to the second lane: enough has ended
	requests chan struct{} // to the waker: wait for the marker
	wakeups  chan string   // from the waker: the id at the head, or ""
	renewal  chan struct{} // to the lease keeper: renew now
	doubt    chan struct{} // to the lease keeper: look at the suspects
	times    chan times    // to the timekeeper
	errands  chan struct{} // to the courier: there is something in the outbox
	slots    chan times    // to the ticker

	parts     sync.WaitGroup // all but the handlers
	exchanged chan struct{}  // closed when the exchanger has ended
	draining  chan struct{}  // closed when no more jobs are taken

	mu       sync.Mutex
	stopping bool
	left     time.Time // when the main lane went on its round trip; zero if it is on none
	told     times     // of the latest answer
	killed   bool
	running  int
	orders   uint64     // of jobs that were started
	line     []*attempt // in advance, waiting for a slot (prefetch.go)
	pace     pace
	share    *share        // of the slots that the worker's queues have in common
	idle     chan struct{} // closed when stopping and nothing runs; made by stop
	held     map[string]*holding
	results  []result
	returned []result   // to be given back, when all have returned
	moved    time.Time  // when a call was last refused because the slot is being moved
	suspects []*holding // said to have been cancelled
	strays   []*holding // whose lease was lost, and whose handlers go on
	deaf     func()     // makes the runner listen anew

	exchanger exchangerState
}

// holding is an active job that this worker holds.
type holding struct {
	id    wire.JobID
	token string
	name  string // the job's wire name

	// Guarded by the runner's lock.
	cancel context.CancelCauseFunc // nil while it has no slot
	limit  time.Time               // when the attempt times out; zero for never
	leased time.Time               // since when it has its lease, as far as is known
	ended  bool                    // its handler has returned, or is not to be run
	why    error                   // its context was ended by the runner, and why
	over   time.Time               // when that was
}

func newRunner(w *Worker, id string, served Served) (*runner, error) {
	config, err := served.configure(w.config)
	if err != nil {
		return nil, err
	}
	queue, err := w.client.queue(config.name)
	if err != nil {
		return nil, fmt.Errorf("echomq: worker: %w", err)
	}
	draining := make(chan struct{})
	routes := make(map[string]*Route, len(served.routes))
	for _, route := range served.routes {
		if route.run == nil || route.name == "" {
			return nil, optionError("queue %q: the zero Route", queue)
		}
		if route.err != nil {
			return nil, fmt.Errorf("%w (job %s)", route.err, route.name)
		}
		if route.gather != nil {
			route.run = route.gather(config.batches[route.name].over(route.batch), draining)
		}
		for _, given := range config.waits {
			if given.queue == served.spec.Name && given.job == route.name {
				route.wait = given.wait
			}
		}
		route.through = around(config.middleware, route.sealed(w.client.transforms, queue.Name()))
		if through := route.through; len(config.middleware) > 0 {
			// What a middleware does to its job all the same is not to change what
			// becomes of it.
			route.through = func(ctx context.Context, job *Envelope) ([]byte, error) {
				own := *job
				return through(ctx, &own)
			}
		}
		for _, name := range route.namesIn(served.spec.Name) {
			if _, taken := routes[name]; taken {
				return nil, optionError("queue %q: job %q has two handlers", queue, name)
			}
			routes[name] = &route
		}
	}
	if err := w.client.transforms.check(); err != nil {
		return nil, err
	}
	r := &runner{
		client: w.client, queue: queue, config: config, routes: routes,
		log:    w.client.log.With("queue", queue.Name(), "worker", w.config.name),
		worker: w.config.name, id: id,
		grace: w.config.cancelGrace, clean: w.config.cleanEvery, carry: w.config.carryEvery, leftPause: w.config.leftPause, lineWait: w.config.lineWait,
		nudge:     make(chan struct{}, 1),
		more:      make(chan struct{}, 1),
		requests:  make(chan struct{}, 1),
		wakeups:   make(chan string, 1),
		renewal:   make(chan struct{}, 1),
		doubt:     make(chan struct{}, 1),
		times:     make(chan times, 1),
		errands:   make(chan struct{}, 1),
		slots:     make(chan times, 1),
		exchanged: make(chan struct{}),
		draining:  draining,
		held:      make(map[string]*holding),
	}
	if err := r.repeat(served.repeated); err != nil {
		return nil, err
	}
	r.jobs, r.cancel = context.WithCancelCause(context.WithValue(context.Background(), handlerKey{}, handler{w, r}))
	r.together.jobs = r.jobs
	r.store, r.cut = context.WithCancel(context.Background())
	r.exchanger.hungry = true
	r.exchanger.main = lane{known: make(map[string]settings), begun: make(map[string]bool)}
	r.exchanger.second = lane{known: make(map[string]settings), begun: make(map[string]bool)}
	r.share = w.slots.join(config.weight, r.wake)
	r.pace.handler = w.config.handlerTime
	if w.slots == nil { // which are for the queue that has work
		r.pace.bound = config.prefetch
	}
	return r, nil
}

// start makes the first contact with the queue and starts the parts.
func (r *runner) start(ctx context.Context) error {
	for try := 0; ; try++ {
		err := r.client.meet(ctx, r.queue)
		if err == nil {
			err = r.client.declare(ctx, r.queue, r.contracts())
		}
		if err == nil {
			break
		}
		if ctx.Err() != nil || !errors.Is(err, ErrUnreachable) {
			return err
		}
		r.log.Warn("store is unreachable; trying again", "error", err)
		if sleep(ctx, retryPause(try+3)) != nil {
			return err
		}
	}
	r.warnOfEviction(ctx)
	r.blocking, r.owned = private(r.client.store, 1)
	r.log.Info("worker started",
		"concurrency", r.config.concurrency, "lease", r.config.lease, "jobs", len(r.routes))
	r.logLimits(ctx)
	r.parts.Go(r.wakeLoop)
	r.parts.Go(r.leaseLoop)
	r.parts.Go(r.controlLoop)
	r.parts.Go(r.timeLoop)
	r.parts.Go(r.tickLoop)
	r.parts.Go(r.cleanLoop)
	r.parts.Go(r.carryLoop)
	r.parts.Go(r.secondLoop)
	go r.exchangeLoop()
	return nil
}

// warnOfEviction says so if the store would drop jobs when it is full.
func (r *runner) warnOfEviction(ctx context.Context) {
	info, err := within2(ctx, &r.client.goroutines, func() (map[string]map[string]string, error) {
		return r.client.store.InfoMap(ctx, "memory").Result()
	})
	if err != nil {
		return // not every user may ask, and not every engine answers
	}
	policy := info["Memory"]["maxmemory_policy"]
	if policy != "" && policy != "noeviction" {
		r.log.Warn("the store may evict jobs when it is full: set maxmemory-policy to noeviction", "policy", policy)
	}
}

// stop ends the runner: no new jobs, then the running ones until patience ends,
// then cancelled.
func (r *runner) stop(patience context.Context) error {
	if r.blocking == nil {
		return nil // never started
	}
	r.ready.Store(false)
	r.mu.Lock()
	r.stopNow()
	idle := make(chan struct{})
	r.idle = idle
	if r.running == 0 {
		close(idle)
	}
	r.mu.Unlock()
	if r.owned {
		_ = r.blocking.Close()
	}
	r.wake()

	var left int
	select {
	case <-idle:
	case <-patience.Done():
		r.cancel(ErrShutdown)
		left = r.waitForCancelled(idle)
	}
	// What is left goes on without the worker; its leases run out.
	r.mu.Lock()
	r.running = 0
	r.share.leave()
	killed := r.killed
	r.mu.Unlock()
	r.wake()
	if killed {
		r.cut()
	}
	flush := time.AfterFunc(flushTimeout, r.cut)
	<-r.exchanged
	r.runLastErrand()
	flush.Stop()
	r.cancel(ErrShutdown)
	r.cut()
	close(r.requests)
	r.parts.Wait()
	if killed {
		return nil
	}
	var ignored error
	if left > 0 {
		ignored = fmt.Errorf("echomq: queue %q: %d handler(s) ignored the end of their context; their jobs are left to their leases", r.queue, left)
	}
	if err := errors.Join(ignored, r.unsettled()); err != nil {
		return err
	}
	r.log.Info("worker stopped")
	return nil
}

// unsettled tells of jobs that have ended, or were not begun, and of which the store
// could not be told before the runner had to end.
func (r *runner) unsettled() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.Concat(r.exchanger.main.settle, r.exchanger.second.settle, r.results, r.returned)
	for _, a := range r.line {
		left = append(left, a.giveBack())
	}
	if len(left) == 0 {
		return nil
	}
	for _, res := range left {
		r.log.Warn("what came of a job could not be settled; it runs again when its lease ends",
			"job", res.id.String(), "outcome", res.outcome)
	}
	return fmt.Errorf("echomq: queue %q: %w: %d job(s) could not be settled and run again when their leases end, first %q",
		r.queue, ErrUnreachable, len(left), left[0].id)
}

// waitForCancelled waits for handlers whose contexts have ended and returns how
// many go on regardless.
func (r *runner) waitForCancelled(idle <-chan struct{}) int {
	r.mu.Lock()
	killed := r.killed
	r.mu.Unlock()
	grace := time.NewTimer(r.grace)
	defer grace.Stop()
	if !killed {
		select {
		case <-idle:
		case <-grace.C:
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// stopNow has no more jobs taken. The caller holds the lock.
func (r *runner) stopNow() {
	if !r.stopping {
		r.stopping = true
		close(r.draining)
	}
}

// kill makes the runner stop without a word to the store.
func (r *runner) kill() {
	r.mu.Lock()
	r.killed = true
	r.stopNow()
	// The store first: a handler that returns at once must not be settled, and what is
	// in the line not be given back.
	r.cut()
	r.mu.Unlock()
	r.cancel(ErrShutdown)
	r.wake()
}

// callLimit bounds one call of a runner: a connection that hangs must not keep
// the leases from being renewed over another, nor a worker from ending.
func (r *runner) callLimit() time.Duration { return max(2*r.renewEvery(), 5*time.Second) }

// within makes calls, and gives them up when the runner is cut off or they take
// too long. What was given up may have been executed.
func (r *runner) within(calls []script.Call) []answer {
	ctx, cancel := context.WithTimeout(r.store, r.callLimit())
	defer cancel()
	answers, err := within(ctx, &r.client.goroutines, func() []answer { return r.client.exchange(r.store, calls...) })
	if err != nil {
		answers = make([]answer, len(calls))
		for i := range answers {
			answers[i] = answer{err: err, fate: unknown}
		}
	}
	return answers
}

// plainly makes commands that are no script, within the same bounds.
func (r *runner) plainly(commands func() error) error {
	ctx, cancel := context.WithTimeout(r.store, r.callLimit())
	defer cancel()
	err, ended := within(ctx, &r.client.goroutines, commands)
	if ended != nil {
		return ended
	}
	refresh(r.client.store, err)
	return err
}

// wake makes the exchanger look again.
func (r *runner) wake() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

// token returns a new token: worker id, colon, pick number.
func (r *runner) token() string {
	r.exchanger.picks++
	return r.id + ":" + strconv.FormatUint(r.exchanger.picks, 10)
}
