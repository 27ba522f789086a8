package script_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// keys is how many unique keys are in use.
const keys = 12

// key returns any unique key, often one that a job had which has failed.
func (w *world) key() string {
	id := w.some(func(id string, job *model.Job) bool { return job.Fields["deid"] != "" && isIn(w.state.Failed, id) })
	if id != "" && (w.chance(40) || w.focus == "retry" && w.chance(50)) {
		return w.state.Jobs[id].Fields["deid"]
	}
	if w.focus == "retry" { // so that several failed jobs had one key
		return fmt.Sprintf("k%d", w.random.IntN(2))
	}
	return fmt.Sprintf("k%d", w.random.IntN(keys))
}

// forgotten returns the jobs that hold a key, and of which nothing else is left.
func (w *world) forgotten() []wire.JobID {
	var ids []string
	for _, id := range w.state.Dedup {
		if w.state.Jobs[id] == nil && !w.lost(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return parsed(ids)
}

func (w *world) until() script.AddUntil {
	if w.focus == "retry" && w.chance(80) {
		return script.AddUntilFinished
	}
	return one(w, script.AddUntilStarted, script.AddUntilFinished, script.AddUntilFinished, script.AddUntilRemoved, script.AddUntilRemoved)
}

func (w *world) term() int64 {
	if w.focus == "retry" {
		return one[int64](w, 0, 1, 1, hour)
	}
	return one[int64](w, 0, 0, 0, 0, 1, hour)
}

// bereft reports whether the job id came with a key that it does not hold any
// more.
func (w *world) bereft(id string) bool {
	job := w.state.Jobs[id]
	return job != nil && job.Fields["deid"] != "" && w.state.Dedup[job.Fields["deid"]] != id
}

// rivals reports whether two jobs have failed that had the same key, which is free.
func (w *world) rivals() bool {
	seen := map[string]bool{}
	for id := range w.state.Failed {
		if !w.bereft(id) || w.state.Dedup[w.state.Jobs[id].Fields["deid"]] != "" {
			continue
		}
		key := w.state.Jobs[id].Fields["deid"]
		if seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// released returns the key that a settle releases, as the worker knows it.
func (w *world) released(held holding, item script.SettleItem) string {
	ended := item.Outcome == script.SettleOutcomeCompleted || item.Outcome == script.SettleOutcomeFailed
	if job := w.state.Jobs[held.id]; job != nil && w.state.Locks[held.id] == held.token { // also if it was a guess
		held.unique, held.until = job.Fields["deid"], job.Fields["deu"]
	}
	switch key := w.key(); {
	case ended && (held.until == "finished" || held.until == "removed" && !item.Keep):
		return held.unique
	case w.state.Dedup[key] != held.id && w.chance(10):
		return key
	}
	return ""
}

// holder returns a key and the job that holds it, or is believed to.
func (w *world) holder() (key string, id wire.JobID) {
	held := slices.Sorted(maps.Keys(w.state.Dedup))
	places := one(w, []string{"completed", "failed"}, []string{"failed"}, []string{"failed"}) // fewer fail
	ended := slices.DeleteFunc(slices.Clone(held), func(key string) bool { return !slices.Contains(places, w.state.Place(w.state.Dedup[key])) })
	if len(ended) > 0 && w.chance(80) {
		held = ended
	}
	if len(held) == 0 || w.chance(10) {
		return w.key(), w.id()
	}
	key = one(w, held...)
	return key, jobID(w.state.Dedup[key])
}

func (w *world) someHeal() model.Caller {
	var call script.Heal
	for range 1 + w.random.IntN(3) {
		key, id := w.holder()
		call.Items = append(call.Items, script.HealItem{ID: id, Unique: key})
	}
	return call
}

func (w *world) someReplace() model.Caller {
	call := script.Replace{Events: script.ReplaceEvents(w.level()), History: 1000}
	for range 1 + w.random.IntN(3) {
		key, id := w.holder()
		if again := slices.ContainsFunc(call.Items, func(item script.ReplaceItem) bool { return item.ID == id }); again && !w.chance(20) {
			continue
		}
		add := w.someAddItem(id)
		call.Items = append(call.Items, script.ReplaceItem{
			ID: id, By: w.id().String(), Data: add.Data, Codec: add.Codec, Version: add.Version, Opts: add.Opts,
			Delay: add.Delay, Due: add.Due, Priority: add.Priority, Group: add.Group,
			Unique: key, Until: script.ReplaceUntil(w.until()), Term: w.term(),
		})
	}
	return call
}
