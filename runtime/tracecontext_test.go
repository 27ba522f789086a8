package echomq_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
)

const traceParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestTraceContextReachesHandler(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.work(t, func(ctx context.Context, job *echomq.Job[greeting]) (string, error) {
			if job.Payload.Name == "child" {
				trace, _ := echomq.TraceFrom(ctx)
				return trace.Parent + " " + trace.State, nil
			}
			// What a handler adds is in the same trace.
			child, err := echomq.Enqueue(ctx, f.producer, f.greet(), greeting{"child"})
			if err != nil {
				return "", err
			}
			return child.Await(ctx)
		})
		trace := echomq.TraceContext{Parent: traceParent, State: "vendor=1"}
		traced := echomq.ContextWithTrace(f.ctx, trace)
		handle, err := echomq.Enqueue(traced, f.producer, f.greet(), greeting{"parent"}, echomq.Retry(quick(2)))
		require.NoError(t, err)
		require.Equal(t, traceParent+" vendor=1", await(t, f, handle))
		require.JSONEq(t, `{"attempts":2,"backoff":{"type":"fixed","base":1},"tm":{"traceparent":"`+traceParent+`","tracestate":"vendor=1"}}`,
			f.hash(t, handle.ID)["opts"])

		// A job that was prepared in one trace and sent in another keeps its first.
		prepared, err := echomq.Prepare(f.producer, f.greet(), greeting{"child"})
		require.NoError(t, err)
		_, err = f.client.Send(traced, prepared)
		require.NoError(t, err)
		again, err := f.greet().Handle(f.client, prepared.ID())
		require.NoError(t, err)
		require.Equal(t, traceParent+" vendor=1", await(t, f, again))

		outcomes, err := echomq.EnqueueBatch(traced, f.producer, f.greet(), echomq.Items(greeting{"child"}, greeting{"child"}))
		require.NoError(t, err)
		for _, outcome := range outcomes {
			require.Equal(t, traceParent+" vendor=1", await(t, f, outcome.Handle))
		}
	})
}

// A trace context that no header could be is left out; the job is added all the
// same.
func TestInvalidTraceContextIsLeftOut(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		for _, parent := range []string{
			"", "x", traceParent + "x", strings.ToUpper(traceParent), "ff" + traceParent[2:],
			"00-00000000000000000000000000000000-00f067aa0ba902b7-01",
			"00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
			strings.ReplaceAll(traceParent, "-", "_"), traceParent[:54] + "\n",
		} {
			handle, err := echomq.Enqueue(echomq.ContextWithTrace(f.ctx, echomq.TraceContext{Parent: parent}), f.producer, f.greet(), greeting{"Ada"})
			require.NoError(t, err)
			require.NotContains(t, f.hash(t, handle.ID), "opts", "%q", parent)
		}
		for parent, state := range map[string]string{
			traceParent:                      "a\nb",
			"01" + traceParent[2:] + "-more": strings.Repeat("x", 600),
		} {
			trace := echomq.TraceContext{Parent: parent, State: state}
			handle, err := echomq.Enqueue(echomq.ContextWithTrace(f.ctx, trace), f.producer, f.greet(), greeting{"Ada"})
			require.NoError(t, err)
			require.JSONEq(t, `{"tm":{"traceparent":"`+parent+`"}}`, f.hash(t, handle.ID)["opts"])
		}
	})
}

type spanKey struct{}

// Propagate connects a tracing library, of which this is the shape.
func TestPropagate(t *testing.T) {
	each(t, func(t *testing.T, f *fixture) {
		f.client = f.newClient(t, f.programStore(t), echomq.Propagate(
			func(ctx context.Context, carrier map[string]string) {
				if span, ok := ctx.Value(spanKey{}).(string); ok {
					carrier["traceparent"], carrier["tracestate"], carrier["baggage"] = span, "v=1", "dropped"
				}
			},
			func(ctx context.Context, carrier map[string]string) context.Context {
				encoded, _ := json.Marshal(carrier)
				return context.WithValue(ctx, spanKey{}, string(encoded))
			}))
		f.producer = echomq.NewProducer(f.client, f.spec)
		f.work(t, func(ctx context.Context, _ *echomq.Job[greeting]) (string, error) {
			span, _ := ctx.Value(spanKey{}).(string)
			return span, nil
		})
		handle, err := echomq.Enqueue(context.WithValue(f.ctx, spanKey{}, traceParent), f.producer, f.greet(), greeting{"Ada"})
		require.NoError(t, err)
		require.JSONEq(t, `{"traceparent":"`+traceParent+`","tracestate":"v=1"}`, await(t, f, handle))
		require.Empty(t, await(t, f, f.enqueue(t, "Ada")))
	})
}
