package echomq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// uniqueTries is how often a job is added whose unique key was held by a job
// that then turned out to be gone, or about to start.
const uniqueTries = 5

// rival is a job of a chunk whose unique key another one holds.
type rival struct {
	at    int // in the chunk
	owner wire.JobID
}

// chunk is the jobs that one call adds, and what comes of them.
type chunk struct {
	client  *Client
	queue   wire.Queue
	jobs    []Prepared
	results []Sent
}

// send adds the jobs. The error is of all of them; where only some are
// concerned, theirs are in the results.
func (c chunk) send(ctx context.Context) error {
	pending := make([]int, len(c.jobs))
	for i := range pending {
		pending[i] = i
	}
	var rivals []rival
	for try := 0; len(pending) > 0 && try < uniqueTries; try++ {
		var err error
		if rivals, err = c.add(ctx, pending); err != nil && try == 0 {
			return err
		}
		if err == nil {
			rivals, err = c.contend(ctx, rivals)
		}
		if err == nil && len(rivals) > 0 && try > 0 {
			err = sleep(ctx, retryPause(try-1))
		}
		if err != nil {
			c.fail(pending, err)
			return nil
		}
		pending = pending[:0]
		for _, r := range rivals {
			pending = append(pending, r.at)
		}
	}
	for _, r := range rivals {
		c.results[r.at].Err = c.duplicate(r, "")
	}
	return nil
}

// fail enters an error for those of the jobs of which it is not known what came
// of them.
func (c chunk) fail(pending []int, err error) {
	for _, i := range pending {
		if errors.Is(c.results[i].Err, errPending) {
			c.results[i].Err = err
		}
	}
}

// errPending marks a job of which it is not known yet what comes of it.
var errPending = errors.New("pending")

// addition is a call that adds jobs, with the bytes that they count for.
type addition struct {
	script.Add
	bytes int
}

// add adds some of the jobs, and returns those whose key another one holds.
func (c chunk) add(ctx context.Context, pending []int) (rivals []rival, err error) {
	call := addition{Add: script.Add{
		Events:  script.AddEvents(c.jobs[0].events.word()),
		History: DefaultEventHistory,
		Items:   make([]script.AddItem, len(pending)),
	}}
	for n, i := range pending {
		call.Items[n] = c.jobs[i].item()
		call.bytes += c.jobs[i].bytes()
		c.results[i].Err = errPending
	}
	added, err := c.client.add(ctx, c.queue, call)
	if err != nil {
		return nil, withIDs(err, c.ids(pending))
	}
	if len(added.Results) == 0 { // as all were added
		for _, i := range pending {
			c.results[i].Err = nil
		}
	}
	for n := range added.Results {
		i, result := pending[n], &added.Results[n]
		switch result.Verdict {
		case script.AddVerdictDuplicate:
			owner, err := wire.ParseStoredJobID(result.Owner)
			if err != nil {
				c.results[i].Err = fmt.Errorf("echomq: job %s of queue %q: its unique key is held by what is no job: %w", c.jobs[i].name, c.queue, err)
				continue
			}
			rivals = append(rivals, rival{at: i, owner: owner})
		case script.AddVerdictExists:
			c.results[i].parent = result.Parent
			c.exists(i, result.Name)
		default:
			c.results[i].Err = nil
		}
	}
	return rivals, nil
}

// ids are those of some of the jobs.
func (c chunk) ids(places []int) []string {
	ids := make([]string, len(places))
	for n, i := range places {
		ids[n] = c.jobs[i].id.String()
	}
	return ids
}

// exists enters that a job's id was taken.
func (c chunk) exists(i int, name string) {
	c.results[i].Err = nil
	// If the id was minted for this very call, what exists is this job.
	c.results[i].Existing = !c.jobs[i].fresh
	if name != c.jobs[i].name {
		c.results[i].Err = fmt.Errorf("echomq: job %q of queue %q: %w: it is %q, not %q",
			c.jobs[i].id, c.queue, ErrJobMismatch, name, c.jobs[i].name)
	}
}

// contend deals with duplicates, each as it says, and returns those that are to
// be added again: nobody holds their keys any more, or will in a moment.
func (c chunk) contend(ctx context.Context, rivals []rival) (again []rival, err error) {
	var replace, heal []rival
	for _, r := range rivals {
		if c.jobs[r.at].unique.conflict == ConflictReplace {
			replace = append(replace, r)
		} else {
			heal = append(heal, r)
		}
	}
	again, gone, err := c.replace(ctx, replace)
	if err != nil {
		return nil, err
	}
	more, err := c.heal(ctx, append(heal, gone...))
	return append(again, more...), err
}

// heal asks whether the owners of keys are there, and releases the keys of those
// that are not.
func (c chunk) heal(ctx context.Context, rivals []rival) (again []rival, err error) {
	if len(rivals) == 0 {
		return nil, nil
	}
	call := script.Heal{Items: make([]script.HealItem, len(rivals))}
	for n, r := range rivals {
		call.Items[n] = script.HealItem{ID: r.owner, Unique: c.jobs[r.at].unique.key}
	}
	op := fmt.Sprintf("look for the holders of unique keys of queue %q", c.queue)
	raw, err := c.client.call(ctx, op, call.Call(c.queue))
	if err != nil {
		return nil, notAdded(op, err)
	}
	reply, err := script.DecodeHeal(raw)
	if err != nil {
		return nil, notAdded(op, err)
	}
	for n, result := range reply.Results {
		r := rivals[n]
		switch conflict := c.jobs[r.at].unique.conflict; {
		case result.Verdict != script.HealVerdictHeld, conflict == ConflictReplace:
			again = append(again, r)
		case conflict == ConflictError:
			c.results[r.at].Err = c.duplicate(r, "")
		default:
			c.settle(r, false)
		}
	}
	return again, nil
}

// replace gives the owners of keys the content of the jobs that were not added.
// Of several for one owner the last one counts.
func (c chunk) replace(ctx context.Context, rivals []rival) (again, gone []rival, err error) {
	if len(rivals) == 0 {
		return nil, nil, nil
	}
	call := script.Replace{
		Events:  script.ReplaceEvents(c.jobs[0].events.word()),
		History: DefaultEventHistory,
	}
	place := make(map[wire.JobID]int)
	for _, r := range rivals {
		item := c.jobs[r.at].replacement(r.owner)
		if n, known := place[r.owner]; known {
			call.Items[n] = item
			continue
		}
		place[r.owner] = len(call.Items)
		call.Items = append(call.Items, item)
	}
	op := fmt.Sprintf("replace jobs of queue %q", c.queue)
	raw, err := c.client.call(ctx, op, call.Call(c.queue))
	if err != nil {
		return nil, nil, c.replaceError(err, rivals)
	}
	reply, err := script.DecodeReplace(raw)
	if err != nil {
		return nil, nil, c.replaceError(&StoreError{Kind: ErrOutcomeUnknown, Op: op, Err: err}, rivals)
	}
	for _, r := range rivals {
		switch verdict := reply.Results[place[r.owner]].Verdict; verdict {
		case script.ReplaceVerdictReplaced:
			c.settle(r, true)
		case script.ReplaceVerdictGone:
			gone = append(gone, r)
		case script.ReplaceVerdictReserved, script.ReplaceVerdictCancelled, script.ReplaceVerdictPassed:
			again = append(again, r)
		default:
			c.results[r.at].Err = c.duplicate(r, State(verdict))
		}
	}
	return again, gone, nil
}

// settle enters that another job stands for this one.
func (c chunk) settle(r rival, replaced bool) {
	c.results[r.at] = Sent{ID: r.owner.String(), Existing: true, Replaced: replaced}
}

func (c chunk) duplicate(r rival, state State) error {
	return &DuplicateError{Queue: c.queue.Name(), Job: c.jobs[r.at].name, Owner: r.owner.String(), State: state}
}

// notAdded is the error of a look after jobs that were not added.
func notAdded(op string, err error) error {
	if errors.Is(err, ErrOutcomeUnknown) {
		return unreachable(op, err)
	}
	return err
}

// replaceError gives the error of a replacement the ids of the jobs of which it
// is not known whether they were replaced.
func (c chunk) replaceError(err error, rivals []rival) error {
	ids := make([]string, len(rivals))
	for n, r := range rivals {
		ids[n] = r.owner.String()
	}
	return withIDs(err, slices.Compact(ids))
}
