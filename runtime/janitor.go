package echomq

import (
	"errors"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

const (
	// cleanEvery is how often, about, a worker looks for ended jobs to delete.
	cleanEvery = 5 * time.Second
	// cleanPage is how many ended jobs it looks at, and deletes, at a time.
	cleanPage = 200
)

// fieldOpts is the field of a job that holds its settings.
var fieldOpts, _ = wire.WireName("opts")

// cleanLoop deletes ended jobs that are kept no longer, in small steps beside
// the work of the queue.
func (r *runner) cleanLoop() {
	completed := &sweep{runner: r, set: script.TrimSetCompleted}
	failed := &sweep{runner: r, set: script.TrimSetFailed}
	for {
		if sleep(r.store, r.clean/2+rand.N(r.clean)) != nil {
			return
		}
		for _, s := range []*sweep{completed, failed} {
			for more := true; more && r.store.Err() == nil; {
				var err error
				if more, err = s.step(); err != nil && r.store.Err() == nil {
					r.log.Warn("cleaning up ended jobs failed; trying again later", "set", s.set, "error", err)
				}
			}
		}
	}
}

// sweep goes through a set of ended jobs from the oldest on, a page at a time.
type sweep struct {
	*runner
	set  script.TrimSet
	from int64 // the rank at which the next page begins
}

// step looks at one page. more says that it pays to look at the next at once.
func (s *sweep) step() (more bool, err error) {
	key := s.queue.Key(string(s.set))
	var now *redis.TimeCmd
	var size *redis.IntCmd
	var page *redis.ZSliceCmd
	_, err = s.client.store.Pipelined(s.store, func(pipe redis.Pipeliner) error {
		now = pipe.Time(s.store)
		size = pipe.ZCard(s.store, key)
		page = pipe.ZRangeWithScores(s.store, key, s.from, s.from+cleanPage-1)
		return nil
	})
	if err != nil || len(page.Val()) == 0 {
		s.from = 0
		return false, err
	}
	items, err := s.expired(page.Val(), now.Val().UnixMilli(), size.Val())
	if err != nil {
		return false, err
	}
	trimmed := int64(0)
	if len(items) > 0 {
		if trimmed, err = s.trim(items); err != nil {
			return false, err
		}
	}
	s.from += int64(len(page.Val())) - trimmed
	return trimmed > 0, nil
}

// expired returns the jobs of a page that seem to be kept no longer. The script
// judges for itself.
func (s *sweep) expired(page []redis.Z, now, size int64) ([]script.TrimItem, error) {
	keys := make([]string, len(page))
	for i, z := range page {
		keys[i] = s.queue.Key(z.Member.(string))
	}
	read, err := s.readSettings(keys)
	if err != nil {
		return nil, err
	}
	var items []script.TrimItem
	for i, z := range page {
		id, err := wire.ParseStoredJobID(z.Member.(string))
		if err != nil {
			continue
		}
		keep := read[i].keepCompleted
		if s.set == script.TrimSetFailed {
			keep = read[i].keepFailed
		}
		item := script.TrimItem{ID: id, Age: bound(keep.Age), Newer: bound(int64(keep.Count))}
		newer := size - 1 - (s.from + int64(i))
		if item.Age >= 0 && int64(z.Score)+item.Age <= now || item.Newer >= 0 && newer >= item.Newer {
			items = append(items, item)
		}
	}
	return items, nil
}

// readSettings reads the settings of jobs. Those of one that is gone, or broken,
// are the defaults; but not of one for which the store just did not answer.
func (r *runner) readSettings(keys []string) ([]settings, error) {
	opts := make([]*redis.StringCmd, len(keys))
	_, _ = r.client.store.Pipelined(r.store, func(pipe redis.Pipeliner) error {
		for i, key := range keys {
			opts[i] = pipe.HGet(r.store, key, fieldOpts)
		}
		return nil
	})
	read := make([]settings, len(keys))
	for i, cmd := range opts {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) && !hasWord(err, "WRONGTYPE") {
			return nil, err
		}
		read[i], _ = decodeSettings(cmd.Val())
	}
	return read, nil
}

// bound returns what stands for no bound as the script takes it.
func bound(n int64) int64 {
	if n <= 0 {
		return -1
	}
	return n
}

func (s *sweep) trim(items []script.TrimItem) (trimmed int64, err error) {
	a := s.exchange(script.Trim{Set: s.set, Items: items}.Call(s.queue))[0]
	if a.err != nil {
		return 0, a.err
	}
	reply, err := script.DecodeTrim(a.reply)
	if err != nil {
		return 0, err
	}
	for _, verdict := range reply.Results {
		if verdict.Verdict == script.TrimVerdictTrimmed {
			trimmed++
		}
	}
	return trimmed, nil
}
