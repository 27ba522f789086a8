//go:build unix

package embedded_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/embedded"
)

func processExists(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestOptionsThatExcludeEachOther(t *testing.T) {
	t.Parallel()
	_, err := embedded.Start(t.Context(), embedded.Process(), embedded.InMemory())
	assert.ErrorIs(t, err, embedded.ErrOptions)
}

func TestNothingInstalled(t *testing.T) {
	t.Parallel()
	_, err := embedded.Start(t.Context(), embedded.Process(), embedded.LookPath(missing))
	require.ErrorIs(t, err, embedded.ErrNotInstalled)
	assert.Contains(t, err.Error(), "apt-get install")
	assert.Contains(t, err.Error(), "embedded.InMemory")
}

// program writes an executable shell script and returns a lookPath that finds
// it as valkey-server.
func program(t *testing.T, script string) func(string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "valkey-server")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	return func(name string) (string, error) {
		if name == "valkey-server" {
			return path, nil
		}
		return missing(name)
	}
}

func TestServerThatEndsAtOnce(t *testing.T) {
	t.Parallel()
	lookPath := program(t, "echo '*** FATAL CONFIG FILE ERROR' >&2; exit 3")

	_, err := embedded.Start(t.Context(), embedded.Process(), embedded.LookPath(lookPath))
	var failure *embedded.StartError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, "*** FATAL CONFIG FILE ERROR", failure.Output)
	assert.Contains(t, err.Error(), "exit status 3")
	assert.Contains(t, err.Error(), "FATAL CONFIG FILE ERROR")
}

func TestServerThatEndsAtOnceFallsBack(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	server := start(t,
		embedded.LookPath(program(t, "echo no memory; exit 1")),
		embedded.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	assert.Contains(t, server.Engine(), "miniredis")
	assert.Contains(t, log.String(), "no memory")
}

func TestServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	pidFile := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	var pid int
	running := func() bool {
		text, _ := os.ReadFile(pidFile)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid != 0
	}
	go func() {
		defer cancel()
		assert.Eventually(t, running, 5*time.Second, time.Millisecond)
	}()

	_, err := embedded.Start(ctx, embedded.LookPath(program(t, "echo $$ > "+pidFile+"; exec sleep 60")))
	assert.ErrorIs(t, err, context.Canceled)
	assert.False(t, processExists(pid))
}

func TestServerThatDiesIsReported(t *testing.T) {
	t.Parallel()
	needsProcess(t)
	log := &lockedBuffer{}
	server := start(t, embedded.Process(), embedded.Logger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(t, syscall.Kill(serverPid(server), syscall.SIGKILL))
	require.Eventually(t, func() bool {
		return bytes.Contains(log.Bytes(), []byte("ended by itself"))
	}, 5*time.Second, time.Millisecond)
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.buffer.Bytes())
}
