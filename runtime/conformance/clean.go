package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// cleanTimeout bounds the cleaning up, which an interruption does not end.
const cleanTimeout = 10 * time.Second

// residence is what the store knew about the queue before the probe.
type residence struct {
	admin   redis.UniversalClient
	queue   wire.Queue
	version bool // emq:{emq}:version was there
}

// suffixKeys returns every key of the queue that is not a job's.
func suffixKeys(queue wire.Queue) []string {
	var keys []string
	for _, suffix := range wire.QueueSuffixes() {
		keys = append(keys, queue.Key(suffix))
	}
	return keys
}

// moveIn refuses a queue that is in use. A queue that holds or has held a job
// has keys; one whose worker has never seen a job is entered in the store's set
// of queues.
func moveIn(ctx context.Context, admin redis.UniversalClient, queue wire.Queue) (*residence, error) {
	for _, key := range suffixKeys(queue) {
		found, err := admin.Exists(ctx, key).Result()
		if err != nil {
			return nil, fmt.Errorf("look for key %q: %w", key, err)
		}
		if found > 0 {
			return nil, fmt.Errorf("queue %q is in use: there is a key %q; give the name of a queue that is not", queue, key)
		}
	}
	stray, err := anyKey(ctx, admin, queue)
	if err != nil {
		return nil, err
	}
	if stray != "" {
		return nil, fmt.Errorf("queue %q is in use: there is a key %q; give the name of a queue that is not", queue, stray)
	}
	entered, err := admin.SIsMember(ctx, wire.StoreQueuesKey, queue.Name()).Result()
	if err != nil {
		return nil, fmt.Errorf("look for the queue in %q: %w", wire.StoreQueuesKey, err)
	}
	if entered {
		return nil, fmt.Errorf("queue %q is in use: it has no keys, but it is entered in %q, so a worker may wait for its jobs; "+
			"give the name of a queue that is not, or take it out with SREM if it is left over", queue, wire.StoreQueuesKey)
	}
	version, err := admin.Exists(ctx, wire.StoreVersionKey).Result()
	if err != nil {
		return nil, fmt.Errorf("look for key %q: %w", wire.StoreVersionKey, err)
	}
	return &residence{admin: admin, queue: queue, version: version > 0}, nil
}

// anyKey returns a key of the queue, of a job's for instance, or "". In a
// cluster it looks at the queue's slot, elsewhere it walks through the store in
// small steps.
func anyKey(ctx context.Context, admin redis.UniversalClient, queue wire.Queue) (string, error) {
	if cluster, ok := admin.(*redis.ClusterClient); ok {
		node, err := cluster.MasterForKey(ctx, queue.Key("meta"))
		if err != nil {
			return "", fmt.Errorf("find the node of queue %q: %w", queue, err)
		}
		const most = 100_000
		keys, err := node.ClusterGetKeysInSlot(ctx, wire.Slot(queue.Key("meta")), most).Result()
		if err != nil {
			return "", fmt.Errorf("look for keys in the slot of queue %q: %w", queue, err)
		}
		at := slices.IndexFunc(keys, func(key string) bool { return strings.HasPrefix(key, queue.Key("")) })
		if at < 0 {
			return "", nil
		}
		return keys[at], nil
	}
	walk := admin.Scan(ctx, 0, queue.Key("*"), 1000).Iterator()
	if walk.Next(ctx) {
		return walk.Val(), nil
	}
	if err := walk.Err(); err != nil {
		return "", fmt.Errorf("look for keys of queue %q: %w", queue, err)
	}
	return "", nil
}

// moveOut deletes what the probe has made: the queue's own keys, the keys that
// were declared or written in it, its entry in the store's set of queues, and
// the store's version if it was not there before and no other queue has come
// meanwhile. It returns keys that were written and are not the queue's: whose
// they are it cannot know.
func (r *residence) moveOut(ctx context.Context, made []string) (left []string, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	keys := suffixKeys(r.queue)
	for _, key := range made {
		switch {
		case strings.HasPrefix(key, r.queue.Key("")):
			keys = append(keys, key)
		case key != wire.StoreVersionKey && key != wire.StoreQueuesKey:
			left = append(left, key)
		}
	}
	var problems []error
	for chunk := range slices.Chunk(distinct(keys), 100) {
		problems = append(problems, r.admin.Del(ctx, chunk...).Err())
	}
	problems = append(problems, r.admin.SRem(ctx, wire.StoreQueuesKey, r.queue.Name()).Err())
	if !r.version {
		queues, err := r.admin.SCard(ctx, wire.StoreQueuesKey).Result()
		if err == nil && queues == 0 {
			err = r.admin.Del(ctx, wire.StoreVersionKey).Err()
		}
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return left, fmt.Errorf("delete the keys of queue %q: %w", r.queue, err)
	}
	return left, nil
}
