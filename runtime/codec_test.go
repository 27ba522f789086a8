package echomq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/internal/packed"
)

type everythingJob = echomq.JobType[packed.Everything, packed.Receipt]

// everything is the generated job under the fixture's queue, in its codec and as
// JSON.
func (f *fixture) everything() (asMsgpack, asJSON everythingJob) {
	asJSON = echomq.NewJobType[packed.Everything, packed.Receipt](f.jobSpec("Everything"))
	return asJSON.WithCodec(packed.EverythingCodec, packed.ReceiptCodec), asJSON
}

func payload(id int64) packed.Everything {
	return packed.Everything{Base: packed.Base{ID: id}, Raw: []byte("null"), Text: "text", Time: time.Unix(1, 2).UTC(), Moment: packed.MomentOf(time.Time{})}
}

// answer gives back the payload's number, and fails one that did not cross.
func answer(_ context.Context, job *echomq.Job[packed.Everything]) (packed.Receipt, error) {
	want := payload(job.Payload.ID)
	if fmt.Sprint(job.Payload) != fmt.Sprint(want) {
		return packed.Receipt{}, echomq.Fail(errors.New("another payload came"))
	}
	return packed.Receipt{ID: uint64(job.Payload.ID), Note: "received"}, nil
}

// TestCodec has jobs of both encodings handled by one worker. Each result is
// encoded as its payload was, and what seals them knows nothing of it.
func TestCodec(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		asMsgpack, asJSON := f.everything()
		sealing := f.through(t, key(t, "key-1", "a"))
		want := map[string]string{}
		enqueue := func(from *fixture, job everythingJob, id int64, codec string) echomq.Handle[packed.Receipt] {
			handle, err := echomq.Enqueue(f.ctx, from.producer, job, payload(id))
			require.NoError(t, err)
			want[handle.ID] = codec
			return handle
		}
		handles := []echomq.Handle[packed.Receipt]{
			enqueue(f, asMsgpack, 1<<53+1, "msgpack"), enqueue(f, asJSON, 2, ""),
			enqueue(sealing, asMsgpack, 3, "msgpack+key-1"), enqueue(sealing, asJSON, 4, "json+key-1"),
		}
		sealing.serve(t, []echomq.Route{echomq.RouteTo(asMsgpack, answer)})
		for i, id := range []uint64{1<<53 + 1, 2, 3, 4} {
			handle, err := asMsgpack.Handle(sealing.client, handles[i].ID)
			require.NoError(t, err)
			receipt, err := handle.Await(f.ctx)
			require.NoError(t, err)
			require.Equal(t, packed.Receipt{ID: id, Note: "received"}, receipt)
			hash := f.hash(t, handle.ID)
			require.Equal(t, want[handle.ID], hash["cdc"])
		}
		// id, and the number with a leading byte for its 64 bits; then JSON.
		require.Equal(t, "\x82\xa2id\xcf\x00\x20\x00\x00\x00\x00\x00\x01\xa4note\xa8received", f.hash(t, handles[0].ID)["returnvalue"])
		require.JSONEq(t, `{"id":2,"note":"received"}`, f.hash(t, handles[1].ID)["returnvalue"])

		blind, err := asJSON.Handle(f.client, handles[0].ID)
		require.NoError(t, err)
		_, err = blind.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrResult)
		require.ErrorContains(t, err, `its encoding is "msgpack"`)
	})
}

// TestCodecOfABatchAndASchedule has the other ways on which jobs are encoded.
func TestCodecOfABatchAndASchedule(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		asMsgpack, asJSON := f.everything()
		handles := []echomq.Handle[packed.Receipt]{}
		for id, job := range map[int64]everythingJob{1: asMsgpack, 2: asJSON} {
			handle, err := echomq.Enqueue(f.ctx, f.producer, job, payload(id))
			require.NoError(t, err)
			handles = append(handles, handle)
		}
		slot := make(chan packed.Everything, 100)
		batch := func(ctx context.Context, jobs []*echomq.Job[packed.Everything]) ([]packed.Receipt, error) {
			receipts := make([]packed.Receipt, len(jobs))
			for i, job := range jobs {
				receipts[i].ID = uint64(job.Payload.ID)
				if job.Payload.ID == 3 {
					require.Equal(t, "msgpack", job.Codec)
					slot <- job.Payload
				}
			}
			return receipts, nil
		}
		scheduled := echomq.Repeat(asMsgpack, echomq.ScheduleSpec{Every: 200 * time.Millisecond}, func(time.Time) (packed.Everything, error) { return payload(3), nil })
		served := echomq.Serve(f.spec, []echomq.Route{echomq.RouteToBatch(asMsgpack, batch)}).Repeating(scheduled)
		f.run(t, nil, served)
		for _, handle := range handles {
			receipt, err := handle.Await(f.ctx)
			require.NoError(t, err)
			require.NotZero(t, receipt.ID)
		}
		select {
		case made := <-slot:
			require.EqualValues(t, 3, made.ID)
		case <-f.ctx.Done():
			t.Fatal("no slot came")
		}
	})
}

// TestCodecThatCannotBeRead gives a job of an encoding that the worker does not
// know back, and fails one that it knows and cannot decode, its bytes kept.
func TestCodecThatCannotBeRead(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		asMsgpack, asJSON := f.everything()
		handle, err := echomq.Enqueue(f.ctx, f.producer, asMsgpack, payload(1))
		require.NoError(t, err)
		old := f.serve(t, []echomq.Route{echomq.RouteTo(asJSON, answer)})
		f.givenBack(t, handle.ID, 1)
		old.halt(t)

		damaged, err := echomq.Enqueue(f.ctx, f.producer, asMsgpack, payload(2))
		require.NoError(t, err)
		require.NoError(t, f.store.HSet(f.ctx, f.queue.Key(damaged.ID), "data", "\x81\xa4Int8\xcc\xff").Err())
		require.NoError(t, f.store.ZAdd(f.ctx, f.queue.Key("delayed"), due(handle.ID)).Err())
		f.serve(t, []echomq.Route{echomq.RouteTo(asMsgpack, answer)})
		receipt, err := handle.Await(f.ctx)
		require.NoError(t, err)
		require.EqualValues(t, 1, receipt.ID)
		_, err = damaged.Await(f.ctx)
		var failure *echomq.JobError
		require.ErrorAs(t, err, &failure)
		require.Equal(t, 1, failure.Attempts, "a repetition would not help")
		require.Contains(t, failure.Reason, "msgpack: Int8: 255 is out of the range of int8")
		require.Equal(t, "\x81\xa4Int8\xcc\xff", f.hash(t, damaged.ID)["data"])
	})
}

type misnamed struct {
	echomq.Codec[packed.Everything]
}

func (misnamed) Name() string { return "json" }

func TestCodecOptions(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		asMsgpack, asJSON := f.everything()
		for says, job := range map[string]everythingJob{
			`name "json"`:          asJSON.WithCodec(misnamed{}, nil),
			"the payload has none": asJSON.WithCodec(nil, packed.ReceiptCodec),
		} {
			_, err := echomq.Enqueue(f.ctx, f.producer, job, payload(1))
			require.ErrorIs(t, err, echomq.ErrOption)
			require.ErrorContains(t, err, says)
			_, err = echomq.NewWorker(f.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(job, answer)}))
			require.ErrorIs(t, err, echomq.ErrOption)
		}
		looped := payload(1)
		loop := &packed.Link{}
		loop.Next = loop
		looped.Chain = loop
		_, err := echomq.Enqueue(f.ctx, f.producer, asMsgpack, looped)
		require.ErrorIs(t, err, echomq.ErrPayload)
		require.ErrorContains(t, err, "Chain.Next")
	})
}

// TestCodecOfAnOlderVersion upgrades payloads of the encoding that they had, also
// where the job is JSON by now; then its result is JSON too.
func TestCodecOfAnOlderVersion(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		spec := f.jobSpec("greet")
		first := echomq.NewJobType[packed.Receipt, string](spec).WithCodec(packed.ReceiptCodec, nil)
		handle, err := echomq.Enqueue(f.ctx, f.producer, first, packed.Receipt{ID: 1<<63 + 1, Note: "Ada"})
		require.NoError(t, err)
		require.Equal(t, "msgpack", f.hash(t, handle.ID)["cdc"])
		spec.Version = 2
		upgrade := func(old packed.Receipt) (greeting, error) {
			return greeting{Name: fmt.Sprint(old.Note, " ", old.ID)}, nil
		}
		second := echomq.NewJobType[greeting, string](spec).Reads(echomq.Upgrade(1, upgrade, packed.ReceiptCodec))
		f.serve(t, []echomq.Route{echomq.RouteTo(second, hello)})
		later, err := second.Handle(f.client, handle.ID)
		require.NoError(t, err)
		require.Equal(t, "hello Ada 9223372036854775809", await(t, f, later))
	})
}

// TestHandlesWithACodecCompare holds that handles can be compared, and be keys.
func TestHandlesWithACodecCompare(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		asMsgpack, _ := f.everything()
		handle, err := asMsgpack.Handle(f.client, "one")
		require.NoError(t, err)
		again, err := asMsgpack.Handle(f.client, "one")
		require.NoError(t, err)
		require.True(t, handle == again)
		require.Len(t, map[echomq.Handle[packed.Receipt]]bool{handle: true, again: true}, 1)
	})
}
