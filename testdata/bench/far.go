package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"
)

const (
	farProcesses = 32
	farSlots     = 10
	farTakes     = 5 * time.Millisecond
	farAway      = 10 * time.Millisecond
	farLasts     = 6 // times as long as a rate is measured: workers begin to take jobs in advance within it
)

// far has processes compete for the jobs of one queue, one of them far away, and
// returns the share that it gets, relative to a fair one. There is more work than
// the server can give out: all want more than they get.
func far(ctx context.Context, s system, atMost time.Duration) (measured, error) {
	own, is := s.(*echoMQ)
	if !is {
		return measured{}, errNotMeasured
	}
	proxy, stop, err := startDelay(own.addr, farAway)
	if err != nil {
		return measured{}, err
	}
	defer stop()
	var w workers
	defer w.stop()
	for n := range farProcesses {
		spec := workerSpec{Slots: farSlots, Takes: farTakes}
		if n == 0 {
			spec.Addr = proxy
		}
		if err := w.start(ctx, s, spec); err != nil {
			return measured{}, err
		}
	}
	// All are ready before there is a job.
	for begin := time.Now(); ; {
		info, err := own.store.InfoMap(ctx, "clients").Result()
		if err != nil {
			return measured{}, err
		}
		blocked, _ := strconv.Atoi(info["Clients"]["blocked_clients"])
		if blocked >= farProcesses {
			break
		}
		if time.Since(begin) > patience {
			return measured{}, fmt.Errorf("%d of %d workers wait for jobs after %v", blocked, farProcesses, patience)
		}
		time.Sleep(50 * time.Millisecond)
	}
	total := 0
	for begin := time.Now(); time.Since(begin) < farLasts*atMost; {
		n, err := s.finished(ctx)
		if err = cmp.Or(err, w.check()); err != nil {
			return measured{}, err
		}
		if total-n > 20_000 {
			time.Sleep(time.Millisecond)
			continue
		}
		did, err := s.enqueue(ctx, load{Jobs: 2000, Producers: 2, Bulk: 1000, Bytes: 100})
		if err != nil {
			return measured{}, err
		}
		total += did.jobs
	}
	reports, err := w.stop()
	if err != nil {
		return measured{}, err
	}
	all := 0
	for _, r := range reports {
		all += r.Handled
	}
	return measured{values: []float64{float64(reports[0].Handled) * farProcesses / float64(all)}}, nil
}
