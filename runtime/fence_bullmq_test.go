package echomq_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	echomq "github.com/echomq/echomq-go/runtime"
	"github.com/echomq/echomq-go/runtime/fleet"
	"github.com/echomq/echomq-go/runtime/internal/enginetest"
)

// bullMQ is stock BullMQ on Node, which has filled queues.
type bullMQ struct {
	queue   string
	version string
	stdin   io.WriteCloser
	lines   *bufio.Scanner
	stderr  strings.Builder
}

// startBullMQ fills queues in the way that testdata/peers/node/legacy.js
// describes. The places are prefixes and names of queues in turn.
func startBullMQ(t *testing.T, f *fixture, way string, places ...string) *bullMQ {
	t.Helper()
	_, stock := fleet.TestPeers(f.ctx, "..")
	require.NoError(t, stock.Err)
	script := filepath.Join(filepath.Dir(stock.Args[1]), "legacy.js")
	// The end of its input is what ends it, which must come before that of ctx.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.ctx), patience)
	command := exec.CommandContext(ctx, stock.Args[0], append([]string{script, way}, places...)...)
	command.Env = append(append(os.Environ(), stock.Env...), "EMQ_ADDRESS=unix://"+f.engine.Options().Addr)
	b := &bullMQ{queue: f.spec.Name}
	command.Stderr = &b.stderr
	stdout, err := command.StdoutPipe()
	require.NoError(t, err)
	b.stdin, err = command.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		defer cancel()
		_ = b.stdin.Close()
		assert.NoError(t, command.Wait(), b.stderr.String())
	})
	b.lines = bufio.NewScanner(stdout)
	var hello struct{ Version string }
	b.read(t, &hello)
	require.NotEmpty(t, hello.Version)
	b.version = hello.Version
	return b
}

func (b *bullMQ) read(t *testing.T, value any) {
	t.Helper()
	require.True(t, b.lines.Scan(), "BullMQ ended early: %v %s", b.lines.Err(), &b.stderr)
	require.NoError(t, json.Unmarshal(b.lines.Bytes(), value))
}

// requireWhole lets BullMQ go on with its queues, and requires that it finds in
// each of them the jobs that it left there.
func (b *bullMQ) requireWhole(t *testing.T, places ...string) {
	t.Helper()
	_, err := io.WriteString(b.stdin, "go on\n")
	require.NoError(t, err)
	want := map[string][]string{}
	for i := 0; i < len(places); i += 2 {
		queue := places[i+1]
		want[places[i]+":"+queue] = []string{queue + "-plain", queue + "-ranked"}
	}
	var found struct{ Done map[string][]string }
	b.read(t, &found)
	require.Equal(t, want, found.Done)
}

// beside requires that a queue of another name works in the same store.
func (f *fixture) beside(t *testing.T) {
	t.Helper()
	other := newFixture(t, f.engine)
	other.client = f.client
	other.producer = echomq.NewProducer(f.client, other.spec)
	other.work(t, hello)
	require.Equal(t, "hello Ada", await(t, other, other.enqueue(t, "Ada")))
}

// TestQueueOfBullMQ has a queue of BullMQ itself under the name of the fixture's,
// under each prefix that the client was told of and made in each way.
func TestQueueOfBullMQ(t *testing.T) {
	t.Parallel()
	for way, prefix := range map[string]string{"queue": "bull", "flow": "my-app.v1"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
				f := newFixture(t, e)
				if prefix != "bull" {
					f.client = f.newClient(t, f.store, echomq.LegacyPrefixes("bull", prefix))
					f.producer = echomq.NewProducer(f.client, f.spec)
				}
				legacy := startBullMQ(t, f, way, prefix, f.spec.Name)
				f.fenced(t, echomq.ErrLegacyQueue)
				_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"Ada"})
				require.ErrorContains(t, err, prefix+":"+f.spec.Name+":meta")
				f.beside(t)
				legacy.requireWhole(t, prefix, f.spec.Name)
				f.fenced(t, echomq.ErrLegacyQueue)
			})
		})
	}
}

// TestBullMQOnOurKeys has BullMQ write under the names of this protocol, which a
// prefix and a queue's name in braces make it do.
func TestBullMQOnOurKeys(t *testing.T) {
	t.Parallel()
	enginetest.EachPrivate(t, func(t *testing.T, e *enginetest.Engine) {
		f := newFixture(t, e)
		legacy := startBullMQ(t, f, "queue", "emq", "{"+f.spec.Name+"}")
		f.fenced(t, echomq.ErrForeignVersion)
		_, err := echomq.Enqueue(f.ctx, f.producer, f.greet(), greeting{"Ada"})
		require.ErrorContains(t, err, "bullmq:"+legacy.version)
	})
}
