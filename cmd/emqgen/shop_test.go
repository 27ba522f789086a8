package main

// This file builds and runs testdata/shop, a repository of a user: two services,
// the package of jobs that they share, and emqgen as a tool of its go.mod.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/echomq/echomq-go/runtime/embedded"
)

// copyShop returns a copy of the shop, which works on this repository.
func copyShop(t testing.TB) module {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/shop")))
	repository, err := filepath.Abs("../..")
	require.NoError(t, err)
	m := module{t, dir}
	m.edit("go.mod", "=> ../..\n", "=> "+repository+"\n")
	return m
}

// edit replaces a text, which must be there, in a file.
func (m module) edit(name, old, new string) {
	m.Helper()
	content := m.read(name)
	require.Contains(m, content, old, name)
	m.write(name, strings.Replace(content, old, new, 1))
}

// tool runs a program in the module, and returns what it printed.
func (m module) tool(program string, arguments ...string) string {
	m.Helper()
	out, err := m.command(program, arguments...).CombinedOutput()
	require.NoError(m, err, "%s %s: %s", program, strings.Join(arguments, " "), out)
	return string(out)
}

func (m module) command(program string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(m.Context(), program, arguments...)
	command.Dir = m.dir
	command.Env = append(os.Environ(), "GOWORK=")
	return command
}

func TestShop(t *testing.T) {
	t.Parallel()
	m := copyShop(t)
	before := m.files()
	require.Empty(t, m.tool("go", "generate", "./..."))
	require.Empty(t, m.tool("go", "tool", "emqgen", "-check", "./..."))
	require.Equal(t, before, m.files(), "what is checked in is up to date, and nothing else was written")
	m.tool("go", "vet", "./...")
	m.tool("go", "test", "-vet=off", "./...")
	m.tool("go", "build", "-o", "bin/", "./cmd/...")

	ctx := context.WithoutCancel(t.Context())
	engine := embedded.Process()
	if os.Getenv("EMQ_ENGINES") == "embedded" {
		engine = embedded.InMemory()
	}
	server, err := embedded.Start(ctx, engine, embedded.Logger(nil))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	store := redis.NewClient(server.Options())
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	url := "redis://" + server.Options().Addr
	if server.Options().Network == "unix" {
		url = "unix://" + server.Options().Addr
	}

	web := m.start("web", "REDIS_URL="+url, "LISTEN=127.0.0.1:0")
	_, address, _ := strings.Cut(web.line(), "listening on ")
	order := func() (answer struct {
		Job      string
		Existing bool
	}) {
		body := `{"orderId": 7, "email": "ada@example.com", "items": [{"article": "lamp", "count": 2}]}`
		m.ask(http.MethodPost, "http://"+address+"/orders", body, http.StatusAccepted, &answer)
		return answer
	}
	first, second := order(), order()
	require.False(t, first.Existing)
	require.True(t, second.Existing)
	require.Equal(t, first.Job, second.Job)
	m.ask(http.MethodGet, "http://"+address+"/confirmations/unknown", "", http.StatusNotFound, nil)

	// The web service waits for what the worker answers, whenever that starts.
	worker := m.start("worker", "REDIS_URL="+url)
	var confirmation struct{ MessageID string }
	m.ask(http.MethodGet, "http://"+address+"/confirmations/"+first.Job, "", http.StatusOK, &confirmation)
	require.Equal(t, "message-"+first.Job, confirmation.MessageID)
	require.EqualValues(t, 1, store.ZCard(ctx, "emq:{orders}:delayed").Val(), "the review has two weeks")

	require.NotContains(t, web.stop()+worker.stop(), "ada@example.com", "the field is redacted")
}

// ask sends a request and reads the answer into a value, unless that is nil.
func (m module) ask(method, url, body string, status int, into any) {
	m.Helper()
	request, err := http.NewRequestWithContext(m.Context(), method, url, strings.NewReader(body))
	require.NoError(m, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(m, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	require.NoError(m, err)
	require.Equal(m, status, response.StatusCode, "%s", answer)
	if into != nil {
		require.NoError(m, json.Unmarshal(answer, into), "%s", answer)
	}
}

// service is a program of the shop that runs.
type service struct {
	testing.TB
	command *exec.Cmd
	lines   *bufio.Reader
	printed bytes.Buffer
	stopped bool
}

// start runs a program of the shop, until the test ends at the latest.
func (m module) start(name string, environment ...string) *service {
	m.Helper()
	s := &service{TB: m.TB, command: exec.Command(filepath.Join(m.dir, "bin", name))}
	s.command.Env = append(os.Environ(), environment...)
	errors, err := s.command.StderrPipe()
	require.NoError(m, err)
	s.lines = bufio.NewReader(io.TeeReader(errors, &s.printed))
	require.NoError(m, s.command.Start())
	m.Cleanup(func() {
		if !s.stopped {
			_ = s.command.Process.Kill()
			_ = s.command.Wait()
		}
	})
	return s
}

// line is the next line that the program prints.
func (s *service) line() string {
	s.Helper()
	line, err := s.lines.ReadString('\n')
	require.NoError(s, err)
	return strings.TrimSpace(line)
}

// stop asks the program to end, which it is to do well, and returns what it has
// printed.
func (s *service) stop() string {
	s.Helper()
	require.NoError(s, s.command.Process.Signal(os.Interrupt))
	expired := time.AfterFunc(20*time.Second, func() { _ = s.command.Process.Kill() })
	defer expired.Stop()
	_, err := io.Copy(io.Discard, s.lines)
	require.NoError(s, err)
	s.stopped = true
	require.NoError(s, s.command.Wait(), s.printed.String())
	return s.printed.String()
}
