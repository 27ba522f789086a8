package echomq

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Schedule is a schedule of a queue, as [Queue.Schedules] finds it.
type Schedule struct {
	// ID names the schedule in its queue.
	ID string
	// Job is the wire name of the job that repeats.
	Job string
	// Cron, Zone, Every, Misfire, Limit and End are as in [ScheduleSpec].
	Cron    string
	Zone    string
	Every   time.Duration
	Misfire Misfire
	Limit   int
	End     time.Time
	// Computed says that workers compute the payload for each slot.
	Computed bool
	// Delay is how long each job waits after its slot.
	Delay time.Duration
	// Priority is the jobs' priority.
	Priority int
	// Next is the next slot; zero if the schedule has ended. One that has passed
	// waits for a worker that knows the job.
	Next time.Time
	// Last is the last slot for which a job was added; zero for none yet.
	Last time.Time
	// Count is how many jobs were added since the schedule was last changed.
	Count int
}

// schedulePage is how many schedules are read at a time.
const schedulePage = 200

// Schedules returns the schedules of the queue, the one whose slot comes next
// first, and those that have ended last.
func (q *Queue) Schedules(ctx context.Context) ([]Schedule, error) {
	if err := q.client.meet(ctx, q.queue); err != nil {
		return nil, err
	}
	var found []Schedule
	err := q.client.persist(ctx, q.op("look at the schedules of"), func() error {
		found = nil
		seen := make(map[string]bool)
		for from := int64(0); ; from += schedulePage {
			page, err := q.client.store.ZRangeWithScores(ctx, q.queue.Key("schedulers"), from, from+schedulePage-1).Result()
			if err != nil {
				return err
			}
			// Slots move on meanwhile, so one may be met twice.
			fresh := slices.DeleteFunc(slices.Clone(page), func(z redis.Z) bool { return seen[z.Member.(string)] })
			for _, z := range fresh {
				seen[z.Member.(string)] = true
			}
			records, err := readSchedulers(ctx, q.client.store, q.queue, fresh)
			if err != nil {
				return err
			}
			for i, record := range records {
				if record.err == nil {
					found = append(found, scheduleOf(record.Scheduler, int64(fresh[i].Score)))
				}
			}
			if len(page) < schedulePage {
				return nil
			}
		}
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b Schedule) int {
		switch {
		case a.Next.IsZero() == b.Next.IsZero():
			return a.Next.Compare(b.Next)
		case a.Next.IsZero():
			return 1
		}
		return -1
	})
	return found, nil
}

// RemoveSchedule ends a schedule. The jobs that it has added stay. One that does
// not exist is no error; an id that none can have is [ErrName]. A worker whose
// program has the schedule in its directives sets it again when it starts.
func (q *Queue) RemoveSchedule(ctx context.Context, id string) error {
	scheduler, err := wire.ParseSchedulerID(id)
	if err != nil {
		return fmt.Errorf("echomq: %w", err)
	}
	call := script.Unschedule{Items: []script.UnscheduleItem{{Scheduler: scheduler}}}
	raw, err := q.call(ctx, fmt.Sprintf("remove schedule %q of", id), call.Call(q.queue))
	if err != nil {
		return err
	}
	_, err = script.DecodeUnschedule(raw)
	return err
}

// removeSchedules ends all schedules of the queue.
func (q *Queue) removeSchedules(ctx context.Context) error {
	for {
		var ids []string
		err := q.client.persist(ctx, q.op("look at the schedules of"), func() error {
			cmd := q.client.store.ZRange(ctx, q.queue.Key("schedulers"), 0, schedulePage-1)
			ids = cmd.Val()
			return notPermittedPlain(q.queue, []redis.Cmder{cmd}, cmd.Err())
		})
		if err != nil || len(ids) == 0 {
			return err
		}
		call := script.Unschedule{}
		for _, id := range ids {
			if scheduler, err := wire.ParseSchedulerID(id); err == nil {
				call.Items = append(call.Items, script.UnscheduleItem{Scheduler: scheduler})
				continue
			}
			// Put there by hand: it has no hash, and no script can name one.
			err := q.client.persist(ctx, q.op("remove the schedules of"), func() error {
				cmd := q.client.store.ZRem(ctx, q.queue.Key("schedulers"), id)
				return notPermittedPlain(q.queue, []redis.Cmder{cmd}, cmd.Err())
			})
			if err != nil {
				return err
			}
		}
		if len(call.Items) == 0 {
			continue
		}
		if _, err := q.call(ctx, "remove the schedules of", call.Call(q.queue)); err != nil {
			return err
		}
	}
}

// scheduleOf returns a scheduler as programs see it.
func scheduleOf(s wire.Scheduler, next int64) Schedule {
	schedule := Schedule{
		ID: s.ID, Job: s.Name, Cron: s.Cron, Zone: s.Zone, Every: s.Every.Duration(), Misfire: MisfireOnce,
		Limit: s.Limit, End: utc(s.End), Computed: s.Computed == 1, Delay: s.Delay.Duration(), Priority: s.Priority,
		Next: slotTime(next), Last: utc(s.LastSlot), Count: s.Count,
	}
	if s.Misfire == string(script.ScheduleMisfireSkip) {
		schedule.Misfire = MisfireSkip
	}
	return schedule
}

func utc(t wire.Timestamp) time.Time {
	if t == 0 {
		return time.Time{}
	}
	return t.Time().UTC()
}

// schedulerRecord is the hash of a scheduler that was read.
type schedulerRecord struct {
	wire.Scheduler
	missing bool  // there is no hash
	err     error // why it cannot be used
}

// readSchedulers reads the hashes of schedulers. The error is of the store; what
// is wrong with one of them alone is in its record.
func readSchedulers(ctx context.Context, store redis.UniversalClient, queue wire.Queue, ids []redis.Z) ([]schedulerRecord, error) {
	records := make([]schedulerRecord, len(ids))
	cmds := make([]*redis.MapStringStringCmd, len(ids))
	if len(ids) == 0 {
		return nil, nil
	}
	_, _ = store.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for i, z := range ids {
			id, err := wire.ParseSchedulerID(z.Member.(string))
			if err != nil {
				records[i].err = err
				continue
			}
			cmds[i] = pipe.HGetAll(ctx, queue.SchedulerKey(id))
		}
		return nil
	})
	for i, cmd := range cmds {
		if cmd == nil {
			continue
		}
		fields, err := cmd.Result()
		switch {
		case err != nil && hasWord(err, "WRONGTYPE"):
			records[i].err = err
		case err != nil:
			return nil, notPermittedPlain(queue, []redis.Cmder{cmd}, err)
		case len(fields) == 0:
			records[i].missing, records[i].err = true, fmt.Errorf("echomq: schedule %q has no hash", ids[i].Member)
		default:
			flat := make([]string, 0, 2*len(fields))
			for name, value := range fields {
				flat = append(flat, name, value)
			}
			records[i].Scheduler, records[i].err = wire.DecodeScheduler(ids[i].Member.(string), flat)
		}
	}
	return records, nil
}
