package echomq_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// elapse lets time pass that is itself what the test is about: a server that
// stands still for two leases.
func elapse(d time.Duration) { <-time.After(d) }

// TestAbsentServerStallsNobody makes the server unavailable for two leases,
// again and again, while live workers hold long jobs and rush through short
// ones. When it goes on, all leases have run out by its clock, and still none of
// those jobs may be taken from its worker; while the job of a worker that died
// before the pause must be.
func TestAbsentServerStallsNobody(t *testing.T) {
	t.Parallel()
	t.Run("stopped and calls wait", func(t *testing.T) {
		t.Parallel()
		absence(t, startValkey(t), 10*time.Second, (*enginetest.Engine).Stop, (*enginetest.Engine).Cont)
	})
	// The calls of the pause are given up and sent again, and the server then
	// finds all of them at once.
	t.Run("stopped and calls time out", func(t *testing.T) {
		t.Parallel()
		absence(t, startValkey(t), 250*time.Millisecond, (*enginetest.Engine).Stop, (*enginetest.Engine).Cont)
	})
	// Whoever connects first must not take the jobs of those that come later.
	t.Run("killed and restarted", func(t *testing.T) {
		t.Parallel()
		absence(t, startValkey(t, enginetest.AOF()), 3*time.Second, (*enginetest.Engine).Kill, (*enginetest.Engine).Restart)
	})
}

func absence(t *testing.T, engine *enginetest.Engine, readTimeout time.Duration, leave, comeBack func(*enginetest.Engine)) {
	const lease, absences, long, short = time.Second, 2, 6, 900
	b := newFaultBed(t, engine)
	impatient := func() *echomq.Client {
		options := b.engine.Options()
		options.ReadTimeout = readTimeout
		store := redis.NewClient(options)
		t.Cleanup(func() { _ = store.Close() })
		return b.through(t, store)
	}
	release := make(chan struct{})
	handle := func(ctx context.Context, job *echomq.Job[chore]) (string, error) {
		if job.Payload.Fails < 0 { // a long job
			b.ledger.enter(job.ID)
			defer b.ledger.leave(job.ID)
			select {
			case <-release:
				return job.ID, nil
			case <-ctx.Done():
				b.ledger.wrong("the context of long job %s ended: %v", job.ID, context.Cause(ctx))
				return "", context.Cause(ctx)
			}
		}
		return b.ledger.handle(ctx, job)
	}
	ids := b.addMany(t, long, chore{Fails: -1})
	for range 3 {
		b.workWith(t, impatient(), handle, echomq.Lease(lease), echomq.Concurrency(6))
	}
	b.eventually(t, func() bool { return b.ledger.busy() == long }, "the long jobs run")

	// What a dead worker left: a lock, and a lease that no one renews.
	lost := b.abandon(t, lease)
	for range absences {
		elapse(rand.N(lease / 2)) // so that the absences begin at any phase of the renewals
		ids = append(ids, b.addMany(t, short, chore{Takes: 20 * time.Millisecond})...)
		require.NotZero(t, b.direct.LLen(b.ctx, b.queue.Key("wait")).Val(), "nothing was going on when the server went")
		leave(b.engine)
		elapse(2*lease + rand.N(lease/3))
		comeBack(b.engine)
		b.eventually(t, func() bool { return b.expired(t, lost) == 0 }, "the live have renewed their leases")
		elapse(lease / 3) // a renewal interval, after which a lease may be taken
		b.requireSound(t)
	}
	close(release)
	b.drain(t, len(ids)+1)
	want := eachOnce(ids)
	snapshot := b.requireSound(t)
	assert.Equal(t, "1", snapshot.hashes[lost]["stc"], "the dead worker's job was not recovered")
	b.requireUntouched(t, want)
	want[lost] = 1
	b.ledger.requireRuns(t, want)
}

// abandon leaves an active job as a worker that died does, and returns its id.
func (b *faultBed) abandon(t *testing.T, lease time.Duration) string {
	t.Helper()
	id := b.add(t, chore{}, echomq.In(time.Hour)).ID
	now := b.direct.Time(b.ctx).Val()
	_, err := b.direct.TxPipelined(b.ctx, func(pipe redis.Pipeliner) error {
		pipe.ZRem(b.ctx, b.queue.Key("delayed"), id)
		pipe.ZAdd(b.ctx, b.queue.Key("active"), redisZ(float64(now.Add(lease).UnixMilli()), id))
		pipe.Set(b.ctx, b.queue.Key(id)+":lock", "dead:1", 0)
		pipe.HSet(b.ctx, b.queue.Key(id), "ats", 1)
		return nil
	})
	require.NoError(t, err)
	return id
}

// expired returns how many jobs have a lease that has run out, but for one.
func (b *faultBed) expired(t *testing.T, but string) int {
	t.Helper()
	now := b.direct.Time(b.ctx).Val().UnixMilli()
	ids := b.direct.ZRangeArgs(b.ctx, redis.ZRangeArgs{Key: b.queue.Key("active"), Start: "-inf", Stop: now, ByScore: true}).Val()
	return len(slices.DeleteFunc(ids, func(id string) bool { return id == but }))
}
