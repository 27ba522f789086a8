package echomq

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// ObliterateOption is an option of [Queue.Obliterate].
type ObliterateOption interface{ applyObliterate(*bulkConfig) }

type obliterateOption func(*bulkConfig)

func (o obliterateOption) applyObliterate(c *bulkConfig) { o(c) }

// Force obliterates a queue although jobs are active: they are deleted under the
// hands of their workers, whose settling comes to nothing.
func Force() ObliterateOption { return obliterateOption(func(c *bulkConfig) { c.force = true }) }

// Obliterate deletes the queue with all its jobs and keys, page by page, and
// returns how many jobs it deleted. It pauses the queue first, and refuses with
// [ErrJobActive] while workers hold jobs; the queue then stays paused, so that
// it can be called again once they have ended.
//
// If ctx ends or a call fails, what was deleted is deleted, the queue stays
// paused, and calling it again goes on. If somebody resumes the queue meanwhile
// the error is [ErrNotPaused].
//
// It looks for stray keys of the queue through all keys of the store, a thousand
// at a time, as far as the user may: the rule of an operator does not allow it,
// since it would show the keys of others. What is left then are at most the
// stubs of jobs that ended within a minute, which go by themselves.
//
// Producers that go on adding begin the queue anew. Stop them, and the workers,
// if it is to be gone.
func (q *Queue) Obliterate(ctx context.Context, opts ...ObliterateOption) (int64, error) {
	config := &bulkConfig{}
	for _, opt := range opts {
		opt.applyObliterate(config)
	}
	if err := q.Pause(ctx); err != nil {
		return 0, err
	}
	for {
		counts, err := q.Counts(ctx)
		if err != nil {
			return config.done, err
		}
		if counts.Active > 0 && !config.force {
			return config.done, fmt.Errorf("echomq: obliterate queue %q: %w: %d of them; it stays paused", q.queue, ErrJobActive, counts.Active)
		}
		if err := q.empty(ctx, config); err != nil {
			return config.done, err
		}
		if err := q.sweepStrays(ctx); err != nil {
			return config.done, err
		}
		raw, err := q.call(ctx, "obliterate", script.Obliterate{}.Call(q.queue))
		if err != nil {
			return config.done, err
		}
		reply, err := script.DecodeObliterate(raw)
		switch {
		case err != nil:
			return config.done, err
		case reply.Verdict == script.ObliterateVerdictRunning:
			return config.done, q.resumed()
		case reply.Verdict == script.ObliterateVerdictObliterated:
			return config.done, q.unregister(ctx)
		}
		// Jobs were added meanwhile, or schedules set.
	}
}

func (q *Queue) resumed() error {
	return fmt.Errorf("echomq: obliterate queue %q: %w: somebody has resumed it", q.queue, ErrNotPaused)
}

// empty deletes the schedules of the queue, and its jobs, wherever they are.
func (q *Queue) empty(ctx context.Context, config *bulkConfig) error {
	if err := q.removeSchedules(ctx); err != nil {
		return err
	}
	for _, set := range []script.DrainSet{script.DrainSetWait, script.DrainSetPrioritized, script.DrainSetGrouped, script.DrainSetDelayed} {
		if err := q.drainSet(ctx, set, config); err != nil {
			return err
		}
	}
	sets := []script.ListSet{
		script.ListSetActive, script.ListSetWaitingChildren, script.ListSetCompleted, script.ListSetFailed, script.ListSetQuarantine,
	}
	for _, set := range sets {
		if err := q.eraseSet(ctx, set, config); err != nil {
			return err
		}
	}
	return nil
}

func (q *Queue) eraseSet(ctx context.Context, set script.ListSet, config *bulkConfig) error {
	for {
		jobs, odd, err := q.page(ctx, set)
		if err != nil || len(jobs)+len(odd) == 0 {
			return err
		}
		if len(odd) > 0 && set != script.ListSetQuarantine {
			if _, err := q.expel(ctx, script.ExpelToQuarantine, odd); err != nil {
				return err
			}
		}
		if len(odd) > 0 {
			if _, err := q.expel(ctx, script.ExpelToNowhere, odd); err != nil {
				return err
			}
		}
		if err := q.erase(ctx, jobs); err != nil {
			return err
		}
		counts, err := q.Counts(ctx)
		if err != nil {
			return err
		}
		left := counts.Active + counts.WaitingChildren + counts.Completed + counts.Failed + counts.Quarantined
		config.step(int64(len(jobs)+len(odd)), left)
	}
}

// erase deletes jobs with every key of theirs.
func (q *Queue) erase(ctx context.Context, jobs []wire.JobID) error {
	for chunk := range slices.Chunk(jobs, repairPage) {
		call := script.Erase{}
		for _, job := range chunk {
			call.Items = append(call.Items, script.EraseItem{ID: job})
		}
		raw, err := q.call(ctx, "obliterate", call.Call(q.queue))
		if err != nil {
			return err
		}
		reply, err := script.DecodeErase(raw)
		if err != nil {
			return err
		}
		if reply.Verdict == script.EraseVerdictRunning {
			return q.resumed()
		}
	}
	return nil
}

// scanner is a node of the store whose keys can be looked through.
type scanner interface {
	Scan(ctx context.Context, cursor uint64, match string, count int64) *redis.ScanCmd
}

// sweepStrays deletes keys of the queue that belong to no job that stands
// anywhere: stubs, and what was left by hand or by a restore.
func (q *Queue) sweepStrays(ctx context.Context) error {
	var node scanner = q.client.store
	if cluster, ok := q.client.store.(*redis.ClusterClient); ok {
		master, err := cluster.MasterForKey(ctx, q.queue.Key("meta"))
		if err != nil {
			return unreachable(q.op("obliterate"), err)
		}
		node = master
	}
	for cursor := uint64(0); ; {
		var page *redis.ScanCmd
		err := q.client.persist(ctx, q.op("look for keys of"), func() error {
			page = node.Scan(ctx, cursor, q.queue.Key("*"), 1000)
			return page.Err()
		})
		if errors.Is(err, ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		keys, next := page.Val()
		if err := q.deleteStrays(ctx, keys); err != nil || next == 0 {
			return err
		}
		cursor = next
	}
}

func (q *Queue) deleteStrays(ctx context.Context, keys []string) error {
	seen := make(map[wire.JobID]bool)
	var jobs []wire.JobID
	var others []string
	for _, name := range keys {
		key, err := wire.ParseKey(name)
		switch {
		case err == nil && !key.Job.IsZero() && !seen[key.Job]:
			seen[key.Job] = true
			jobs = append(jobs, key.Job)
		case err != nil, key.Job.IsZero() && !slices.Contains(wire.QueueSuffixes(), key.Part):
			others = append(others, name)
		}
	}
	if err := q.erase(ctx, jobs); err != nil || len(others) == 0 {
		return err
	}
	return q.client.persist(ctx, q.op("delete keys of"), func() error {
		cmd := q.client.store.Unlink(ctx, others...)
		return notPermittedPlain(q.queue, []redis.Cmder{cmd}, cmd.Err())
	})
}

// unregister takes the queue out of the store's list of queues, and makes the
// client look at it anew if it is used again.
func (q *Queue) unregister(ctx context.Context) error {
	q.client.mu.Lock()
	delete(q.client.contacts, q.queue.Name())
	q.client.mu.Unlock()
	return q.client.persist(ctx, q.op("unregister"), func() error {
		cmd := q.client.store.SRem(ctx, wire.StoreQueuesKey, q.queue.Name())
		return notPermittedPlain(q.queue, []redis.Cmder{cmd}, cmd.Err())
	})
}
