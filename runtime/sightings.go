package echomq

import "time"

// sightings tells which leases have been seen to have run out for long enough.
//
// A look at the store that answers with its clock shows every lease that had
// ended by then, also those that were too many for the answer. A lease that is
// renewed gets a later deadline, so one that still has a deadline from before a
// look was seen expired by it, and has not been renewed since.
type sightings struct {
	wait  time.Duration // how long is enough
	looks []sighting    // oldest first; only the first may be old enough
}

// sighting is a look at the store: the moment by its clock and by ours.
type sighting struct {
	server int64
	local  time.Time
}

// maxSightings is how many looks are remembered in the time that is enough.
const maxSightings = 16

// add notes a look. If the store's clock has gone backwards, what was seen
// before says nothing about deadlines any more.
func (s *sightings) add(look sighting) {
	if len(s.looks) > 0 {
		last := s.looks[len(s.looks)-1]
		if look.server < last.server {
			s.forget()
		} else if len(s.looks) > 1 && look.local.Sub(last.local) < s.wait/maxSightings {
			return
		}
	}
	s.looks = append(s.looks, look)
}

// forget begins afresh: the live may have had no chance to renew.
func (s *sightings) forget() { s.looks = nil }

// ripe returns the moment of the store's clock by which a lease must have
// ended to have been seen so for long enough; 0 if there is none.
func (s *sightings) ripe(now time.Time) int64 {
	for len(s.looks) > 1 && s.old(s.looks[1], now) {
		s.looks = s.looks[1:]
	}
	if len(s.looks) > 0 && s.old(s.looks[0], now) {
		return s.looks[0].server
	}
	return 0
}

func (s *sightings) old(look sighting, now time.Time) bool { return now.Sub(look.local) >= s.wait }

// ripens returns when a lease that ended at the deadline will have been seen
// for long enough. One that no look has covered is to be looked at again.
func (s *sightings) ripens(deadline int64, now time.Time) time.Time {
	for _, look := range s.looks {
		if look.server >= deadline {
			return look.local.Add(s.wait)
		}
	}
	return now.Add(s.wait / maxSightings)
}

// covers reports whether a lease that ends at the deadline has been seen to
// have ended.
func (s *sightings) covers(deadline int64) bool {
	return len(s.looks) > 0 && s.looks[len(s.looks)-1].server >= deadline
}
