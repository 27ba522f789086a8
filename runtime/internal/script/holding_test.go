package script_test

import (
	"fmt"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// holdings returns what a worker settles or extends: mostly what it holds, but
// also what it held once, what others hold, and what nobody does. Those that it
// holds are forgotten if forget is set.
func (w *world) holdings(by *worker, forget bool) []holding {
	var chosen []holding
	for range 1 + w.random.IntN(3) {
		switch n := w.random.IntN(10); {
		case n < 8 && len(by.held) > 0:
			at := w.random.IntN(len(by.held))
			cancelled := slices.IndexFunc(by.held, func(held holding) bool { return w.state.Cancelled(held.id) })
			if cancelled >= 0 && w.chance(50) {
				at = cancelled
			}
			chosen = append(chosen, by.held[at])
			if forget {
				by.past = append(by.past, by.held[at])
				by.held = append(by.held[:at:at], by.held[at+1:]...)
			}
		case n < 9 && len(by.past) > 0:
			recent := min(len(by.past), 8)
			chosen = append(chosen, by.past[len(by.past)-1-w.random.IntN(recent)])
		case n < 9 || w.chance(50):
			guess := holding{id: w.ids(1)[0].String(), token: one(w, by.token(), "w9:1")}
			if w.state.Locks[guess.id] != guess.token { // it would not know what the job's holder does
				chosen = append(chosen, guess)
			}
		}
	}
	if len(chosen) > 0 && w.chance(10) {
		chosen = append(chosen, chosen[0])
	}
	return chosen
}

func (w *world) someSettle(by *worker) model.Caller {
	call := script.Settle{Events: script.SettleEvents(w.level()), History: 1000}
	givesBack := w.chance(12) || w.focus == "settle" && w.chance(20) // as a worker that ends
	for _, held := range w.holdings(by, !w.chance(10)) {
		item := w.withReport(held, script.SettleItem{
			ID: jobID(held.id), Token: held.token,
			Outcome: one(w, script.SettleOutcomeCompleted, script.SettleOutcomeCompleted, script.SettleOutcomeFailed, script.SettleOutcomeFailed,
				script.SettleOutcomeFailed, script.SettleOutcomeRetry, script.SettleOutcomeSnooze, script.SettleOutcomeRelease),
			Value: []byte(one(w, "", "a value")), Trace: []byte(one(w, "", `["first","second"]`)),
			Delay: one[int64](w, 0, 0, 1, 2, hour), Attempts: held.attempts + 1, Starts: held.starts,
			Unknown: w.random.Int64N(3), Priority: held.priority,
			Keep: w.chance(70), Announce: w.chance(20), Job: "mail",
		})
		switch {
		case givesBack:
			item.Outcome, item.Delay, item.Report = script.SettleOutcomeRelease, 0, nil
		case w.focus == "retry" && w.chance(50): // which is about what has failed
			item.Outcome, item.Keep, item.Report = script.SettleOutcomeFailed, true, nil
		case w.state.Cancelled(held.id) && w.chance(40):
			item.Outcome, item.Delay, item.Report = script.SettleOutcomeRetry, 1, nil
		}
		_, grouped := w.state.Groups.Of[held.id]
		item.Groupless = !grouped && w.chance(60)
		item.Unique = w.released(held, item)
		call.Items = append(call.Items, item)
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

// someComplete settles as most jobs end: they are completed, and kept.
func (w *world) someComplete(by *worker) model.Caller {
	call := script.Settle{Events: script.SettleEvents(w.level()), History: 1000}
	for _, held := range w.holdings(by, !w.chance(10)) {
		if _, grouped := w.state.Groups.Of[held.id]; grouped || held.unique != "" || held.parent != "" {
			continue
		}
		call.Items = append(call.Items, script.SettleItem{
			ID: jobID(held.id), Token: held.token, Outcome: script.SettleOutcomeCompleted, Value: []byte(one(w, "", "a value")),
			Attempts: held.attempts + 1, Starts: held.starts, Keep: true, Job: "mail", Groupless: true,
		})
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

// reporters returns jobs to report of: those that a worker holds, and damaged
// ones that somebody does.
func (w *world) reporters(by *worker) []holding {
	chosen := w.holdings(by, false)
	if id := w.some(func(id string, job *model.Job) bool { return job.Foreign != "" && w.state.Locks[id] != "" }); id != "" {
		chosen = append(chosen, holding{id: id, token: w.state.Locks[id]})
	}
	return chosen
}

func (w *world) someProgress(by *worker) model.Caller {
	call := script.Progress{Events: script.ProgressEvents(w.level()), History: 1000}
	for _, held := range w.reporters(by) {
		call.Items = append(call.Items, script.ProgressItem{
			ID: jobID(held.id), Token: held.token, Value: []byte(one(w, "1", `{"done":2}`)), Announce: w.chance(70),
		})
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) someLog(by *worker) model.Caller {
	call := script.Log{Keep: one[int64](w, 1, 2, 100)}
	for _, held := range w.reporters(by) {
		for range 1 + w.random.IntN(3) {
			call.Items = append(call.Items, script.LogItem{
				ID: jobID(held.id), Token: held.token, Number: 1 + w.random.Int64N(6), Line: []byte(one(w, "", "a line")),
			})
		}
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) someReport() model.Caller {
	call := script.Report{Limit: one[int64](w, 0, 1, 2, 1000)}
	ids := w.ids(4)
	if id := w.some(func(id string, _ *model.Job) bool { return w.state.Parts[id+":logs"] != nil }); id != "" && w.chance(50) {
		ids = append(ids, jobID(id))
	}
	for _, id := range ids {
		call.Items = append(call.Items, script.ReportItem{ID: id, After: w.random.Int64N(3)})
	}
	return call
}

func (w *world) someExtend(by *worker) model.Caller {
	call := script.Extend{Lease: one[int64](w, 1, 2, hour)}
	for _, held := range w.holdings(by, false) {
		call.Items = append(call.Items, script.ExtendItem{ID: jobID(held.id), Token: held.token})
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) someLeave(by *worker) model.Caller {
	call := script.Leave{Events: script.LeaveEvents(w.level()), History: 1000}
	for _, held := range w.holdings(by, false) {
		call.Items = append(call.Items, script.LeaveItem{ID: jobID(held.id), Token: held.token, Job: "mail"})
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) someCancel() model.Caller {
	call := script.Cancel{Events: script.CancelEvents(w.level()), History: 1000, Mark: one(w, "cancelled", "cancelled: why")}
	ids := w.ids(3)
	if w.chance(30) {
		ids = w.from(w.state.Delayed, 3)
	}
	if id := w.some(func(_ string, job *model.Job) bool { return job.Fields["chp"]+job.Fields["chd"] != "" }); id != "" && w.chance(50) {
		ids = append(ids, jobID(id))
	}
	for _, id := range ids {
		call.Items = append(call.Items, script.CancelItem{ID: id, Name: one(w, "", "", "mail", "mail", "other")})
	}
	return call
}

func (w *world) someChange() model.Caller {
	call := script.Change{
		Events: script.ChangeEvents(w.level()), History: 1000, By: fmt.Sprintf("b%d", w.step),
		Priority: one[int64](w, -1, 0, 1, 2, 2), Delay: one[int64](w, -1, -1, 0, 1, hour, hour),
	}
	if w.chance(20) {
		call.Due = w.clock + one[int64](w, -hour, 0, 3, hour)
	}
	ids := w.ids(3)
	switch n := w.random.IntN(10); {
	case n < 5:
		waiting := model.ZSet{}
		for i, id := range w.state.Wait {
			waiting[id] = int64(i)
		}
		ids = w.from(waiting, 4)
		switch w.random.IntN(3) { // what a pick then sees to
		case 0:
			call.Delay, call.Due = hour, 0
		case 1:
			call.Priority, call.Delay, call.Due = 1+w.random.Int64N(2), -1, 0
		}
	case n < 6:
		ids = w.from(w.state.Delayed, 3)
	case n < 9:
		ids = w.from(w.state.Prioritized, 3)
		if w.chance(50) {
			call.Delay, call.Due = -1, 0
			call.Priority = one[int64](w, 0, 1, 2)
		}
	case len(w.state.Waiting) > 0:
		ids = w.from(w.state.Waiting, 2)
	}
	if id := w.groupedJob(); id != "" && w.chance(40) {
		ids = append(ids, jobID(id))
	}
	for _, id := range ids {
		call.Items = append(call.Items, script.ChangeItem{ID: id, Name: one(w, "", "", "", "", "mail", "other")})
	}
	if len(call.Items) == 0 {
		return nil
	}
	return call
}

func (w *world) somePromote() model.Caller {
	call := script.Promote{Events: script.PromoteEvents(w.level()), History: 1000}
	for _, id := range w.from(w.state.Delayed, 4) {
		call.Items = append(call.Items, script.PromoteItem{ID: id})
	}
	return call
}

func (w *world) someRecover() model.Caller {
	call := script.Recover{Events: script.RecoverEvents(w.level()), History: 1000}
	ids := w.from(w.state.Active, 4)
	if damaged := w.some(func(id string, job *model.Job) bool { return job.Foreign != "" && isIn(w.state.Active, id) }); damaged != "" && w.chance(30) {
		ids = []wire.JobID{jobID(damaged)}
	}
	for _, id := range ids {
		deadline := w.state.Active[id.String()]
		if w.chance(10) {
			deadline--
		}
		call.Items = append(call.Items, script.RecoverItem{ID: id, Deadline: deadline, Stalls: one[int64](w, 0, 0, 1, 2)})
	}
	return call
}

func (w *world) someTrim() model.Caller {
	call := script.Trim{Set: one(w, script.TrimSetCompleted, script.TrimSetFailed)}
	set := w.state.Completed
	if call.Set == script.TrimSetFailed {
		set = w.state.Failed
	}
	for _, id := range w.from(set, 4) {
		call.Items = append(call.Items, script.TrimItem{
			ID: id, Age: one[int64](w, -1, -1, -1, 0, 20, hour), Newer: one[int64](w, -1, 0, 1, 1, 2, 3),
		})
	}
	return call
}
