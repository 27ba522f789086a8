package echomq_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// TestDistantWorkersGetTheirShare runs one queue with 32 workers at different
// distances from the store.
//
// There are always more jobs than slots and the store is far from its limits,
// so what bounds a worker is its slots, and the fair share is an equal part of
// all jobs. A slot of a worker at 10 ms one way stands empty for one round trip
// (20 ms) after each job, two if its next job had to be reserved first, and for
// up to one more until the call that is out has returned; with jobs of 100 ms
// that is 60 ms at most, or 62 % of what a worker next to the store does. What
// the test rules out is that the near ones take the jobs away from the far ones:
// a worker whose pick always came too late would get next to nothing.
func TestDistantWorkersGetTheirShare(t *testing.T) {
	t.Parallel()
	const workers, slots, jobs, takes = 32, 4, 2000, 100 * time.Millisecond
	distances := []time.Duration{0, 1, 2, 5, 10}
	b := newFaultBed(t, startValkey(t))

	var mu sync.Mutex
	shares := make([]int, workers)
	done := 0
	enough := make(chan struct{})
	b.addMany(t, jobs, chore{Takes: takes})
	for i := range workers {
		proxy := enginetest.NewProxy(t, b.engine)
		proxy.Delay(distanceOf(i, distances) * time.Millisecond)
		b.workWith(t, b.through(t, proxy.Client(t)), func(ctx context.Context, job *echomq.Job[chore]) (string, error) {
			result, err := b.ledger.handle(ctx, job)
			mu.Lock()
			defer mu.Unlock()
			shares[i]++
			// The last jobs are not counted: there are fewer of them than slots.
			if done++; done == jobs-2*workers*slots {
				close(enough)
			}
			return result, err
		}, echomq.Concurrency(slots))
	}
	select {
	case <-enough:
	case <-b.ctx.Done():
		t.Fatal("the jobs were not done in time")
	}
	mu.Lock()
	counted := append([]int(nil), shares...)
	mu.Unlock()
	total := 0
	for _, share := range counted {
		total += share
	}
	fair := total / workers
	for i, share := range counted {
		assert.GreaterOrEqual(t, share, fair/2, "worker %d at %d ms got %d of %d jobs; a fair share is %d", i, distanceOf(i, distances), share, total, fair)
	}
	t.Logf("fair share %d; by worker, in groups of equal distance: %v", fair, counted)
	b.drain(t, jobs)
}

// distanceOf returns how far worker i is from the store: most are near, and the
// last four are the furthest away.
func distanceOf(i int, distances []time.Duration) time.Duration {
	return distances[min(i/7, len(distances)-1)]
}
