package script_test

import (
	"context"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
)

// group returns a group, of which there are few enough to meet again.
func (w *world) group() string { return one(w, "a", "a", "a", "b", "c.1%20") }

// anyGroup returns a group, or in a part of the cases none.
func (w *world) anyGroup() string {
	if w.grouped > 0 && w.chance(w.grouped) {
		return w.group()
	}
	return ""
}

// limitGroups gives most picks of a world with groups a limit for each of them;
// one that has it not, or another one, is of another version of the program.
func (w *world) limitGroups(call *script.Pick) {
	if w.grouped > 0 && w.chance(70) {
		call.PerGroup, call.PerGroupFixed = one[int64](w, 1, 1, 2, 3), w.chance(70)
	}
}

// groupedJob returns the id of a job that waits in a group, or "".
func (w *world) groupedJob() string {
	return w.some(func(id string, job *model.Job) bool {
		return job.Foreign == "" && w.state.Place(id) == "grouped"
	})
}

// atGroupLimits reports whether all that waits is in groups at their limit.
func (w *world) atGroupLimits() bool {
	ring := w.state.Groups.Ring.Order()
	return len(w.state.Wait)+len(w.state.Prioritized) == 0 && len(ring) > 0 && w.state.Groups.Ring[ring[0]] >= model.AtGroupLimit
}

func (w *world) someGroupOverride() model.Caller {
	if w.grouped == 0 {
		return script.Override{}
	}
	return script.Override{GroupLimit: one(w, "", "none", "clear", "clear", "1", "3")}
}

// someGroupAdd adds a job of a group.
func (w *world) someGroupAdd() model.Caller {
	id := w.id()
	if w.state.Jobs[id.String()] != nil || w.lost(id.String()) {
		return nil
	}
	return script.Add{Events: script.AddEvents(w.level()), History: 1000, Items: []script.AddItem{
		{ID: id, Name: "mail", Version: 1, Group: w.group(), Priority: one[int64](w, 0, 0, 3)},
	}}
}

// loseGroupedHash takes the hash of a job of a group that is active.
func (w *world) loseGroupedHash(ctx context.Context) error {
	id := w.some(func(id string, job *model.Job) bool {
		return job.Foreign == "" && w.state.Groups.Of[id] != "" && (w.state.Reserved[id] != "" || w.chance(20))
	})
	if id == "" {
		return nil
	}
	w.note("the hash of %s, of a group, is lost", id)
	w.state.Tainted[id] = true
	delete(w.state.Jobs, id)
	return w.client.Del(ctx, w.queue.Key(id)).Err()
}
