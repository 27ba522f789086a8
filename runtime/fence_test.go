package echomq_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/wire"
)

// fenced requires that every way into the fixture's queue is refused with the
// error, and that nothing at all is written meanwhile.
func (f *fixture) fenced(t *testing.T, want error) {
	t.Helper()
	before := f.dump(t)
	requireFenced := func(err error) {
		t.Helper()
		require.ErrorIs(t, err, want)
		var failure *echomq.FenceError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, f.spec.Name, failure.Queue)
		require.Contains(t, before, failure.Key)
		require.NotEmpty(t, failure.Advice)
	}
	for range 2 { // a refusal is not remembered as a contact
		_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"Ada"})
		requireFenced(err)
	}
	_, err := echomq.EnqueueBatch(f.ctx, f.producer, f.greet(), echomq.Items(people(3)...))
	requireFenced(err)
	_, err = f.client.Send(f.ctx, f.prepare(t, "Ada"))
	requireFenced(err)
	handle, err := f.greet().Handle(f.client, "a")
	require.NoError(t, err)
	_, err = handle.State(f.ctx)
	requireFenced(err)
	_, err = handle.Await(f.ctx)
	requireFenced(err)
	w, err := echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
	require.NoError(t, err)
	requireFenced(w.Run(f.ctx))
	require.False(t, w.Ready())
	require.Equal(t, before, f.dump(t), "nothing was written")
}

// dump returns the whole content of the engine, by key: as the engine itself
// writes it down, where it does.
func (f *fixture) dump(t *testing.T) map[string]string {
	t.Helper()
	content := map[string]string{}
	for _, key := range f.engine.Keys(t, "*") {
		if !f.engine.Embedded() {
			content[key] = fmt.Sprintf("%q %v", f.store.Dump(f.ctx, key).Val(), f.store.ExpireTime(f.ctx, key).Val())
			continue
		}
		switch kind := f.store.Type(f.ctx, key).Val(); kind {
		case "string":
			content[key] = f.store.Get(f.ctx, key).Val()
		case "hash":
			content[key] = fmt.Sprint(f.store.HGetAll(f.ctx, key).Val())
		case "list":
			content[key] = fmt.Sprint(f.store.LRange(f.ctx, key, 0, -1).Val())
		default:
			require.Fail(t, "unexpected key", "%s of type %s", key, kind)
		}
	}
	return content
}

func TestQueueOfTheV1Line(t *testing.T) {
	eachFresh(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.HSet(f.ctx, "bull:"+f.spec.Name+":meta", "opts.maxLenEvents", "10000").Err())
		require.NoError(t, f.store.LPush(f.ctx, "bull:"+f.spec.Name+":wait", "1").Err())
		f.fenced(t, echomq.ErrLegacyQueue)
		require.NoError(t, f.store.Del(f.ctx, "bull:"+f.spec.Name+":meta").Err())
		f.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, f.enqueue(t, "Ada")), "it opens when the v1 queue is gone")
	})
}

func TestPrefixesOfTheV1Line(t *testing.T) {
	eachFresh(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.HSet(f.ctx, "jobs:"+f.spec.Name+":meta", "opts.maxLenEvents", "10000").Err())
		plain := *f
		f.client = f.newClient(t, f.store, echomq.LegacyPrefixes("bull", "jobs"))
		f.producer = echomq.NewProducer(f.client, f.spec)
		f.fenced(t, echomq.ErrLegacyQueue)
		plain.enqueue(t, "Ada") // whose client does not look there
	})
}

func TestQueueOfAnotherVersion(t *testing.T) {
	eachFresh(t, func(t *testing.T, f *fixture) {
		for version, want := range map[string]error{
			"echomq:3.0.0":          echomq.ErrOtherMajor,
			"echomq:1.9":            echomq.ErrOtherMajor,
			"echomq:2.1.0":          echomq.ErrVersion,
			"echomq:":               echomq.ErrForeignVersion,
			"bullmq:5.1.0":          echomq.ErrForeignVersion,
			"echomq:2.0.0 ":         echomq.ErrForeignVersion,
			"echomq:migrated:mail2": echomq.ErrMigrated,
		} {
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", version).Err())
			f.fenced(t, want)
			_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"Ada"})
			require.Equal(t, want != echomq.ErrMigrated, errors.Is(err, echomq.ErrVersion), version)
			require.ErrorContains(t, err, version)
		}
	})
}

func TestStoreOfAnotherVersion(t *testing.T) {
	eachFresh(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.Set(f.ctx, wire.StoreVersionKey, "echomq:3.0.0", 0).Err())
		f.fenced(t, echomq.ErrOtherMajor)
	})
}

func TestQueueWithAFeatureThatIsUnknown(t *testing.T) {
	eachFresh(t, func(t *testing.T, f *fixture) {
		for _, features := range []string{"groups", "x,y", " groups "} {
			require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "features", features).Err())
			f.fenced(t, echomq.ErrUnknownFeature)
		}
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "features", " , ").Err())
		f.enqueue(t, "Ada") // nothing is asked for
	})
}

func TestQueueThatChangesItsVersion(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "Ada") // the contact is made
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"Bob"})
		require.ErrorIs(t, err, echomq.ErrVersion, "every script checks it")
		require.ErrorContains(t, err, "echomq:3.0.0")
		require.EqualValues(t, 1, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
	})
}

func TestOneQueueIsFencedAndTheOthersAreNot(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key("meta"), "version", "echomq:3.0.0").Err())
		other := newFixture(t, f.engine)
		w, err := echomq.NewWorker(f.client, nil,
			echomq.Serve(other.spec, []echomq.Route{echomq.RouteTo(other.greet(), hello)}),
			echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
		require.NoError(t, err)
		require.ErrorIs(t, w.Run(f.ctx), echomq.ErrVersion, "a worker serves all its queues or none")
		other.work(t, hello)
		require.Equal(t, "hello Ada", await(t, other, other.enqueue(t, "Ada")))
	})
}

func TestFirstContactRegistersTheQueue(t *testing.T) {
	eachFresh(t, func(t *testing.T, f *fixture) {
		f.enqueue(t, "Ada")
		require.Equal(t, wire.Version, f.store.Get(f.ctx, wire.StoreVersionKey).Val())
		require.Equal(t, wire.Version, f.store.HGet(f.ctx, f.queue.Key("meta"), "version").Val())
		require.Equal(t, []string{f.spec.Name}, f.store.SMembers(f.ctx, wire.StoreQueuesKey).Val())
		for _, key := range f.engine.Keys(t, "*") {
			_, err := wire.ParseKey(key)
			require.NoError(t, err, "every key is one of the protocol")
		}
	})
}
