package model

import (
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// Turn is whose turn it is to look through the ended jobs, and how far they have
// been looked at.
type Turn struct {
	Worker string
	Ends   int64
	// Completed and Failed are ranks, and Noted says which of them is known.
	Completed, Failed int64
	Noted             map[script.SweepSet]bool
}

// note says that the rank of a set is known from now on.
func (t *Turn) note(set script.SweepSet) {
	if t.Noted == nil {
		t.Noted = map[script.SweepSet]bool{}
	}
	t.Noted[set] = true
}

// fields are what is written of the turn.
func (t *Turn) fields() Hash {
	fields := Hash{}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	if t.Worker != "" {
		fields["turn"] = t.Worker
	}
	if t.Ends != 0 {
		fields["turnEnds"] = number(t.Ends)
	}
	if t.Noted[script.SweepSetCompleted] {
		fields["sweptCompleted"] = number(t.Completed)
	}
	if t.Noted[script.SweepSetFailed] {
		fields["sweptFailed"] = number(t.Failed)
	}
	return fields
}

func (s *State) sweep(c script.Sweep, now int64) script.SweepReply {
	set := s.Set(string(c.Set))
	reply := script.SweepReply{Now: now, Size: int64(len(set)), Ends: s.Turn.Ends, Flows: s.flows()}
	if s.Version == "" || s.Turn.Worker != c.Worker && s.Turn.Ends > now {
		s.reach("sweep", "another's turn")
		return reply
	}
	swept := &s.Turn.Completed
	if c.Set == script.SweepSetFailed {
		swept = &s.Turn.Failed
	}
	from := c.From
	if c.Step == script.SweepStepResume {
		from = *swept
	}
	order := set.Order()
	page := order[min(from, int64(len(order))):]
	page = page[:min(int(c.Limit), len(page))]
	if len(page) == 0 {
		from = 0
	}
	s.Turn.Worker, s.Turn.Ends = c.Worker, now+c.Hold
	s.reach("sweep", string(c.Step))
	if c.Step == script.SweepStepRest {
		s.Turn.Worker, page = "", nil
	} else {
		*swept = from
		s.Turn.note(c.Set)
	}
	reply.Mine, reply.Ends, reply.From = true, s.Turn.Ends, from
	for _, id := range page {
		s.reach("sweep", "a page")
		reply.IDs = append(reply.IDs, script.SweepID{ID: id, Ended: set[id]})
	}
	return reply
}

// flows reports whether there are deliveries, or parents that wait for children.
func (s *State) flows() bool { return len(s.Outbox)+len(s.Waiting) > 0 }
