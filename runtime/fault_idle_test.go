package echomq_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// blockLimit is for how long a worker waits for the marker at most.
const blockLimit = 2 * time.Second

// TestIdleWorkerIsQuiet counts what a worker sends while there is nothing to do,
// a schedule whose slot is far ahead, and a job that is due in an hour. The sweep for
// ended jobs, about every 5 s, is left out here; there is no other, however often
// workers would look at deliveries if there were some.
func TestIdleWorkerIsQuiet(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	_, err := echomq.UpsertSchedule(b.ctx, echomq.NewProducer(b.client, b.spec), b.job, echomq.ScheduleSpec{Every: echomq.MaxEvery}, chore{})
	require.NoError(t, err)
	b.add(t, chore{}, echomq.In(time.Hour))
	proxy := enginetest.NewProxy(t, b.engine)
	w := b.work(t, b.through(t, proxy.Client(t)), echomq.CarryEvery(10*time.Millisecond), echomq.CleanEvery(time.Hour))
	b.eventually(t, func() bool {
		return w.Ready() && proxy.Count("bzpopmin") == 1 && proxy.Count("subscribe") == 1
	}, "the worker waits for the marker, and listens")
	proxy.ResetCounts()
	begun := time.Now()
	b.eventually(t, func() bool { return proxy.Count("bzpopmin") == 4 }, "four blocks have passed")
	took, counts := time.Since(begun), proxy.Counts()
	t.Logf("in %v: %v", took.Round(time.Millisecond), counts)
	// The first block was under way already, so it and four picks are within.
	assert.GreaterOrEqual(t, took, 3*1200*time.Millisecond)
	assert.Equal(t, map[string]int{"bzpopmin": 4, "evalsha": 4}, counts)
}

// TestLostWakeUpDelaysAJobByOneBlock lets another client take the marker and do
// nothing about it.
func TestLostWakeUpDelaysAJobByOneBlock(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	proxy := enginetest.NewProxy(t, b.engine)
	b.work(t, b.through(t, proxy.Client(t)))
	b.eventually(t, func() bool { return proxy.Count("bzpopmin") == 1 }, "the worker waits for the marker")

	// The store serves who has waited longest: the thief, once the worker has
	// begun to wait anew.
	thief := b.engine.Client(t)
	stolen := make(chan error, 1)
	go func() { stolen <- thief.BZPopMin(b.ctx, 30*time.Second, b.queue.Key("marker")).Err() }()
	b.eventually(t, func() bool { return proxy.Count("bzpopmin") >= 3 }, "the worker waits behind the thief")
	id := b.add(t, chore{}).ID
	begun := time.Now()
	require.NoError(t, <-stolen)
	b.drain(t, 1)
	t.Logf("the job was delayed by %v", time.Since(begun).Round(time.Millisecond))
	assert.Less(t, time.Since(begun), blockLimit+2*time.Second)
	b.ledger.requireRuns(t, map[string]int{id: 1})
}

// freezer makes connections that can go dead without a word: what is written
// vanishes and nothing is read, as when a firewall forgets them.
type freezer struct {
	generation atomic.Int64
	dials      atomic.Int64
	address    *redis.Options
}

func (f *freezer) options() *redis.Options {
	options := *f.address
	options.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) {
		var dialer net.Dialer
		conn, err := dialer.DialContext(ctx, f.address.Network, f.address.Addr)
		f.dials.Add(1)
		return &freezingConn{Conn: conn, freezer: f, generation: f.generation.Load()}, err
	}
	return &options
}

// freeze makes all connections dead that are open now.
func (f *freezer) freeze() { f.generation.Add(1) }

type freezingConn struct {
	net.Conn
	freezer    *freezer
	generation int64
}

func (c *freezingConn) frozen() bool { return c.freezer.generation.Load() != c.generation }

func (c *freezingConn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err != nil || !c.frozen() {
			return n, err
		}
	}
}

func (c *freezingConn) Write(p []byte) (int, error) {
	if c.frozen() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// TestHalfOpenConnectionsAreGivenUp freezes all connections of an idle worker,
// the one that waits for the marker among them, which still takes it away.
func TestHalfOpenConnectionsAreGivenUp(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	const readTimeout = time.Second
	frozen := &freezer{address: b.engine.Options()}
	frozen.address.ReadTimeout = readTimeout
	store := redis.NewClient(frozen.options())
	t.Cleanup(func() { _ = store.Close() })
	w := b.work(t, b.through(t, store))
	b.eventually(t, w.Ready, "the worker is ready")
	ids := map[string]int{b.add(t, chore{}).ID: 1}
	b.drain(t, 1)

	pooled := time.Duration(frozen.dials.Load() - 1)
	frozen.freeze()
	ids[b.add(t, chore{}).ID] = 1
	begun := time.Now()
	b.drain(t, 2)
	t.Logf("the job was delayed by %v; there were %d connections beside the one that waits", time.Since(begun).Round(time.Millisecond), pooled)
	// 4 s until the dead wait is given up, and then the client library tries
	// each connection that it keeps, for its read timeout, before it opens one.
	assert.Less(t, time.Since(begun), 4*time.Second+pooled*readTimeout+5*time.Second)
	b.ledger.requireRuns(t, ids)
	b.requireUntouched(t, ids)
}

// TestHalfOpenConnectionsUnderLoad freezes the connections of busy workers: what
// was sent is lost or not, and nothing is lost or run twice.
func TestHalfOpenConnectionsUnderLoad(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	ids := b.addMany(t, 600, chore{Takes: 5 * time.Millisecond})
	var all []*freezer
	for range 2 {
		frozen := &freezer{address: b.engine.Options()}
		frozen.address.ReadTimeout = 500 * time.Millisecond
		store := redis.NewClient(frozen.options())
		t.Cleanup(func() { _ = store.Close() })
		b.work(t, b.through(t, store), echomq.Concurrency(3))
		all = append(all, frozen)
	}
	var once sync.Once
	for round := 1; round <= 3; round++ {
		b.eventually(t, func() bool { _, jobs := b.ledger.count(); return jobs >= 120*round }, "jobs run")
		all[round%2].freeze()
		once.Do(func() { all[1].freeze() })
	}
	b.drain(t, len(ids))
	b.ledger.requireRuns(t, eachOnce(ids))
	b.requireUntouched(t, eachOnce(ids))
}
