package echomq_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// misfortune cuts off a share of the calls of scripts, half of them before the
// request arrives and half before the answer does.
type misfortune struct {
	mu     sync.Mutex
	random *rand.Rand
	share  float64
}

func (m *misfortune) strikes(command []string) bool {
	if command[0] != "evalsha" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.random.Float64() < m.share/2
}

// TestNothingIsLostOrRunTwiceAtRandom loads a queue through proxies that cut
// off calls at random, and all connections now and then. The leases are the
// default ones, which do not run out, so each handler must run exactly as often
// as its job asks for.
func TestNothingIsLostOrRunTwiceAtRandom(t *testing.T) {
	t.Parallel()
	const workers, producers, jobs = 4, 3, 200
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	b := newFaultBed(t, startValkey(t))
	bad := &misfortune{random: rand.New(rand.NewPCG(seed, 1)), share: 0.10}

	var proxies []*enginetest.Proxy
	var rules []*enginetest.Rule
	proxied := func() *echomq.Client {
		proxy := enginetest.NewProxy(t, b.engine)
		proxies = append(proxies, proxy)
		rules = append(rules, proxy.CutBeforeRequest(bad.strikes), proxy.CutBeforeReply(bad.strikes))
		return b.through(t, proxy.Client(t))
	}
	var running []*faultWorker
	for range workers {
		running = append(running, b.work(t, proxied(), echomq.Concurrency(8)))
	}
	var mu sync.Mutex
	want := map[string]int{}
	var enqueuing sync.WaitGroup
	for p := range producers {
		producer := echomq.NewProducer(proxied(), b.spec)
		enqueuing.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(100+p)))
			for range jobs {
				payload, opts := randomChore(random)
				handle, err := echomq.Enqueue(b.ctx, producer, b.job, payload, opts...)
				if !assert.NoError(t, err) || !assert.False(t, handle.Existing) {
					return
				}
				mu.Lock()
				want[handle.ID] = payload.Fails + 1
				mu.Unlock()
			}
		})
	}
	enqueued := make(chan struct{})
	go func() { enqueuing.Wait(); close(enqueued) }()

	random := rand.New(rand.NewPCG(seed, 2))
	checks := b.checkUntil(t, func() bool {
		if random.IntN(4) == 0 {
			proxies[random.IntN(len(proxies))].CutAll()
		}
		select {
		case <-enqueued:
			return int(b.direct.ZCard(b.ctx, b.queue.Key("completed")).Val()) >= producers*jobs
		default:
			return false
		}
	})
	hits := 0
	for _, rule := range rules {
		rule.Remove()
		hits += rule.Hits()
	}
	for _, w := range running {
		w.stop(t)
	}
	b.ledger.requireRuns(t, want)
	b.requireUntouched(t, want)
	b.requireAtRest(t)
	runs, _ := b.ledger.count()
	require.Greater(t, hits, 50, "too few calls were cut off to prove anything")
	t.Logf("%d jobs, %d runs, %d calls cut off, %d checkpoints", len(want), runs, hits, checks)
}

// randomChore returns a job of any kind.
func randomChore(random *rand.Rand) (chore, []echomq.EnqueueOption) {
	payload := chore{Fails: max(random.IntN(5)-2, 0), Takes: time.Duration(random.IntN(5)) * time.Millisecond}
	var opts []echomq.EnqueueOption
	switch random.IntN(4) {
	case 0:
		opts = append(opts, echomq.In(time.Duration(random.IntN(300))*time.Millisecond))
	case 1:
		opts = append(opts, echomq.Priority(1+random.IntN(5)))
	}
	return payload, opts
}

// checkUntil checks the queue over and over until over says so, and returns how
// often.
func (b *faultBed) checkUntil(t *testing.T, over func() bool) (checks int) {
	t.Helper()
	for tick := time.NewTicker(25 * time.Millisecond); ; checks++ {
		b.requireSound(t)
		if over() {
			tick.Stop()
			return checks
		}
		select {
		case <-tick.C:
		case <-b.ctx.Done():
			require.FailNow(t, "the queue was not drained in time", "%v", b.requireSound(t))
		}
	}
}

// TestReservedJobsAreNotLost makes workers that see a window of one id reserve
// most of what they take, while answers are lost.
func TestReservedJobsAreNotLost(t *testing.T) {
	t.Parallel()
	b := newFaultBed(t, startValkey(t))
	ids := b.addMany(t, 400, chore{})
	bad := &misfortune{random: rand.New(rand.NewPCG(1, 2)), share: 0.2}
	for i := range 3 {
		proxy := enginetest.NewProxy(t, b.engine)
		rule := proxy.CutBeforeReply(func(command []string) bool { return calls("pick")(command) && bad.strikes(command) })
		w := b.work(t, b.through(t, proxy.Client(t)), echomq.Concurrency(20+i), echomq.WorkerName(fmt.Sprint("w", i)))
		defer func() { rule.Remove(); w.stop(t) }()
	}
	b.checkUntil(t, func() bool { _, jobs := b.ledger.count(); return jobs == len(ids) })
	b.drain(t, len(ids))
	b.ledger.requireRuns(t, eachOnce(ids))
	b.requireUntouched(t, eachOnce(ids))
}
