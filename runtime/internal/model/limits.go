package model

import (
	"fmt"
	"strconv"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// AtLimit is what Blocked is while as many jobs are active as a worker's limit
// allows. Otherwise it is a time, at which a worker looks for the next token.
const AtLimit = "limit"

// Bucket is what is left of a queue's tokens: parts, of which a token has as many
// as the interval has milliseconds.
type Bucket struct{ Parts, Interval, At int64 }

// bounds are the numbers that hold for one pick.
type bounds struct{ limit, tokens, interval, perGroup int64 }

// bounds returns what holds for a call: what it says, unless an operator says
// something else and it gives way.
func (s *State) bounds(c script.Pick) bounds {
	b := bounds{limit: c.Cap, tokens: c.Tokens, interval: c.Interval, perGroup: c.PerGroup}
	if n, set := parseGroupLimit(s.Overrides["groupLimit"]); !c.PerGroupFixed && set {
		b.perGroup = n
		s.reach("pick", "group limit overridden")
	}
	var n, span int64
	if text := s.Overrides["limit"]; !c.CapFixed && text == "none" {
		b.limit = 0
		s.reach("pick", "limit switched off")
	} else if _, err := fmt.Sscanf(text+".", "%d.", &n); !c.CapFixed && err == nil && n > 0 {
		b.limit = n
		s.reach("pick", "limit overridden")
	}
	if text := s.Overrides["rate"]; !c.RateFixed && text == "none" {
		b.tokens = 0
		s.reach("pick", "rate switched off")
	} else if _, err := fmt.Sscanf(text+".", "%d/%d.", &n, &span); !c.RateFixed && err == nil && n > 0 && span > 0 {
		b.tokens, b.interval = n, span
		s.reach("pick", "rate overridden")
	}
	return b
}

// fill brings the bucket up to date: it fills continuously, up to the tokens that
// are not out for what is reserved.
func (s *State) fill(b bounds, now int64) {
	if b.tokens == 0 {
		return
	}
	most := max(b.tokens-int64(len(s.Reserved)), 0) * b.interval
	old := s.Bucket
	if old == nil {
		s.Bucket = &Bucket{Parts: most, Interval: b.interval, At: now}
		return
	}
	parts := old.Parts
	if old.Interval != b.interval {
		s.reach("pick", "interval changed")
		parts = parts * b.interval / old.Interval
	}
	parts += min(max(now-old.At, 0), b.interval) * b.tokens
	s.Bucket = &Bucket{Parts: min(parts, most), Interval: b.interval, At: now}
}

// room returns how many of the heads that are wanted may be taken.
func (s *State) room(b bounds, want int64) int64 {
	if free := b.limit - int64(len(s.Active)); b.limit > 0 && free < want {
		s.reach("pick", "limit leaves fewer")
		want = max(free, 0)
	}
	if b.tokens > 0 && s.Bucket.Parts/b.interval < want {
		s.reach("pick", "rate leaves fewer")
		want = s.Bucket.Parts / b.interval
	}
	return want
}

// block decides whether what is left can be taken, and who is to look again.
func (p *picking) block(b bounds) {
	p.reply.Bounded = b.limit > 0 || b.tokens > 0 || b.perGroup > 0
	switch {
	case len(p.reply.Window) == 0:
		p.Blocked = ""
	case b.limit > 0 && int64(len(p.Active)) >= b.limit:
		p.State.reach("pick", "full")
		p.Blocked, p.reply.Blocked = AtLimit, true
	case b.tokens > 0 && p.Bucket.Parts < b.interval:
		p.State.reach("pick", "dry")
		p.reply.Blocked = true
		missing := b.interval - p.Bucket.Parts
		ready := p.now + (missing+b.tokens-1)/b.tokens
		told, err := strconv.ParseInt(p.Blocked, 10, 64)
		if p.spent == 0 && err == nil && p.now < told && told <= ready {
			p.State.reach("pick", "another looks for the token")
			return
		}
		p.Blocked, p.reply.Ready = strconv.FormatInt(ready, 10), ready
	default:
		p.Blocked = ""
	}
}

// stopped reports whether nobody is to be woken for a job.
func (s *State) stopped(now int64) bool {
	told, err := strconv.ParseInt(s.Blocked, 10, 64)
	return s.Paused || s.Blocked == AtLimit || err == nil && now < told
}

// open notes that active jobs have ended, so that the limit leaves room.
func (s *State) open(script string) (opened bool) {
	if s.Blocked != AtLimit {
		return false
	}
	s.reach(script, "opened")
	s.Blocked = ""
	return true
}

func (s *State) override(c script.Override, now int64) script.OverrideReply {
	s.Version, s.Blocked = Version, ""
	for name, value := range map[string]string{"limit": c.Limit, "rate": c.Rate, "groupLimit": c.GroupLimit} {
		switch value {
		case "":
		case "clear":
			s.reach("override", "cleared")
			delete(s.Overrides, name)
		default:
			s.reach("override", "set")
			s.Overrides[name] = value
		}
	}
	s.wake()
	if order := s.Groups.Ring.Order(); !s.Paused && len(s.Wait)+len(s.Prioritized) == 0 && len(order) > 0 && s.Groups.Ring[order[0]] >= AtGroupLimit {
		s.reach("override", "wakes for a group at its limit")
		s.Marker[s.Groups.Waiting[order[0]][0].ID] = 0
	}
	return script.OverrideReply{Now: now}
}
