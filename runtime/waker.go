package echomq

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// An idle runner looks at the queue at least this often, marker or not.
const (
	minBlock = 1200 * time.Millisecond
	maxBlock = wire.MaxBlock
)

// wakeLoop waits for the marker whenever the exchanger asks, and tells it the
// id at the head of the queue, or "" if none came.
func (r *runner) wakeLoop() {
	for range r.requests {
		r.wakeups <- r.waitForMarker()
	}
}

func (r *runner) waitForMarker() string {
	block := minBlock + rand.N(maxBlock-minBlock)
	seconds := fmt.Sprintf("%.3f", block.Seconds())
	cmd := once{redis.NewCmd(r.store, "bzpopmin", r.queue.Key("marker"), seconds)}
	_ = r.blocking.Process(r.store, cmd)
	reply, err := cmd.Result()
	refresh(r.blocking, err)
	switch {
	case errors.Is(err, redis.Nil):
		return ""
	case err != nil:
		if !r.isStopping() && r.store.Err() == nil {
			r.log.Debug("waiting for the marker failed", "error", err)
			_ = sleep(r.jobs, retryPause(3))
		}
		return ""
	}
	if elements, ok := reply.([]any); ok && len(elements) == 3 {
		if id, ok := elements[1].(string); ok {
			return id
		}
	}
	return ""
}
