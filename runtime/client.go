package echomq

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/echomq/echomq-go/runtime/wire"
)

// Client is one store with its queues: what producers add jobs through and
// workers take them from. It is safe for concurrent use; a program needs one
// per store.
type Client struct {
	store      redis.UniversalClient
	log        *slog.Logger
	rename     func(string) string
	legacy     []string
	awaitLimit time.Duration
	holdLimit  time.Duration
	replicas   int
	propagation
	middleware []func(EnqueueFunc) EnqueueFunc
	transforms transforms

	// closing ends what the client started.
	closing context.Context
	close   context.CancelFunc
	running sync.WaitGroup

	agreements agreements
	joints     joints
	goroutines goroutines

	mu       sync.Mutex
	contacts map[string]*contact
	watchers map[string]*watcher
	closed   bool
}

type clientConfig struct {
	log        *slog.Logger
	rename     func(string) string
	legacy     []string
	awaitLimit time.Duration
	holdLimit  time.Duration
	replicas   int
	propagation
	middleware []func(EnqueueFunc) EnqueueFunc
	transforms transforms
}

// legacyPrefix is the prefix under which the v1 line keeps its queues by
// default.
const legacyPrefix = "bull"

// NewClient returns a client of the given store. It makes no contact yet: each
// queue is checked when it is first used.
//
// The store stays the caller's: Close does not close it. Workers and awaited
// handles open connections of their own beside it, with its options.
func NewClient(store redis.UniversalClient, opts ...ClientOption) *Client {
	config := clientConfig{log: slog.Default(), legacy: []string{legacyPrefix}, awaitLimit: AwaitLimit, holdLimit: maxHold}
	for _, opt := range opts {
		opt.applyClient(&config)
	}
	closing, cancel := context.WithCancel(context.Background())
	return &Client{
		store:       store,
		log:         config.log,
		rename:      config.rename,
		legacy:      config.legacy,
		awaitLimit:  config.awaitLimit,
		holdLimit:   config.holdLimit,
		replicas:    config.replicas,
		propagation: config.propagation,
		middleware:  config.middleware,
		transforms:  config.transforms,
		closing:     closing,
		close:       cancel,
		contacts:    make(map[string]*contact),
		watchers:    make(map[string]*watcher),
	}
}

// Close ends what the client started: Await calls return [ErrClosed]. It does
// not stop workers, which have a Stop of their own, nor close the store.
func (c *Client) Close() error {
	c.mu.Lock()
	c.closed = true
	watchers := c.watchers
	c.watchers = make(map[string]*watcher)
	c.mu.Unlock()
	c.close()
	for _, w := range watchers {
		w.interrupt()
	}
	c.running.Wait()
	return nil
}

// queue returns the queue that name stands for with this client.
func (c *Client) queue(name string) (wire.Queue, error) {
	if c.rename != nil {
		name = c.rename(name)
	}
	queue, err := wire.ParseQueue(name)
	if err != nil {
		return wire.Queue{}, fmt.Errorf("%w: %w", ErrOption, err)
	}
	return queue, nil
}

// blockedReadTimeout is for how long a connection that waits for the marker may
// be silent: longer than the wait, whatever the program's own read timeout is,
// and short enough to notice a connection that died without a word.
const blockedReadTimeout = maxBlock + 2*time.Second

// private returns a client for the same store with connections of its own, for
// reads that block: closing it is the one thing that interrupts them. Where a
// store cannot be cloned it is shared, and owned is false.
func private(store redis.UniversalClient, connections int) (clone redis.UniversalClient, owned bool) {
	switch store := store.(type) {
	case *redis.Client:
		options := *store.Options()
		options.PoolSize = connections
		options.PipelinePoolSize = -1
		options.MinIdleConns = 0
		options.MaxIdleConns = 0
		options.MaxRetries = -1
		options.ReadTimeout = blockedReadTimeout
		return redis.NewClient(&options), true
	case *redis.ClusterClient:
		options := *store.Options()
		// The client library appends to it, and two must not share its array.
		options.Addrs = slices.Clone(options.Addrs)
		options.PoolSize = connections
		options.PipelinePoolSize = -1
		options.MinIdleConns = 0
		options.MaxIdleConns = 0
		options.MaxRetries = -1
		options.ReadTimeout = blockedReadTimeout
		return redis.NewClusterClient(&options), true
	default:
		return store, false
	}
}
