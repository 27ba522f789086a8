package echomq

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Repeated is a job that repeats for as long as a program's workers run it. The
// code that emqgen writes for //emq:cron makes it with [Repeat].
type Repeated struct {
	spec    ScheduleSpec
	job     JobSpec
	codec   string // of the payload; empty for JSON
	compute func(slot time.Time) (repeatedPayload, error)
	// computed says that the payload differs from slot to slot.
	computed bool
	unique   bool // a job of its type holds a key
}

// Repeat says that a job repeats as spec says. Workers that serve it set its
// schedule when they start, as [UpsertSchedule] does.
//
// payload makes the payload of the job of a slot. It is called by the worker that
// is about to add the job, and may be called by several of them, and again if it
// fails; it should have no effect, and return within [SlotTimeout]. If it returns
// an error the slot waits, for this worker or another, until it succeeds or the
// next slot comes. Without it each job has the zero payload.
func Repeat[T, R any](job JobType[T, R], spec ScheduleSpec, payload func(slot time.Time) (T, error)) Repeated {
	return Repeated{spec: spec, job: job.spec, codec: job.codecs.name(), computed: payload != nil, unique: job.unique != nil || job.spec.Unique != (UniqueSpec{}), compute: func(slot time.Time) (made repeatedPayload, err error) {
		defer func() {
			if reason := recover(); reason != nil {
				err = fmt.Errorf("it panicked: %v", reason)
			}
		}()
		var value T
		if payload != nil {
			if value, err = payload(slot); err != nil {
				return made, err
			}
		}
		if made.group, err = groupOf(&job, &value, &enqueueConfig{}); err != nil {
			return made, err
		}
		made.data, err = encodePayload(job.codecs.payload, &value, 0)
		return made, err
	}}
}

// repeatedPayload is the encoded payload of a job that repeats, and its group.
type repeatedPayload struct {
	data  []byte
	group string
}

// SlotTimeout is for how long a worker waits for the payload of a slot.
const SlotTimeout = 30 * time.Second

// Repeating returns the queue with jobs that repeat. Each must have a route.
func (s Served) Repeating(jobs ...Repeated) Served {
	s.repeated = append(s.repeated[:len(s.repeated):len(s.repeated)], jobs...)
	return s
}

// repetition is a job that repeats, as a runner has it.
type repetition struct {
	Repeated
	plan plan
}

// repeat takes the jobs that repeat.
func (r *runner) repeat(jobs []Repeated) error {
	r.repetitions = make(map[wire.SchedulerID]repetition, len(jobs))
	for _, job := range jobs {
		if job.compute == nil {
			return optionError("queue %q: the zero Repeated", r.queue)
		}
		if _, routed := r.routes[job.job.Name]; !routed {
			return optionError("queue %q: job %q repeats and has no handler", r.queue, job.job.Name)
		}
		if job.unique {
			return errUniqueRepeats(job.job.Name)
		}
		planned, err := r.planOf(job)
		if err != nil {
			return fmt.Errorf("%w (job %s, which repeats)", err, job.job.Name)
		}
		id := planned.item.Scheduler
		if _, taken := r.repetitions[id]; taken {
			return optionError("queue %q: two schedules are called %q", r.queue, id)
		}
		r.repetitions[id] = repetition{Repeated: job, plan: planned}
	}
	return nil
}

func (r *runner) planOf(job Repeated) (plan, error) {
	template := Prepared{queue: r.queue, name: job.job.Name, version: max(job.job.Version, 1), codec: job.codec, events: r.config.events}
	if err := (&enqueueConfig{spec: job.job}).settle(&template); err != nil {
		return plan{}, err
	}
	if !job.computed {
		made, err := job.compute(time.Time{})
		if err == nil {
			template.group = made.group
			err = template.seal(r.client.transforms, made.data, r.config.payloadLimit)
		}
		if err != nil {
			return plan{}, fmt.Errorf("echomq: %w", err)
		}
	}
	return job.spec.plan(template, job.computed)
}

// payload returns the payload of a slot as it is to be stored.
func (r *runner) payload(job repetition, slot time.Time) (Prepared, error) {
	ctx, cancel := context.WithTimeoutCause(r.store, SlotTimeout, errors.New("it has not returned in time"))
	defer cancel()
	type made struct {
		repeatedPayload
		err error
	}
	result, err := within(ctx, &r.client.goroutines, func() made {
		payload, err := job.compute(slot)
		return made{payload, err}
	})
	if err == nil {
		err = result.err
	}
	sealed := Prepared{queue: r.queue, name: job.job.Name, version: max(job.job.Version, 1), codec: job.codec, group: result.group}
	if err == nil {
		err = checkSize(result.data, r.config.payloadLimit)
	}
	if err == nil {
		err = sealed.seal(r.client.transforms, result.data, r.config.payloadLimit)
	}
	return sealed, err
}
