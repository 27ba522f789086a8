package script_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// world is a queue with its workers and its model: it makes random calls, and
// compares what the engine says and holds with what the model predicts.
type world struct {
	*bench
	seed    uint64
	random  *rand.Rand
	state   *model.State
	workers []*worker
	clock   int64 // the server's, as of the last reply
	limited bool  // whether it has limits and rates, which leave less to the rest
	grouped int   // how many percent of the jobs are of groups
	recent  []model.Caller
	log     []entry // of the last steps
	step    int
	focus   string // the script that is called more often than others, and meets more damage
	refused int    // calls that were made while the queue spoke another version
}

// worker is what a worker knows. It may be wrong.
type worker struct {
	id       string
	picks    int
	held     []holding
	past     []holding // settled, or lost without its knowledge
	reserved []script.PickItem
	window   []string
}

type holding struct {
	id, token        string
	priority, starts int64
	parent, edge     string
	attempts         int64
	unique, until    string
}

const (
	population = 60 // ids in use
	crowd      = 16 // jobs that run or wait above which few are added
	keptLog    = 20
)

func newWorld(b *bench, seed uint64, focus string) *world {
	w := &world{bench: b, seed: seed, random: rand.New(rand.NewPCG(seed, 1)), state: model.New(), limited: seed%2 == 0, focus: focus, grouped: []int{0, 90, 35, 0}[seed%4]}
	w.refused = w.random.IntN(len(callings))
	for i := range 3 {
		w.workers = append(w.workers, &worker{id: fmt.Sprintf("w%d", i)})
	}
	return w
}

// run makes steps, for a time at most, and returns the first difference between
// engine and model.
func (w *world) run(ctx context.Context, steps int, most time.Duration) error {
	begin := time.Now()
	for w.step = 1; w.step <= steps && time.Since(begin) < most; w.step++ {
		if err := w.act(ctx); err != nil {
			return fmt.Errorf("seed %d, step %d: %w\nthe last steps:\n%s", w.seed, w.step, err, w.lastSteps())
		}
		if len(w.log) > 10*keptLog {
			w.log = slices.Clone(w.log[len(w.log)-keptLog:])
		}
	}
	return nil
}

func (w *world) somePause() model.Caller {
	return script.Pause{Events: script.PauseEvents(w.level()), History: 1000}
}

// newcomer is a worker in the place of one that crashed.
func newcomer(old *worker) *worker {
	return &worker{id: old.id, picks: old.picks, past: append(old.past, old.held...)}
}

// replay sends a call again, as a client does that got no answer.
func (w *world) replay(ctx context.Context) error {
	if len(w.recent) == 0 {
		return nil
	}
	call := w.recent[len(w.recent)-1-w.random.IntN(min(len(w.recent), 6))]
	if add, ok := call.(script.Add); ok && slices.ContainsFunc(add.Items, func(item script.AddItem) bool { return w.lost(item.ID.String()) }) {
		return nil
	}
	if pick, ok := call.(script.Pick); ok {
		pick.Again = true
		call = pick
		for _, worker := range w.workers {
			if strings.HasPrefix(pick.Token, worker.id+":") {
				return w.make(ctx, worker, call)
			}
		}
	}
	return w.make(ctx, nil, call)
}

// lost reports whether a job's hash was lost while its id stands somewhere. To
// add it again would make it stand in two places, which no script can know.
func (w *world) lost(id string) bool {
	_, locked := w.state.Locks[id]
	return w.state.Jobs[id] == nil && (locked || w.state.Place(id) != "")
}

// make makes a call for a worker, who may not see the answer, and compares.
func (w *world) make(ctx context.Context, worker *worker, call model.Caller) error {
	if call == nil {
		return nil
	}
	w.log = append(w.log, entry{step: w.step, call: call})
	raw, err := w.call(ctx, call.Call(w.queue))
	if refusal := w.state.Refusal(call); refusal != "" {
		if code(err) != refusal {
			return fmt.Errorf("answered %v, error %v, and not %s", raw, err, refusal)
		}
		w.state.Reached[model.Reach{Script: call.Call(w.queue).Script.Name, What: refusal}]++
		w.state.Events = nil
		return w.compare(ctx)
	}
	if err != nil {
		return fmt.Errorf("answered an error: %w", err)
	}
	got, now, err := model.Decode(call, raw)
	if err != nil {
		return err
	}
	w.clock = now
	want := replyText(call, w.state.Apply(call, now))
	w.append("%s", want)
	if got := replyText(call, got); got != want {
		return fmt.Errorf("the model predicted the reply\n  %s\nbut it was\n  %s", want, got)
	}
	if done, ok := got.(script.ObliterateReply); ok && done.Verdict == script.ObliterateVerdictObliterated {
		w.seen = "-" // the stream begins anew, and its numbers may too
	}
	w.recent = append(w.recent, call)
	if len(w.recent) > 40 {
		w.recent = w.recent[1:]
	}
	if worker != nil && w.random.IntN(10) > 0 {
		worker.learn(got)
	} else if worker != nil {
		w.append("%s never sees it", worker.id)
	}
	return w.compare(ctx)
}

// compare compares the store and the events with what the model predicts.
func (w *world) compare(ctx context.Context) error {
	want := w.state.Store()
	got, events, err := w.look(ctx, want)
	if err != nil {
		return err
	}
	if !want.Equal(got) {
		return fmt.Errorf("the store is not as predicted (- model, + engine):\n%s", model.Diff(want.String(), got.String()))
	}
	if !slices.Equal(events, w.state.Events) {
		return fmt.Errorf("the model predicted the events %v but there were %v", w.state.Events, events)
	}
	if err := w.state.Check(); err != nil {
		return fmt.Errorf("a law is broken: %w", err)
	}
	return nil
}

// entry is what the log has of a step.
type entry struct {
	step  int
	call  model.Caller
	notes []string
}

func (e entry) String() string {
	text := fmt.Sprintf("%5d", e.step)
	if e.call != nil {
		text += " " + callText(e.call)
	}
	return text + " " + strings.Join(e.notes, "\n        ")
}

// note begins a step that is not a call.
func (w *world) note(format string, args ...any) {
	w.log = append(w.log, entry{step: w.step, notes: []string{fmt.Sprintf(format, args...)}})
}

// append adds to the last entry.
func (w *world) append(format string, args ...any) {
	last := &w.log[len(w.log)-1]
	last.notes = append(last.notes, fmt.Sprintf(format, args...))
}

// lastSteps is the end of the log.
func (w *world) lastSteps() string {
	var text strings.Builder
	for _, entry := range w.log[max(0, len(w.log)-keptLog):] {
		fmt.Fprintln(&text, entry)
	}
	return text.String()
}

// learn is what a worker makes of an answer that it sees. Only a pick tells it
// something; it goes on settling what it has lost, for the sake of the test.
func (w *worker) learn(reply any) {
	if pick, ok := reply.(script.PickReply); ok {
		w.learnPick(pick)
	}
}

func (w *worker) learnPick(reply script.PickReply) {
	token := w.token()
	for _, started := range reply.Started {
		job := fieldsOf(started.Job)
		w.held = append(w.held, holding{
			id: started.ID, token: token, starts: started.Starts,
			priority: number(job["priority"]), attempts: number(job["atm"]),
			parent: job["parentKey"], edge: job["parent"],
			unique: job["deid"], until: job["deu"],
		})
	}
	w.reserved = nil
	for _, id := range reply.Reserved {
		if job, err := wire.ParseJobID(id); err == nil {
			w.reserved = append(w.reserved, script.PickItem{ID: job, Reservation: token})
		}
	}
	w.window = reply.Window
}

// token is the token of the worker's last pick.
func (w *worker) token() string { return fmt.Sprintf("%s:%d", w.id, w.picks) }
