package script_test

import (
	"fmt"
	"maps"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	hour = 60 * 60 * 1000
	much = 1 << 20
)

// one returns one of the choices.
func one[T any](w *world, choices ...T) T { return choices[w.random.IntN(len(choices))] }

// chance returns true in percent of a hundred cases.
func (w *world) chance(percent int) bool { return w.random.IntN(100) < percent }

// id returns any id.
func (w *world) id() wire.JobID { return jobID(fmt.Sprintf("j%d", w.random.IntN(population))) }

// ids returns one to n ids: mostly of jobs, which may be anywhere.
func (w *world) ids(n int) []wire.JobID {
	known := parsed(slices.Sorted(maps.Keys(w.state.Jobs)))
	ids := make([]wire.JobID, 1+w.random.IntN(n))
	for i := range ids {
		ids[i] = w.id()
		if there := w.there(); len(there) > 0 && w.chance(50) {
			ids[i] = one(w, there...)
		} else if len(known) > 0 && w.chance(70) {
			ids[i] = one(w, known...)
		}
	}
	return ids
}

// there returns the ids of one of the places where jobs can be, each as likely as
// another, however many are there.
func (w *world) there() []wire.JobID {
	switch place := one(w, "wait", "prioritized", "delayed", "active", "waiting-children", "completed", "failed", "quarantine", "stubs"); place {
	case "wait":
		return parsed(w.state.Wait)
	case "stubs":
		var stubs []string
		for id, job := range w.state.Jobs {
			if job.Stub {
				stubs = append(stubs, id)
			}
		}
		slices.Sort(stubs)
		return parsed(stubs)
	default:
		return parsed(w.state.Set(place).Order())
	}
}

// isIn reports whether id is a member of a sorted set.
func isIn(set model.ZSet, id string) bool {
	_, ok := set[id]
	return ok
}

// parsed returns those ids that are a job's.
func parsed(ids []string) []wire.JobID {
	var jobs []wire.JobID
	for _, id := range ids {
		if job, err := wire.ParseStoredJobID(id); err == nil {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// from returns ids of a sorted set, the first ones or any, and now and then one
// twice.
func (w *world) from(set model.ZSet, n int) []wire.JobID {
	ids := parsed(set.Order())
	if w.chance(30) {
		w.random.Shuffle(len(ids), func(i, k int) { ids[i], ids[k] = ids[k], ids[i] })
	}
	ids = ids[:min(len(ids), 1+w.random.IntN(n))]
	if len(ids) > 0 && w.chance(8) {
		ids = append(ids, ids[0])
	}
	if len(ids) == 0 || w.chance(15) {
		ids = append(ids, w.ids(1)...)
	}
	return ids
}

func (w *world) level() string { return one(w, "all", "all", "final", "none") }

func (w *world) someAdd() model.Caller {
	call := script.Add{Events: script.AddEvents(w.level()), History: 1000}
	for range 1 + w.random.IntN(4) {
		id := w.id()
		for range 4 {
			if _, taken := w.state.Jobs[id.String()]; taken && w.chance(80) {
				id = w.id()
			}
		}
		if forgotten := w.forgotten(); len(forgotten) > 0 && w.chance(30) {
			id = one(w, forgotten...)
		}
		live := len(w.state.Wait) + len(w.state.Prioritized) + len(w.state.Active) + len(w.state.Groups.Members()) + (len(w.state.Delayed)+len(w.state.Waiting))/2
		if _, taken := w.state.Jobs[id.String()]; w.lost(id.String()) || !taken && live > crowd && w.chance(80) {
			continue
		}
		call.Items = append(call.Items, w.someAddItem(id))
		if w.chance(8) {
			call.Items = append(call.Items, w.someAddItem(id))
		}
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

// somePush adds as most jobs are: they run at once, and have nothing more than a
// payload.
func (w *world) somePush() model.Caller {
	call, _ := w.someAdd().(script.Add)
	if len(call.Items) == 0 {
		return nil
	}
	call.Events = one(w, script.AddEventsFinal, script.AddEventsNone)
	for i, item := range call.Items {
		call.Items[i] = script.AddItem{ID: item.ID, Name: item.Name, Data: item.Data, Version: 1, Opts: item.Opts}
	}
	return call
}

// somePost is the same for payloads of any codec and version.
func (w *world) somePost() model.Caller {
	call, _ := w.somePush().(script.Add)
	if len(call.Items) == 0 {
		return nil
	}
	for i := range call.Items {
		call.Items[i].Codec, call.Items[i].Version = one(w, "", "pb"), one[int64](w, 1, 2)
	}
	call.Items[0].Codec = "pb"
	return call
}

func (w *world) someAddItem(id wire.JobID) script.AddItem {
	item := script.AddItem{
		ID: id, Name: one(w, "mail", "report"), Data: make([]byte, one(w, 1, 10, 80)), Codec: one(w, "", "", "pb"),
		Version: one[int64](w, 1, 1, 2), Opts: []byte(one(w, "", `{"attempts":3}`)),
		Priority: one[int64](w, 0, 0, 0, 1, 2, 2097151),
	}
	if w.chance(60) {
		item.Unique, item.Until, item.Term = w.key(), w.until(), w.term()
	}
	item.Group = w.anyGroup()
	for i := range item.Data {
		item.Data[i] = byte('a' + i%26)
	}
	switch w.random.IntN(10) {
	case 0, 1:
		item.Delay = one[int64](w, 1, 1, 2, hour)
	case 2:
		item.Delay = -5
	case 3:
		item.Due = w.clock + one[int64](w, -10, 1, 2, hour)
	}
	w.intoFlow(&item)
	return item
}

// someDeclare declares jobs in a few ways.
func (w *world) someDeclare() model.Caller {
	var call script.Declare
	for range 1 + w.random.IntN(3) {
		call.Items = append(call.Items, script.DeclareItem{
			Name: one(w, "mail", "mail", "a b", "1:mail"), Version: one[int64](w, 1, 1, 2, -1),
			Hash: one(w, "h1", "h2", "h3"), Program: one(w, "example.com/mail", "the other one", ""),
			Replaces: one(w, "", "", "", "h1", "h2 h3", "h11 h22", "h1 h2 h3"),
		})
	}
	return call
}

func (w *world) someOverride() model.Caller {
	if !w.limited {
		return w.someGroupOverride()
	}
	call := script.Override{
		Limit: one(w, "", "none", "clear", "clear", "clear", "2", "4"),
		Rate:  one(w, "", "none", "clear", "clear", "clear", "1/1", "4/9", "5/3600000"),
	}
	if w.grouped > 0 {
		call.GroupLimit = one(w, "", "none", "clear", "clear", "1", "3")
	}
	return call
}

func (w *world) somePick(by *worker) model.Caller {
	by.picks++
	call := script.Pick{
		Events: script.PickEvents(w.level()), History: 1000, Token: by.token(), Worker: by.id,
		Lease: one[int64](w, 1, 2, 20, hour, hour), Want: w.random.Int64N(5), Window: 1 + w.random.Int64N(6),
		Limit: one[int64](w, much, much, 0, 60, 150), Payload: one[int64](w, much, much, much, 20),
	}
	if w.limited && w.chance(40) {
		call.Cap, call.CapFixed = one[int64](w, 0, 1, 2, 3), w.chance(50)
		call.Tokens, call.RateFixed = one[int64](w, 0, 1, 2, 5), w.chance(50)
		call.Interval = one[int64](w, 1, 7, 20, 20, hour)
	}
	w.limitGroups(&call)
	if !w.chance(15) {
		call.Items = append(call.Items, by.reserved...)
	}
	guesses := by.window
	if w.chance(60) {
		guesses = w.state.Next(int(call.Want))
	}
	if !w.chance(30) {
		for _, id := range guesses {
			if job, err := wire.ParseStoredJobID(id); err == nil {
				call.Items = append(call.Items, script.PickItem{ID: job})
			}
		}
	}
	if w.chance(15) {
		claim := script.PickItem{ID: w.ids(1)[0], Reservation: one(w, by.token(), "w0:1", "")}
		call.Items = append(call.Items, claim)
	}
	if w.chance(10) {
		w.random.Shuffle(len(call.Items), func(i, k int) {
			call.Items[i], call.Items[k] = call.Items[k], call.Items[i]
		})
	}
	call.Items = unique(call.Items)
	if len(call.Items) > 0 && w.chance(2) {
		call.Items = append(call.Items, call.Items[0])
	}
	return call
}

// unique drops the items whose id was declared before.
func unique(items []script.PickItem) []script.PickItem {
	seen := map[wire.JobID]bool{}
	return slices.DeleteFunc(slices.Clone(items), func(item script.PickItem) bool {
		again := seen[item.ID]
		seen[item.ID] = true
		return again
	})
}

func inspectItems(ids []wire.JobID) []script.InspectItem {
	var items []script.InspectItem
	for _, id := range ids {
		items = append(items, script.InspectItem{ID: id})
	}
	return items
}
