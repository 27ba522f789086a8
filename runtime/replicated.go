package echomq

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/internal/script"
)

// ackWait is for how long one call waits for replicas. They are waited for again
// while the caller has time.
const ackWait = time.Second

// century is longer than any queue lives.
const century = 100 * 365 * 24 * time.Hour

// acknowledged reports whether replicas are to acknowledge what a call does.
func (c *Client) acknowledged(call script.Call) bool {
	return c.replicas > 0 && slices.Contains([]string{"add", "deliver", "replace", "settle"}, call.Script.Base())
}

// shortfall is a call that too few replicas have acknowledged in time.
type shortfall struct {
	got  int64
	wait time.Duration
}

func (s *shortfall) Error() string {
	return fmt.Sprintf("%d of them within %v", s.got, s.wait.Round(time.Millisecond))
}

// sendReplicated sends commands to the primary of the queue whose key meta is
// given, and waits for the replicas. The error says why not enough of them are
// known to have it; the commands have errors of their own.
func (c *Client) sendReplicated(ctx context.Context, meta string, cmds []once) error {
	primary, err := c.primary(ctx, meta)
	if err != nil {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
		return err
	}
	pipe := primary.Pipeline()
	queued := func(args ...any) once {
		cmd := once{redis.NewCmd(ctx, args...)}
		_ = pipe.Process(ctx, cmd)
		return cmd
	}
	for _, cmd := range cmds {
		_ = pipe.Process(ctx, cmd)
	}
	// A call that is sent again may find everything done, and write nothing. WAIT
	// would then be content at once: it waits for what its own connection wrote.
	// So something is written that changes nothing, needs no memory, and comes
	// after all that was written before.
	queued("multi")
	queued("pexpire", meta, century.Milliseconds())
	queued("persist", meta)
	written := queued("exec")
	wait := waitFor(ctx, primary.Options().ReadTimeout)
	replicas := queued("wait", c.replicas, max(wait.Milliseconds(), 1))
	_, _ = pipe.Exec(ctx)

	if err := written.Err(); err != nil {
		return err
	}
	got, err := replicas.Int64()
	if err == nil && got < int64(c.replicas) {
		err = &shortfall{got: got, wait: wait}
	}
	return err
}

// primary returns a client for the primary that holds a key. It does not follow
// redirections: what is sent through it must stay on one connection.
func (c *Client) primary(ctx context.Context, key string) (*redis.Client, error) {
	switch store := c.store.(type) {
	case *redis.Client:
		return store, nil
	case *redis.ClusterClient:
		return store.MasterForKey(ctx, key)
	default:
		return nil, optionError("WithReplicaAck needs a *redis.Client or a *redis.ClusterClient, not a %T", store)
	}
}

// waitFor returns how long to wait for replicas, so that the answer comes while
// the connection and the caller still wait for it.
func waitFor(ctx context.Context, readTimeout time.Duration) time.Duration {
	wait := ackWait
	if readTimeout > 0 {
		wait = min(wait, readTimeout/2)
	}
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, time.Until(deadline)/2)
	}
	return wait
}
