package script_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// schedulers is how many schedulers a world has at most.
const schedulers = 5

// schedulerID returns id as a SchedulerID; it must be valid.
func schedulerID(id string) wire.SchedulerID {
	scheduler, err := wire.ParseSchedulerID(id)
	if err != nil {
		panic(err)
	}
	return scheduler
}

func (w *world) scheduler() wire.SchedulerID {
	return schedulerID(fmt.Sprintf("s%d", w.random.IntN(schedulers)))
}

func (w *world) someUnschedule() model.Caller {
	call := script.Unschedule{}
	for range 1 + w.random.IntN(2) {
		call.Items = append(call.Items, script.UnscheduleItem{Scheduler: w.scheduler()})
	}
	return call
}

func (w *world) someSchedule() model.Caller {
	call := script.Schedule{}
	seen := map[wire.SchedulerID]bool{}
	for range 1 + w.random.IntN(3) {
		item := script.ScheduleItem{
			Scheduler: w.scheduler(), Revision: one(w, "one", "two"), Name: one(w, "mail", "report"),
			Next: one(w, 0, max(w.clock-5, 0), w.clock+1, w.clock+2, w.clock+hour), Cron: one(w, "", "", "0 9 * * *"),
			Every: 1000, Misfire: one(w, script.ScheduleMisfireOnce, script.ScheduleMisfireSkip),
			Data: []byte("{}"), Version: 1, Priority: one[int64](w, 0, 2), Group: w.anyGroup(), Limit: one[int64](w, 0, 0, 1, 2),
			Computed: w.chance(20), Zone: one(w, "", "", "", "Asia/Tokyo"),
		}
		if seen[item.Scheduler] && !w.chance(40) {
			continue
		}
		seen[item.Scheduler] = true
		call.Items = append(call.Items, item)
	}
	return call
}

func (w *world) someTick() model.Caller {
	if w.clock == 0 { // it is not known yet
		return nil
	}
	call := script.Tick{Events: script.TickEvents(w.level()), History: 1000}
	for range 1 + w.random.IntN(3) {
		id := w.scheduler()
		if known := slices.Sorted(maps.Keys(w.state.Schedulers)); len(known) > 0 && w.chance(85) {
			id = schedulerID(one(w, known...))
		}
		record := w.state.Records[id.String()]
		item := script.TickItem{
			Scheduler: id, Revision: record["rev"], From: w.state.Schedulers[id.String()], Fire: w.chance(80),
			Name: one(w, "mail", "report"), Data: []byte(one(w, "{}", `{"a":1}`)), Codec: one(w, "", "", "pb"), Version: one[int64](w, 1, 1, 2),
			Opts: []byte(one(w, "", `{"attempts":3}`)), Delay: one[int64](w, 0, 0, 0, 1, hour), Priority: one[int64](w, 0, 0, 3), Group: w.anyGroup(),
		}
		if w.chance(10) {
			item.Revision = "another"
		}
		if w.chance(10) || item.From == 0 || item.From == wire.Never {
			item.From = w.clock - w.random.Int64N(5)
		}
		if from := number(record["frm"]); from > 0 && w.chance(10) {
			item.From = from
		}
		item.Slot = item.From
		if w.clock > item.From && w.chance(30) {
			item.Slot = w.clock
		}
		item.Next = max(item.Slot, w.clock) + one[int64](w, 1, 2, 3, hour)
		if w.chance(3) {
			item.Next = wire.Never
		}
		item.ID = id.Slot(item.Slot)
		if taken := w.ids(1)[0]; w.chance(20) && w.state.Jobs[taken.String()] != nil {
			item.ID = taken
		}
		if !w.lost(item.ID.String()) {
			call.Items = append(call.Items, item)
		}
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

// loseRecord loses the hash of a scheduler.
func (w *world) loseRecord(ctx context.Context) error {
	known := slices.Sorted(maps.Keys(w.state.Records))
	if len(known) == 0 {
		return nil
	}
	id := one(w, known...)
	w.note("the record of scheduler %s is lost", id)
	delete(w.state.Records, id)
	return w.client.Del(ctx, w.queue.SchedulerKey(schedulerID(id))).Err()
}

// passHourOfSlots is passHour for schedulers.
func (w *world) passHourOfSlots(ctx context.Context) error {
	for id, slot := range w.state.Schedulers {
		if slot > w.clock+hour/2 && slot != wire.Never {
			w.state.Schedulers[id] = slot - hour
			if err := w.client.ZIncrBy(ctx, w.queue.Key("schedulers"), -hour, id).Err(); err != nil {
				return err
			}
		}
	}
	meta, _ := w.state.Store()["meta"].(model.Hash)
	if slot, ok := meta["slot"]; ok {
		return w.client.HSet(ctx, w.queue.Key("meta"), "slot", slot).Err()
	}
	return nil
}

// tickItem moves a scheduler of revision r on from a slot.
func tickItem(id string, from, next int64) script.TickItem {
	scheduler := schedulerID(id)
	return script.TickItem{
		ID: scheduler.Slot(from), Scheduler: scheduler, Revision: "r", From: from, Slot: from, Next: next,
		Fire: true, Name: "mail", Data: []byte("{}"), Version: 1,
	}
}
