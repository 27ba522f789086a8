package main

import (
	"io"
	"net"
	"sync"
	"syscall"
	"time"
)

// startDelay puts a proxy before a server that holds up everything it forwards,
// in each direction, for half of a round trip.
func startDelay(addr string, roundTrip time.Duration) (string, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", addr)
			if err != nil {
				_ = near.Close()
				continue
			}
			go forward(far, near, roundTrip/2)
			go forward(near, far, roundTrip/2)
		}
	}()
	return listener.Addr().String(), func() { _ = listener.Close() }, nil
}

var buffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// forward copies, each read a delay after it came.
func forward(to io.WriteCloser, from io.ReadCloser, delay time.Duration) {
	type piece struct {
		due    time.Time
		buffer *[64 << 10]byte
		bytes  int
	}
	pieces := make(chan piece, 4096)
	go func() {
		defer close(pieces)
		for {
			buffer := buffers.Get().(*[64 << 10]byte)
			n, err := from.Read(buffer[:])
			if n > 0 {
				pieces <- piece{time.Now().Add(delay), buffer, n}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range pieces {
		rest(p.due)
		if _, err := to.Write(p.buffer[:p.bytes]); err != nil {
			break
		}
		buffers.Put(p.buffer)
	}
	_ = to.Close()
	_ = from.Close()
	for range pieces {
	}
}

// rest sleeps. Beside it time.Sleep is late by up to a millisecond in a process
// that is idle.
func rest(until time.Time) {
	for left := time.Until(until); left > 0; left = time.Until(until) { // a signal ends it early
		wait := syscall.NsecToTimespec(int64(left))
		_ = syscall.Nanosleep(&wait, nil)
	}
}
