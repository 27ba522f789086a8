package annotations

import (
	"fmt"
	"strings"
)

// Former is a name that a job had, or that a job had which is gone.
type Former struct{ Queue, Name string }

func (f Former) String() string { return f.Queue + "/" + f.Name }

// Was returns the names that job had, in the order of its directive. A name
// without a queue was one of the queue that the job is in.
func (f *Facts) Was(job *Job) []Former {
	var names []Former
	argument := job.Directive("job").Argument("was")
	if argument == nil {
		return nil
	}
	for _, value := range argument.Values {
		queue, name, moved := strings.Cut(value.Text, "/")
		if !moved {
			queue, name = f.QueueOf(job).Text("name"), value.Text
		}
		names = append(names, Former{queue, name})
	}
	return names
}

// RetiredJob returns the job that a //emq:retired is about, where its queue is
// known.
func (f *Facts) RetiredJob(d *Directive) (Former, bool) {
	queue := d.Text("queue")
	if queue == "" {
		queue = f.onlyQueue().Text("name")
	}
	return Former{queue, d.Text("name")}, f.declares(queue)
}

func (f *Facts) declares(queue string) bool {
	for _, d := range f.Queues {
		if d.Text("name") == queue {
			return true
		}
	}
	return false
}

// leftOver reports whether queue may have jobs of former names only.
func (c checker) leftOver(queue *Directive) bool {
	name := queue.Text("name")
	for _, job := range c.Jobs {
		for _, was := range c.Was(job) {
			if was.Queue == name {
				return true
			}
		}
	}
	for _, d := range c.Retired {
		if retired, _ := c.RetiredJob(d); retired.Queue == name {
			return true
		}
	}
	return false
}

// contracts checks what is said about older versions and former names.
func (c checker) contracts() {
	taken := map[Former]string{}
	for _, job := range c.Jobs {
		if queue := c.QueueOf(job); queue != nil {
			taken[Former{queue.Text("name"), job.WireName()}] = job.Type.Name.Name
		}
	}
	for _, job := range c.Jobs {
		if d := job.Directive("job"); d.Int("oldest") > max(d.Int("version"), 1) {
			pos, end := d.Span("oldest")
			c.report.Report(RuleOldest, pos, end, d.Int("oldest"), max(d.Int("version"), 1))
		}
		if c.QueueOf(job) != nil {
			c.was(job, taken)
		}
	}
	for _, d := range c.Retired {
		c.retired(d, taken)
	}
}

// again stands for a retired job among the owners of names; it is no identifier.
const again = "again "

// was checks the former names of one job, and enters them.
func (c checker) was(job *Job, taken map[Former]string) {
	for i, was := range c.Was(job) {
		value := job.Directive("job").Argument("was").Values[i]
		var reason Suggestion
		switch owner := taken[was]; {
		case !c.declares(was.Queue):
			reason = c.nearestQueue(was.Queue, "", "/"+was.Name)
			reason.Message = fmt.Sprintf("the package declares no queue %q, so no worker of it would find jobs there%s", was.Queue, reason)
		case was == Former{c.QueueOf(job).Text("name"), job.WireName()}:
			reason.Message = fmt.Sprintf("%s is the job's own name", was)
		case owner == job.Type.Name.Name:
			reason.Message = fmt.Sprintf("%s is given twice", was)
		case owner != "":
			reason.Message = fmt.Sprintf("%s is a name of %s", was, owner)
		}
		if reason.Message != "" {
			c.report.Report(RuleWas, value.Pos, value.End, reason)
			continue
		}
		taken[was] = job.Type.Name.Name
	}
}

// retired checks one retired job, and enters it.
func (c checker) retired(d *Directive, taken map[Former]string) {
	retired, known := c.RetiredJob(d)
	pos, end := d.Span("queue")
	var reason Suggestion
	switch owner := taken[retired]; {
	case len(c.Queues) == 0:
		reason.Message = "the package declares no queue, so it has no workers that could end the job; put //emq:queue above the package clause too"
	case retired.Queue == "":
		var declared []string
		for _, queue := range c.Queues {
			declared = append(declared, queue.Text("name"))
		}
		reason.Message = fmt.Sprintf("the package has several queues (%s); name the one of %s: queue=%s", strings.Join(declared, ", "), retired.Name, declared[0])
	case !known:
		reason = c.nearestQueue(retired.Queue, "queue=", "")
		reason.Message = fmt.Sprintf("the package declares no queue %q%s", retired.Queue, reason)
	case owner == again:
		pos, end = d.Span("name")
		reason.Message = fmt.Sprintf("%s is retired twice", retired)
	case owner != "":
		pos, end = d.Span("name")
		reason.Message = fmt.Sprintf("%s is a name of %s, so it is not gone", retired, owner)
	}
	if reason.Message != "" {
		c.report.Report(RuleRetired, pos, end, reason)
		return
	}
	taken[retired] = again
}

// nearestQueue ends a message with the queue that was probably meant, which is to
// be written between before and after.
func (c checker) nearestQueue(name, before, after string) Suggestion {
	var declared []string
	for _, queue := range c.Queues {
		declared = append(declared, queue.Text("name"))
	}
	near := Nearest(name, declared)
	return DidYouMean(near, before+near+after)
}
