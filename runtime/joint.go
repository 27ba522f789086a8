package echomq

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// maxFlights is how many calls that add jobs to one queue a client has out at
	// once. The second one lets the server work while the client reads and writes.
	maxFlights = 2
	// fullFlight is how many calls wait before the second flight departs.
	fullFlight = 8
	// maxHold is for how long callers wait for a call that is out: behind one that
	// hangs, on a connection that died without a word, they do not.
	maxHold = 100 * time.Millisecond
	// maxJoints is how many queues are kept in mind to which nothing is added now.
	maxJoints = 1000
)

// joints brings together what a client's callers add to one queue at the same
// time: while a call is out the next ones wait for it, and then go as one. So
// calls grow with the load, and one that has the queue to itself goes at once. Nobody
// waits for a timer, unless the call that is out does not come back.
type joints struct {
	mu    sync.Mutex
	known map[jointKey]*joint
}

// jointKey is what the jobs of one call have in common.
type jointKey struct {
	queue  string
	events script.AddEvents
}

type joint struct {
	client *Client
	queue  wire.Queue
	op     string // as errors call it

	mu      sync.Mutex
	flights int      // calls that are out
	waiting []*rider // in the order in which they came
	late    *time.Timer
}

// rider is a caller that waits for a flight.
type rider struct {
	ctx    context.Context
	add    addition
	landed chan answer
}

func (j *joints) of(c *Client, queue wire.Queue, events script.AddEvents) *joint {
	key := jointKey{queue: queue.Name(), events: events}
	j.mu.Lock()
	defer j.mu.Unlock()
	known := j.known[key]
	if known == nil {
		if len(j.known) >= maxJoints {
			j.known = nil // those that are in use go on for those that use them
		}
		if j.known == nil {
			j.known = make(map[jointKey]*joint)
		}
		known = &joint{client: c, queue: queue, op: fmt.Sprintf("add to queue %q", queue)}
		j.known[key] = known
	}
	return known
}

// attempt adds jobs once, together with what others add. The error is that of a
// context that ended; with it, an answer that was not executed says that nothing
// was sent.
func (j *joint) attempt(ctx context.Context, add addition) (answer, error) {
	j.mu.Lock()
	if j.flights == 0 {
		j.flights++
		j.mu.Unlock()
		defer j.land()
		return j.client.attempt(ctx, add.Call(j.queue))
	}
	r := &rider{ctx: ctx, add: add, landed: make(chan answer, 1)}
	j.waiting = append(j.waiting, r)
	if len(j.waiting) == 1 {
		j.late = time.AfterFunc(j.client.holdLimit, j.depart)
	}
	if j.flights < maxFlights && len(j.waiting) >= fullFlight {
		j.flights++
		go j.fly()
	}
	j.mu.Unlock()
	select {
	case a := <-r.landed:
		return a, nil
	case <-ctx.Done():
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, other := range j.waiting {
		if other == r {
			j.waiting = append(j.waiting[:i:i], j.waiting[i+1:]...)
			return answer{fate: notExecuted}, context.Cause(ctx)
		}
	}
	select {
	case a := <-r.landed:
		return a, nil
	default:
		return answer{fate: unknown}, context.Cause(ctx)
	}
}

// depart starts one more flight for those that wait, however many are out.
func (j *joint) depart() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) > 0 {
		j.flights++
		go j.fly()
	}
}

// land ends a flight, or has it go on for those that wait.
func (j *joint) land() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) > 0 {
		go j.fly()
		return
	}
	j.flights--
}

// fly makes calls until nobody waits.
func (j *joint) fly() {
	for {
		riders := j.board()
		if len(riders) == 0 {
			return
		}
		j.carry(riders)
	}
}

// board takes as many of those that wait as one call may be for. With nobody
// there the flight is over.
func (j *joint) board() []*rider {
	j.mu.Lock()
	defer j.mu.Unlock()
	items, bytes, n := 0, 0, 0
	for ; n < len(j.waiting); n++ {
		items += len(j.waiting[n].add.Items)
		bytes += j.waiting[n].add.bytes
		if n > 0 && (items > maxChunk || bytes > maxChunkBytes) {
			break
		}
	}
	riders := j.waiting[:n:n]
	if j.waiting = j.waiting[n:]; len(j.waiting) == 0 {
		j.waiting = nil
		if n > 0 {
			j.late.Stop()
		}
	} else {
		// Those who stay wait for this call now, which may hang as well.
		j.late.Reset(j.client.holdLimit)
	}
	if n == 0 {
		j.flights--
	}
	return riders
}

// carry makes one call for all riders and gives each its part of the answer.
func (j *joint) carry(riders []*rider) {
	add := riders[0].add.Add
	if len(riders) > 1 {
		add.Items = nil
		for _, r := range riders {
			add.Items = append(add.Items, r.add.Items...)
		}
	}
	// Each rider leaves when its own context ends, which is not the others'.
	a := j.client.exchange(context.WithoutCancel(riders[0].ctx), add.Call(j.queue))[0]
	if a.fate == refused && len(riders) > 1 {
		// One of them may be the reason.
		for _, r := range riders {
			r.landed <- j.client.exchange(context.WithoutCancel(r.ctx), r.add.Call(j.queue))[0]
		}
		return
	}
	if a.fate != done || len(riders) == 1 {
		for _, r := range riders {
			r.landed <- a
		}
		return
	}
	parts, err := shareReply(a.reply, len(add.Items))
	for _, r := range riders {
		if err != nil {
			r.landed <- answer{err: err, fate: unknown}
			continue
		}
		r.landed <- answer{reply: parts(len(r.add.Items))}
	}
}

// shareReply returns what takes the next items' part off the reply to an add of so
// many, in the form of a reply of its own.
func shareReply(reply any, items int) (part func(items int) any, err error) {
	elements, ok := reply.([]any)
	if ok && len(elements) == 2 {
		if records, ok := elements[1].([]any); ok && len(records)%items == 0 {
			width := len(records) / items
			return func(items int) any {
				own := records[: width*items : width*items]
				records = records[width*items:]
				return []any{elements[0], own}
			}, nil
		}
	}
	return nil, fmt.Errorf("the reply to an add of %d jobs is not of its form", items)
}
