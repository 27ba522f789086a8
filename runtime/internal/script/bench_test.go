package script_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// bench is a queue on an engine, on which a test tries the scripts.
type bench struct {
	client *redis.Client
	queue  wire.Queue
	// instead are the scripts that take the place of others, by their names.
	instead map[string]lua.Script
	// seen is the id of the last event that was read.
	seen string
}

func newBench(t testing.TB, e *enginetest.Engine) *bench {
	t.Helper()
	b := &bench{}
	b.use(t, e)
	return b
}

// use turns to a queue of its own, which does not exist yet.
func (b *bench) use(t testing.TB, e *enginetest.Engine) {
	t.Helper()
	queue, err := wire.ParseQueue(e.QueueName(t))
	require.NoError(t, err)
	b.queue = queue
	b.seen = "-"
	if b.client == nil || e.Kind == enginetest.ValkeyCluster { // where it lies elsewhere
		b.client = e.Node(t, queue.Key("meta"))
	}
}

// call makes a call and returns what the server answered.
func (b *bench) call(ctx context.Context, call script.Call) (any, error) {
	if instead, ok := b.instead[call.Script.Name]; ok {
		call.Script = instead
	}
	args := []any{"evalsha", call.Script.SHA1, len(call.Keys)}
	for _, key := range call.Keys {
		args = append(args, key)
	}
	args = append(args, call.Args...)
	reply, err := b.client.Do(ctx, args...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := b.client.ScriptLoad(ctx, call.Script.Source).Err(); err != nil {
			return nil, err
		}
		return b.client.Do(ctx, args...).Result()
	}
	return reply, err
}

// do makes a typed call that must succeed.
func (b *bench) do(t testing.TB, call model.Caller) (reply any, now int64) {
	t.Helper()
	raw, err := b.call(t.Context(), call.Call(b.queue))
	require.NoError(t, err)
	reply, now, err = model.Decode(call, raw)
	require.NoError(t, err)
	return reply, now
}

// code returns the first word of an error that a script answered, "" for none.
func code(err error) string {
	var reply redis.Error
	if !errors.As(err, &reply) {
		return ""
	}
	word, _, _ := strings.Cut(err.Error(), " ")
	return word
}

// clear deletes the queue.
func (b *bench) clear(ctx context.Context) error {
	keys, err := b.client.Keys(ctx, b.queue.Key("*")).Result()
	if err != nil || len(keys) == 0 {
		return err
	}
	return b.client.Del(ctx, keys...).Err()
}
