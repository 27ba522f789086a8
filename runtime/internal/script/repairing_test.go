package script_test

import (
	"context"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

func (w *world) someList() model.Caller {
	call := script.List{
		Set: one(w, script.ListSetWait, script.ListSetWait, script.ListSetWait, script.ListSetPrioritized, script.ListSetDelayed, script.ListSetActive,
			script.ListSetCompleted, script.ListSetFailed, script.ListSetQuarantine, script.ListSetWaitingChildren),
		Order: one(w, script.ListOrderRising, script.ListOrderFalling), Limit: one[int64](w, 1, 2, 3, 500), Begun: w.chance(60),
	}
	if w.grouped > 0 && w.chance(20) {
		call.Set = script.ListSetGrouped
		call.Order = script.ListOrderRising
		call.Last = one(w, append(w.state.Groups.Members(), "", "b|")...)
		return call
	}
	if call.Set == script.ListSetWait {
		call.Order = script.ListOrderRising
		if waiting := len(w.state.Wait); waiting > 0 {
			at := w.random.IntN(waiting)
			call.Place, call.Last = int64(at+w.random.IntN(3)), w.state.Wait[at]
			call.Begun = w.chance(90)
		}
		return call
	}
	set := map[script.ListSet]model.ZSet{
		script.ListSetPrioritized: w.state.Prioritized, script.ListSetDelayed: w.state.Delayed, script.ListSetActive: w.state.Active,
		script.ListSetCompleted: w.state.Completed, script.ListSetFailed: w.state.Failed, script.ListSetQuarantine: w.state.Quarantine,
		script.ListSetWaitingChildren: w.state.Waiting,
	}[call.Set]
	call.Last = w.id().String()
	if order := set.Order(); len(order) > 0 {
		call.Last = one(w, order...)
		call.Place = set[call.Last]
		if w.chance(30) { // of one that has left
			call.Last = one(w, "", "j", "j5", "zzz", "~", "\xff")
		}
	}
	return call
}

func (w *world) someView() model.Caller {
	call := script.View{Limit: one[int64](w, much, much, 0, 100)}
	known := one(w, w.ended(), w.ended(), w.state.Quarantine)
	for _, id := range append(w.from(known, 2), w.ids(4)...) {
		call.Items = append(call.Items, script.ViewItem{ID: id})
	}
	return call
}

// ended returns the jobs that have ended in one of the two ways.
func (w *world) ended() model.ZSet { return one(w, w.state.Completed, w.state.Failed) }

func (w *world) someRemove() model.Caller {
	call := script.Remove{Events: script.RemoveEvents(w.level()), History: 1000}
	ids := w.ids(3)
	if w.chance(60) {
		ids = append(ids, w.from(one(w, w.state.Quarantine, w.state.Completed, w.state.Failed), 2)...)
	}
	if id := w.groupedJob(); id != "" && w.chance(40) {
		ids = append(ids, jobID(id))
	}
	for _, id := range ids {
		call.Items = append(call.Items, script.RemoveItem{ID: id})
	}
	return call
}

func (w *world) someRetry() model.Caller {
	if w.focus == "retry" && !w.rivals() && w.chance(80) { // so that some come together
		return nil
	}
	call := script.Retry{Events: script.RetryEvents(w.level()), History: 1000}
	ids := w.from(w.state.Failed, 4)
	if w.chance(40) {
		ids = append(ids, w.ids(2)...)
	}
	for _, id := range w.state.Failed.Order() { // what is rare: the damaged, and those whose key they do not hold
		if job, err := wire.ParseStoredJobID(id); err == nil && (w.state.Tainted[id] || w.bereft(id)) {
			ids = append(ids, job)
		}
	}
	for _, id := range ids {
		call.Items = append(call.Items, script.RetryItem{ID: id})
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) someDrain() model.Caller {
	call := script.Drain{
		Events: script.DrainEvents(w.level()), History: 1000,
		Set: one(w, script.DrainSetWait, script.DrainSetPrioritized, script.DrainSetDelayed), Take: one[int64](w, 1, 2, 3),
	}
	if slices.ContainsFunc(w.state.Wait, func(id string) bool { _, err := wire.ParseStoredJobID(id); return err != nil }) && w.chance(60) {
		call.Set, call.Take = script.DrainSetWait, one[int64](w, 2, 5, 20)
	}
	if w.grouped > 0 && w.chance(30) {
		call.Set = script.DrainSetGrouped
	}
	for _, id := range w.front(call.Set, 3) {
		if w.chance(80) {
			call.Items = append(call.Items, script.DrainItem{ID: id})
		}
	}
	if w.chance(20) {
		call.Items = append(call.Items, script.DrainItem{ID: w.id()})
	}
	return call
}

// front returns the first ids of a set that are a job's.
func (w *world) front(set script.DrainSet, n int) []wire.JobID {
	order := w.state.Wait
	switch set {
	case script.DrainSetPrioritized:
		order = w.state.Prioritized.Order()
	case script.DrainSetDelayed:
		order = w.state.Delayed.Order()
	case script.DrainSetGrouped:
		order = nil
		for _, member := range w.state.Groups.Members() {
			order = append(order, member[strings.LastIndexByte(member, '|')+1:])
		}
	}
	var ids []wire.JobID
	for _, id := range order[:min(n, len(order))] {
		if job, err := wire.ParseStoredJobID(id); err == nil {
			ids = append(ids, job)
		}
	}
	return ids
}

func (w *world) someExpel() model.Caller {
	call := script.Expel{
		Events: script.ExpelEvents(w.level()), History: 1000,
		To: one(w, script.ExpelToQuarantine, script.ExpelToQuarantine, script.ExpelToNowhere),
	}
	set := one(w, w.state.Delayed, w.state.Active, w.state.Completed, w.state.Failed, w.state.Quarantine)
	if call.To == script.ExpelToNowhere {
		set = w.state.Quarantine
	}
	for _, id := range set.Order() {
		if _, err := wire.ParseStoredJobID(id); err != nil || w.chance(20) {
			call.Items = append(call.Items, script.ExpelItem{Member: id})
		}
	}
	if len(call.Items) == 0 {
		call.Items = []script.ExpelItem{{Member: one(w, "a b", "nobody")}}
	}
	return call
}

func (w *world) someErase() model.Caller {
	var call script.Erase
	for _, id := range w.ids(2) {
		if place := w.state.Place(id.String()); place != "wait" && place != "grouped" { // those are drained
			call.Items = append(call.Items, script.EraseItem{ID: id})
		}
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) someSweep() model.Caller {
	return script.Sweep{
		Worker: one(w, "w0", "w1"), Set: one(w, script.SweepSetCompleted, script.SweepSetFailed),
		Step: one(w, script.SweepStepResume, script.SweepStepLook, script.SweepStepLook, script.SweepStepRest),
		From: w.random.Int64N(5), Limit: one[int64](w, 1, 2, 500), Hold: one[int64](w, 1, 50, 200),
	}
}

// obliterate ends the queue, as an operator does who is in earnest.
func (w *world) obliterate(ctx context.Context) error {
	if err := w.make(ctx, nil, w.somePause()); err != nil {
		return err
	}
	remove := script.Unschedule{}
	for id := range w.state.Schedulers {
		remove.Items = append(remove.Items, script.UnscheduleItem{Scheduler: schedulerID(id)})
	}
	if len(remove.Items) > 0 {
		if err := w.make(ctx, nil, remove); err != nil {
			return err
		}
	}
	for _, set := range []script.DrainSet{script.DrainSetWait, script.DrainSetPrioritized, script.DrainSetDelayed, script.DrainSetGrouped} {
		call := script.Drain{Events: script.DrainEventsAll, History: 1000, Set: set, Take: 500}
		for _, id := range w.front(set, 500) {
			call.Items = append(call.Items, script.DrainItem{ID: id})
		}
		if err := w.make(ctx, nil, call); err != nil {
			return err
		}
	}
	for _, set := range []model.ZSet{w.state.Active, w.state.Completed, w.state.Failed, w.state.Quarantine} {
		if err := w.eraseSet(ctx, set); err != nil {
			return err
		}
	}
	return w.make(ctx, nil, script.Obliterate{})
}

func (w *world) eraseSet(ctx context.Context, set model.ZSet) error {
	var erase script.Erase
	into := script.Expel{Events: script.ExpelEventsAll, History: 1000, To: script.ExpelToQuarantine}
	for _, id := range set.Order() {
		if job, err := wire.ParseStoredJobID(id); err == nil {
			erase.Items = append(erase.Items, script.EraseItem{ID: job})
		} else {
			into.Items = append(into.Items, script.ExpelItem{Member: id})
		}
	}
	if len(into.Items) > 0 {
		if err := w.make(ctx, nil, into); err != nil {
			return err
		}
		into.To = script.ExpelToNowhere
		if err := w.make(ctx, nil, into); err != nil {
			return err
		}
	}
	if len(erase.Items) == 0 {
		return nil
	}
	return w.make(ctx, nil, erase)
}
