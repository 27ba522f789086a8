package emqtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/embedded"
	"github.com/echomq/echomq-go/runtime/wire"
)

// Kit is an engine of one test's own with a clock that the test moves, and a
// client of it. It ends with the test.
type Kit struct {
	t      testing.TB
	server *embedded.Server
	client *echomq.Client
	ctx    context.Context
}

// Option is an option of [New].
type Option func(*config)

type config struct {
	start   time.Time
	log     *slog.Logger
	options []echomq.ClientOption
}

// StartAt is what the clock shows at first; default the present.
func StartAt(start time.Time) Option { return func(c *config) { c.start = start } }

// WithLog sets the logger of the client and of the workers that run; default none.
func WithLog(log *slog.Logger) Option { return func(c *config) { c.log = log } }

// WithClientOptions gives the client further options: the program's middleware and
// transforms, say.
func WithClientOptions(options ...echomq.ClientOption) Option {
	return func(c *config) { c.options = append(c.options, options...) }
}

// New starts a kit. A test that cannot have one fails at once.
func New(t testing.TB, options ...Option) *Kit {
	t.Helper()
	c := config{log: slog.New(slog.DiscardHandler)}
	for _, option := range options {
		option(&c)
	}
	if c.start.IsZero() {
		c.start = time.Now()
	}
	ctx, cancel := context.WithCancel(context.Background())
	server, err := embedded.Start(ctx, embedded.StandingClock(c.start.Truncate(time.Millisecond)), embedded.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		cancel()
		t.Fatalf("emqtest: %v", err)
	}
	client := echomq.NewClient(server.Redis(), append([]echomq.ClientOption{echomq.WithLogger(c.log)}, c.options...)...)
	kit := &Kit{t: t, server: server, client: client, ctx: ctx}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("emqtest: %v", err)
		}
		cancel()
		if err := server.Close(); err != nil {
			t.Errorf("emqtest: %v", err)
		}
	})
	return kit
}

// Client returns the client, for the program's producers and workers.
func (k *Kit) Client() *echomq.Client { return k.client }

// Redis returns a client of the engine itself, which the kit closes.
func (k *Kit) Redis() redis.UniversalClient { return k.server.Redis() }

// Now returns what the engine's clock shows.
func (k *Kit) Now() time.Time {
	k.t.Helper()
	return k.Advance(0)
}

// Advance moves the engine's clock forward and returns what it then shows. Workers
// that run look for what has become due.
func (k *Kit) Advance(d time.Duration) time.Time {
	k.t.Helper()
	now, err := k.server.Advance(d)
	if err != nil {
		k.t.Fatalf("emqtest: %v", err)
	}
	if d > 0 {
		k.remind()
	}
	return now
}

// remind has idle workers of all queues ask what is due.
func (k *Kit) remind() {
	k.t.Helper()
	for _, queue := range k.queues() {
		if err := k.Redis().ZAdd(k.ctx, queue.Key("marker"), redis.Z{Score: 1, Member: "~due"}).Err(); err != nil {
			k.t.Fatalf("emqtest: %v", err)
		}
	}
}

// queues returns the queues that were used.
func (k *Kit) queues() []wire.Queue {
	k.t.Helper()
	names, err := k.Redis().SMembers(k.ctx, wire.StoreQueuesKey).Result()
	if err != nil {
		k.t.Fatalf("emqtest: %v", err)
	}
	queues := make([]wire.Queue, len(names))
	for i, name := range names {
		if queues[i], err = wire.ParseQueue(name); err != nil {
			k.t.Fatalf("emqtest: %v", err)
		}
	}
	return queues
}

// queue returns the queue that a job type's jobs go to with the kit's client.
func (k *Kit) queue(name string) wire.Queue {
	k.t.Helper()
	queue, err := k.client.Queue(name)
	if err != nil {
		k.t.Fatalf("emqtest: %v", err)
	}
	parsed, err := wire.ParseQueue(queue.Name())
	if err != nil {
		k.t.Fatalf("emqtest: %v", err)
	}
	return parsed
}
