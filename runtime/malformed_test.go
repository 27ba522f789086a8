package echomq_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// due is an entry of the delayed jobs whose time has come.
func due(id string) redis.Z { return redis.Z{Score: 1, Member: id} }

// mustNotRun is a handler of jobs that must not run.
func mustNotRun(t *testing.T) handler {
	return func(_ context.Context, job *echomq.Job[greeting]) (string, error) {
		t.Errorf("job %q must not run", job.ID)
		return "", nil
	}
}

func TestPayloadThatDoesNotDecode(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		var handles []echomq.Handle[string]
		bad := []string{`{"name":7}`, `{"name":`, `[]`, ``, "\x00\xff", strings.Repeat("[", 20_000)}
		for _, data := range bad {
			handle := f.enqueue(t, "Ada")
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "data", data).Err())
			handles = append(handles, handle)
		}
		f.work(t, mustNotRun(t))
		for i, handle := range handles {
			failure := awaitFailure(t, f, handle)
			require.Contains(t, failure.Reason, "payload cannot be decoded")
			require.Equal(t, 1, failure.Attempts, "it failed at once")
			require.Equal(t, bad[i], f.hash(t, handle.ID)["data"], "its bytes are kept")
		}
	})
}

func TestPayloadWhoseOwnCodePanics(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		job := echomq.NewJobType[hostile, string](f.jobSpec("greet"))
		f.serve(t, []echomq.Route{echomq.RouteTo(job, func(context.Context, *echomq.Job[hostile]) (string, error) {
			return "", nil
		})})
		failure := awaitFailure(t, f, f.enqueue(t, "Ada"))
		require.Contains(t, failure.Reason, "panicked: hostile")
		require.Equal(t, 1, failure.Attempts)
	})
}

func TestPayloadOverTheWorkersLimit(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		payload := strings.Repeat("x", 1000)
		handle := f.enqueue(t, payload)
		f.work(t, mustNotRun(t), echomq.PayloadLimit(100))
		failure := awaitFailure(t, f, handle)
		require.Contains(t, failure.Reason, "1011 bytes")
		require.Contains(t, failure.Reason, "100")
		require.Contains(t, f.hash(t, handle.ID)["data"], payload, "its bytes are kept")
	})
}

func TestMalformedOpts(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, opts := range []string{"{", `{"attempts":"x"}`, "\x00"} {
			handle := f.enqueue(t, "Ada")
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), "opts", opts).Err())
			w := f.work(t, hello)
			require.Equal(t, "hello Ada", await(t, f, handle), "it runs, with the defaults")
			w.halt(t)
		}
	})
}

func TestMalformedHash(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for field, value := range map[string]string{"atm": "many", "priority": "1.5", "timestamp": "", "ver": "9223372036854775808"} {
			handle := f.enqueue(t, "Ada")
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(handle.ID), field, value).Err())
			w := f.work(t, mustNotRun(t))
			failure := awaitFailure(t, f, handle)
			require.Contains(t, failure.Reason, "record cannot be read")
			require.Contains(t, failure.Reason, field)
			w.halt(t)
		}
		require.Equal(t, "hello next", func() string {
			f.work(t, hello)
			return await(t, f, f.enqueue(t, "next"))
		}(), "the queue goes on")
	})
}

func TestOrphanIsDropped(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, opts := range [][]echomq.EnqueueOption{nil, {echomq.Priority(1)}, {echomq.In(20 * time.Millisecond)}} {
			handle := f.enqueue(t, "Ada", opts...)
			require.NoError(t, f.store.Del(f.ctx, f.queue.Key(handle.ID)).Err())
			w := f.work(t, mustNotRun(t))
			eventually(t, func() bool {
				return len(f.events(t, handle.ID)) > 0
			}, "the orphan was found")
			require.Equal(t, []string{"orphan"}, f.events(t, handle.ID))
			require.Equal(t, echomq.StateMissing, state(t, f, handle))
			w.halt(t)
		}
		f.work(t, hello)
		require.Equal(t, "hello next", await(t, f, f.enqueue(t, "next")))
		for _, key := range []string{"wait", "prioritized", "delayed", "active", "reserved"} {
			require.Zero(t, f.store.Exists(f.ctx, f.queue.Key(key)).Val(), key)
		}
	})
}

func TestJobThatIsNoHashIsQuarantined(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		key := f.queue.Key(handle.ID)
		require.NoError(t, f.store.Del(f.ctx, key).Err())
		require.NoError(t, f.store.Set(f.ctx, key, "I am no job", 0).Err())
		ended := awaiting(f.ctx, handle)
		f.work(t, hello)
		require.Equal(t, "hello next", await(t, f, f.enqueue(t, "next")), "the queue goes on")
		var failure *echomq.JobError
		require.ErrorAs(t, receive(t, ended, "the end of Await"), &failure)
		require.Contains(t, failure.Reason, "quarantine")
		require.Equal(t, echomq.StateQuarantined, state(t, f, handle))
		require.Equal(t, []string{"quarantined"}, f.events(t, handle.ID))
		require.Equal(t, "I am no job", f.store.Get(f.ctx, key).Val(), "it is left for inspection")
	})
}

func TestHashWithoutANameIsQuarantined(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		handle := f.enqueue(t, "Ada")
		require.NoError(t, f.store.HDel(f.ctx, f.queue.Key(handle.ID), "name").Err())
		f.work(t, mustNotRun(t))
		reach(t, f, handle, echomq.StateQuarantined)
	})
}

func TestIDThatNoJobCanHave(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "before")
		for _, id := range []string{"a:lock", "", strings.Repeat("a", 300), "é"} {
			require.NoError(t, f.store.LPush(f.ctx, f.queue.Key("wait"), id).Err())
		}
		f.work(t, hello)
		require.Equal(t, "hello next", await(t, f, f.enqueue(t, "next")), "the queue goes on")
		require.EqualValues(t, 4, f.store.ZCard(f.ctx, f.queue.Key("quarantine")).Val())
	})
}

// events returns the names of the events of a job, oldest first.
func (f *fixture) events(t *testing.T, id string) []string {
	t.Helper()
	entries, err := f.store.XRange(f.ctx, f.queue.Key("events"), "-", "+").Result()
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		if entry.Values["jobId"] == id {
			names = append(names, entry.Values["event"].(string))
		}
	}
	return names
}
