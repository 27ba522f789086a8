package annotations

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// plainQueueName matches the names from which a Go name is made without
// guessing.
var plainQueueName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// QueueGoName returns the name that a queue has in generated identifiers: what
// go= says, or the wire name with its first letter in upper case.
func QueueGoName(queue *Directive) string {
	if name := queue.Text("go"); name != "" {
		return name
	}
	return upperFirst(queue.Text("name"))
}

// GoName returns the name that the job has in generated identifiers.
func (j *Job) GoName() string {
	if name := j.Directive("job").Text("go"); name != "" {
		return name
	}
	return j.Type.Name.Name
}

// WireName returns the name that the job has on the wire.
func (j *Job) WireName() string {
	if name := j.Directive("job").Text("name"); name != "" {
		return name
	}
	return j.Type.Name.Name
}

// QueueOf returns the queue to which job belongs, or nil where that is not
// known.
func (f *Facts) QueueOf(job *Job) *Directive {
	name := job.Directive("job").Text("queue")
	if name == "" {
		return f.onlyQueue()
	}
	for _, queue := range f.Queues {
		if queue.Text("name") == name {
			return queue
		}
	}
	return nil
}

// onlyQueue returns the queue of a package that declares no other, or nil. One
// that is declared twice, which is a mistake of its own, counts once.
func (f *Facts) onlyQueue() *Directive {
	for _, queue := range f.Queues {
		if queue.Text("name") != f.Queues[0].Text("name") {
			return nil
		}
	}
	if len(f.Queues) == 0 {
		return nil
	}
	return f.Queues[0]
}

// Check reports what is wrong with the directives of a package taken together.
// It expects that [Scan] found nothing to report: a directive that could not be
// read would be missed here once more.
func (f *Facts) Check(report *Reporter) {
	c := checker{Facts: f, report: report}
	c.queues()
	c.membership()
	c.contracts()
	for _, job := range f.Jobs {
		c.retry(job.Directive("retry"))
		c.result(job)
		c.unique(job)
		c.batch(job)
	}
	c.groups()
	c.crons()
}

type checker struct {
	*Facts
	report *Reporter
}

// queues checks that each queue is declared once, with a Go name, and all of
// them in one file.
func (c checker) queues() {
	seen := map[string]*Directive{}
	for _, queue := range c.Queues {
		pos, end := queue.Span("name")
		name := queue.Text("name")
		if first := seen[name]; first != nil {
			c.report.Report(RuleDuplicateQueue, pos, end, name, c.report.Position(first.Pos).Line)
			continue
		}
		seen[name] = queue
		if !queue.Has("go") && !plainQueueName.MatchString(name) {
			c.report.Report(RuleNeedsGoName, pos, end, name, proposeGoName(name))
		}
	}
	for _, queue := range c.Queues {
		first := c.report.Position(c.Queues[0].Pos).Filename
		if c.report.Position(queue.Pos).Filename != first {
			c.report.Report(RuleQueueFiles, queue.Pos, queue.End, base(first))
		}
	}
}

// membership checks that each job has a queue, each queue a job, and each job
// a wire name of its own.
func (c checker) membership() {
	type key struct{ queue, name string }
	jobs, used, stray := map[key]*Job{}, map[*Directive]bool{}, false
	for _, job := range c.Jobs {
		queue := c.QueueOf(job)
		if queue == nil {
			c.strayJob(job)
			stray = true
			continue
		}
		used[queue] = true
		k := key{queue.Text("name"), job.WireName()}
		if other := jobs[k]; other != nil {
			pos, end := job.Directive("job").Span("name")
			at := c.report.Position(other.Type.Pos())
			c.report.Report(RuleDuplicateJob, pos, end, k.queue, k.name, other.Type.Name.Name, fmt.Sprintf("%s:%d", base(at.Filename), at.Line))
			continue
		}
		jobs[k] = job
	}
	for _, queue := range c.Queues {
		if !used[queue] && !stray && c.first(queue) && !c.leftOver(queue) {
			c.report.Report(RuleNoJobs, queue.Pos, queue.End, queue.Text("name"))
		}
	}
}

// first reports whether queue is the first directive of its name.
func (c checker) first(queue *Directive) bool {
	for _, other := range c.Queues {
		if other.Text("name") == queue.Text("name") {
			return other == queue
		}
	}
	return false
}

// strayJob reports why the queue of job is not known.
func (c checker) strayJob(job *Job) {
	d := job.Directive("job")
	pos, end := d.Span("queue")
	declared := make([]string, len(c.Queues))
	for i, queue := range c.Queues {
		declared[i] = queue.Text("name")
	}
	name := d.Text("queue")
	switch {
	case len(c.Queues) == 0 && name == "":
		c.report.Report(RuleNoQueue, pos, end, job.Type.Name.Name, "NAME")
	case len(c.Queues) == 0:
		c.report.Report(RuleNoQueue, pos, end, job.Type.Name.Name, name)
	case name == "":
		c.report.Report(RuleWhichQueue, pos, end, strings.Join(declared, ", "), job.Type.Name.Name, declared[0])
	default:
		c.report.Report(RuleUnknownQueue, pos, end, name, join(declared), didYouMean(name, declared, "queue="))
	}
}

// retry refuses settings that contradict each other.
func (c checker) retry(d *Directive) {
	if d == nil {
		return
	}
	if d.Int("attempts") == 1 {
		for _, key := range []string{"backoff", "base", "cap", "jitter"} {
			if d.Has(key) {
				pos, end := d.Span(key)
				c.report.Report(RuleNoRetry, pos, end, key)
			}
		}
		return
	}
	c.waits(d)
}

// waits refuses a base and a cap that contradict each other, defaults included.
func (c checker) waits(d *Directive) {
	base, baseText := durationOrDefault(d, "base")
	limit, limitText := durationOrDefault(d, "cap")
	fixed := d.Text("backoff") == "fixed"
	switch {
	case fixed && d.Has("cap"):
		pos, end := d.Span("cap")
		c.report.Report(RuleCapOfFixed, pos, end)
	case !fixed && d.Has("cap") && limit < base:
		pos, end := d.Span("cap")
		c.report.Report(RuleCapBelowBase, pos, end, limitText, baseText)
	case !fixed && d.Has("base") && limit < base:
		pos, end := d.Span("base")
		c.report.Report(RuleBaseOverCap, pos, end, baseText, limitText)
	}
}

// durationOrDefault returns what holds for an item, and how to write it.
func durationOrDefault(d *Directive, key string) (time.Duration, string) {
	if d.Has(key) {
		return d.Duration(key), d.Text(key)
	}
	text := d.Spec.Item(key).Default
	value, _ := ParseDuration(text) // a test holds that defaults of durations can be read
	return value, text + ", the default"
}

// result refuses a result that would be dropped with its job.
func (c checker) result(job *Job) {
	if d := job.Directive("result"); d != nil && job.Directive("keep").Off("completed") {
		pos, end := job.Directive("keep").Span("completed")
		c.report.Report(RuleResultDropped, pos, end, job.Type.Name.Name)
	}
}

// maxBatchWait is how long a batch may wait for jobs.
const maxBatchWait = time.Hour

// batch refuses a batch that could never be full, or in time.
func (c checker) batch(job *Job) {
	d := job.Directive("batch")
	if d == nil {
		return
	}
	wait, waitText := durationOrDefault(d, "wait")
	timeout, timeoutText := durationOrDefault(job.Directive("job"), "timeout")
	pos, end := d.Span("wait")
	switch {
	case wait > maxBatchWait:
		c.report.Report(RuleBatchWait, pos, end, waitText, "longer than 1h")
	case !job.Directive("job").Off("timeout") && wait >= timeout:
		c.report.Report(RuleBatchWait, pos, end, waitText, "not shorter than timeout "+timeoutText+", towards which it counts")
	}
	queue := c.QueueOf(job)
	size := d.Int("size")
	if !d.Has("size") {
		size, _ = strconv.Atoi(d.Spec.Item("size").Default)
	}
	if queue != nil && queue.Has("concurrency") && queue.Int("concurrency") < size {
		pos, end := d.Span("size")
		c.report.Report(RuleBatchSize, pos, end, size, queue.Text("name"), queue.Int("concurrency"))
	}
}

// unique refuses a key that would be held until something that does not happen.
func (c checker) unique(job *Job) {
	d, keep := job.Directive("unique"), job.Directive("keep")
	if d.Text("until") == "removed" && keep.Off("completed") && keep.Off("failed") {
		pos, end := d.Span("until")
		c.report.Report(RuleUniqueRemoved, pos, end)
	}
}

// groups refuses two limits for the groups of one queue.
func (c checker) groups() {
	limited := map[*Directive]*Job{}
	for _, job := range c.Jobs {
		d, queue := job.Directive("group"), c.QueueOf(job)
		if queue == nil || !d.Has("limit") {
			continue
		}
		first := limited[queue]
		if first == nil {
			limited[queue] = job
		} else if other := first.Directive("group").Int("limit"); other != d.Int("limit") {
			pos, end := d.Span("limit")
			c.report.Report(RuleGroupLimit, pos, end, d.Int("limit"), other, first.Type.Name.Name, queue.Text("name"))
		}
	}
}

// proposeGoName makes a Go name from a queue's name: mail-eu gives MailEu.
func proposeGoName(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	for i := range parts {
		parts[i] = upperFirst(parts[i])
	}
	proposal := strings.Join(parts, "")
	if proposal != "" && '0' <= proposal[0] && proposal[0] <= '9' {
		return "Q" + proposal
	}
	return proposal
}

// base returns the last element of a file name, whatever the system.
func base(file string) string {
	return file[strings.LastIndexAny(file, `/\`)+1:]
}
