package monitor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/internal/monitor"
)

func TestParseLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		line   string
		client string
		args   []string
	}{
		{`1764432000.1 [0 127.0.0.1:6379] "get" "k"`, "127.0.0.1:6379", []string{"get", "k"}},
		{`1764432000.1 [0 unix:/tmp/emq-1/s] "ping"`, "unix:/tmp/emq-1/s", []string{"ping"}},
		{`1764432000.1 [3 lua] "HSET" "emq:{q}:x" ""`, "", []string{"HSET", "emq:{q}:x", ""}},
		{`1764432000.1 [0 127.0.0.1:1] "echo" "] \"x\" [0 lua] \\ \n\r\t\a\b\x00\xfF"`, "127.0.0.1:1",
			[]string{"echo", "] \"x\" [0 lua] \\ \n\r\t\a\b\x00\xff"}},
	} {
		line, err := monitor.ParseLine([]byte(test.line))
		require.NoError(t, err)
		assert.Equal(t, test.client, line.Client)
		assert.Equal(t, test.client == "", line.Lua)
		args, err := line.Arguments(-1)
		require.NoError(t, err)
		assert.Equal(t, test.args, args)
		first, err := line.Arguments(1)
		require.NoError(t, err)
		assert.Equal(t, test.args[:1], first)
	}
}

func TestParseLineRefusesNonsense(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "OK", `1 "get"`, `[0 lua]`} {
		_, err := monitor.ParseLine([]byte(text))
		assert.Error(t, err, text)
	}
	for _, text := range []string{`1 [0 lua] "get`, `1 [0 lua] "\"`, `1 [0 lua] "\q"`, `1 [0 lua] "\x1"`, `1 [0 lua] "\xzz"`, `1 [0 lua] "a"b"`} {
		line, err := monitor.ParseLine([]byte(text))
		require.NoError(t, err, text)
		_, err = line.Arguments(-1)
		assert.Error(t, err, text)
	}
}
