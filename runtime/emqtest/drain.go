package emqtest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// drainLimit is how many times the clock may be moved: a job that always comes
	// back would be run for ever.
	drainLimit = 500
	// drainPatience is how long, by the real clock, nothing may happen while a
	// handler runs.
	drainPatience = 30 * time.Second
	// settleTime is how long, by the real clock, jobs may wait without being taken
	// before the clock is moved: a rate limit may hold them back.
	settleTime = 20 * time.Millisecond
	drainStep  = 100 * time.Millisecond
)

// Run is one run of a handler.
type Run struct {
	// Name and ID say which job it was.
	Name, ID string
	// Attempt is which attempt it was, from 1.
	Attempt int
	// At is when, by the kit's clock.
	At time.Time
	// Err is what the handler returned.
	Err error
}

// Drain runs the jobs of queues until none is left that waits or is delayed, those
// that handlers add meanwhile included. The clock is moved to when the next job is
// due, so delays and retries take no time. It returns the runs of the handlers, in
// the order in which they ended.
//
// The test fails at once if a job has no handler in what is served, if jobs keep
// coming back 500 times, or if a handler does not return within 30 s.
func (k *Kit) Drain(served ...echomq.Served) []Run {
	k.t.Helper()
	recorder := &recorder{kit: k}
	stop := k.work(recorder, served)
	defer stop()
	for step := 0; ; step++ {
		next := k.settle(recorder)
		switch {
		case next.id == "":
			return recorder.all()
		case next.unknown:
			k.t.Fatalf("emqtest: Drain: no handler for job %s of queue %s", next.name, next.queue)
		case step >= drainLimit:
			k.t.Fatalf("emqtest: Drain: jobs come back again and again; the last runs:%s", recorder.last(5))
		}
		k.Advance(max(next.due.Sub(k.Now()), time.Millisecond))
	}
}

// work starts a worker whose runs are recorded.
func (k *Kit) work(recorder *recorder, served []echomq.Served) (stop func()) {
	k.t.Helper()
	worker, err := echomq.NewWorker(k.client, []echomq.WorkerOption{echomq.HandlerMiddleware(recorder.around)}, served...)
	if err != nil {
		k.t.Fatalf("emqtest: %v", err)
	}
	ctx, cancel := context.WithCancel(k.ctx)
	done := make(chan error, 1)
	go func() { done <- worker.Run(ctx) }()
	for deadline := time.Now().Add(drainPatience); !worker.Ready(); time.Sleep(time.Millisecond) {
		select {
		case err := <-done:
			cancel()
			k.t.Fatalf("emqtest: worker ended: %v", err)
		default:
		}
		if time.Now().After(deadline) {
			cancel()
			k.t.Fatalf("emqtest: worker is not ready after %v", drainPatience)
		}
	}
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			k.t.Errorf("emqtest: worker: %v", err)
		}
	})
}

// settle waits until nothing runs or can be taken, and returns the job that is due
// next.
func (k *Kit) settle(recorder *recorder) delayed {
	k.t.Helper()
	changed := time.Now()
	for last := ""; ; time.Sleep(500 * time.Microsecond) {
		now := k.picture()
		if now.waiting+now.active+now.due == 0 {
			return now.next
		}
		if told := now.String() + fmt.Sprint(recorder.count()); told != last {
			last, changed = told, time.Now()
		}
		switch idle := time.Since(changed); {
		case idle > drainPatience:
			k.t.Fatalf("emqtest: nothing happens any more: %v", now)
		case now.active+now.due > 0 || idle < settleTime:
		case now.paused != "":
			k.t.Fatalf("emqtest: queue %s is paused, and %d jobs wait", now.paused, now.waiting)
		case recorder.advanced >= drainLimit:
			k.t.Fatalf("emqtest: %d jobs wait and are not taken; are their queues served?", now.waiting)
		default: // a rate limit, most likely
			recorder.advanced++
			k.Advance(drainStep)
			changed = time.Now()
		}
	}
}

// picture is how many jobs of all queues stand where, at one moment.
type picture struct {
	waiting, active, due int64
	paused               string
	next                 delayed
}

func (p picture) String() string {
	return fmt.Sprintf("%d jobs wait, %d run, %d are due", p.waiting, p.active, p.due)
}

// delayed is the delayed job that is due next.
type delayed struct {
	queue    wire.Queue
	id, name string
	due      time.Time
	unknown  bool // it was given back, for want of a handler
}

// ready are the sets of a queue whose jobs can be taken, or whose deliveries made,
// at once.
var ready = []string{"prioritized", "grouped", "outbox"}

func (k *Kit) picture() picture {
	k.t.Helper()
	var p picture
	now := k.Now().UnixMilli()
	for _, queue := range k.queues() {
		var wait, active, due *redis.IntCmd
		var sets []*redis.IntCmd
		var first *redis.ZSliceCmd
		var paused *redis.SliceCmd
		// In one transaction: a job must not be overlooked as it moves.
		_, err := k.Redis().TxPipelined(k.ctx, func(pipe redis.Pipeliner) error {
			wait, active = pipe.LLen(k.ctx, queue.Key("wait")), pipe.ZCard(k.ctx, queue.Key("active"))
			for _, set := range ready {
				sets = append(sets, pipe.ZCard(k.ctx, queue.Key(set)))
			}
			due = pipe.ZCount(k.ctx, queue.Key("delayed"), "-inf", fmt.Sprint(now))
			first = pipe.ZRangeWithScores(k.ctx, queue.Key("delayed"), 0, 0)
			paused = pipe.HMGet(k.ctx, queue.Key("meta"), wire.FieldPaused)
			return nil
		})
		if err != nil {
			k.t.Fatalf("emqtest: %v", err)
		}
		p.waiting, p.active, p.due = p.waiting+wait.Val(), p.active+active.Val(), p.due+due.Val()
		for _, set := range sets {
			p.waiting += set.Val()
		}
		if paused.Val()[0] == "1" {
			p.paused = queue.Name()
		}
		for _, z := range first.Val() {
			if at := time.UnixMilli(int64(z.Score)); p.next.id == "" || at.Before(p.next.due) {
				p.next = delayed{queue: queue, id: z.Member.(string), due: at}
			}
		}
	}
	if p.next.id != "" {
		p.next.name, p.next.unknown = k.unknown(p.next)
	}
	return p
}

// unknown returns a delayed job's name, and whether it was given back by a worker
// that did not know it.
func (k *Kit) unknown(job delayed) (name string, unknown bool) {
	fields := k.Redis().HMGet(k.ctx, job.queue.Key(job.id), wire.FieldName, wire.FieldUnknownCount).Val()
	if len(fields) != 2 {
		return "", false
	}
	name, _ = fields[0].(string)
	times, _ := fields[1].(string)
	return name, times != "" && times != "0"
}

// recorder records the runs of handlers.
type recorder struct {
	kit      *Kit
	advanced int

	mu   sync.Mutex
	runs []Run
}

func (r *recorder) around(next echomq.HandlerFunc) echomq.HandlerFunc {
	return func(ctx context.Context, job *echomq.Envelope) ([]byte, error) {
		result, err := next(ctx, job)
		run := Run{Name: job.Name, ID: job.ID, Attempt: job.Attempt(), At: r.kit.Now(), Err: err}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.runs = append(r.runs, run)
		return result, err
	}
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.runs)
}

func (r *recorder) all() []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs
}

func (r *recorder) last(n int) string {
	runs := r.all()
	var text strings.Builder
	for _, run := range runs[max(len(runs)-n, 0):] {
		fmt.Fprintf(&text, "\n\t%s %s, attempt %d: %v", run.Name, run.ID, run.Attempt, run.Err)
	}
	return text.String()
}
