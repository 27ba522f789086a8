//go:build unix

package childserver

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseInfo(t *testing.T) {
	t.Parallel()
	valkey := parseInfo("# Server\r\nredis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n")
	assert.Equal(t, Info{Name: "valkey", Version: "8.0.1", Compatible: "7.2.4"}, valkey)
	redis := parseInfo("# Server\r\nredis_version:7.0.15\r\n")
	assert.Equal(t, Info{Name: "redis", Version: "7.0.15", Compatible: "7.0.15"}, redis)

	assert.True(t, valkey.AtLeast(7, 2))
	assert.True(t, redis.AtLeast(6, 2))
	assert.False(t, redis.AtLeast(7, 2))
	assert.False(t, redis.AtLeast(8, 0))
	assert.False(t, parseInfo("").AtLeast(7, 0))
}

func TestTailKeepsTheEnd(t *testing.T) {
	t.Parallel()
	output := &tail{limit: 8}
	for _, text := range []string{"one ", "two ", "three\n", strings.Repeat("x", 20), "12345\n"} {
		_, err := output.Write([]byte(text))
		require.NoError(t, err)
	}
	assert.Equal(t, "xx12345", output.String())
}

func TestServerThatIsNotThere(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "valkey-server")
	_, err := Start(t.Context(), Config{Binary: missing})
	var failure *Error
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, missing, failure.Binary)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestServerThatDoesNotAnswerInTime(t *testing.T) {
	t.Parallel()
	binary := filepath.Join(t.TempDir(), "valkey-server")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nexec sleep 60\n"), 0o700))
	_, err := Start(t.Context(), Config{
		Binary: binary, Network: "unix", Addr: filepath.Join(t.TempDir(), "s"), ReadyTimeout: 50 * time.Millisecond,
	})
	assert.ErrorContains(t, err, "did not answer within 50ms")
}

func TestTempDirIsPrivate(t *testing.T) {
	t.Parallel()
	dir, err := TempDir()
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	info, err := os.Stat(dir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	assert.LessOrEqual(t, len(SocketPath(dir)), maxSocketPath)
}
