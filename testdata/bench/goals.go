package main

// goal is a ratio that this project wants to hold in the default configurations.
type goal struct {
	figure string
	// to is the peer that it is compared with; this project itself, at another
	// figure, or nothing, so that the figure itself is meant.
	to    string
	below string
	bound float64
	less  bool // at most the bound; else at least
}

const (
	seqEnqueue  = "enqueue, one after the other"
	concEnqueue = "enqueue, 50 at once"
	bulkEnqueue = "enqueue, in bulk of 1,000"
	process10   = "process, 10 at once"
	process100  = "process, 100 at once"
	process96   = "process, 96 at once"
	eightTimes  = "process, 12 at once in each of 8 processes"
	idleP99     = "idle, from enqueue to handler, p99"
	fewWait     = "process, 100 at once, 1,000 waiting"
	manyWait    = "process, 100 at once, 1,000,000 waiting"
	farShare    = "32 processes, one of them 10ms away, its share relative to a fair one"
)

var goals = []goal{
	{figure: seqEnqueue, to: "asynq", bound: 1},
	{figure: seqEnqueue, to: "bullmq", bound: 2},
	{figure: seqEnqueue, to: "river", bound: 5},
	{figure: concEnqueue, to: "asynq", bound: 1.2},
	{figure: concEnqueue, to: "bullmq", bound: 3},
	{figure: concEnqueue, to: "river", bound: 10},
	{figure: bulkEnqueue, to: "asynq", bound: 1.3},
	{figure: bulkEnqueue, to: "bullmq", bound: 6},
	{figure: bulkEnqueue, to: "river", bound: 3},
	{figure: bulkEnqueue, to: "limit", bound: 0.5},
	{figure: process10, to: "asynq", bound: 3},
	{figure: process10, to: "bullmq", bound: 2},
	{figure: process10, to: "river", bound: 10},
	{figure: process100, to: "asynq", bound: 6},
	{figure: process100, to: "bullmq", bound: 3},
	{figure: process100, to: "river", bound: 10},
	{figure: process100, to: "river tuned", bound: 1.5},
	{figure: process100, to: "limit", bound: 0.5},
	{figure: idleP99, to: "asynq", bound: 0.01, less: true},
	{figure: idleP99, to: "bullmq", bound: 0.8, less: true},
	{figure: idleP99, to: "river", bound: 0.1, less: true},
	{figure: eightTimes, to: "asynq", bound: 4},
	{figure: eightTimes, to: "bullmq", bound: 2.5},
	{figure: eightTimes, to: "echomq", below: process96, bound: 0.7},
	{figure: manyWait, to: "echomq", below: fewWait, bound: 0.9},
	{figure: farShare, bound: 0.5},
}

// costGoals are what a job of this project costs at most.
var costGoals = []struct {
	workload, what string
	pick           func(costs) float64
	bound          float64
}{
	{seqEnqueue, "commands", func(c costs) float64 { return c.commands }, 7},
	{bulkEnqueue, "commands", func(c costs) float64 { return c.commands }, 3},
	{process100, "commands", func(c costs) float64 { return c.commands }, 6},
	{process100, "round trips", func(c costs) float64 { return c.reads }, 0.2},
}

// value returns what the goal is about, if that has been measured.
func (g goal) value(r *results) (float64, bool) {
	if g.to == "" {
		return r.median(g.figure, "echomq")
	}
	below := g.figure
	if g.below != "" {
		below = g.below
	}
	return r.ratio(g.figure, "echomq", below, g.to)
}

// verdict compares a value with a bound.
func verdict(value, bound float64, less bool) string {
	if less && value <= bound || !less && value >= bound {
		return "reached"
	}
	return "**not reached**"
}

// wanted writes a bound.
func wanted(bound float64, less bool) string {
	if less {
		return "≤ " + short(bound)
	}
	return "≥ " + short(bound)
}
