package script_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// disturb does to the queue what no script does: it takes the marker, lets time
// pass for stubs, and plants damage.
func (w *world) disturb(ctx context.Context) error {
	w.state.Events = nil
	if w.grouped > 0 && w.chance(4) {
		if err := w.loseGroupedHash(ctx); err != nil {
			return err
		}
		return w.compare(ctx)
	}
	disturbances := []func(context.Context) error{
		w.takeMarker, w.takeMarker, w.takeMarker, w.expireStub, w.expireStub, w.expireStub, w.expireStub, w.passHour, w.passHour, w.passHour,
		w.loseHash, w.loseHash, w.loseHash, w.loseHash, w.replaceHash, w.replaceHash, w.replaceHash, w.replaceHash, w.loseName, w.loseLast, w.loseLast,
		w.damageFailed, w.damageFailed, w.loseLock, w.plantOddID, w.plantOddID, w.plantParts, w.turnCounter, w.loseDependencies,
		w.meetForeignVersion, w.meetForeignVersion, w.meetForeignVersion, w.meetForeignVersion, w.meetForeignVersion,
		w.cleanQuarantine, w.loseRecord, w.spoilOverride,
	}
	if w.focus == "retry" && w.chance(25) {
		disturbances = []func(context.Context) error{w.damageFailed, w.shareKey}
	}
	if err := disturbances[w.random.IntN(len(disturbances))](ctx); err != nil {
		return err
	}
	return w.compare(ctx)
}

// takeMarker is what the blocking read of an idle worker does.
func (w *world) takeMarker(ctx context.Context) error {
	w.note("takes the marker")
	got, err := w.client.ZPopMin(ctx, w.queue.Key("marker")).Result()
	if err != nil {
		return err
	}
	order := w.state.Marker.Order()
	if len(got) != min(1, len(order)) || len(got) > 0 && got[0].Member != order[0] {
		return fmt.Errorf("the marker gave %v and not the first of %v", got, order)
	}
	if len(order) > 0 {
		delete(w.state.Marker, order[0])
		w.state.Drained = true
	}
	return nil
}

// some returns one of the ids for which ok holds, or "".
func (w *world) some(ok func(id string, job *model.Job) bool) string {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(w.state.Jobs)), func(id string) bool {
		return !ok(id, w.state.Jobs[id])
	})
	if len(ids) == 0 {
		return ""
	}
	return one(w, ids...)
}

// damagedOf has the places at which a script meets damage.
var damagedOf = map[string][]string{
	"pick": {"wait", "prioritized"}, "settle": {"active"}, "progress": {"active"}, "log": {"active"}, "recover": {"active"},
	"promote": {"delayed"}, "retry": {"failed"}, "deliver": {"waiting-children"}, "collect": {"waiting-children"},
}

// sound returns a job that is in good order, from any place; often from one where
// the script that the world is about meets it.
func (w *world) sound() string {
	place := one(w, "wait", "prioritized", "delayed", "delayed", "active", "active", "waiting-children", "waiting-children", "completed", "failed")
	if places := damagedOf[w.focus]; len(places) > 0 && w.chance(50) {
		place = one(w, places...)
	}
	if w.grouped > 0 && (place == "wait" || place == "prioritized") {
		place = "grouped"
	}
	return w.some(func(id string, job *model.Job) bool {
		return !job.Stub && job.Foreign == "" && w.state.Place(id) == place
	})
}

// passHour brings what is far away an hour nearer, as if it had passed.
func (w *world) passHour(ctx context.Context) error {
	w.note("an hour passes")
	pipe := w.client.Pipeline()
	for key, set := range map[string]model.ZSet{
		"delayed": w.state.Delayed, "active": w.state.Active, "waiting-children": w.state.Waiting, "outbox": w.state.Outbox,
		"dedup-due": w.state.DedupDue,
	} {
		for id, score := range set {
			if score > w.clock+1000 {
				set[id] = score - hour
				pipe.ZIncrBy(ctx, w.queue.Key(key), -hour, id)
			}
		}
	}
	if told := number(w.state.Blocked); told > w.clock {
		w.state.Blocked = strconv.FormatInt(told-hour, 10)
		pipe.HSet(ctx, w.queue.Key("meta"), "blocked", told-hour)
	}
	if w.state.Bucket != nil {
		w.state.Bucket.At -= hour
		pipe.HIncrBy(ctx, w.queue.Key("limiter"), "at", -hour)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return err
	}
	return w.passHourOfSlots(ctx)
}

// spoilOverride writes what is of no form, as a person might by hand.
func (w *world) spoilOverride(ctx context.Context) error {
	if !w.limited {
		return nil
	}
	name, text := one(w, "limit", "rate"), one(w, "0", "5x", "many", "0/5", "5/0", "1/2/3", "")
	if w.grouped > 0 && w.chance(30) {
		name = "groupLimit"
	}
	w.note("the override %s is %q", name, text)
	w.state.Overrides[name] = text
	return w.client.HSet(ctx, w.queue.Key("meta"), name, text).Err()
}

func (w *world) expireStub(ctx context.Context) error {
	id := w.some(func(_ string, job *model.Job) bool { return job.Stub && !job.Lasting })
	if id == "" {
		return nil
	}
	w.note("the stub %s expires", id)
	delete(w.state.Jobs, id)
	return w.client.Del(ctx, w.queue.Key(id)).Err()
}

func (w *world) loseHash(ctx context.Context) error {
	id := w.sound()
	if id == "" {
		return nil
	}
	w.note("the hash of %s is lost", id)
	w.state.Tainted[id] = true
	delete(w.state.Jobs, id)
	return w.client.Del(ctx, w.queue.Key(id)).Err()
}

func (w *world) replaceHash(ctx context.Context) error {
	id := w.sound()
	if locked := w.some(func(id string, job *model.Job) bool { return job.Foreign == "" && w.state.Locks[id] != "" }); w.chance(50) {
		id = locked
	}
	if id == "" {
		return nil
	}
	w.note("a string replaces the hash of %s", id)
	w.state.Tainted[id] = true
	w.state.Jobs[id] = &model.Job{Foreign: "strange"}
	return w.client.Set(ctx, w.queue.Key(id), "strange", 0).Err()
}

// damageFailed does one or the other to a job that has failed, so that an operator
// who retries it meets it.
func (w *world) damageFailed(ctx context.Context) error {
	id := w.some(func(id string, job *model.Job) bool { return job.Foreign == "" && w.state.Place(id) == "failed" })
	if id == "" {
		return nil
	}
	w.state.Tainted[id] = true
	if w.chance(50) {
		w.note("the hash of %s, which has failed, is lost", id)
		delete(w.state.Jobs, id)
		return w.client.Del(ctx, w.queue.Key(id)).Err()
	}
	w.note("a string replaces the hash of %s, which has failed", id)
	w.state.Jobs[id] = &model.Job{Foreign: "strange"}
	return w.client.Set(ctx, w.queue.Key(id), "strange", 0).Err()
}

// shareKey gives jobs that have failed the key of one that had it before, as if each
// had come with it after the last one had failed.
func (w *world) shareKey(ctx context.Context) error {
	key := fmt.Sprintf("k%d", w.random.IntN(keys))
	if w.state.Dedup[key] != "" {
		return nil
	}
	pipe := w.client.Pipeline()
	for _, id := range w.state.Failed.Order() {
		if job := w.state.Jobs[id]; job != nil && !job.Stub && job.Foreign == "" && job.Fields["deid"] == "" {
			w.note("%s had the key %s", id, key)
			job.Fields["deid"], job.Fields["deu"] = key, string(script.AddUntilFinished)
			pipe.HSet(ctx, w.queue.Key(id), "deid", key, "deu", string(script.AddUntilFinished))
		}
	}
	_, err := pipe.Exec(ctx)
	return err
}

func (w *world) loseName(ctx context.Context) error {
	id := w.sound()
	if id == "" {
		return nil
	}
	w.note("the name of %s is lost", id)
	w.state.Tainted[id] = true
	delete(w.state.Jobs[id].Fields, "name")
	return w.client.HDel(ctx, w.queue.Key(id), "name").Err()
}

// loseLast takes from a job that has ended by whom it was settled, as it is with
// one of which another program says that it has ended.
func (w *world) loseLast(ctx context.Context) error {
	id := w.some(func(id string, job *model.Job) bool {
		place := w.state.Place(id)
		return !job.Stub && job.Foreign == "" && (place == "completed" || place == "failed")
	})
	if id == "" {
		return nil
	}
	w.note("nobody knows who settled %s", id)
	delete(w.state.Jobs[id].Fields, "lst")
	return w.client.HDel(ctx, w.queue.Key(id), "lst").Err()
}

func (w *world) loseLock(ctx context.Context) error {
	ids := slices.Sorted(maps.Keys(w.state.Locks))
	if len(ids) == 0 {
		return nil
	}
	id := one(w, ids...)
	w.note("the lock of %s is lost", id)
	w.state.Tainted[id] = true
	delete(w.state.Locks, id)
	return w.client.Del(ctx, w.queue.Key(id)+":lock").Err()
}

func (w *world) plantOddID(ctx context.Context) error {
	id := one(w, "", "a b", "a:lock", "~due", "{a}", "é", strings.Repeat("a", 256))
	if w.state.Place(id) != "" {
		return nil
	}
	if id == model.DueMember || w.chance(50) {
		return w.plantOddScore(ctx, id)
	}
	w.note("the id %q gets into wait", id)
	w.state.Tainted[id] = true
	w.state.Drained = w.state.Drained || len(w.state.Marker) == 0
	if w.chance(50) {
		w.state.Wait = append([]string{id}, w.state.Wait...)
		return w.client.RPush(ctx, w.queue.Key("wait"), id).Err()
	}
	w.state.Wait = append(w.state.Wait, id)
	return w.client.LPush(ctx, w.queue.Key("wait"), id).Err()
}

// plantOddScore is plantOddID for the sorted sets.
func (w *world) plantOddScore(ctx context.Context, id string) error {
	key := one(w, "delayed", "active", "completed", "failed", "prioritized")
	if id == model.DueMember && key == "prioritized" { // as a head it could not be told from the marker's own
		key = "delayed"
	}
	set := map[string]model.ZSet{
		"delayed": w.state.Delayed, "active": w.state.Active, "completed": w.state.Completed, "failed": w.state.Failed,
		"prioritized": w.state.Prioritized,
	}[key]
	w.note("the id %q gets into %s", id, key)
	w.state.Tainted[id] = true
	w.state.Drained = w.state.Drained || len(w.state.Marker) == 0
	set[id] = w.clock
	return w.client.ZAdd(ctx, w.queue.Key(key), redis.Z{Member: id, Score: float64(w.clock)}).Err()
}

func (w *world) plantParts(ctx context.Context) error {
	order := append(w.state.Completed.Order(), w.state.Failed.Order()...)
	if len(order) == 0 {
		return nil
	}
	id := one(w, order...)
	parts := model.Store{
		id + ":logs": model.List{"line"}, id + ":dependencies": model.Set{"child"},
		id + ":processed": model.Hash{"child": "1"}, id + ":failed": model.Hash{"child": "no"},
	}
	for key := range parts {
		if w.state.Parts[key] != nil {
			delete(parts, key)
		}
	}
	w.note("%s has logs and children", id)
	maps.Copy(w.state.Parts, parts)
	return w.plant(ctx, parts)
}

// loseDependencies takes away what a parent waits for.
func (w *world) loseDependencies(ctx context.Context) error {
	if len(w.state.Waiting) == 0 {
		return nil
	}
	id := one(w, w.state.Waiting.Order()...)
	w.note("what %s waits for is lost", id)
	w.state.Tainted[id] = true
	delete(w.state.Parts, id+":dependencies")
	return w.client.Del(ctx, w.queue.Key(id)+":dependencies").Err()
}

// turnCounter sets the counter of priorities close to where it turns over.
func (w *world) turnCounter(ctx context.Context) error {
	w.note("the counter is about to turn over")
	w.state.Counter = 1<<32 - 2
	return w.client.Set(ctx, w.queue.Key("pc"), w.state.Counter, 0).Err()
}

// meetForeignVersion makes calls while the queue speaks another version.
func (w *world) meetForeignVersion(ctx context.Context) error {
	old := w.state.Version
	if err := w.setVersion(ctx, one(w, "echomq:3.0.0", "bullmq:5")); err != nil {
		return err
	}
	for made := 0; made < 4; w.refused++ {
		call := callings[w.refused%len(callings)].some(w, w.workers[0])
		if call == nil {
			continue
		}
		made++
		if err := w.make(ctx, nil, call); err != nil {
			return err
		}
	}
	return w.setVersion(ctx, old)
}

func (w *world) setVersion(ctx context.Context, version string) error {
	w.state.Version = version
	if version == "" {
		return w.client.HDel(ctx, w.queue.Key("meta"), "version").Err()
	}
	return w.client.HSet(ctx, w.queue.Key("meta"), "version", version).Err()
}

// cleanQuarantine is what an operator does about it.
func (w *world) cleanQuarantine(ctx context.Context) error {
	if len(w.state.Quarantine) == 0 {
		return nil
	}
	w.note("the quarantine is cleaned")
	keys := []string{w.queue.Key("quarantine")}
	for _, id := range w.state.Quarantine.Order() {
		if w.state.Jobs[id] != nil {
			delete(w.state.Jobs, id)
			keys = append(keys, w.queue.Key(id))
		}
	}
	w.state.Quarantine = model.ZSet{}
	return w.client.Del(ctx, keys...).Err()
}
