package script_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// family is a parent with the edges of children that it waits for.
type family struct {
	parent string
	edges  []string
}

// families returns the parents that wait, or waited, for children.
func (w *world) families() []family {
	var found []family
	for _, key := range slices.Sorted(maps.Keys(w.state.Parts)) {
		id, ok := strings.CutSuffix(key, ":dependencies")
		if _, valid := wire.ParseJobID(id); !ok || valid != nil {
			continue
		}
		edges := slices.DeleteFunc(slices.Clone(w.state.Parts[key].(model.Set)), func(edge string) bool {
			_, err := wire.ParseEdge(edge)
			return err != nil
		})
		if len(edges) > 0 {
			found = append(found, family{id, edges})
		}
	}
	return found
}

func (w *world) someEdge(index int) wire.Edge {
	return wire.Edge{
		Index: index, Policy: one(w, wire.PolicyFail, wire.PolicyContinue, wire.PolicyIgnore, wire.PolicyIgnore, wire.PolicyRemove),
		Queue: w.queue, ID: w.id(), Codec: one(w, "", "json+x"), Name: one(w, "mail", "a | b"),
	}
}

// place returns a job's place at a parent: mostly that of a child which a parent
// waits for.
func (w *world) place() (parent wire.JobID, edge wire.Edge) {
	if families := w.families(); len(families) > 0 && w.chance(85) {
		chosen := one(w, families...)
		lost := slices.IndexFunc(families, func(f family) bool { return w.state.Jobs[f.parent] == nil })
		if lost >= 0 && w.chance(50) {
			chosen = families[lost]
		}
		edge, err := wire.ParseEdge(one(w, chosen.edges...))
		if err != nil {
			panic(err)
		}
		return jobID(chosen.parent), edge
	}
	return w.ids(1)[0], w.someEdge(w.random.IntN(3))
}

// intoFlow makes a job a parent, a child, both, or leaves it alone.
func (w *world) intoFlow(item *script.AddItem) {
	if w.chance(20) {
		var edges []string
		for i := range 1 + w.random.IntN(3) {
			edges = append(edges, w.someEdge(i).String())
		}
		item.Children, item.Edges = int64(len(edges)), []byte(strings.Join(edges, "\n"))
		item.Delivery = []byte(wire.ChildrenHead + "[]")
		if w.chance(30) {
			item.Delay = hour
		}
	}
	if w.chance(30) {
		parent, edge := w.place()
		item.Parent, item.Edge = w.queue.Job(parent), edge.String()
		if _, taken := w.state.Jobs[edge.ID.String()]; !taken && !w.lost(edge.ID.String()) && item.Children == 0 {
			item.ID = edge.ID
		}
	}
}

// withReport gives a settle the report that its job's end takes, if it is its end
// and it has a parent; now and then also if not.
func (w *world) withReport(held holding, item script.SettleItem) script.SettleItem {
	ended := item.Outcome == script.SettleOutcomeCompleted || item.Outcome == script.SettleOutcomeFailed
	parent, edge := held.parent, held.edge
	if parent == "" && w.chance(20) {
		id, place := w.place()
		parent, edge = w.queue.Job(id), place.String()
	}
	if parent != "" && (ended || w.chance(10)) {
		item.Report = []byte(wire.Report{Parent: parent, Outcome: wire.Outcome(item.Outcome), Edge: edge}.Head())
	}
	return item
}

func (w *world) someDeliver() model.Caller {
	call := script.Deliver{Events: script.DeliverEvents(w.level()), History: 1000}
	for range 1 + w.random.IntN(4) {
		parent, edge := w.place()
		call.Items = append(call.Items, script.DeliverItem{
			ID: parent, Edge: edge.String(), Value: []byte(one(w, "", "a value")),
			Outcome: one(w, script.DeliverOutcomeCompleted, script.DeliverOutcomeCompleted, script.DeliverOutcomeFailed,
				script.DeliverOutcomeFailed, script.DeliverOutcomeRemoved, script.DeliverOutcomeTaken),
		})
	}
	if w.chance(10) {
		call.Items = append(call.Items, call.Items[0])
	}
	return call
}

func (w *world) someCollect() model.Caller {
	return script.Collect{
		Limit: one[int64](w, 1, 2, 500), Bytes: one[int64](w, 0, 100, much), Least: one[int64](w, 1, 5, hour),
		Most: one[int64](w, 1, 10, hour), Parents: one[int64](w, 0, 1, 3, 500), Check: one[int64](w, 1, 5, hour),
	}
}

func (w *world) someAcknowledge() model.Caller {
	var call script.Acknowledge
	for _, entry := range w.state.Outbox.Order() {
		if id, _, err := wire.ParseEntry(entry); err == nil && w.chance(30) {
			call.Items = append(call.Items, script.AcknowledgeItem{ID: id, Entry: entry})
		}
	}
	if len(call.Items) == 0 || w.chance(10) {
		id := w.ids(1)[0]
		call.Items = append(call.Items, script.AcknowledgeItem{ID: id, Entry: one(w, id.String(), wire.ChildrenEntry(id))})
	}
	return call
}

func (w *world) someVerify() model.Caller {
	call := script.Verify{Bytes: one[int64](w, 0, 0, 100, much)}
	ids := slices.Concat(w.ids(2), w.from(w.state.Outbox, 2), w.from(w.ended(), 3))
	told := w.some(func(id string, job *model.Job) bool {
		return job.Fields["parentKey"] != "" && job.Fields["finishedOn"] != "" && !isIn(w.state.Outbox, id)
	})
	if told != "" && w.chance(50) {
		ids = append([]wire.JobID{jobID(told)}, ids...)
	}
	for _, id := range ids {
		parent := "emq:{other}:a"
		if job := w.state.Jobs[id.String()]; job != nil && job.Fields["parentKey"] != "" && w.chance(90) {
			parent = job.Fields["parentKey"]
		}
		call.Items = append(call.Items, script.VerifyItem{ID: id, Parent: parent})
	}
	return call
}
