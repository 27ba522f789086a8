package echomq

import (
	"slices"
	"sync"
)

// pool is the slots that the queues of a worker share. A nil pool has room for
// everything: each queue has only its own concurrency.
//
// A queue that has work can use what others leave; where several have, each gets
// slots by its weight. Slots are never taken back, so a queue that gets work
// comes to its share as running jobs end.
type pool struct {
	mu     sync.Mutex
	size   int
	shares []*share
}

// share is one queue's part of a pool.
type share struct {
	pool   *pool
	weight int
	wake   func() // has the queue ask again
	taken  int    // slots that its jobs have, or that were granted for a pick
	hungry bool   // it would take more, as far as it knows
}

func newPool(size int) *pool {
	if size == 0 {
		return nil
	}
	return &pool{size: size}
}

// join returns the share of one more queue.
func (p *pool) join(weight int, wake func()) *share {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := &share{pool: p, weight: weight, wake: wake}
	p.shares = append(p.shares, s)
	return s
}

// leave gives everything back.
func (s *share) leave() {
	if s == nil {
		return
	}
	s.hold(0, false)
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.pool.shares = slices.DeleteFunc(s.pool.shares, func(other *share) bool { return other == s })
}

// grant returns how many slots, at most want, a queue may take beyond those that
// it has, and takes them.
func (s *share) grant(want int) int {
	if s == nil {
		return want
	}
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	s.hungry = want > 0
	free := p.size
	for _, other := range p.shares {
		free -= other.taken
	}
	granted := 0
	claims := make(map[*share]int) // what others would get of the free slots
	for ; free > 0 && granted < want; free-- {
		next := s
		for _, other := range p.shares {
			if other.hungry && other.load(claims[other]) < next.load(claims[next]) {
				next = other
			}
		}
		claims[next]++
		if next == s {
			granted++
		}
	}
	s.taken += granted
	return granted
}

// load is how full a share would be with one slot more than it has and claims:
// the lower, the more it is in want of.
func (s *share) load(claims int) float64 { return float64(s.taken+claims+1) / float64(s.weight) }

// release gives one slot back.
func (s *share) release() {
	if s == nil {
		return
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.taken = max(s.taken-1, 0)
	s.offer()
}

// hold says how many slots a queue has, and whether it would take more.
func (s *share) hold(slots int, hungry bool) {
	if s == nil {
		return
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.taken, s.hungry = slots, hungry
	s.offer()
}

// rest says that a queue takes no more for now, whatever it has.
func (s *share) rest() {
	if s == nil {
		return
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	s.hungry = false
	s.offer()
}

// offer wakes the other queues that would take more: there may be slots for them.
// The caller holds the lock; wake takes none.
func (s *share) offer() {
	for _, other := range s.pool.shares {
		if other != s && other.hungry {
			other.wake()
		}
	}
}
