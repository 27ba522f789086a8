package script_test

import (
	"context"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// calling is how a script comes to be called.
type calling struct {
	script string
	share  int                                     // how often, in proportion to the others
	some   func(w *world, by *worker) model.Caller // nil if there is nothing to call it with
}

// callings are those of every script, once each.
var callings = []calling{
	{"add", 130, func(w *world, _ *worker) model.Caller { return w.someAdd() }},
	{"push", 50, func(w *world, _ *worker) model.Caller { return w.somePush() }},
	{"post", 30, func(w *world, _ *worker) model.Caller { return w.somePost() }},
	{"pick", 150, func(w *world, by *worker) model.Caller { return w.somePick(by) }},
	{"settle", 190, func(w *world, by *worker) model.Caller { return w.someSettle(by) }},
	{"complete", 40, func(w *world, by *worker) model.Caller { return w.someComplete(by) }},
	{"extend", 20, func(w *world, by *worker) model.Caller { return w.someExtend(by) }},
	{"leave", 10, func(w *world, by *worker) model.Caller { return w.someLeave(by) }},
	{"progress", 15, func(w *world, by *worker) model.Caller { return w.someProgress(by) }},
	{"log", 20, func(w *world, by *worker) model.Caller { return w.someLog(by) }},
	{"report", 20, func(w *world, _ *worker) model.Caller { return w.someReport() }},
	{"promote", 30, func(w *world, _ *worker) model.Caller { return w.somePromote() }},
	{"recover", 45, func(w *world, _ *worker) model.Caller { return w.someRecover() }},
	{"cancel", 20, func(w *world, _ *worker) model.Caller { return w.someCancel() }},
	{"change", 50, func(w *world, _ *worker) model.Caller { return w.someChange() }},
	{"due", 8, func(w *world, _ *worker) model.Caller { return script.Due{Limit: one[int64](w, 1, 2, 4, 500, 500)} }},
	{"inspect", 15, func(w *world, _ *worker) model.Caller { return script.Inspect{Items: inspectItems(w.ids(6))} }},
	{"trim", 20, func(w *world, _ *worker) model.Caller { return w.someTrim() }},
	{"heal", 12, func(w *world, _ *worker) model.Caller { return w.someHeal() }},
	{"prune", 8, func(w *world, _ *worker) model.Caller { return script.Prune{Limit: one[int64](w, 1, 2, 1000)} }},
	{"replace", 30, func(w *world, _ *worker) model.Caller { return w.someReplace() }},
	{"deliver", 50, func(w *world, _ *worker) model.Caller { return w.someDeliver() }},
	{"collect", 20, func(w *world, _ *worker) model.Caller { return w.someCollect() }},
	{"acknowledge", 20, func(w *world, _ *worker) model.Caller { return w.someAcknowledge() }},
	{"verify", 28, func(w *world, _ *worker) model.Caller { return w.someVerify() }},
	{"schedule", 20, func(w *world, _ *worker) model.Caller { return w.someSchedule() }},
	{"unschedule", 7, func(w *world, _ *worker) model.Caller { return w.someUnschedule() }},
	{"tick", 30, func(w *world, _ *worker) model.Caller { return w.someTick() }},
	{"override", 10, func(w *world, _ *worker) model.Caller { return w.someOverride() }},
	{"declare", 4, func(w *world, _ *worker) model.Caller { return w.someDeclare() }},
	// The queue is paused for about a quarter of the time.
	{"pause", 6, func(w *world, _ *worker) model.Caller { return w.somePause() }},
	{"resume", 20, func(w *world, _ *worker) model.Caller {
		return script.Resume{Events: script.ResumeEvents(w.level()), History: 1000}
	}},
	{"counts", 3, func(*world, *worker) model.Caller { return script.Counts{} }},
	{"list", 12, func(w *world, _ *worker) model.Caller { return w.someList() }},
	{"view", 12, func(w *world, _ *worker) model.Caller { return w.someView() }},
	{"remove", 12, func(w *world, _ *worker) model.Caller { return w.someRemove() }},
	{"retry", 20, func(w *world, _ *worker) model.Caller { return w.someRetry() }},
	{"drain", 10, func(w *world, _ *worker) model.Caller { return w.someDrain() }},
	{"expel", 12, func(w *world, _ *worker) model.Caller { return w.someExpel() }},
	{"erase", 4, func(w *world, _ *worker) model.Caller { return w.someErase() }},
	{"sweep", 14, func(w *world, _ *worker) model.Caller { return w.someSweep() }},
	{"obliterate", 3, func(*world, *worker) model.Caller { return script.Obliterate{} }},
}

// calling returns the one of the script that the world is about, or any.
func (w *world) calling() calling {
	all := 0
	focused := w.focus != "" && w.chance(20)
	for _, c := range callings {
		if focused && c.script == w.focus {
			return c
		}
		all += c.share
	}
	at := w.random.IntN(all)
	for _, c := range callings {
		if at -= c.share; at < 0 {
			return c
		}
	}
	panic("unreachable")
}

// act makes one step.
func (w *world) act(ctx context.Context) error {
	switch n := w.random.IntN(1000); {
	case n < 120:
		return w.disturb(ctx)
	case n < 160:
		return w.replay(ctx)
	case n < 170:
		worker := one(w, w.workers...)
		*worker = *newcomer(worker)
		w.note("%s crashes", worker.id)
		return nil
	case n < 172, n < 200 && w.focus == "obliterate":
		return w.obliterate(ctx)
	}
	if w.atGroupLimits() && w.chance(16) {
		return w.make(ctx, nil, one(w, w.someOverride(), w.someGroupAdd()))
	}
	c := w.calling()
	worker := w.caller(c.script)
	if c.script == "settle" && len(worker.held) == 0 && w.chance(60) {
		return w.make(ctx, worker, w.somePick(worker))
	}
	return w.make(ctx, worker, c.some(w, worker))
}

// caller returns the worker that calls a script: mostly one that holds jobs, if
// that is what the script is about.
func (w *world) caller(script string) *worker {
	var holders []*worker
	switch script {
	case "settle", "extend", "leave", "progress", "log":
		for _, worker := range w.workers {
			if len(worker.held) > 0 {
				holders = append(holders, worker)
			}
		}
	}
	if len(holders) > 0 && w.chance(90) {
		return one(w, holders...)
	}
	return one(w, w.workers...)
}
