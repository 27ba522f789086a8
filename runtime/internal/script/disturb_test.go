package script_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/model"
)

// disturb does to the queue what no script does: it takes the marker, lets time
// pass for stubs, and plants damage.
func (w *world) disturb(ctx context.Context) error {
	w.state.Events = nil
	disturbances := []func(context.Context) error{
		w.takeMarker, w.takeMarker, w.takeMarker, w.expireStub, w.expireStub, w.passHour, w.passHour, w.passHour,
		w.loseHash, w.loseHash, w.replaceHash, w.replaceHash, w.loseName, w.loseLock, w.plantOddID, w.plantParts,
		w.turnCounter, w.meetForeignVersion, w.meetForeignVersion, w.meetForeignVersion, w.cleanQuarantine,
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

// sound returns a job that is in good order, from any place.
func (w *world) sound() string {
	place := one(w, "wait", "prioritized", "delayed", "delayed", "active", "active", "completed", "failed")
	return w.some(func(id string, job *model.Job) bool {
		return !job.Stub && job.Foreign == "" && w.state.Place(id) == place
	})
}

// passHour brings what is far away an hour nearer, as if it had passed.
func (w *world) passHour(ctx context.Context) error {
	w.note("an hour passes")
	pipe := w.client.Pipeline()
	for key, set := range map[string]model.ZSet{"delayed": w.state.Delayed, "active": w.state.Active} {
		for id, score := range set {
			if score > w.clock+hour/2 {
				set[id] = score - hour
				pipe.ZIncrBy(ctx, w.queue.Key(key), -hour, id)
			}
		}
	}
	_, err := pipe.Exec(ctx)
	return err
}

func (w *world) expireStub(ctx context.Context) error {
	id := w.some(func(_ string, job *model.Job) bool { return job.Stub })
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
	if locked := w.some(func(id string, job *model.Job) bool { return job.Foreign == "" && w.state.Locks[id] != "" }); w.chance(60) {
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
	if slices.Contains(w.state.Wait, id) {
		return nil
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
			return nil
		}
	}
	w.note("%s has logs and children", id)
	maps.Copy(w.state.Parts, parts)
	return w.plant(ctx, parts)
}

// turnCounter sets the counter of priorities close to where it turns over.
func (w *world) turnCounter(ctx context.Context) error {
	w.note("the counter is about to turn over")
	w.state.Counter = 1<<32 - 2
	return w.client.Set(ctx, w.queue.Key("pc"), w.state.Counter, 0).Err()
}

// meetForeignVersion makes a call while the queue speaks another version.
func (w *world) meetForeignVersion(ctx context.Context) error {
	old := w.state.Version
	if err := w.setVersion(ctx, one(w, "echomq:3.0.0", "bullmq:5")); err != nil {
		return err
	}
	worker := w.workers[0]
	call := one(w, w.someAdd(), w.someAdd(), w.somePick(worker), w.someSettle(worker), w.someExtend(worker), w.somePromote(),
		w.someRecover(), w.someTrim(), w.somePause(), w.someProgress(worker), w.someLog(worker),
		w.someCancel(), w.someLeave(worker))
	if err := w.make(ctx, nil, call); err != nil {
		return err
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
