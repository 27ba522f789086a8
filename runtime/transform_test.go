package echomq_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

// compressed is a transform that compresses.
type compressed struct{}

func (compressed) Name() string { return "gzip" }

func (compressed) Seal(_, _ string, plain []byte) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(plain); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func (compressed) Open(_, _ string, sealed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(sealed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// broken is a transform that cannot.
type broken struct {
	name string
	err  error
}

func (b broken) Name() string { return b.name }

func (b broken) Seal(_, _ string, plain []byte) ([]byte, error) { return plain, b.err }

func (b broken) Open(string, string, []byte) ([]byte, error) {
	if b.err == nil {
		panic("no key")
	}
	return nil, b.err
}

func key(t *testing.T, name, secret string) *encrypted {
	t.Helper()
	transform, err := newEncrypted(name, []byte(strings.Repeat(secret, 32)[:32]))
	require.NoError(t, err)
	return transform
}

// through returns a fixture whose client has transforms.
func (f *fixture) through(t *testing.T, seal echomq.PayloadTransform, others ...echomq.PayloadTransform) *fixture {
	t.Helper()
	other := *f
	other.client = f.newClient(t, f.programStore(t), echomq.TransformPayloads(seal, others...))
	other.producer = echomq.NewProducer(other.client, f.spec)
	return &other
}

func TestTransformedPayloads(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		old, current := f.through(t, key(t, "key-1", "a")), f.through(t, key(t, "key-2", "b"), key(t, "key-1", "a"), compressed{})
		waiting := []echomq.Handle[string]{
			old.enqueue(t, "Ada"), current.enqueue(t, "Grace"), f.enqueue(t, "Edsger"), f.through(t, compressed{}).enqueue(t, "Alan"),
		}
		prepared, err := echomq.Prepare(old.producer, f.greet(), greeting{"Barbara"})
		require.NoError(t, err)
		encoded, err := json.Marshal(prepared)
		require.NoError(t, err)
		var kept echomq.Prepared
		require.NoError(t, json.Unmarshal(encoded, &kept))
		_, err = current.client.Send(f.ctx, kept)
		require.NoError(t, err)
		current.work(t, hello)

		want := map[string]string{"Ada": "json+key-1", "Grace": "json+key-2", "Edsger": "", "Alan": "json+gzip"}
		for i, name := range []string{"Ada", "Grace", "Edsger", "Alan"} {
			handle, err := f.greet().Handle(current.client, waiting[i].ID)
			require.NoError(t, err)
			require.Equal(t, "hello "+name, await(t, f, handle))
			hash := f.hash(t, handle.ID)
			require.Equal(t, want[name], hash["cdc"])
			require.Equal(t, name == "Edsger", strings.Contains(hash["data"]+hash["returnvalue"], name))
		}
		handle, err := f.greet().Handle(old.client, prepared.ID())
		require.NoError(t, err)
		require.Equal(t, "hello Barbara", await(t, f, handle))

		// One without the key cannot read the result.
		_, err = waiting[2].Await(f.ctx)
		require.NoError(t, err)
		blind, err := f.greet().Handle(f.client, waiting[0].ID)
		require.NoError(t, err)
		_, err = blind.Await(f.ctx)
		require.ErrorIs(t, err, echomq.ErrResult)
		require.ErrorContains(t, err, "key-1")
	})
}

// A worker without the transform gives the job back; no attempt is consumed.
func TestUnknownTransformIsGivenBack(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		secret := f.through(t, key(t, "key-1", "a"))
		without := f.work(t, hello)
		handle := secret.enqueue(t, "Ada")
		reach(t, f, handle, echomq.StateDelayed)
		without.halt(t) // it could take the job again and again
		job := f.envelope(t, handle.ID)
		require.Equal(t, 1, job.UnknownCount)
		require.Zero(t, job.AttemptsMade)
		secret.work(t, hello)
		require.Equal(t, "hello Ada", await(t, f, handle))
	})
}

func TestTransformThatFails(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		// Opening fails the job at once, and its bytes are kept.
		var runs atomic.Int64
		handler := func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			runs.Add(1)
			return hello(ctx, job)
		}
		wrong := f.through(t, key(t, "key-1", "b"), broken{name: "panics"})
		wrong.work(t, handler)
		handle := f.through(t, key(t, "key-1", "a")).enqueue(t, "Ada")
		failure := awaitFailure(t, f, handle)
		require.Contains(t, failure.Reason, "payload cannot be opened")
		require.Equal(t, 1, failure.Attempts)
		require.NotEmpty(t, f.hash(t, handle.ID)["data"])
		failure = awaitFailure(t, f, f.through(t, broken{name: "panics"}).enqueue(t, "Ada"))
		require.Contains(t, failure.Reason, "no key")
		require.Zero(t, runs.Load())

		// Sealing fails the call, before anything is sent.
		for _, seal := range []echomq.PayloadTransform{
			broken{name: "x", err: errors.New("no key")}, broken{name: "Bad Name"}, nil,
		} {
			sealing := f.through(t, seal)
			_, err := echomq.Enqueue(f.ctx, sealing.producer, f.greet(), greeting{"Ada"})
			require.Error(t, err)
		}
		twice := f.through(t, compressed{}, compressed{})
		_, err := echomq.Enqueue(f.ctx, twice.producer, f.greet(), greeting{"Ada"})
		require.ErrorIs(t, err, echomq.ErrOption)
		_, err = echomq.NewWorker(twice.client, nil, echomq.Serve(f.spec, []echomq.Route{echomq.RouteTo(f.greet(), hello)}))
		require.ErrorIs(t, err, echomq.ErrOption)

		// The limit holds for what is stored.
		small := echomq.NewProducer(f.through(t, key(t, "key-1", "a")).client, f.spec, echomq.PayloadLimit(20))
		_, err = echomq.Enqueue(f.ctx, small, f.greet(), greeting{"Ada"})
		require.ErrorIs(t, err, echomq.ErrPayload)
	})
}
