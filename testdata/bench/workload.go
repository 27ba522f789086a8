package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// manyQueues is how many there are where there are many.
const manyQueues = 10

// workload is one thing that systems are measured at.
type workload struct {
	name    string
	figures []figure
	// peers are the names of the systems that are measured; all if there are none.
	peers []string
	// rounds is in how many at most; 0 for all.
	rounds int
	// here says that this process enqueues, except for BullMQ.
	here    bool
	measure func(ctx context.Context, s system) (measured, error)
}

// figure is one number of a workload.
type figure struct {
	name string // empty if it is the only one
	unit string
	less bool // a smaller number is better
}

// full is what the page calls a figure.
func (w workload) full(f figure) string {
	if f.name == "" {
		return w.name
	}
	return w.name + ", " + f.name
}

// measured is what a measurement found: a value of each figure.
type measured struct {
	values []float64
	costs  *costs // of a job, if they are known
}

var (
	perSecond = []figure{{unit: "jobs/s"}}
	untuned   = []string{"echomq", "asynq", "bullmq", "river"}
)

// payloads are the sizes that are measured beside 100 bytes.
var payloads = []struct {
	name                string
	bytes, bulk, added  int
	processed, perBatch int
}{
	{"10 KiB", 10 << 10, 100, 5000, 15_000, 100},
	{"1 MiB", 1 << 20, 10, 100, 200, 10},
}

// mainWorkloads are measured in every section.
func mainWorkloads(set settings) []workload {
	all := []workload{
		enqueuing(set, seqEnqueue, load{Jobs: 20_000, Producers: 1, Bulk: 1, Bytes: 100}),
		enqueuing(set, concEnqueue, load{Jobs: 100_000, Producers: 50, Bulk: 1, Bytes: 100}),
		enqueuing(set, bulkEnqueue, load{Jobs: 200_000, Producers: 1, Bulk: 1000, Bytes: 100}),
	}
	for _, slots := range []int{10, 100} {
		all = append(all, atOnce(set, slots, 0))
	}
	return all
}

// plainWorkloads are the main ones for systems without options: River tuned
// enqueues as River does.
func plainWorkloads(set settings) []workload {
	all := mainWorkloads(set)
	for n := range all {
		if all[n].here {
			all[n].peers = append(slices.Clone(untuned), "limit")
		}
	}
	return all
}

// allWorkloads are measured in the default configurations.
func allWorkloads(set settings) []workload {
	all := append(plainWorkloads(set), atOnce(set, 1, 2), atOnce(set, 1000, 2))
	for _, p := range payloads {
		enqueue := enqueuing(set, fmt.Sprintf("enqueue, %s each, in bulk of %d", p.name, p.bulk),
			load{Jobs: p.added, Producers: 1, Bulk: p.bulk, Bytes: p.bytes})
		process := handling(set, fmt.Sprintf("process, %s each, 100 at once", p.name), processing{
			load: load{Jobs: p.processed, Producers: 2, Bulk: p.perBatch, Bytes: p.bytes}, processes: 1, worker: workerSpec{Slots: 100},
		})
		enqueue.rounds, process.rounds = 2, 2
		enqueue.peers = append(slices.Clone(untuned), "limit")
		process.peers = append(slices.Clone(untuned), "limit")
		all = append(all, enqueue, process)
	}
	one := atOnce(set, 96, 0)
	one.peers = []string{"echomq"}
	eight := handling(set, eightTimes, processing{
		load: load{Producers: 2, Bulk: 1000, Bytes: 100}, processes: 8, worker: workerSpec{Slots: 12},
	})
	eight.peers = []string{"echomq", "asynq", "bullmq"}
	queues := handling(set, "process, 10 queues in one process, 100 at once", processing{
		load: load{Producers: 2, Bulk: 100, Bytes: 100, Queues: manyQueues}, processes: 1,
		worker: workerSpec{Slots: 100, Queues: manyQueues},
	})
	queues.peers, queues.rounds = untuned, 2
	all = append(all, one, eight, queues)
	all = append(all, latencies()...)
	return append(all,
		workload{name: "memory of a waiting job", figures: []figure{{unit: "bytes", less: true}}, peers: untuned, rounds: 1, measure: memory},
		workload{
			name: fewWait, figures: perSecond, peers: []string{"echomq"},
			measure: waiting(1000, set.atMost),
		},
		workload{
			name: manyWait, figures: perSecond, peers: []string{"echomq"},
			measure: waiting(1_000_000, set.atMost),
		},
		workload{
			name:    fmt.Sprintf("%d processes, one of them %v away, its share relative to a fair one", farProcesses, farAway),
			figures: []figure{{unit: "1"}}, peers: []string{"echomq"},
			measure: func(ctx context.Context, s system) (measured, error) { return far(ctx, s, set.atMost) },
		},
	)
}

// tunedWorkloads are the main ones, and what else settings change.
func tunedWorkloads(set settings) []workload {
	idle := latencies()[0]
	idle.peers, idle.rounds = nil, 1
	return append(mainWorkloads(set), idle)
}

func latencies() []workload {
	quantiles := []figure{{name: "p50", unit: "ms", less: true}, {name: "p99", unit: "ms", less: true}, {name: "max", unit: "ms", less: true}}
	return []workload{
		{
			name: "idle, from enqueue to handler", figures: quantiles, peers: untuned,
			measure: lateness(plan{Kind: "idle", Jobs: 60, Slots: 10}, 0, 0.5, 0.99, 1),
		},
		{
			name: "1,000 jobs/s, from enqueue to handler", figures: quantiles, peers: untuned, rounds: 2,
			measure: lateness(plan{Kind: "steady", Jobs: 3500, PerSecond: 1000, Slots: 100}, 500, 0.5, 0.99, 1),
		},
		{
			name: "delayed jobs, how late", figures: quantiles[:2], peers: untuned, rounds: 2,
			measure: lateness(plan{Kind: "delayed", Jobs: 200, PerSecond: 100, Slots: 100}, 0, 0.5, 0.99),
		},
	}
}

func enqueuing(set settings, name string, load load) workload {
	load.AtMost = set.atMost
	return workload{name: name, figures: perSecond, here: true, measure: func(ctx context.Context, s system) (measured, error) {
		end := func() {}
		if set.profile != "" && base(s.name()) == "echomq" {
			var err error
			if end, err = profiled(profileName(set, name, s)); err != nil {
				return measured{}, err
			}
		}
		defer end()
		o := observer{system: s}
		before, err := o.counted(ctx)
		if err != nil {
			return measured{}, err
		}
		did, err := s.enqueue(ctx, load)
		if err != nil {
			return measured{}, err
		}
		if did.jobs == 0 {
			return measured{}, fmt.Errorf("no job was added in %v", load.AtMost)
		}
		found := measured{values: []float64{float64(did.jobs) / did.took.Seconds()}}
		if s.valkey() != nil {
			after, err := lookAt(ctx, s.valkey())
			if err != nil {
				return measured{}, err
			}
			found.costs = after.since(before, did.jobs, 0, 0)
			found.costs.client = did.cpu / float64(did.jobs)
		}
		return found, nil
	}}
}

// atOnce processes jobs of 100 bytes with so many slots of one process.
func atOnce(set settings, slots, rounds int) workload {
	w := handling(set, fmt.Sprintf("process, %s at once", thousands(slots)), processing{
		load: load{Producers: 2, Bulk: 1000, Bytes: 100}, processes: 1, worker: workerSpec{Slots: slots},
	})
	w.rounds = rounds
	return w
}

func handling(set settings, name string, p processing) workload {
	return workload{name: name, figures: perSecond, measure: func(ctx context.Context, s system) (measured, error) {
		p := p
		if set.profile != "" && base(s.name()) == "echomq" {
			p.worker.File = profileName(set, name, s)
		}
		seen, err := p.process(ctx, s, set.atMost)
		return measured{values: []float64{seen.rate}, costs: seen.costs}, err
	}}
}

// profileName is the file of a workload's CPU profile; the last round's stays.
func profileName(set settings, name string, s system) string {
	words := strings.FieldsFunc(s.name()+" "+name, func(r rune) bool { return r == ' ' || r == ',' })
	return set.profile + "/" + strings.Join(words, "-") + ".pprof"
}

func waiting(jobs int, atMost time.Duration) func(context.Context, system) (measured, error) {
	return func(ctx context.Context, s system) (measured, error) {
		rate, err := refilled(ctx, s, jobs, atMost)
		return measured{values: []float64{rate}}, err
	}
}

// memory returns what a waiting job takes in its server.
func memory(ctx context.Context, s system) (measured, error) {
	const jobs = 20_000
	// What is kept once for the queue is no part of it.
	if _, err := s.enqueue(ctx, load{Jobs: 100, Producers: 1, Bulk: 100, Bytes: 100}); err != nil {
		return measured{}, err
	}
	before, err := s.memory(ctx)
	if err != nil {
		return measured{}, err
	}
	if _, err := s.enqueue(ctx, load{Jobs: jobs, Producers: 1, Bulk: 1000, Bytes: 100}); err != nil {
		return measured{}, err
	}
	after, err := s.memory(ctx)
	return measured{values: []float64{float64(after-before) / jobs}}, err
}
