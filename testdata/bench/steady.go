package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"
)

const (
	steadyWaiting = 10_000
	// peersShare is for what part of the time that this project is watched others are.
	peersShare = 5
)

// steadyPeers are the other systems that are watched.
var steadyPeers = []string{"asynq", "bullmq"}

// steady is what was seen of a system at full load for long.
type steady struct {
	system  string
	length  time.Duration
	samples []sample
	failure error
}

// sample is the state at one time, and the rate since the one before.
type sample struct {
	after                      time.Duration
	rate                       float64
	waiting, completed, memory int
}

// halves returns the greatest number of completed jobs in each half.
func (s *steady) halves() (first, second int) {
	for _, one := range s.samples {
		if one.after <= s.length/2 {
			first = max(first, one.completed)
		} else {
			second = max(second, one.completed)
		}
	}
	return first, second
}

// mean is how many jobs a second were finished in so much time before the end, about.
func (s *steady) mean(length time.Duration) float64 {
	var jobs, seconds float64
	last := time.Duration(0)
	for _, one := range s.samples {
		if took := (one.after - last).Seconds(); one.after > s.length-length+time.Second/2 {
			jobs, seconds = jobs+one.rate*took, seconds+took
		}
		last = one.after
	}
	return jobs / seconds
}

// steadyState watches a system for so long, and looks every minute, or ten times if
// that is less. What fails on the way ends it, and is part of it.
func steadyState(ctx context.Context, servers *servers, length time.Duration, system string) (*steady, error) {
	s := &steady{length: length, system: system}
	e, err := servers.open(ctx, &section{systems: []string{system}}, system)
	if err != nil {
		s.failure = err
		return s, ctx.Err()
	}
	defer e.close()
	s.failure = s.watch(ctx, e.systems[0])
	return s, ctx.Err()
}

func (s *steady) watch(ctx context.Context, watched system) error {
	var w workers
	defer w.stop()
	if err := w.start(ctx, watched, workerSpec{Slots: 100}); err != nil {
		return err
	}
	every := min(time.Minute, s.length/10)
	begin := time.Now()
	next, last := begin.Add(every), begin
	var total, before int
	for {
		n, err := watched.finished(ctx)
		if err = cmp.Or(err, w.check()); err != nil {
			return err
		}
		if now := time.Now(); !now.Before(next) {
			one := sample{after: now.Sub(begin), rate: float64(n-before) / now.Sub(last).Seconds(), waiting: total - n}
			if own, is := watched.(*echoMQ); is {
				completed, err := own.store.ZCard(ctx, "emq:{bench}:completed").Result()
				if err != nil {
					return err
				}
				one.completed = int(completed)
			}
			if one.memory, err = watched.memory(ctx); err != nil {
				return err
			}
			s.samples = append(s.samples, one)
			fmt.Fprintf(os.Stderr, "steady state of %s, after %v: %s jobs/s, %d waiting, %d completed, %d MiB\n",
				s.system, one.after.Round(time.Second), number(one.rate), one.waiting, one.completed, one.memory>>20)
			if n == before {
				return fmt.Errorf("no job was finished in %v", every)
			}
			before, last, next = n, now, next.Add(every)
			if now.Sub(begin) >= s.length {
				_, err := w.stop()
				return err
			}
		}
		if total-n >= steadyWaiting {
			time.Sleep(time.Millisecond)
			continue
		}
		did, err := watched.enqueue(ctx, load{Jobs: 1000, Producers: 1, Bulk: 1000, Bytes: 100})
		if err != nil {
			return err
		}
		total += did.jobs
	}
}
