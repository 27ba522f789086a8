package echomq

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// contact is a client's first look at a queue, made once: does the store speak
// this protocol, does the queue, and is there none of the v1 line by that name?
type contact struct {
	turn chan struct{} // holds a value while somebody looks
	made atomic.Bool
}

// meet makes the contact with a queue before anything is written to it.
func (c *Client) meet(ctx context.Context, queue wire.Queue) error {
	if c.store == nil {
		return errNoStore
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return fmt.Errorf("echomq: queue %q: client %w", queue, ErrClosed)
	}
	met := c.contacts[queue.Name()]
	if met == nil {
		met = &contact{turn: make(chan struct{}, 1)}
		c.contacts[queue.Name()] = met
	}
	c.mu.Unlock()

	if met.made.Load() {
		return nil
	}
	select {
	case met.turn <- struct{}{}:
		defer func() { <-met.turn }()
	case <-ctx.Done():
		return unreachable(fmt.Sprintf("first contact with queue %q", queue), context.Cause(ctx))
	}
	if met.made.Load() {
		return nil
	}
	if err := c.look(ctx, queue); err != nil {
		return err
	}
	met.made.Store(true)
	return nil
}

var errNoStore = optionError("the client has no store: NewClient was given nil")

// look reads what stands under the names that the queue is about to use, and
// enters the queue and the protocol's version into the store's own keys.
func (c *Client) look(ctx context.Context, queue wire.Queue) error {
	op := fmt.Sprintf("first contact with queue %q", queue)
	legacy := make([]*redis.IntCmd, len(c.legacy))
	var meta *redis.SliceCmd
	var store *redis.StringCmd
	err := c.persist(ctx, op, func() error {
		commands, err := c.store.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			for i, prefix := range c.legacy {
				legacy[i] = pipe.Exists(ctx, queue.LegacyMetaKey(prefix))
			}
			meta = pipe.HMGet(ctx, queue.Key("meta"), wire.FieldVersion, wire.FieldFeatures)
			store = pipe.Get(ctx, wire.StoreVersionKey)
			return nil
		})
		if err == redis.Nil {
			return nil
		}
		return notPermittedPlain(queue, commands, err)
	})
	if err != nil {
		return err
	}
	for i, prefix := range c.legacy {
		if err := fenceLegacy(queue, prefix, legacy[i].Val() > 0); err != nil {
			return err
		}
	}
	version, _ := meta.Val()[0].(string)
	features, _ := meta.Val()[1].(string)
	err = cmp.Or(
		fenceVersion(queue, wire.StoreVersionKey, store.Val()),
		fenceVersion(queue, queue.Key("meta"), version),
		fenceFeatures(queue, queue.Key("meta"), features),
	)
	if err != nil {
		return err
	}
	return c.register(ctx, op, queue)
}

// register enters the queue and the version into the store. A store that is
// full still lets its queues be drained, so that is no error here.
func (c *Client) register(ctx context.Context, op string, queue wire.Queue) error {
	err := c.persist(ctx, op, func() error {
		commands, err := c.store.Pipelined(ctx, func(pipe redis.Pipeliner) error {
			// By its name: a right to SET would let a user replace the version.
			pipe.Do(ctx, "setnx", wire.StoreVersionKey, wire.Version)
			pipe.SAdd(ctx, wire.StoreQueuesKey, queue.Name())
			return nil
		})
		return notPermittedPlain(queue, commands, err)
	})
	if hasWord(err, "OOM") || kindOf(err) == ErrFull {
		return nil
	}
	return err
}

// persist runs commands that may be repeated until they were executed, or the
// context or its lack of a deadline says to give up.
func (c *Client) persist(ctx context.Context, op string, run func() error) error {
	_, patient := ctx.Deadline()
	for try := 0; ; try++ {
		err, ended := within(ctx, &c.goroutines, run)
		if ended != nil {
			return unreachable(op, ended)
		}
		refresh(c.store, err)
		switch classify(err) {
		case done:
			return nil
		case refused:
			return refusal(op, err)
		case unknown, notExecuted:
			if !patient && !isReply(err) && try > 0 {
				return unreachable(op, whyEnded(ctx, err))
			}
		}
		if sleep(ctx, retryPause(try)) != nil || try > 100 {
			return unreachable(op, whyEnded(ctx, err))
		}
	}
}
