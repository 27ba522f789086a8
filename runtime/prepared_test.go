package echomq_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

func (f *fixture) prepare(t *testing.T, name string, opts ...echomq.EnqueueOption) echomq.Prepared {
	t.Helper()
	prepared, err := echomq.Prepare(f.producer, f.greet(), greeting{name}, opts...)
	require.NoError(t, err)
	return prepared
}

func TestPreparedJobIsSentOnce(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		prepared := f.prepare(t, "Ada")
		require.NotEmpty(t, prepared.ID())
		require.Equal(t, f.spec.Name, prepared.Queue())
		require.Empty(t, f.keys(t), "preparing sends nothing")
		for i := range 3 {
			sent, err := f.client.Send(f.ctx, prepared)
			require.NoError(t, err)
			require.Equal(t, []echomq.Sent{{ID: prepared.ID(), Existing: i > 0}}, sent)
		}
		require.EqualValues(t, 1, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
		f.work(t, hello)
		handle, err := f.greet().Handle(f.client, prepared.ID())
		require.NoError(t, err)
		require.Equal(t, "hello Ada", await(t, f, handle))
		sent, err := f.client.Send(f.ctx, prepared)
		require.NoError(t, err)
		require.True(t, sent[0].Existing, "also when it has ended")
	})
}

func TestPreparedTwiceInOneCall(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		prepared := f.prepare(t, "Ada")
		sent, err := f.client.Send(f.ctx, prepared, f.prepare(t, "Bob"), prepared)
		require.NoError(t, err)
		require.Equal(t, []bool{false, false, true}, []bool{sent[0].Existing, sent[1].Existing, sent[2].Existing})
	})
}

func TestPreparedJobsOfSeveralQueues(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		other := newFixture(t, f.engine)
		sent, err := f.client.Send(f.ctx, f.prepare(t, "a"), other.prepare(t, "b"), other.prepare(t, "c"), f.prepare(t, "d"))
		require.NoError(t, err)
		require.Len(t, sent, 4)
		require.EqualValues(t, 2, f.store.LLen(f.ctx, f.queue.Key("wait")).Val())
		require.EqualValues(t, 2, f.store.LLen(f.ctx, other.queue.Key("wait")).Val())
	})
}

func TestPreparedJobThroughAnOutbox(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		at := f.serverTime(t).Add(time.Hour)
		for name, opts := range map[string][]echomq.EnqueueOption{
			"plain":    nil,
			"at":       {echomq.At(at)},
			"in":       {echomq.In(time.Hour), echomq.ID("custom")},
			"settings": {echomq.Priority(3), echomq.Timeout(time.Second), echomq.Retry(quick(2))},
		} {
			prepared := f.prepare(t, name, opts...)
			row, err := json.Marshal(prepared)
			require.NoError(t, err)
			var restored echomq.Prepared
			require.NoError(t, json.Unmarshal(row, &restored))
			again, err := json.Marshal(restored)
			require.NoError(t, err)
			require.JSONEq(t, string(row), string(again))
			require.Equal(t, prepared.ID(), restored.ID())

			elsewhere := f.newClient(t, f.engine.Store(t))
			sent, err := elsewhere.Send(f.ctx, restored)
			require.NoError(t, err)
			require.False(t, sent[0].Existing)
			sent, err = f.client.Send(f.ctx, prepared)
			require.NoError(t, err)
			require.True(t, sent[0].Existing, "the same job")
			require.JSONEq(t, `{"name":"`+name+`"}`, f.hash(t, prepared.ID())["data"])
		}
		due := f.store.ZRangeWithScores(f.ctx, f.queue.Key("delayed"), 0, -1).Val()
		require.Len(t, due, 2)
		for _, job := range due {
			require.InDelta(t, at.UnixMilli(), job.Score, float64(patience.Milliseconds()))
		}
		require.EqualValues(t, 1, f.store.ZCard(f.ctx, f.queue.Key("prioritized")).Val())
	})
}

func TestZeroPrepared(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		_, err := f.client.Send(f.ctx, f.prepare(t, "Ada"), echomq.Prepared{})
		require.ErrorIs(t, err, echomq.ErrOption)
		require.Empty(t, f.keys(t), "nothing was sent")
	})
	_, err := json.Marshal(echomq.Prepared{})
	require.ErrorContains(t, err, "zero Prepared")
	require.Empty(t, echomq.Prepared{}.ID())
	require.Empty(t, echomq.Prepared{}.Queue())
}

func TestPreparedJobThatWasTamperedWith(t *testing.T) {
	t.Parallel()
	const good = `{"queue":"mail","id":"a","name":"greet","payloadVersion":1,"data":"e30="}`
	require.NoError(t, json.Unmarshal([]byte(good), new(echomq.Prepared)))
	for _, change := range [][2]string{
		{`"mail"`, `"{mail}"`}, {`"mail"`, `""`}, {`"a"`, `"wait"`}, {`"a"`, `"a:lock"`}, {`"greet"`, `""`},
		{`"payloadVersion":1`, `"payloadVersion":0`}, {`"e30="`, `"?"`},
		{`}`, `,"priority":-1}`}, {`}`, `,"priority":2097152}`}, {`}`, `,"delayNanoseconds":-1}`}, {`}`, `,"events":9}`}, {`}`, ``},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		var prepared echomq.Prepared
		require.Error(t, json.Unmarshal([]byte(bad), &prepared), bad)
		require.Empty(t, prepared.ID(), "nothing was kept of %s", bad)
	}
}
