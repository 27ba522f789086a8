package echomq

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// tickLimit is how many schedulers are moved on in one call.
	tickLimit = 100
	// leftPause is how long until a slot that was left to others is looked at
	// again.
	leftPause = 5 * time.Second
	// maxTickPause is the longest pause after a look that failed.
	maxTickPause = 5 * time.Second
)

// tellSlot hands the earliest slot of an answer to the ticker. Only the latest
// matters.
func (r *runner) tellSlot(t times) {
	for t.slot > 0 {
		select {
		case r.slots <- t:
			return
		default:
		}
		select {
		case <-r.slots:
		default:
		}
	}
}

// ticker sets the schedules of its program, and adds the jobs of slots at their
// time. Every worker has one, armed for the slots that answers tell; of those
// that are there in time, one moves the scheduler on.
type ticker struct {
	*runner
	next     time.Time // when to look; zero for not at all
	looked   int64     // the server's clock at the last look; no slot up to it is news
	unset    []plan    // schedules of the program that are still to be set
	told     map[string]string
	failures int // in a row, of looks
	refusals int // in a row, of setting those
}

func (r *runner) tickLoop() {
	k := &ticker{runner: r, told: make(map[string]string)}
	for _, job := range r.repetitions {
		k.unset = append(k.unset, job.plan)
	}
	if len(k.unset) > 0 {
		k.next = time.Now()
	}
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Stop()
		if !k.next.IsZero() {
			timer.Reset(max(time.Until(k.next), 0))
		}
		select {
		case t := <-r.slots:
			k.arm(t)
		case <-timer.C:
			k.next = time.Time{}
			// Slots of others, and of earlier programs, come all the same.
			k.setOwn()
			k.look()
		case <-r.store.Done():
			return
		}
	}
}

// arm moves the next look forward if an answer says so.
func (k *ticker) arm(t times) {
	if t.now < k.looked {
		// The answer is older, or the server's clock went back: then slots up to
		// the last look come once more.
		k.looked = t.now
	}
	if t.slot > k.looked && t.slot != wire.Never {
		k.at(t.local(t.slot))
	}
}

func (k *ticker) at(moment time.Time) {
	if k.next.IsZero() || moment.Before(k.next) {
		k.next = moment
	}
}

func (k *ticker) retry(message string, err error) {
	k.failures++
	k.again(k.failures, message, err)
}

// again has the ticker look again after so many failures in a row.
func (k *ticker) again(failures int, message string, err error) {
	if k.store.Err() == nil {
		k.log.Warn(message, "error", err)
	}
	k.at(time.Now().Add(min(retryPause(failures)*time.Duration(failures), maxTickPause)))
}

// once logs what is wrong with a schedule, when it is news.
func (k *ticker) once(id, message, about string, err error) {
	if news := message + about; k.told[id] != news {
		k.told[id] = news
		k.log.Warn(message, "schedule", id, "error", err)
	}
}

// setOwn sets the schedules of the program that are still to be set.
func (k *ticker) setOwn() {
	if len(k.unset) == 0 {
		return
	}
	err := k.setPlans(slices.Clone(k.unset))
	if errors.Is(err, ErrOption) || errors.Is(err, errBroken) {
		k.log.Error("a schedule of this program cannot be set", "error", err)
		err = nil
	}
	if err != nil {
		k.refusals++
		k.again(k.refusals, "setting the schedules of this program failed; trying again", err)
		return
	}
	k.unset = nil
}

func (k *ticker) setPlans(plans []plan) error {
	for i := range plans {
		sealed, err := k.client.resealed(k.store, k.queue, plans[i])
		if err != nil {
			return err
		}
		plans[i] = sealed
	}
	_, err := set(plans, func(call script.Schedule) (script.ScheduleReply, error) {
		a := k.exchange(call.Call(k.queue))[0]
		if a.err != nil {
			return script.ScheduleReply{}, a.err
		}
		return script.DecodeSchedule(a.reply)
	})
	return err
}

// look asks which slots have come, and adds their jobs.
func (k *ticker) look() {
	now, due, err := k.read()
	if err != nil {
		k.retry("looking for slots failed; trying again", err)
		return
	}
	var records []schedulerRecord
	err = k.plainly(func() (err error) {
		records, err = readSchedulers(k.store, k.client.store, k.queue, due)
		return err
	})
	if err != nil {
		k.retry("reading schedules failed; trying again", err)
		return
	}
	var items []script.TickItem
	for i, record := range records {
		item, err := k.item(record, int64(due[i].Score), now)
		switch {
		case err == nil:
			items = append(items, item)
		case record.missing:
			k.drop(due[i].Member.(string), err)
		default:
			k.once(due[i].Member.(string), "a slot is left to other workers", decimal(int64(due[i].Score)), err)
			k.at(time.Now().Add(k.leftPause))
		}
	}
	for len(items) > 0 {
		count := tickCount(items)
		if err := k.tick(items[:count]); err != nil {
			k.retry("adding the jobs of slots failed; trying again", err)
			return
		}
		items = items[count:]
	}
	k.failures = 0
}

// read returns the server's clock and the schedulers whose slot has come, and
// sets the look for the next one.
func (k *ticker) read() (now int64, due []redis.Z, err error) {
	for {
		var clock *redis.TimeCmd
		var page *redis.ZSliceCmd
		sent := int64(len(due))
		err = k.plainly(func() error {
			_, err := k.client.store.Pipelined(k.store, func(pipe redis.Pipeliner) error {
				clock = pipe.Time(k.store)
				page = pipe.ZRangeWithScores(k.store, k.queue.Key("schedulers"), sent, sent+schedulePage-1)
				return nil
			})
			return notPermittedPlain(k.queue, []redis.Cmder{clock, page}, err)
		})
		if err != nil {
			return 0, nil, err
		}
		now = clock.Val().UnixMilli()
		k.looked = now
		for _, z := range page.Val() {
			if int64(z.Score) > now {
				k.arm(times{now: now, slot: int64(z.Score), at: time.Now()})
				return now, due, nil
			}
			due = append(due, z)
		}
		if len(page.Val()) < schedulePage {
			return now, due, nil
		}
	}
}

// item returns what moves a scheduler on from the slot that has come. The error
// says why that is left to others.
func (k *ticker) item(record schedulerRecord, from, now int64) (script.TickItem, error) {
	if record.err != nil {
		return script.TickItem{}, record.err
	}
	route, known := k.routes[record.Name]
	switch {
	case !known:
		return script.TickItem{}, fmt.Errorf("job %q is not known here", record.Name)
	case record.PayloadVersion > route.version:
		return script.TickItem{}, fmt.Errorf("job %q has version %d; this program knows %d", record.Name, record.PayloadVersion, route.version)
	}
	slots, err := slots(record.Cron, record.Every.Duration(), record.Zone)
	if err != nil {
		return script.TickItem{}, err
	}
	id, err := wire.ParseSchedulerID(record.ID)
	if err != nil {
		return script.TickItem{}, err
	}
	slot := from
	if latest := slots.Last(time.UnixMilli(from), time.UnixMilli(now)); !latest.IsZero() {
		slot = latest.UnixMilli()
	}
	if end := int64(record.End); end > 0 && slot > end {
		slot = from
	}
	item := script.TickItem{
		ID: id.Slot(slot), Scheduler: id, Revision: record.Revision, From: from, Slot: slot,
		Next: following(slots, max(slot, now), int64(record.End)),
		Fire: record.Misfire != string(script.ScheduleMisfireSkip) || now-slot <= MisfireGrace.Milliseconds(),
		Name: record.Name, Data: record.Data, Codec: record.Codec, Version: int64(record.PayloadVersion),
		Opts: []byte(record.Opts), Delay: int64(record.Delay), Priority: int64(record.Priority), Group: record.Group,
	}
	if record.Computed == 0 || !item.Fire {
		return item, nil
	}
	job, ours := k.repetitions[id]
	if !ours || !job.computed || job.job.Name != record.Name {
		return script.TickItem{}, errors.New("its payload is computed, and not by this program")
	}
	made, err := k.payload(job, time.UnixMilli(slot).UTC())
	if err != nil {
		return script.TickItem{}, fmt.Errorf("its payload cannot be had: %w", err)
	}
	item.Data, item.Codec, item.Version, item.Group = made.data, made.codec, int64(made.version), made.group
	return item, nil
}

// tickCount is how many of the items one call is for.
func tickCount(items []script.TickItem) int {
	bytes := 0
	for i, item := range items {
		if bytes += len(item.Data) + len(item.Opts); i == tickLimit || i > 0 && bytes > maxChunkBytes {
			return i
		}
	}
	return len(items)
}

// tick moves schedulers on, and makes their jobs ready to run.
func (k *ticker) tick(items []script.TickItem) error {
	calls := []script.Call{script.Tick{
		Events: script.TickEvents(k.config.events.word()), History: DefaultEventHistory, Items: items,
	}.Call(k.queue)}
	promote := script.Promote{Events: script.PromoteEvents(k.config.events.word()), History: DefaultEventHistory}
	for _, item := range items {
		if item.Fire {
			promote.Items = append(promote.Items, script.PromoteItem{ID: item.ID})
		}
	}
	if len(promote.Items) > 0 {
		calls = append(calls, promote.Call(k.queue))
	}
	// If the second call fails, the timekeeper makes it once more.
	a := k.exchange(calls...)[0]
	reply, err := script.TickReply{}, a.err
	if err == nil {
		reply, err = script.DecodeTick(a.reply)
	}
	if err != nil {
		return err
	}
	now := times{now: reply.Now, due: reply.Due, at: time.Now()}
	k.tell(now)
	for i, result := range reply.Results {
		switch result.Verdict {
		case script.TickVerdictAdded:
			k.log.Debug("added the job of a slot", "job", items[i].ID.String())
		case script.TickVerdictMoved, script.TickVerdictEarly:
			// It was changed since it was read, or the server's clock went back.
			k.at(time.Now().Add(retryPause(0)))
		}
		now.slot = result.Next
		k.arm(now)
	}
	return nil
}

// drop removes a scheduler whose hash is lost.
func (k *ticker) drop(id string, reason error) {
	k.log.Error("a schedule is lost; it is removed", "schedule", id, "error", reason)
	scheduler, err := wire.ParseSchedulerID(id)
	if err != nil {
		return
	}
	call := script.Unschedule{Items: []script.UnscheduleItem{{Scheduler: scheduler}}}
	if a := k.exchange(call.Call(k.queue))[0]; a.err != nil {
		k.retry("removing a lost schedule failed; trying again", a.err)
	}
}
