package enginetest

import (
	"net"
	"sync"
	"time"
)

// line carries what one end sends to the other: each parcel arrives when it is
// due, in order, and any number are under way at once.
type line struct {
	to net.Conn

	mu      sync.Mutex
	parcels []parcel
	wake    chan struct{} // has one element when parcels may have changed
	stopped chan struct{}
	once    sync.Once
}

type parcel struct {
	frame  []byte
	due    time.Time
	before func() // called just before delivery, if not nil
	last   bool   // close the connection instead
}

func newLine(to net.Conn) *line {
	return &line{to: to, wake: make(chan struct{}, 1), stopped: make(chan struct{})}
}

// send puts a frame on its way.
func (l *line) send(frame []byte, due time.Time, before func()) {
	l.push(parcel{frame: frame, due: due, before: before})
}

// end closes the connection when everything before it has arrived.
func (l *line) end(due time.Time) { l.push(parcel{due: due, last: true}) }

func (l *line) push(p parcel) {
	l.mu.Lock()
	l.parcels = append(l.parcels, p)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// stop ends run without delivering what is under way.
func (l *line) stop() { l.once.Do(func() { close(l.stopped) }) }

// run delivers parcels until the last one, an error, or stop, and closes the
// connection.
func (l *line) run() {
	defer l.to.Close()
	for {
		parcel, ok := l.next()
		if !ok || parcel.last || !l.wait(parcel.due) {
			return
		}
		if parcel.before != nil {
			parcel.before()
		}
		if _, err := l.to.Write(parcel.frame); err != nil {
			return
		}
	}
}

// next returns the next parcel once there is one.
func (l *line) next() (p parcel, ok bool) {
	for {
		l.mu.Lock()
		if len(l.parcels) > 0 {
			p, l.parcels = l.parcels[0], l.parcels[1:]
			l.mu.Unlock()
			return p, true
		}
		l.mu.Unlock()
		select {
		case <-l.wake:
		case <-l.stopped:
			return parcel{}, false
		}
	}
}

// wait returns true at the moment due, or false when the line is stopped first.
func (l *line) wait(due time.Time) bool {
	left := time.Until(due)
	if left <= 0 {
		return true
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.stopped:
		return false
	}
}
