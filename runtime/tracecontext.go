package echomq

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/echomq/echomq-go/runtime/wire"
)

// The keys of a carrier, as the W3C recommendation names them.
const (
	traceParentKey = "traceparent"
	traceStateKey  = "tracestate"
)

// maxTraceState is the longest trace state that is carried: what the W3C
// recommendation asks implementations to carry at least.
const maxTraceState = 512

// TraceContext is a W3C trace context, by which the run of a job is known to
// belong to the request that added it. It travels in the job's settings.
type TraceContext struct {
	// Parent is the header traceparent, such as
	// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.
	Parent string
	// State is the header tracestate, at most 512 bytes; it may be empty.
	State string
}

type traceKey struct{}

// ContextWithTrace returns a context with which jobs are added under the given
// trace context. One that is not valid is left out when a job is added, as the
// W3C recommendation says, and its state alone if only that is not.
//
// Programs with a tracing library set [Propagate] instead.
func ContextWithTrace(ctx context.Context, trace TraceContext) context.Context {
	return context.WithValue(ctx, traceKey{}, trace)
}

// TraceFrom returns the trace context of a context: in a handler that of the
// request that added the job, unless [Propagate] says otherwise.
func TraceFrom(ctx context.Context) (TraceContext, bool) {
	trace, ok := ctx.Value(traceKey{}).(TraceContext)
	return trace, ok
}

// Propagate connects a client with a tracing library. inject writes the trace
// context of a context into a carrier when a job is added, under the keys
// traceparent and tracestate; extract returns a handler's context with what it
// finds there. For OpenTelemetry:
//
//	propagator := otel.GetTextMapPropagator()
//	echomq.Propagate(
//		func(ctx context.Context, carrier map[string]string) {
//			propagator.Inject(ctx, propagation.MapCarrier(carrier))
//		},
//		func(ctx context.Context, carrier map[string]string) context.Context {
//			return propagator.Extract(ctx, propagation.MapCarrier(carrier))
//		},
//	)
//
// The default uses [TraceFrom] and [ContextWithTrace]. Jobs that a handler adds
// with its context are in the same trace.
func Propagate(inject func(context.Context, map[string]string), extract func(context.Context, map[string]string) context.Context) ClientOption {
	return clientOption(func(c *clientConfig) { c.propagation = propagation{inject: inject, extract: extract} })
}

// propagation is how trace contexts leave and enter contexts.
type propagation struct {
	inject  func(context.Context, map[string]string)
	extract func(context.Context, map[string]string) context.Context
}

// of returns the valid trace context of ctx, or nil.
func (p propagation) of(ctx context.Context) *wire.TraceOpts {
	var trace TraceContext
	if p.inject == nil {
		var ok bool
		if trace, ok = TraceFrom(ctx); !ok {
			return nil
		}
	} else {
		carrier := make(map[string]string, 2)
		p.inject(ctx, carrier)
		trace = TraceContext{Parent: carrier[traceParentKey], State: carrier[traceStateKey]}
	}
	if !isTraceParent(trace.Parent) {
		return nil
	}
	if len(trace.State) > maxTraceState || !isHeaderValue(trace.State) {
		trace.State = ""
	}
	return &wire.TraceOpts{Parent: trace.Parent, State: trace.State}
}

// enter returns ctx with the trace context that a job carries.
func (p propagation) enter(ctx context.Context, trace *wire.TraceOpts) context.Context {
	if trace == nil || !isTraceParent(trace.Parent) {
		return ctx
	}
	if p.extract == nil {
		return ContextWithTrace(ctx, TraceContext{Parent: trace.Parent, State: trace.State})
	}
	carrier := map[string]string{traceParentKey: trace.Parent}
	if trace.State != "" {
		carrier[traceStateKey] = trace.State
	}
	return p.extract(ctx, carrier)
}

// traced returns the jobs with the trace context of ctx in their settings. A job
// that was prepared earlier, and has one, keeps it.
func (p propagation) traced(ctx context.Context, jobs []Prepared) []Prepared {
	trace := p.of(ctx)
	if trace == nil {
		return jobs
	}
	encoded, err := json.Marshal(trace)
	if err != nil {
		return jobs
	}
	traced := slices.Clone(jobs)
	for i := range traced {
		// The jobs of a batch mostly have the same settings.
		if i > 0 && jobs[i].opts == jobs[i-1].opts {
			traced[i].opts = traced[i-1].opts
		} else {
			traced[i].opts = withTrace(jobs[i].opts, encoded)
		}
	}
	return traced
}

// withTrace enters a trace context into encoded settings that have none.
func withTrace(opts string, trace json.RawMessage) string {
	const field = "tm"
	if opts == "" {
		return `{"` + field + `":` + string(trace) + `}`
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(opts), &fields) != nil || fields == nil || fields[field] != nil {
		return opts
	}
	fields[field] = trace
	encoded, err := json.Marshal(fields)
	if err != nil {
		return opts
	}
	return string(encoded)
}

// isTraceParent reports whether text is a traceparent: version, trace id, parent
// id and flags in hexadecimal, and more only for versions after the first.
func isTraceParent(text string) bool {
	const length = 2 + 1 + 32 + 1 + 16 + 1 + 2
	if len(text) < length || len(text) > maxTraceState || !isHeaderValue(text) {
		return false
	}
	parts := strings.SplitN(text[:length], "-", 4)
	if len(parts) != 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || len(parts[3]) != 2 {
		return false
	}
	for _, part := range parts {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return false
		}
	}
	if strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" || parts[0] == "ff" {
		return false
	}
	return len(text) == length || parts[0] != "00" && text[length] == '-'
}

// isHeaderValue reports whether text has only printable ASCII characters.
func isHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
