package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/lua54"
	"github.com/echomq/echomq-go/runtime/internal/model"
	"github.com/echomq/echomq-go/runtime/internal/script"
	"github.com/echomq/echomq-go/runtime/wire"
)

// lane is a way to make a call.
type lane func(ctx context.Context, call script.Call) (any, error)

// textArgs returns ARGV as it is sent.
func textArgs(call script.Call) []string {
	args := make([]string, len(call.Args))
	for i, arg := range call.Args {
		switch arg := arg.(type) {
		case []byte:
			args[i] = string(arg)
		default:
			args[i] = fmt.Sprint(arg)
		}
	}
	return args
}

// evalsha is the command of a call.
func evalsha(call script.Call) []any {
	command := []any{"evalsha", call.Script.SHA1, len(call.Keys)}
	for _, key := range call.Keys {
		command = append(command, key)
	}
	return append(command, call.Args...)
}

// directly makes calls as any client does.
func directly(client *redis.Client) lane {
	return func(ctx context.Context, call script.Call) (any, error) {
		return loaded(ctx, client, client, call)
	}
}

// loaded makes a call, and loads its script, as another user, if it has to.
func loaded(ctx context.Context, admin, client *redis.Client, call script.Call) (any, error) {
	reply, err := client.Do(ctx, evalsha(call)...).Result()
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err := admin.ScriptLoad(ctx, call.Script.Source).Err(); err != nil {
			return nil, err
		}
		reply, err = client.Do(ctx, evalsha(call)...).Result()
	}
	return reply, err
}

// outcome is what came of a call: its reply or error, and the store after it.
type outcome struct{ reply, store string }

// try makes a call on a queue of its own that holds the situation.
func try(t *testing.T, e *enginetest.Engine, client *redis.Client, run lane, situation string, caller model.Caller, scripts map[string]lua.Script) outcome {
	t.Helper()
	queue, err := wire.ParseQueue(e.QueueName(t))
	require.NoError(t, err)
	plant(t, client, queue, situation)
	call := caller.Call(queue)
	if instead, ok := scripts[call.Script.Name]; ok {
		call.Script = instead
	}
	raw, err := run(t.Context(), call)
	var result outcome
	var now int64
	if err == nil {
		var reply any
		reply, now, err = model.Decode(caller, raw)
		result.reply = relative(fmt.Sprintf("%+v", reply), now)
	}
	if err != nil {
		result.reply = "error " + withoutAddress(err, queue)
	}
	result.store, err = unload(t.Context(), client, queue, now)
	require.NoError(t, err)
	return result
}

// withoutAddress is the text of an error, whatever the queue's name is; of a
// full engine's only the code, since the rest is the engine's own.
func withoutAddress(err error, queue wire.Queue) string {
	text := strings.ReplaceAll(err.Error(), queue.Name(), "queue")
	if code, _, _ := strings.Cut(text, " "); code == "EMQFULL" {
		return code
	}
	return text
}

// everyCase makes every call in every situation on a lane.
func everyCase(t *testing.T, e *enginetest.Engine, client *redis.Client, run lane) map[string]outcome {
	t.Helper()
	outcomes := map[string]outcome{}
	all := calls()
	for situation, text := range situations {
		for name, caller := range all {
			outcomes[fmt.Sprintf("%s, in the situation %q", name, situation)] = try(t, e, client, run, text, caller, nil)
		}
	}
	return outcomes
}

// requireSame requires that two lanes came to the same.
func requireSame(t *testing.T, want, got map[string]outcome) {
	t.Helper()
	require.Len(t, got, len(want))
	for name, outcome := range want {
		require.Equal(t, outcome, got[name], name)
	}
}

// guard makes each call as a user who may touch exactly the keys that it
// declares, which the engine enforces for every command of the script.
func guard(t *testing.T, e *enginetest.Engine) lane {
	t.Helper()
	admin := e.Client(t)
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "guard", "reset", "on", ">secret", "+@all").Err())
	options := e.Options()
	options.Username, options.Password = "guard", "secret"
	guarded := redis.NewClient(options)
	t.Cleanup(func() { _ = guarded.Close() })
	escape := strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `\`, `\\`)
	return func(ctx context.Context, call script.Call) (any, error) {
		rights := []any{"acl", "setuser", "guard", "resetkeys", "resetchannels"}
		for _, key := range call.Keys {
			rights = append(rights, "~"+escape.Replace(key))
		}
		if err := admin.Do(ctx, rights...).Err(); err != nil {
			return nil, err
		}
		return loaded(ctx, admin, guarded, call)
	}
}

// dragonfly makes calls in Lua 5.4 as Dragonfly would.
func dragonfly(t *testing.T, e *enginetest.Engine) (lane, *lua54.Dragonfly) {
	t.Helper()
	interpreter, err := lua54.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, interpreter.Close()) })
	client := resp2(t, e)
	keys := keysOf(client)
	d := &lua54.Dragonfly{
		Interpreter: interpreter,
		Sites:       map[lua54.Site]bool{},
		Keys:        func(command []string) ([]string, error) { return keys(t.Context(), command) },
		Do: func(command []string) (any, error) {
			words := make([]any, len(command))
			for i, word := range command {
				words[i] = word
			}
			reply, err := client.Do(t.Context(), words...).Result()
			if errors.Is(err, redis.Nil) {
				return nil, nil
			}
			return reply, err
		},
	}
	return func(_ context.Context, call script.Call) (any, error) {
		return d.Call(call.Script.Source, call.Keys, textArgs(call))
	}, d
}
