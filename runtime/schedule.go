package echomq

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/cron"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// The bounds of [ScheduleSpec.Every].
const (
	MinEvery = cron.MinEvery
	MaxEvery = cron.MaxEvery
)

// MisfireGrace is how late a worker may come to a slot without having missed it.
const MisfireGrace = time.Minute

// Misfire says what comes of slots at which no worker was there.
type Misfire int

// The policies. With each of them a slot that comes within [MisfireGrace] runs,
// unless a later one has come meanwhile: there is one job for all slots that have
// passed, and it is that of the latest.
const (
	// MisfireDefault is MisfireOnce.
	MisfireDefault Misfire = iota
	// MisfireOnce adds the job of the latest slot that was missed, however long
	// ago that was.
	MisfireOnce
	// MisfireSkip adds no job for slots that were missed.
	MisfireSkip
)

var misfires = map[Misfire]script.ScheduleMisfire{
	MisfireDefault: script.ScheduleMisfireOnce,
	MisfireOnce:    script.ScheduleMisfireOnce,
	MisfireSkip:    script.ScheduleMisfireSkip,
}

// ScheduleSpec says when a job repeats. Exactly one of Cron and Every is set.
type ScheduleSpec struct {
	// ID names the schedule in its queue: 1 to 200 letters, digits, '.', '_' and
	// '-', the first a letter or digit. Default the job's wire name.
	ID string
	// Cron is a cron expression: minute, hour, day of month, month and day of
	// week, before them a second if there are six fields; or @yearly, @monthly,
	// @weekly, @daily or @hourly. See package cron for what happens when clocks
	// are changed.
	Cron string
	// Every is an interval in whole milliseconds, from [MinEvery] to [MaxEvery].
	// Its slots are the multiples since 1970-01-01 00:00 UTC.
	Every time.Duration
	// Zone is the time zone of the expression, such as "Europe/Berlin"; default
	// UTC.
	Zone string
	// Misfire says what comes of slots at which no worker was there; default
	// MisfireOnce.
	Misfire Misfire
	// Limit is how many jobs are added before the schedule has ended; default 0,
	// for any number. It is counted anew when the schedule is changed.
	Limit int
	// End is the moment after which there are no slots; default none.
	End time.Time
}

// slots returns the slots of an expression or an interval.
func slots(expression string, every time.Duration, zone string) (cron.Schedule, error) {
	switch {
	case (expression == "") == (every == 0):
		return cron.Schedule{}, optionError("a schedule has either a cron expression or an interval")
	case every != 0 && zone != "":
		return cron.Schedule{}, optionError("time zone %q: an interval knows none", zone)
	case every != 0:
		schedule, err := cron.Every(every)
		if err != nil {
			return cron.Schedule{}, optionError("interval: %v", err)
		}
		return schedule, nil
	}
	location, err := cron.Zone(zone)
	if err != nil {
		return cron.Schedule{}, optionError("%v", err)
	}
	schedule, err := cron.Parse(expression, location)
	if err != nil {
		return cron.Schedule{}, optionError("cron expression %q: %v", expression, err)
	}
	return schedule, nil
}

// plan is a scheduler that is to be set.
type plan struct {
	item  script.ScheduleItem // without its next slot
	slots cron.Schedule
}

// plan returns the scheduler of a job, whose template has its payload, settings,
// delay and priority.
func (s ScheduleSpec) plan(template Prepared, computed bool) (plan, error) {
	if s.ID == "" {
		s.ID = template.name
	}
	id, err := wire.ParseSchedulerID(s.ID)
	if err != nil {
		return plan{}, fmt.Errorf("echomq: %w: %w", ErrOption, err)
	}
	slots, err := slots(s.Cron, s.Every, s.Zone)
	if err != nil {
		return plan{}, err
	}
	misfire, known := misfires[s.Misfire]
	switch {
	case !known:
		return plan{}, optionError("misfire %d is neither MisfireOnce nor MisfireSkip", s.Misfire)
	case s.Limit < 0 || s.Limit > maxCount:
		return plan{}, optionError("limit %d: it must be from 0 to %d", s.Limit, maxCount)
	case s.End.Year() > maxYear:
		return plan{}, optionError("end %v: its year must be at most %d", s.End, maxYear)
	case !s.End.IsZero() && s.End.UnixMilli() < 1:
		return plan{}, optionError("end %v: it must be after 1970", s.End)
	}
	p := plan{slots: slots, item: script.ScheduleItem{
		Scheduler: id, Name: template.name, Cron: s.Cron, Every: s.Every.Milliseconds(), Zone: s.Zone,
		Misfire: misfire, Computed: computed, Data: template.data, Codec: template.codec, Version: int64(template.version),
		Opts: []byte(template.opts), Delay: ceilMilliseconds(template.delay), Priority: int64(template.priority),
		Limit: int64(s.Limit), Group: template.group,
	}}
	if !s.End.IsZero() {
		p.item.End = s.End.UnixMilli()
	}
	p.item.Revision = revision(p.item)
	return p, nil
}

// revision returns the hash over what a scheduler is set to, as docs/protocol.md
// defines it.
func revision(item script.ScheduleItem) string {
	computed := "0"
	if item.Computed {
		computed = "1"
	}
	hash := sha256.New()
	fields := []string{
		item.Name, item.Cron, decimal(item.Every), item.Zone, string(item.Misfire), computed, string(item.Data), item.Codec,
		decimal(item.Version), string(item.Opts), decimal(item.Delay), decimal(item.Priority), decimal(item.Limit), decimal(item.End),
	}
	if item.Group != "" {
		fields = append(fields, item.Group)
	}
	for _, field := range fields {
		_, _ = fmt.Fprintf(hash, "%d:%s", len(field), field)
	}
	return base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:16])
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// following returns the first slot after a moment of the server's, or
// [wire.Never].
func following(slots cron.Schedule, after, end int64) int64 {
	next := slots.Next(time.UnixMilli(after))
	if next.IsZero() || end > 0 && next.UnixMilli() > end {
		return wire.Never
	}
	return next.UnixMilli()
}

// errBroken is a schedule whose hash something else has replaced.
var errBroken = errors.New("something else lies where its hash should")

// setTries is how often a next slot is worked out that has passed when it
// arrives.
const setTries = 5

// set sets schedulers and returns their next slots, in order: by call, which
// makes one call of the script. The slots are worked out from the server's clock.
func set(plans []plan, call func(script.Schedule) (script.ScheduleReply, error)) ([]int64, error) {
	var failed error // of one that others do not suffer for
	nexts := make([]int64, len(plans))
	todo := make([]int, len(plans))
	items := make([]script.ScheduleItem, len(plans))
	for i, p := range plans {
		todo[i], items[i] = i, p.item
	}
	for try := range setTries {
		reply, err := call(script.Schedule{Items: items})
		if err != nil {
			return nil, err
		}
		if len(reply.Results) != len(items) {
			return nil, fmt.Errorf("echomq: %d schedules were set and %d answered", len(items), len(reply.Results))
		}
		sent := todo
		todo, items = nil, nil
		for n, result := range reply.Results {
			i := sent[n]
			switch nexts[i] = result.Next; result.Verdict {
			case script.ScheduleVerdictSet, script.ScheduleVerdictSame:
				continue
			case script.ScheduleVerdictBroken:
				failed = fmt.Errorf("echomq: schedule %q: %w: remove it, then set it again", plans[i].item.Scheduler, errBroken)
				continue
			}
			item := plans[i].item
			item.Next = following(plans[i].slots, reply.Now+int64(try)*setMargin, item.End)
			if item.Next == wire.Never { // its end is closer than that
				item.Next = following(plans[i].slots, reply.Now, item.End)
			}
			if item.Next == wire.Never {
				failed = optionError("schedule %q: no slot lies between now and its end", item.Scheduler)
				continue
			}
			todo, items = append(todo, i), append(items, item)
		}
		if len(todo) == 0 {
			return nexts, failed
		}
	}
	return nil, fmt.Errorf("echomq: schedule %q: %w: the next slot has passed each time when it arrived", items[0].Scheduler, ErrUnreachable)
}

// setMargin is how much further ahead, in milliseconds, the next slot is taken
// with each try.
const setMargin = 500

// UpsertSchedule makes a job repeat, with the same payload each time, and returns
// the first moment at which it will. A schedule of the same id is changed; one
// that is as given already stays as it is, so a program may call it whenever it
// starts. A slot that waits for a worker is kept unless the times are changed.
//
// The schedule is in the store, and outlasts every process. Workers of the queue
// that know the job add it: for each slot once, however many there are. It ends
// with [Queue.RemoveSchedule].
//
// Options of the job hold for every job that is added; In delays each after its
// slot. ID and At are refused, with [ErrOption], as is an expression that cannot
// be read, and a job that is unique, since the jobs of a schedule hold no key.
// Enqueue middleware is not called for the jobs of schedules.
func UpsertSchedule[T, R any](ctx context.Context, p *Producer, job JobType[T, R], spec ScheduleSpec, payload T, opts ...EnqueueOption) (next time.Time, err error) {
	template, err := prepare(p, job, payload, opts)
	if err != nil {
		return time.Time{}, err
	}
	if !template.fresh || !template.due.IsZero() {
		return time.Time{}, optionError("job %s: a schedule takes neither ID nor At", job.Name())
	}
	if template.unique.key != "" {
		return time.Time{}, errUniqueRepeats(job.Name())
	}
	planned, err := spec.plan(template, false)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w (job %s)", err, job.Name())
	}
	if err := p.client.admit(ctx, template.queue, template); err != nil {
		return time.Time{}, err
	}
	planned, err = p.client.resealed(ctx, template.queue, planned)
	if err != nil {
		return time.Time{}, err
	}
	op := fmt.Sprintf("set schedule %q of queue %q", planned.item.Scheduler, template.queue)
	nexts, err := set([]plan{planned}, func(call script.Schedule) (script.ScheduleReply, error) {
		raw, err := p.client.call(ctx, op, call.Call(template.queue))
		if err != nil {
			return script.ScheduleReply{}, err
		}
		return script.DecodeSchedule(raw)
	})
	if err != nil {
		return time.Time{}, err
	}
	return slotTime(nexts[0]), nil
}

// errUniqueRepeats refuses a schedule of jobs that would hold a unique key.
func errUniqueRepeats(job string) error {
	return optionError("job %s is unique, and the jobs of a schedule hold no key; repeat a job that is not", job)
}

// slotTime returns a slot as a time, which is zero for none.
func slotTime(slot int64) time.Time {
	if slot == 0 || slot == wire.Never {
		return time.Time{}
	}
	return time.UnixMilli(slot).UTC()
}

// resealed returns the plan with the payload as it is stored already, if that is
// the same one. Most transforms seal the same payload differently each time, and
// a schedule would seem changed.
func (c *Client) resealed(ctx context.Context, queue wire.Queue, p plan) (plan, error) {
	if _, transform := splitCodec(p.item.Codec); transform == "" {
		return p, nil
	}
	plain, err := c.transforms.open(queue.Name(), p.item.Name, p.item.Codec, p.item.Data)
	if err != nil {
		return p, fmt.Errorf("echomq: schedule %q: %w: %w", p.item.Scheduler, ErrPayload, err)
	}
	var fields []any
	op := fmt.Sprintf("look at schedule %q of queue %q", p.item.Scheduler, queue)
	err = c.persist(ctx, op, func() error {
		cmd := c.store.HMGet(ctx, queue.SchedulerKey(p.item.Scheduler), wire.SchedulerFieldData, wire.SchedulerFieldCodec)
		fields = cmd.Val()
		if hasWord(cmd.Err(), "WRONGTYPE") {
			return nil // for the script to tell
		}
		return notPermittedPlain(queue, []redis.Cmder{cmd}, cmd.Err())
	})
	if err != nil || len(fields) == 0 {
		return p, err
	}
	data, _ := fields[0].(string)
	if codec, _ := fields[1].(string); codec != p.item.Codec {
		return p, nil
	}
	if stored, err := c.transforms.open(queue.Name(), p.item.Name, p.item.Codec, []byte(data)); err == nil && string(stored) == string(plain) {
		p.item.Data = []byte(data)
		p.item.Revision = revision(p.item)
	}
	return p, nil
}
