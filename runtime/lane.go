package echomq

import (
	"slices"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// exchangerState is what the lanes of the exchanger have in common. The runner's
// lock guards it.
type exchangerState struct {
	picks    uint64
	hungry   bool              // the last pick may have left something
	ready    time.Time         // when to look for the next token; zero for not at all
	waiting  bool              // the waker was asked to wait
	final    bool              // the last pick of a stopping runner was sent
	reserved []script.PickItem // held for us, to be declared
	since    time.Time         // when the first of them was, at the latest
	window   []string          // what comes next, as last seen
	misses   int               // picks in a row that were wrong about it
	seen     int64             // the server's clock when it was
	by       *lane             // that saw it
	main     lane
	second   lane
}

// lane makes one round trip at a time. The main lane does all that there is to do
// as soon as there is anything. The second one is there for many slots and short
// jobs: while the main lane is out, it settles and picks once
// enough has ended for a round trip of its own to be worth it, so that the server
// and the worker are busy at the same time.
//
// Its round trips are as independent of the main lane's as if another worker
// made them: tokens are never the same, and what was sent and not answered is the
// lane's to send again. It leaves what is reserved to the main lane.
type lane struct {
	pick     *script.Pick        // sent, and its answer lost; the runner's lock guards it
	starting int                 // jobs that its pick took and that do not hold their slots yet
	claimed  int                 // how many of those that are reserved it declares
	late     *script.Pick        // sent again and answered: to be asked what came of it
	begun    map[string]bool     // jobs that answers to its pick told of, if it was sent again
	settle   []result            // sent, and its answer lost or refused; the runner's lock guards it
	refusals int                 // in a row, of settle
	failures int                 // in a row
	known    map[string]settings // of opts seen before
}

// idle reports whether a lane has nothing under way. The caller holds the
// runner's lock.
func (l *lane) idle() bool {
	return l.pick == nil && l.late == nil && l.starting == 0 && len(l.settle) == 0
}

// again returns the pick that is to be sent once more, if there is one. The caller
// holds the runner's lock.
func (l *lane) again() *script.Pick {
	if l.pick != nil {
		l.pick.Again = true
		return l.pick
	}
	pick := l.late
	l.late = nil
	return pick
}

// The second lane goes out for fullTrip jobs. A round trip costs the store as much as
// five jobs do, and this process too: with few slots two lanes make more work than
// they save time. Where the store is far that is not so: once the main lane has been
// out for longTrip, the second goes for a quarter of the slots, if that is no fewer
// than leastTrip. Where many take jobs, which shows in that none is where it was
// seen, the store is not far but busy.
const (
	fullTrip  = 16
	leastTrip = 3
	longTrip  = 5 * time.Millisecond
)

// tokenReady reports whether the time for which the exchanger was asked to look
// for the next token has come.
func (x *exchangerState) tokenReady() bool { return !x.ready.IsZero() && !time.Now().Before(x.ready) }

// secondLoop is the loop of the second lane.
func (r *runner) secondLoop() {
	x := &r.exchanger.second
	for r.store.Err() == nil {
		settle, pick := r.planSecond()
		if len(settle) > 0 || pick != nil {
			r.trade(x, settle, pick)
			r.wake()
			continue
		}
		select {
		case <-r.more:
		case <-r.exchanged:
			return
		case <-r.store.Done():
			return
		}
	}
}

// planSecond decides what the second lane sends next.
func (r *runner) planSecond() (settle []result, pick *script.Pick) {
	x, l := &r.exchanger, &r.exchanger.second
	r.mu.Lock()
	defer r.mu.Unlock()
	enough := r.enough()
	if len(l.settle) == 0 && enough {
		l.settle, r.results = cutResults(r.results)
	}
	free := r.room() - r.taken() - x.main.wants() - len(x.reserved)
	pick = l.again()
	switch {
	case pick != nil:
	case r.config.concurrency == 1:
		// Jobs that run one after the other run in order; of two picks that are out
		// at once, the later one may be answered first.
	case enough && free > 0 && x.hungry && !x.waiting && len(x.reserved) == 0:
		if slots := r.share.grant(min(free, maxBatch)); slots > 0 {
			pick = r.newPick(l, slots)
		}
	}
	l.pick = pick
	return l.settle, pick
}

// enough reports whether so much has ended while the main lane is out that the
// second is to go. The caller holds the lock.
func (r *runner) enough() bool {
	if r.left.IsZero() || r.stopping {
		return false
	}
	ended := len(r.results)
	return ended >= fullTrip || ended >= max(r.config.concurrency/4, leastTrip) &&
		r.exchanger.misses < maxMisses && time.Since(r.left) > longTrip
}

// wants returns how many slots a lane's pick may still fill beyond what is
// reserved. The caller holds the lock.
func (l *lane) wants() int {
	if l.pick == nil {
		return l.starting
	}
	return int(l.pick.Want)
}

// unclaimed returns those of the ids that no pick declares which is out. The
// caller holds the lock.
func (r *runner) unclaimed(ids []string) []string {
	for _, l := range []*lane{&r.exchanger.main, &r.exchanger.second} {
		if l.pick == nil || len(l.pick.Items) == 0 {
			continue
		}
		claimed := make(map[string]bool, len(l.pick.Items))
		for _, item := range l.pick.Items {
			claimed[item.ID.String()] = true
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return claimed[id] })
	}
	return ids
}
