package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/lua"
	"github.com/echomq/echomq-go/runtime/embedded"
)

// engine is a server of a test's own.
type engine struct {
	*embedded.Server
	// addr is its URL.
	addr string
	keys *redis.Client
}

// startEngine starts a private valkey-server or redis-server, and ends it with
// the test. It skips the test where EMQ_ENGINES asks for what needs no server.
func startEngine(t *testing.T, opts ...embedded.Option) *engine {
	t.Helper()
	if len(opts) == 0 {
		if os.Getenv("EMQ_ENGINES") == "embedded" {
			t.Skip("EMQ_ENGINES leaves out the servers that this test needs")
		}
		opts = []embedded.Option{embedded.Process()}
	}
	server, err := embedded.Start(context.WithoutCancel(t.Context()), append(opts, embedded.Logger(nil))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	e := &engine{Server: server, addr: "unix://" + server.Options().Addr, keys: redis.NewClient(server.Options())}
	t.Cleanup(func() { require.NoError(t, e.keys.Close()) })
	return e
}

// probed runs emq probe conformance on an engine.
func probed(t *testing.T, e *engine, args ...string) (status int, out, errs string) {
	t.Helper()
	return run(t, slices.Concat([]string{"probe", "conformance", "--addr", e.addr}, args)...)
}

// all returns every key of the engine.
func (e *engine) all(t *testing.T) []string {
	t.Helper()
	keys, err := e.keys.Keys(context.WithoutCancel(t.Context()), "*").Result()
	require.NoError(t, err)
	slices.Sort(keys)
	return keys
}

// bundle writes the scripts to a folder, changed by edit.
func bundle(t *testing.T, edit func(name, source string) string) string {
	t.Helper()
	dir := t.TempDir()
	for _, script := range lua.All() {
		source := edit(script.Name, script.Source)
		require.NoError(t, os.WriteFile(filepath.Join(dir, script.Name+".lua"), []byte(source), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), lua.Manifest(), 0o600))
	return dir
}

// planted returns an edit that runs a statement in the scripts with the given
// names, after they have looked at the version.
func planted(statement string, names ...string) func(name, source string) string {
	return func(name, source string) string {
		if !slices.Contains(names, name) {
			return source
		}
		const anchor = "\nlocal count = "
		return strings.Replace(source, anchor, "\n"+statement+anchor, 1)
	}
}

// session is a probe that waits for Enter.
type session struct {
	t      *testing.T
	enter  *io.PipeWriter
	page   *io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
	status int
	errs   bytes.Buffer
	read   strings.Builder
}

// startSession starts a probe with --step.
func startSession(t *testing.T, e *engine, args ...string) *session {
	t.Helper()
	in, enter := io.Pipe()
	page, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	s := &session{t: t, enter: enter, page: page, cancel: cancel, done: make(chan struct{})}
	all := slices.Concat([]string{"probe", "conformance", "--addr", e.addr, "--step"}, args)
	go func() {
		defer close(s.done)
		s.status = execute(ctx, all, in, out, &s.errs)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_ = enter.Close()
		_, _ = io.Copy(io.Discard, page)
		<-s.done
	})
	return s
}

// until reads the page until it shows text. The probe is ended if it does not.
func (s *session) until(text string) {
	s.t.Helper()
	patience := time.AfterFunc(time.Minute, func() {
		s.cancel()
		_ = s.page.CloseWithError(errors.New("in vain waited for it"))
	})
	defer patience.Stop()
	buffer := make([]byte, 4096)
	for from := s.read.Len(); !strings.Contains(s.read.String()[from:], text); {
		n, err := s.page.Read(buffer)
		s.read.Write(buffer[:n])
		require.NoError(s.t, err, "the page ended before it showed %q: %s", text, s.read.String())
	}
}

// press presses Enter.
func (s *session) press() {
	s.t.Helper()
	_, err := fmt.Fprintln(s.enter)
	require.NoError(s.t, err)
}

// finish reads the rest of the page and returns the exit status.
func (s *session) finish() int {
	_, _ = io.Copy(&s.read, s.page)
	<-s.done
	return s.status
}
