package echomq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/embedded"
)

type greet struct{ Name string }

func TestSmoke(t *testing.T) {
	for i, opt := range []embedded.Option{embedded.Process(), embedded.InMemory()} {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		server, err := embedded.Start(ctx, opt)
		require.NoError(t, err)
		defer server.Close()
		t.Log(server.Engine())
		client := echomq.NewClient(server.Redis())
		defer client.Close()
		spec := echomq.QueueSpec{Name: "mail"}
		job := echomq.NewJobType[greet, string](echomq.JobSpec{Queue: "mail", Name: "greet", Retry: echomq.RetrySpec{Attempts: 3, Backoff: echomq.Fixed, Base: 50 * time.Millisecond}})
		fails := 0
		w, err := echomq.NewWorker(client, nil, echomq.Serve(spec, []echomq.Route{echomq.RouteTo(job, func(ctx context.Context, j *echomq.Job[greet]) (string, error) {
			if j.Payload.Name == "flaky" && j.Attempt() < 3 {
				fails++
				return "", errors.New("flaky")
			}
			if j.Payload.Name == "bad" {
				return "", echomq.Fail(errors.New("bad"))
			}
			return "hello " + j.Payload.Name, nil
		})}))
		require.NoError(t, err)
		done := make(chan error, 1)
		rctx, stop := context.WithCancel(ctx)
		go func() { done <- w.Run(rctx) }()
		p := echomq.NewProducer(client, spec)
		h, err := echomq.Enqueue(ctx, p, job, greet{"Ada"})
		require.NoError(t, err)
		r, err := h.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, "hello Ada", r)
		h, _ = echomq.Enqueue(ctx, p, job, greet{"flaky"})
		r, err = h.Await(ctx)
		require.NoError(t, err)
		require.Equal(t, 2, fails)
		start := time.Now()
		h, _ = echomq.Enqueue(ctx, p, job, greet{"later"}, echomq.In(300*time.Millisecond))
		r, err = h.Await(ctx)
		require.NoError(t, err)
		t.Log("delayed", time.Since(start))
		h, _ = echomq.Enqueue(ctx, p, job, greet{"bad"})
		_, err = h.Await(ctx)
		t.Log(err)
		var je *echomq.JobError
		require.ErrorAs(t, err, &je)
		h, _ = echomq.Enqueue(ctx, p, job, greet{"prio"}, echomq.Priority(5))
		r, err = h.Await(ctx)
		require.NoError(t, err)
		items := make([]greet, 5000)
		for i := range items {
			items[i].Name = "x"
		}
		n := len(items)
		if i == 1 {
			n = 300
		}
		start = time.Now()
		outs, err := echomq.EnqueueBatch(ctx, p, job, echomq.Items(items[:n]...))
		require.NoError(t, err)
		t.Log("batch", time.Since(start))
		start = time.Now()
		for _, o := range outs {
			_, err := o.Handle.Await(ctx)
			require.NoError(t, err)
		}
		t.Log("awaited", time.Since(start))
		stop()
		require.NoError(t, <-done)
	}
}
