package monitor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/enginetest"
	"github.com/echomq/echomq-go/runtime/internal/monitor"
)

// commandLine is a command as MONITOR shows it.
func commandLine(t *testing.T, command string) monitor.Line {
	t.Helper()
	line, err := monitor.ParseLine([]byte(`1.1 [0 lua] "` + strings.Join(strings.Fields(command), `" "`) + `"`))
	require.NoError(t, err)
	return line
}

// resp2 returns a client that speaks RESP2.
func resp2(t *testing.T, e *enginetest.Engine) *redis.Client {
	t.Helper()
	options := e.Options()
	options.Protocol = 2
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestKeysOfCommands(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		keys := monitor.NewKeys(resp2(t, e))
		for range 2 { // what the server said is remembered
			for _, test := range []struct{ command, want string }{
				{"TIME", ""},
				{"PUBLISH channel text", ""},
				{"GET a", "r:a"},
				{"get b", "r:b"},
				{"SET a 1", "w:a"},
				{"DEL a b c", "w:a w:b w:c"},
				{"DEL a", "w:a"},
				{"MSET a 1 b 2", "w:a w:b"},
				{"MGET a b", "r:a r:b"},
				{"HSET h f 1 g 2", "w:h"},
				{"RPOP l 3", "w:l"},
				{"COPY a b", "r:a w:b"},
				{"COPY c d", "r:c w:d"},
				{"LMOVE a b LEFT RIGHT", "w:a w:b"},
				{"ZMPOP 2 a b MIN", "w:a w:b"},
				{"ZUNIONSTORE d 2 a b", "w:d r:a r:b"},
				{"XADD s MAXLEN ~ 10 * f v", "w:s"},
				{"XREAD COUNT 1 STREAMS s 0", "r:s"},
				{"XGROUP CREATE s g 0", "w:s"},
			} {
				found, err := keys.Of(t.Context(), commandLine(t, test.command))
				require.NoError(t, err, test.command)
				var text []string
				for _, key := range found {
					text = append(text, map[bool]string{true: "w:", false: "r:"}[key.Write]+key.Name)
				}
				assert.Equal(t, strings.Fields(test.want), strings.Fields(strings.Join(text, " ")), test.command)
			}
		}
	})
}

func TestKeysOfAnUnknownCommand(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		_, err := monitor.NewKeys(resp2(t, e)).Of(t.Context(), commandLine(t, "NOSUCH a"))
		assert.ErrorContains(t, err, "nosuch")
	})
}

// TestCallAndOperands shows a script in the stream: its call, then its commands.
func TestCallAndOperands(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		client := resp2(t, e)
		stream, err := monitor.Open(t.Context(), e.Options())
		require.NoError(t, err)
		defer stream.Close()
		require.NoError(t, client.Eval(t.Context(), `redis.call('SET', KEYS[2], 1) return redis.call('MGET', KEYS[1], ARGV[1])`,
			[]string{"a", "b"}, "c").Err())

		call, ok, err := monitor.ParseCall(next(t, stream, "eval"))
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, []string{"a", "b"}, call.Keys)
		assert.True(t, call.Declares("b"))
		assert.False(t, call.Declares("c"))
		for _, want := range []struct{ name, undeclared string }{{"SET", ""}, {"MGET", "c"}} {
			line := next(t, stream, want.name)
			assert.True(t, line.Lua)
			_, isCall, err := monitor.ParseCall(line)
			require.NoError(t, err)
			assert.False(t, isCall)
			_, undeclared, err := call.Operands(t.Context(), monitor.NewKeys(client), line)
			require.NoError(t, err)
			assert.Equal(t, want.undeclared, strings.Join(undeclared, " "))
		}
	})
}

// next returns the next line, of those whose command is called name.
func next(t *testing.T, stream *monitor.Stream, name string) monitor.Line {
	t.Helper()
	for {
		text, err := stream.Next()
		require.NoError(t, err)
		line, err := monitor.ParseLine(text)
		require.NoError(t, err)
		if arguments, err := line.Arguments(1); err == nil && strings.EqualFold(arguments[0], name) {
			return line.Clone()
		}
	}
}

func TestOpenIsRefused(t *testing.T) {
	t.Parallel()
	t.Run("by an engine without MONITOR", func(t *testing.T) {
		t.Parallel()
		_, err := monitor.Open(t.Context(), enginetest.Start(t, enginetest.Miniredis).Options())
		assert.ErrorIs(t, err, monitor.ErrRefused)
	})
	t.Run("to a user without the right", func(t *testing.T) {
		t.Parallel()
		enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
			require.NoError(t, resp2(t, e).Do(t.Context(), "ACL", "SETUSER", "blind", "on", ">secret", "+@all", "-monitor", "~*").Err())
			options := e.Options()
			options.Username, options.Password = "blind", "secret"
			_, err := monitor.Open(t.Context(), options)
			require.ErrorIs(t, err, monitor.ErrRefused)
			assert.ErrorContains(t, err, "NOPERM")
			options.Password = "wrong"
			_, err = monitor.Open(t.Context(), options)
			assert.ErrorContains(t, err, "WRONGPASS")
		})
	})
	t.Run("before it was asked", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := monitor.Open(ctx, enginetest.Start(t, enginetest.Miniredis).Options())
		assert.ErrorIs(t, err, context.Canceled)
	})
}
