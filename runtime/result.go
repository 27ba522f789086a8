package echomq

import (
	"cmp"
	"slices"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// result is what came of one attempt, ready to be settled.
type result struct {
	order    uint64 // of the jobs that this worker started
	id       wire.JobID
	name     string // of the job, on the wire
	token    string
	outcome  script.SettleOutcome
	value    []byte // the encoded result, or the reason
	trace    []byte
	delay    time.Duration
	attempts int
	starts   int
	unknown  int
	priority int
	unique   string // the key that the job came with
	until    string // what releases it
	keep     bool
	lone     bool   // it is known to be of no group
	announce bool   // where the queue's level has no such event
	report   string // the head of the report to the job's parent, empty for none
}

// released returns the unique key that the end of the job releases, if it is its
// end.
func (r result) released() string {
	ended := r.ended()
	switch r.until {
	case string(script.AddUntilStarted): // released by the pick
		return ""
	case string(script.AddUntilRemoved):
		ended = ended && !r.keep
	}
	if !ended {
		return ""
	}
	return r.unique
}

// ended reports whether the result is the job's last.
func (r result) ended() bool {
	return r.outcome == script.SettleOutcomeCompleted || r.outcome == script.SettleOutcomeFailed
}

// givenBack reports whether the job goes back to where it came from.
func (r result) givenBack() bool { return r.outcome == script.SettleOutcomeRelease }

func (r result) bytes() int { return len(r.value) + len(r.trace) + len(r.report) }

// cutResults takes as many results off the front as one call may settle.
func cutResults(results []result) (batch, rest []result) {
	bytes := 0
	for i, res := range results {
		bytes += res.bytes()
		if i == maxBatch || bytes > maxBatchBytes && i > 0 {
			return results[:i:i], results[i:]
		}
	}
	return results, nil
}

// cutReturned takes jobs that are given back off a list, as many as one call
// may settle. Each call puts its jobs before those of earlier calls, so the ones
// that were started last go first.
func cutReturned(returned []result) (batch, rest []result) {
	slices.SortFunc(returned, func(a, b result) int { return cmp.Compare(a.order, b.order) })
	cut := max(len(returned)-maxBatch, 0)
	return returned[cut:], returned[:cut:cut]
}

func settleCall(level EventLevel, results []result) script.Settle {
	items := make([]script.SettleItem, len(results))
	for i, res := range results {
		items[i] = script.SettleItem{
			ID: res.id, Token: res.token, Outcome: res.outcome,
			Value: res.value, Trace: res.trace,
			Delay:    ceilMilliseconds(res.delay),
			Attempts: int64(res.attempts), Starts: int64(res.starts), Unknown: int64(res.unknown),
			Priority: int64(res.priority), Keep: res.keep, Announce: res.announce && !(res.ended() && level != EventsNone), Job: res.name, Unique: res.released(),
			Report: []byte(res.report), Groupless: res.lone,
		}
	}
	return script.Settle{
		Events:  script.SettleEvents(level.word()),
		History: DefaultEventHistory,
		Items:   items,
	}
}

// ceilMilliseconds rounds up, so that no wait is shorter than was asked for.
func ceilMilliseconds(d time.Duration) int64 {
	whole := d.Milliseconds()
	if d > time.Duration(whole)*time.Millisecond {
		whole++
	}
	return whole
}
