package echomq

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// DefaultPageSize is how many jobs a page of [Queue.List] has at most.
	DefaultPageSize = 100
	// MaxPageSize is the largest page that can be asked for.
	MaxPageSize = 500
)

// ListOption is an option of [Queue.List] and [Queue.Jobs].
type ListOption interface{ applyList(*listConfig) }

type listConfig struct {
	size   int
	cursor string
	newest bool
}

type listOption func(*listConfig)

func (o listOption) applyList(c *listConfig) { o(c) }

// PageSize is how many jobs a page has at most; default [DefaultPageSize], limit
// [MaxPageSize].
func PageSize(jobs int) ListOption { return listOption(func(c *listConfig) { c.size = jobs }) }

// After goes on behind the page whose Next is cursor; "" begins at the
// beginning. The state must be the page's, and so must NewestFirst.
func After(cursor string) ListOption { return listOption(func(c *listConfig) { c.cursor = cursor }) }

// NewestFirst begins with the highest score: the last to have ended, the last to
// become due. Jobs that wait can only be listed from the next to run on.
func NewestFirst() ListOption { return listOption(func(c *listConfig) { c.newest = true }) }

// Page is a page of jobs.
type Page struct {
	// Jobs are in order. They may be fewer than the page's size although there
	// are more: those that left the state while the page was read are left out.
	Jobs []JobInfo `json:"jobs"`
	// Next is the cursor for [After]; empty at the end.
	Next string `json:"next,omitempty"`
}

// List returns a page of the jobs in a state, whole: waiting ones from the next
// to run on, and after those of no group the others group by group; others by when they are due, their lease ends, they ended or were
// put into quarantine, the earliest first.
//
// Jobs may come and go between two pages. One that stays in its state is listed
// once, with one exception: waiting jobs are found again by their place in line,
// so if the last job of a page was taken meanwhile up to 1,000 may be listed
// again, and if more than 1,000 were taken as many may be missed.
//
// A page takes two calls, more if its jobs have over 8 MiB together, and costs
// the same however many jobs there are. The error is [ErrOption] for a state in
// which no jobs are kept, a page size out of range, or a cursor of another list.
func (q *Queue) List(ctx context.Context, state State, opts ...ListOption) (Page, error) {
	config := listConfig{size: DefaultPageSize}
	for _, opt := range opts {
		opt.applyList(&config)
	}
	if config.size < 1 || config.size > MaxPageSize {
		return Page{}, optionError("page size %d: it must be from 1 to %d", config.size, MaxPageSize)
	}
	call, err := startOf(state, config)
	if err != nil {
		return Page{}, err
	}
	reply, err := q.listIDs(ctx, call)
	if err != nil {
		return Page{}, err
	}
	listed := reply.IDs
	if call.Set == script.ListSetWait && len(listed) < config.size {
		// Those of no group end here, and those in groups begin.
		call = script.List{Set: script.ListSetGrouped, Order: call.Order, Limit: int64(config.size - len(listed))}
		if reply, err = q.listIDs(ctx, call); err != nil {
			return Page{}, err
		}
		listed = append(listed, reply.IDs...)
	}
	jobs, err := q.viewListed(ctx, state, listed)
	if err != nil {
		return Page{}, err
	}
	page := Page{Jobs: jobs}
	if len(listed) == config.size {
		page.Next = cursorOf(call, reply)
	}
	return page, nil
}

// Jobs returns the jobs in a state page by page, as [Queue.List] does. An error
// ends it.
func (q *Queue) Jobs(ctx context.Context, state State, opts ...ListOption) iter.Seq2[JobInfo, error] {
	return func(yield func(JobInfo, error) bool) {
		next := opts
		for {
			page, err := q.List(ctx, state, next...)
			if err != nil {
				yield(JobInfo{}, err)
				return
			}
			for _, job := range page.Jobs {
				if !yield(job, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			next = append(opts[:len(opts):len(opts)], After(page.Next))
		}
	}
}

// Get returns a job, whatever its state. The error is [ErrJobMissing] if there
// is none of the id.
func (q *Queue) Get(ctx context.Context, id string) (JobInfo, error) {
	job, err := wire.ParseStoredJobID(id)
	if err != nil {
		return JobInfo{}, fmt.Errorf("echomq: job: %w", err)
	}
	seen, err := q.view(ctx, []wire.JobID{job})
	if err != nil {
		return JobInfo{}, err
	}
	if State(seen[0].State) == StateMissing {
		return JobInfo{}, fmt.Errorf("echomq: job %q of queue %q: %w", id, q.queue, ErrJobMissing)
	}
	return jobInfo(id, seen[0]), nil
}

// setOf returns the place where the jobs of a state stand.
func setOf(state State) (script.ListSet, error) {
	set, ok := map[State]script.ListSet{
		StateWaiting: script.ListSetWait, StatePrioritized: script.ListSetPrioritized, StateDelayed: script.ListSetDelayed,
		StateActive: script.ListSetActive, StateCompleted: script.ListSetCompleted, StateFailed: script.ListSetFailed,
		StateQuarantined: script.ListSetQuarantine, StateWaitingChildren: script.ListSetWaitingChildren,
	}[state]
	if !ok {
		return "", optionError("state %q: no jobs are kept in it", state)
	}
	return set, nil
}

// startOf returns the call for a page.
func startOf(state State, config listConfig) (script.List, error) {
	set, err := setOf(state)
	if err != nil {
		return script.List{}, err
	}
	call := script.List{Set: set, Order: script.ListOrderRising, Limit: int64(config.size)}
	if config.newest {
		call.Order = script.ListOrderFalling
	}
	if config.newest && state == StateWaiting {
		return call, optionError("waiting jobs can only be listed from the next to run on")
	}
	if config.cursor == "" {
		return call, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(config.cursor)
	parts := strings.SplitN(string(text), " ", 4)
	if set == script.ListSetWait && len(parts) == 4 && parts[0] == string(script.ListSetGrouped) {
		call.Set, set = script.ListSetGrouped, script.ListSetGrouped
	}
	if err != nil || len(parts) != 4 || parts[0] != string(set) || parts[1] != string(call.Order) {
		return call, optionError("cursor %q is not of a list of %s jobs in this order", config.cursor, state)
	}
	place, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return call, optionError("cursor %q: %v", config.cursor, err)
	}
	call.Begun, call.Place, call.Last = true, place, parts[3]
	return call, nil
}

func cursorOf(call script.List, reply script.ListReply) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %s %d %s", call.Set, call.Order, reply.Place, reply.Last))
}

// listIDs reads a page of ids.
func (q *Queue) listIDs(ctx context.Context, call script.List) (script.ListReply, error) {
	raw, err := q.read(ctx, "list the jobs of", call.Call(q.queue))
	if err != nil {
		return script.ListReply{}, err
	}
	return script.DecodeList(raw)
}

// viewListed reads those of the listed jobs that are still in the state.
func (q *Queue) viewListed(ctx context.Context, state State, listed []script.ListID) ([]JobInfo, error) {
	jobs := make([]wire.JobID, 0, len(listed))
	odd := make(map[int]error)
	for i, each := range listed {
		job, err := wire.ParseStoredJobID(each.ID)
		if err != nil {
			odd[i] = err
			continue
		}
		jobs = append(jobs, job)
	}
	seen, err := q.view(ctx, jobs)
	if err != nil {
		return nil, err
	}
	infos := make([]JobInfo, 0, len(listed))
	for i, each := range listed {
		if err := odd[i]; err != nil {
			infos = append(infos, oddInfo(state, each, err))
			continue
		}
		if State(seen[0].State) == state {
			infos = append(infos, jobInfo(each.ID, seen[0]))
		}
		seen = seen[1:]
	}
	return infos, nil
}

// view reads jobs, in as many calls as it takes.
func (q *Queue) view(ctx context.Context, jobs []wire.JobID) ([]script.ViewResult, error) {
	results := make([]script.ViewResult, 0, len(jobs))
	for len(results) < len(jobs) {
		rest := jobs[len(results):]
		call := script.View{Limit: maxReplyBytes}
		for _, job := range rest[:min(len(rest), maxBatch)] {
			call.Items = append(call.Items, script.ViewItem{ID: job})
		}
		raw, err := q.read(ctx, "look at jobs of", call.Call(q.queue))
		if err != nil {
			return nil, err
		}
		reply, err := script.DecodeView(raw)
		if err != nil {
			return nil, err
		}
		for _, result := range reply.Results {
			if result.State == script.ViewStateCrowded {
				break
			}
			results = append(results, result)
		}
	}
	return results, nil
}
