package main

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

const (
	// warmUp is how long after the first finished job it begins to count.
	warmUp = 500 * time.Millisecond
	// patience is how long it may take until that first one, and to the end.
	patience = 40 * time.Second
)

// processing is a measurement of how fast jobs are handled.
type processing struct {
	load      load // that waits: as many as suffice, at most its Jobs if it has them
	processes int
	worker    workerSpec
}

// window is what was seen of a queue while it was processed.
type window struct {
	rate  float64
	jobs  int
	costs *costs // of systems on Valkey
}

// process fills the queue, starts workers, and sees how many jobs a second they
// finish.
func (p processing) process(ctx context.Context, s system, atMost time.Duration) (window, error) {
	enough := max(2000, int((atMost+warmUp).Seconds()*float64(fastest(s.name(), p.worker.Slots*p.processes))))
	if p.load.Jobs == 0 || p.load.Jobs > enough {
		p.load.Jobs = enough
	}
	if _, err := s.enqueue(ctx, p.load); err != nil {
		return window{}, fmt.Errorf("to be processed: %w", err)
	}
	var w workers
	defer w.stop()
	for range p.processes {
		if err := w.start(ctx, s, p.worker); err != nil {
			return window{}, err
		}
		p.worker.File = "" // one profile is enough
	}
	seen, err := watch(ctx, s, &w, p.load, atMost)
	if err != nil {
		return window{}, err
	}
	reports, err := w.stop()
	if err != nil {
		return window{}, err
	}
	var handled, cpu float64
	for _, r := range reports {
		handled, cpu = handled+float64(r.Handled), cpu+r.CPU
	}
	if seen.costs != nil && handled > 0 {
		seen.costs.client = cpu / handled
	}
	return seen, nil
}

// observer looks at how many jobs a system has finished, seldom enough that this
// costs it next to nothing.
type observer struct {
	system
	looks int
	last  time.Duration // that a look took
}

func (o *observer) look(ctx context.Context) (int, time.Time, error) {
	select {
	case <-time.After(min(max(5*time.Millisecond, 20*o.last), 100*time.Millisecond)):
	case <-ctx.Done():
		return 0, time.Time{}, ctx.Err()
	}
	begin := time.Now()
	n, err := o.finished(ctx)
	o.last = time.Since(begin)
	o.looks++
	return n, begin, err
}

// counted looks at what the server counts, if it does.
func (o *observer) counted(ctx context.Context) (counters, error) {
	if o.valkey() == nil {
		return counters{}, nil
	}
	return lookAt(ctx, o.valkey())
}

// watch sees how fast jobs are finished: from a moment after the first, when the
// worker is warm, until the last or the time is over.
func watch(ctx context.Context, s system, w *workers, load load, atMost time.Duration) (window, error) {
	jobs := load.Jobs
	o := &observer{system: s}
	var warm, begin, end time.Time
	var first, last, looks int
	var before counters
	for started := time.Now(); ; {
		n, now, err := o.look(ctx)
		if err = cmp.Or(err, w.check()); err != nil {
			return window{}, err
		}
		if n > 0 && warm.IsZero() {
			warm = now.Add(warmUp)
		}
		if begin.IsZero() && n > 0 && (now.After(warm) || n > jobs/3) {
			if before, err = o.counted(ctx); err != nil {
				return window{}, err
			}
			first, last, begin, end, looks = n, n, now, now, o.looks
		}
		if !begin.IsZero() && n > last {
			last, end = n, now
		}
		switch {
		case last > first && (last >= jobs || now.Sub(begin) > atMost):
			seen := window{rate: float64(last-first) / end.Sub(begin).Seconds(), jobs: last - first}
			if s.valkey() != nil {
				after, err := lookAt(ctx, s.valkey())
				if err != nil {
					return window{}, err
				}
				seen.costs = after.since(before, seen.jobs, o.looks-looks, lookCommands(s, load.Queues))
			}
			return seen, nil
		case !begin.IsZero() && first >= jobs:
			return window{}, fmt.Errorf("all %d jobs were finished before it could be seen how fast", jobs)
		case now.Sub(started) > patience:
			return window{}, fmt.Errorf("%d of %d jobs were finished in %v", n, jobs, patience)
		}
	}
}

// refilled measures processing while about so many jobs wait: a producer adds as
// many as are finished. It is made several times with the same jobs.
func refilled(ctx context.Context, s system, waiting int, atMost time.Duration) (float64, error) {
	const chunk = 500
	total := waiting + 2*chunk
	if _, err := s.enqueue(ctx, load{Jobs: total, Producers: 2, Bulk: 1000, Bytes: 100}); err != nil {
		return 0, err
	}
	var w workers
	defer w.stop()
	if err := w.start(ctx, s, workerSpec{Slots: 100}); err != nil {
		return 0, err
	}
	var warm, begin time.Time
	var first int
	for started := time.Now(); ; {
		n, err := s.finished(ctx)
		if err = cmp.Or(err, w.check()); err != nil {
			return 0, err
		}
		now := time.Now()
		switch {
		case n > 0 && warm.IsZero():
			warm = now.Add(warmUp)
		case begin.IsZero() && n > 0 && now.After(warm):
			begin, first = now, n
		case !begin.IsZero() && now.Sub(begin) > 2*atMost:
			_, err := w.stop()
			return float64(n-first) / now.Sub(begin).Seconds(), err
		case now.Sub(started) > patience:
			return 0, fmt.Errorf("%d jobs were finished in %v", n, patience)
		}
		if total-n >= waiting+chunk {
			time.Sleep(time.Millisecond)
			continue
		}
		did, err := s.enqueue(ctx, load{Jobs: chunk, Producers: 1, Bulk: chunk, Bytes: 100})
		if err != nil {
			return 0, err
		}
		total += did.jobs
	}
}
