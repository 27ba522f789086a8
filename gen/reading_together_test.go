package gen_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/echomq/echomq-go/gen/ir"
)

// clash says that one of the directives is to be complained about.
func (r *reading) clash(reason string, directives ...string) {
	for _, name := range directives {
		if at, written := r.lines[name]; written {
			r.wrong[at] = reason
		}
	}
}

// has reports whether an item was written.
func (r *reading) has(directive, key string) bool { return r.said[directive][key] }

// together reads what directives say about each other, and what they leave to a
// default.
func (r *reading) together() {
	r.names()
	r.retries()
	r.ends()
	r.batches()
	r.schedules()
}

func (r *reading) names() {
	q, j := &r.queue, &r.job
	if q.GoName == "" {
		q.GoName = strings.ToUpper(q.Name[:1]) + q.Name[1:]
		if !plainName.MatchString(q.Name) {
			r.clash("needs go=", "queue")
		}
	}
	j.Name, j.GoName = cmp.Or(j.Name, "Welcome"), cmp.Or(j.GoName, "Welcome")
	if r.jobQueue != "" && r.jobQueue != q.Name {
		r.clash("another queue", "job", "queue")
	}
	if r.retiredQueue != "" && r.retiredQueue != q.Name {
		r.clash("another queue", "retired", "queue")
	}
	if r.has("job", "oldest") && j.Oldest > j.Version {
		r.clash("oldest", "job")
	}
	taken := []string{j.Name}
	for i := range j.Was {
		was := &j.Was[i]
		was.Queue = cmp.Or(was.Queue, q.Name)
		if was.Queue != q.Name {
			r.clash("was of another queue", "job", "queue")
		}
		if slices.Contains(taken, was.Name) {
			r.clash("was taken", "job")
		}
		taken = append(taken, was.Name)
	}
	if r.said["retired"] != nil && slices.Contains(taken, q.Retired[0].Name) {
		r.clash("retired and declared", "retired", "job")
	}
}

func (r *reading) retries() {
	retry := &r.job.Retry
	base, limit := ir.Duration(time.Second), ir.Duration(time.Hour)
	if r.has("retry", "base") {
		base = retry.Base
	}
	if r.has("retry", "cap") {
		limit = retry.Cap
	}
	waits := r.has("retry", "backoff") || r.has("retry", "base") || r.has("retry", "cap") || r.has("retry", "jitter")
	switch {
	case retry.Attempts == 1:
		if waits {
			r.clash("no retry to wait for", "retry")
		}
	case retry.Backoff == "fixed":
		if r.has("retry", "cap") {
			r.clash("cap of fixed", "retry")
		}
	case (r.has("retry", "base") || r.has("retry", "cap")) && limit < base:
		r.clash("cap below base", "retry")
	}
}

// ends reads what becomes of jobs that have ended.
func (r *reading) ends() {
	keep := &r.job.Keep
	if r.said["result"] != nil && keep.Completed.None {
		r.clash("result is dropped", "result", "keep")
	}
	if u := r.job.Unique; u != nil && u.Until == "removed" && keep.Completed.None && keep.Failed.None {
		r.clash("removed at once", "unique", "keep")
	}
}

func (r *reading) batches() {
	batch := r.job.Batch
	if batch == nil {
		return
	}
	wait, size, timeout := ir.Duration(time.Second), cmp.Or(batch.Size, 100), ir.Duration(5*time.Minute)
	if r.has("batch", "wait") {
		wait = batch.Wait
	}
	if r.has("job", "timeout") {
		timeout = r.job.Timeout
	}
	if wait > ir.Duration(time.Hour) || !r.job.NoLimit && wait >= timeout {
		r.clash("waits too long", "batch", "job")
	}
	if r.has("queue", "concurrency") && r.queue.Concurrency < size {
		r.clash("never full", "batch", "queue")
	}
}

func (r *reading) schedules() {
	if r.said["cron"] == nil {
		return
	}
	s := &r.job.Schedules[0]
	if r.has("cron", "") == r.has("cron", "every") || r.has("cron", "every") && r.has("cron", "tz") {
		r.clash("when", "cron")
	}
	if r.has("cron", "every") && (s.Every < ir.Duration(100*time.Millisecond) || s.Every > ir.Duration(366*24*time.Hour)) {
		r.clash("interval", "cron")
	}
	if r.said["unique"] != nil {
		r.clash("cron with unique", "cron", "unique")
	}
	if s.ID == "" {
		s.ID = r.job.Name
	}
	if !idChars.MatchString(s.ID) {
		r.clash("id", "cron", "job")
	}
	s.Func = "schedule" + r.job.GoName
	if r.job.GoName != "Welcome" && r.job.GoName != "Greeting" {
		r.clash("no function", "cron", "job")
	}
}
