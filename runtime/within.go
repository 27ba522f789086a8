package echomq

import (
	"context"
	goruntime "runtime"
	"runtime/pprof"
	"sync"
	"time"
)

// within runs work on one of the goroutines and does not outlast ctx: the client
// library goes on reading for an answer when a context is cancelled. The error is
// the context's.
func within[V any](ctx context.Context, on *goroutines, work func() V) (V, error) {
	if ctx.Done() == nil {
		return work(), nil
	}
	one := on.take()
	made := &made[V]{work: work, done: one.done}
	one.work <- order{task: made}
	select {
	case <-one.done:
		on.put(one)
		return made.value, nil
	case <-ctx.Done():
	}
	select {
	case <-one.done:
		on.put(one)
		return made.value, nil
	default:
		close(one.work)
		var none V
		return none, context.Cause(ctx)
	}
}

// made is work and what it came to.
type made[V any] struct {
	work  func() V
	value V
	done  chan<- struct{}
}

func (m *made[V]) do() {
	m.value = m.work()
	m.done <- struct{}{}
}

// spareTime is for how long a goroutine is kept that nobody needs: up to twice as
// long. Who makes calls more rarely than that can start one for each.
const spareTime = 100 * time.Millisecond

// goroutines are those that wait for work. One that has worked before has its
// stack already, which costs as much to grow as all the rest of a short call or
// handler.
//
// A goroutine is in one of three states. It is spare, and listed here; or it was
// taken, and is its taker's alone, who gives it work, awaits its end and puts it
// back, unless it was started, and comes back by itself; or its taker has left before
// that, and it ends after the work, without a word. Work that does not return, by a
// panic or runtime.Goexit, ends it as well: its taker then waits until its context
// ends, and leaves.
type goroutines struct {
	mu    sync.Mutex
	spare []*goroutine // the one that was put back last is the last
	least int          // that were spare, since the last sweep
	sweep *time.Timer  // nil while there is nothing to sweep
}

type goroutine struct {
	work chan order
	done chan struct{} // holds a value once work that is awaited is done
}

// order is work for a goroutine.
type order struct {
	task task
	back *goroutines // to which it comes back by itself; nil if its taker puts it back
}

type task interface{ do() }

// keptStack is what makes the runtime leave a goroutine that waits a stack of 8 KiB: it
// halves one of which less than a quarter is in use, in every garbage collection, and
// to grow it again cost a worker an eighth of its processor time.
const keptStack = 1280

func (g *goroutine) run() {
	var kept [keptStack]byte
	pprof.SetGoroutineLabels(context.Background()) // it has those of whoever needed it first
	for order := range g.work {
		order.task.do()
		if order.back != nil {
			pprof.SetGoroutineLabels(context.Background()) // those that a handler set are its own
			order.back.put(g)
		}
	}
	goruntime.KeepAlive(&kept)
}

// start runs work on one of the goroutines and does not wait for it.
func (g *goroutines) start(work task) {
	g.take().work <- order{task: work, back: g}
}

// take returns a goroutine that is to be put back or closed.
func (g *goroutines) take() *goroutine {
	g.mu.Lock()
	if n := len(g.spare) - 1; n >= 0 {
		one := g.spare[n]
		g.spare[n], g.spare = nil, g.spare[:n]
		g.least = min(g.least, n)
		g.mu.Unlock()
		return one
	}
	g.mu.Unlock()
	one := &goroutine{work: make(chan order, 1), done: make(chan struct{}, 1)}
	go one.run()
	return one
}

// put takes a goroutine back whose work is done.
func (g *goroutines) put(one *goroutine) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.spare = append(g.spare, one)
	if g.sweep == nil {
		g.least = 0
		g.sweep = time.AfterFunc(spareTime, g.end)
	}
}

// end ends those that were spare all the time since it was last called, which
// are the first.
func (g *goroutines) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.spare[:g.least] {
		close(one.work)
	}
	kept := copy(g.spare, g.spare[g.least:])
	clear(g.spare[kept:])
	g.spare, g.least = g.spare[:kept], kept
	if kept == 0 {
		g.spare, g.sweep = nil, nil
		return
	}
	g.sweep.Reset(spareTime)
}
