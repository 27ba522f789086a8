package emqtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Want is what [Enqueued] and [NotEnqueued] look for in a job.
type Want struct {
	what  string
	check func(found) []string // what differs
	// payload is the one that is wanted, where what leaves it to be shown.
	payload []byte
}

// found is a job that was enqueued.
type found struct {
	envelope echomq.Envelope
	state    echomq.State
	due      time.Time // of a delayed job
}

// Payload wants jobs with exactly this payload. A failure says which fields
// differ.
func Payload[T any](payload T) Want {
	want, err := json.Marshal(payload)
	return Want{what: "payload ", payload: want, check: func(f found) []string {
		if err != nil {
			return []string{fmt.Sprintf("payload: the one that is wanted cannot be encoded: %v", err)}
		}
		return differences("payload", want, f.envelope.Data)
	}}
}

// ID wants the job with this id.
func ID(id string) Want {
	return Want{what: "id " + id, check: func(f found) []string { return differs("id", id, f.envelope.ID) }}
}

// Priority wants jobs of this priority.
func Priority(n int) Want {
	return Want{what: fmt.Sprintf("priority %d", n), check: func(f found) []string {
		return differs("priority", n, f.envelope.Priority)
	}}
}

// InState wants jobs that stand there; default is any state before they have ended.
func InState(state echomq.State) Want {
	return Want{what: "state " + string(state), check: func(f found) []string { return differs("state", state, f.state) }}
}

// Due wants jobs that become due at a moment, within tolerance either way.
func Due(at time.Time, tolerance time.Duration) Want {
	return Want{what: fmt.Sprintf("due %v (within %v)", at.Format(time.RFC3339Nano), tolerance), check: func(f found) []string {
		switch {
		case f.due.IsZero():
			return []string{fmt.Sprintf("due: want %v, but it is %s", at.Format(time.RFC3339Nano), f.state)}
		case f.due.Sub(at).Abs() > tolerance:
			return []string{fmt.Sprintf("due: want %v, got %v, which is %v off", at.Format(time.RFC3339Nano), f.due.Format(time.RFC3339Nano), f.due.Sub(at))}
		}
		return nil
	}}
}

// Enqueued returns the one job of the type that the kit holds and that has not
// ended. With wants, it is the one that fulfils them all. If there is none, or there
// are several, the test fails at once and is told how each job differs from what is
// wanted.
func Enqueued[T, R any](kit *Kit, job echomq.JobType[T, R], wants ...Want) *echomq.Job[T] {
	kit.t.Helper()
	all, matching := kit.search(job.Queue(), job.Name(), wants)
	if len(matching) != 1 {
		kit.t.Fatal(kit.report(fmt.Sprintf("want one job %s, found %d", title(job, wants), len(matching)), all, wants, job.Redact))
	}
	return decode[T](kit, matching[0])
}

// AllEnqueued returns the jobs of the type that the kit holds, that have not ended,
// and that fulfil all wants, in the order in which they were added.
func AllEnqueued[T, R any](kit *Kit, job echomq.JobType[T, R], wants ...Want) []*echomq.Job[T] {
	kit.t.Helper()
	_, matching := kit.search(job.Queue(), job.Name(), wants)
	jobs := make([]*echomq.Job[T], len(matching))
	for i := range matching {
		jobs[i] = decode[T](kit, matching[i])
	}
	return jobs
}

// NotEnqueued fails the test if the kit holds a job of the type that has not ended
// and that fulfils all wants.
func NotEnqueued[T, R any](kit *Kit, job echomq.JobType[T, R], wants ...Want) {
	kit.t.Helper()
	if _, matching := kit.search(job.Queue(), job.Name(), wants); len(matching) > 0 {
		kit.t.Error(kit.report(fmt.Sprintf("want no job %s, found %d", title(job, wants), len(matching)), matching, nil, job.Redact))
	}
}

func title[T, R any](job echomq.JobType[T, R], wants []Want) string {
	var parts []string
	for _, want := range wants {
		parts = append(parts, want.what+string(job.Redact(want.payload)))
	}
	if len(parts) == 0 {
		return job.Name()
	}
	return job.Name() + " with " + strings.Join(parts, ", ")
}

func decode[T any](kit *Kit, f found) *echomq.Job[T] {
	kit.t.Helper()
	job := &echomq.Job[T]{Envelope: f.envelope}
	if err := json.Unmarshal(f.envelope.Data, &job.Payload); err != nil {
		kit.t.Fatalf("emqtest: payload of job %q cannot be decoded: %v", f.envelope.ID, err)
	}
	return job
}

// search returns the jobs of a name that have not ended, and those of them that
// fulfil all wants.
func (k *Kit) search(queue, name string, wants []Want) (all, matching []found) {
	k.t.Helper()
	for _, job := range k.unended(k.queue(queue)) {
		if job.envelope.Name != name {
			continue
		}
		all = append(all, job)
		if len(job.differences(wants)) == 0 {
			matching = append(matching, job)
		}
	}
	return all, matching
}

func (f found) differences(wants []Want) []string {
	var differences []string
	for _, want := range wants {
		differences = append(differences, want.check(f)...)
	}
	return differences
}

// shown is differences without what is redacted.
func (f found) shown(wants []Want, redact func([]byte) []byte) []string {
	var shown []string
	for _, want := range wants {
		differ := want.check(f)
		if want.payload != nil && len(differ) > 0 {
			open := differences("payload", redact(want.payload), redact(f.envelope.Data))
			if len(open) < len(differ) {
				open = append(open, "payload: fields differ that are redacted")
			}
			differ = open
		}
		shown = append(shown, differ...)
	}
	return shown
}

// report says what was found, and how it differs.
func (k *Kit) report(what string, jobs []found, wants []Want, redact func([]byte) []byte) string {
	k.t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, "emqtest: %s", what)
	for _, job := range jobs {
		fmt.Fprintf(&text, "\n\tjob %s is %s, payload %s", job.envelope.ID, job.state, redact(job.envelope.Data))
		for _, difference := range job.shown(wants, redact) {
			fmt.Fprintf(&text, "\n\t\t%s", difference)
		}
	}
	if len(jobs) == 0 {
		var others []string
		for _, queue := range k.queues() {
			for _, job := range k.unended(queue) {
				others = append(others, fmt.Sprintf("%s of queue %s", job.envelope.Name, queue.Name()))
			}
		}
		slices.Sort(others)
		if others = slices.Compact(others); len(others) > 0 {
			fmt.Fprintf(&text, "\n\tthere are only: %s", strings.Join(others, ", "))
		} else {
			text.WriteString("\n\tno job was enqueued at all")
		}
	}
	return text.String()
}

// unended returns the jobs of a queue that have not ended, by age.
func (k *Kit) unended(queue wire.Queue) []found {
	k.t.Helper()
	jobs := map[string]found{}
	add := func(state echomq.State, due time.Time, ids ...string) {
		for _, id := range ids {
			jobs[id] = found{state: state, due: due, envelope: echomq.Envelope{ID: id}}
		}
	}
	read := func(err error) {
		if err != nil && !errors.Is(err, redis.Nil) {
			k.t.Fatalf("emqtest: %v", err)
		}
	}
	store := k.Redis()
	waiting, err := store.LRange(k.ctx, queue.Key("wait"), 0, -1).Result()
	read(err)
	add(echomq.StateWaiting, time.Time{}, waiting...)
	for suffix, state := range map[string]echomq.State{"prioritized": echomq.StatePrioritized, "active": echomq.StateActive} {
		ids, err := store.ZRange(k.ctx, queue.Key(suffix), 0, -1).Result()
		read(err)
		add(state, time.Time{}, ids...)
	}
	delayed, err := store.ZRangeWithScores(k.ctx, queue.Key("delayed"), 0, -1).Result()
	read(err)
	for _, z := range delayed {
		add(echomq.StateDelayed, time.UnixMilli(int64(z.Score)), z.Member.(string))
	}
	var list []found
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		job := jobs[id]
		fields, err := store.HGetAll(k.ctx, queue.Key(id)).Result()
		read(err)
		var flat []string
		for field, value := range fields {
			flat = append(flat, field, value)
		}
		if job.envelope, err = wire.DecodeEnvelope(id, flat); err == nil && len(flat) > 0 {
			list = append(list, job)
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return int(a.envelope.Timestamp - b.envelope.Timestamp) })
	return list
}
